"""Corpora with nothing in them, more hits asked for than there are documents, words that no document has.

bm25s #60 and #116, haystack #11598: divisions by a mean length of 0, padding among the hits, exceptions.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from benchwright.splitting.scores.bm25 import OverlapQuery, Shard, index_corpus, index_shards

QUERIES = [
    OverlapQuery(("red",), (), (), False),
    OverlapQuery(("red", "cat"), (10,), ("dog",), False),
    OverlapQuery(("red", "absent"), (10,), ("cat",), False),
    OverlapQuery(("cat",), (), ("absent", "missing"), True),
    OverlapQuery(("absent",), (), ("red",), True),
    OverlapQuery((), (), (), True),
]


@pytest.mark.parametrize("idf", ["whoosh", "paper"])
@pytest.mark.parametrize("engine", ["fast", "whoosh"])
@pytest.mark.parametrize(
    ("corpus", "documents"),
    [
        ([], [[], [], [], [], [], []]),
        (["", ""], [[], [], [], [], [], []]),
        (["the", "a !"], [[], [], [], [], [], []]),
        (["red cat", "", "cat red red"], [[2, 0], [0], [], [], [], []]),
    ],
)
def test_empty_corpora(
    corpus: list[str], documents: list[list[int]], engine: str, idf: str, tmp_path: Path
) -> None:
    index = index_corpus(corpus, tmp_path / "index", engine=engine, idf=idf)
    assert index.documents == len(corpus)
    found = [sorted(hit.document for hit in hits) for hits in index.search(QUERIES, k=50)]
    assert found == [sorted(expected) for expected in documents]
    assert [len(hits) for hits in index.search(QUERIES, k=1)] == [min(1, len(hits)) for hits in documents]


def test_empty_shards(tmp_path: Path) -> None:
    shards = [Shard(str(i), partial(list, texts)) for i, texts in enumerate([[], ["", ""], ["red cat"], []])]
    found = index_shards(shards, tmp_path / "index").search(QUERIES, k=50)
    assert [[hit.document for hit in hits] for hits in found] == [[2], [2], [], [], [], []]

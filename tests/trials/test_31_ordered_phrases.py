"""Order and distance in phrases: the same answers as Whoosh's own Phrase (tantivy #2580)."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchwright.splitting.scores.bm25 import OverlapQuery, index_corpus


def _between(words: int) -> str:
    return " ".join(["alpha", *[f"word{i}" for i in range(words)], "beta"])


DISTANT = [_between(words) for words in (0, 8, 9, 10, 11)]
CORPUS = ["beta alpha", "beta word alpha beta", *DISTANT, "alpha", "alpha alpha"]
"""Documents 2 to 6: alpha ... beta with 0, 8, 9, 10 and 11 words between."""


def _whoosh_phrase(words: list[str], slop: int) -> list[int]:
    """The documents of Whoosh's Phrase, as its query parser makes it of `"alpha beta"~slop`."""
    from whoosh.fields import TEXT, Schema
    from whoosh.filedb.filestore import RamStorage
    from whoosh.query import Phrase

    index = RamStorage().create_index(Schema(content=TEXT))
    writer = index.writer()
    for document in CORPUS:
        writer.add_document(content=document)
    writer.commit()
    with index.searcher() as searcher:
        return sorted(hit.docnum for hit in searcher.search(Phrase("content", words, slop=slop), limit=None))


@pytest.mark.parametrize("engine", ["fast", "whoosh"])
def test_order_and_distance(engine: str, tmp_path: Path) -> None:
    index = index_corpus(CORPUS, tmp_path / "index", engine=engine)

    def found(words: list[str], gap: int) -> list[int]:
        query = OverlapQuery(tuple(words), (gap,) * (len(words) - 1), (), False)
        return sorted(hit.document for hit in index.search([query])[0])

    assert found(["alpha", "beta"], 1) == [1, 2]
    assert found(["alpha", "beta"], 9) == [1, 2, 3]
    assert found(["alpha", "beta"], 10) == [1, 2, 3, 4]
    assert found(["alpha", "beta"], 11) == [1, 2, 3, 4, 5]
    assert found(["alpha", "beta"], 12) == [1, 2, 3, 4, 5, 6]
    assert found(["beta", "alpha"], 1) == [0]
    assert found(["alpha", "alpha"], 10) == [8]
    for words in (["alpha", "beta"], ["beta", "alpha"], ["beta", "alpha", "beta"], ["alpha", "alpha"]):
        for gap in (1, 2, 9, 10, 11, 12):
            assert found(words, gap) == _whoosh_phrase(words, gap)


@pytest.mark.parametrize("engine", ["fast", "whoosh"])
def test_distance_counts_from_word_to_word(engine: str, tmp_path: Path) -> None:
    """Ten each, not ten together; and each gap has its own."""
    nine = "x1 " * 9
    corpus = [f"red {nine} cat {nine} dog", f"red cat {nine} dog", "red x1 cat dog"]
    index = index_corpus(corpus, tmp_path / "index", engine=engine)
    words = ("red", "cat", "dog")
    queries = [OverlapQuery(words, gaps, (), False) for gaps in ((10, 10), (1, 10), (2, 1), (1, 1))]
    found = [sorted(hit.document for hit in hits) for hits in index.search(queries)]
    assert found == [[0, 1, 2], [1], [2], []]

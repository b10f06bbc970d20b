"""The fast index's files: the same bytes whatever memory they were made in, whole or not there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from bm25_helpers import phrase
from hypothesis import given
from hypothesis import strategies as st

from benchwright.errors import SourceError, UsageError
from benchwright.splitting.scores.bm25 import _fast_build, fast_engine, fast_index, index_corpus, open_index
from benchwright.splitting.scores.bm25.analysis import EnglishAnalyzer
from benchwright.splitting.scores.bm25.engine import MOST_HITS
from benchwright.splitting.scores.bm25.fast_engine import _frequencies, _phrase_documents


def _bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def _corpus(sentences: int, seed: int) -> list[str]:
    random = np.random.default_rng(seed)
    words = np.array([f"w{i}" for i in range(400)])
    return [" ".join(words[random.zipf(1.3, random.integers(0, 30)) % 400]) for _ in range(sentences)]


def test_memory_changes_no_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = [*_corpus(900, 1), "", "É 北京 w1 \ud800 w2", *_corpus(300, 2), ""]
    index_corpus(corpus, tmp_path / "whole")
    monkeypatch.setattr(_fast_build, "_BLOCK_DOCUMENTS", 50)
    monkeypatch.setattr(fast_index, "LEAST_MEMORY", 0)
    runs: list[int] = []
    merge = _fast_build._Merge.write
    monkeypatch.setattr(
        _fast_build._Merge, "write", lambda self: (runs.append(len(self._runs)), merge(self))[1]
    )
    for memory in (1, 60_000, 300_000):
        index_corpus(corpus, tmp_path / "pieces", memory=memory)
        assert _bytes(tmp_path / "pieces") == _bytes(tmp_path / "whole")
    assert runs[0] == 25
    assert runs[0] > runs[1] > runs[2] > 1


def test_facts_and_numbers(tmp_path: Path) -> None:
    index_corpus(["red cat red", "", "the cat"], tmp_path / "index")
    facts = json.loads((tmp_path / "index" / "index.json").read_text())
    assert facts == {
        "analyzer": "english-1",
        "documents": 3,
        "format": "benchwright-bm25-1",
        "note": "",
        "occurrences": 4,
        "terms": 2,
        "total_length": 4,
    }
    index = fast_index.FastIndex(tmp_path / "index", EnglishAnalyzer())
    assert index.occurrences_of(index.number("red")).tolist() == [0, 2]
    assert index.occurrences_of(index.number("cat")).tolist() == [1, 2 << 32]
    assert index.number("absent") == index.number("") == index.number("zzz") == -1
    assert len(index.occurrences_of(-1)) == 0
    assert index.most_in_document.tolist() == [1, 2]
    assert index.document_frequencies.tolist() == [2, 1]


def test_an_interrupted_build_leaves_the_old_index(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    index_corpus(["red"], folder)
    before = _bytes(folder)

    def broken() -> Iterator[str]:
        yield "blue"
        raise KeyboardInterrupt

    for engine in ("fast", "whoosh"):
        with pytest.raises(KeyboardInterrupt):
            index_corpus(broken(), folder, engine=engine)
        assert _bytes(folder) == before
        assert [path.name for path in tmp_path.iterdir()] == ["index"]


def test_what_cannot_be_opened(tmp_path: Path) -> None:
    for engine in ("fast", "whoosh"):
        with pytest.raises(SourceError, match=r"no (Whoosh )?index here"):
            open_index(tmp_path / "absent", engine=engine)
        index_corpus(["red"], tmp_path / engine, engine=engine)
        with pytest.raises(SourceError, match="another analyzer"):
            open_index(tmp_path / engine, engine=engine, analyzer="characters-1")
    with (tmp_path / "fast" / "occurrences.int64").open("ab") as handle:
        handle.write(b"1")
    with pytest.raises(SourceError, match=r"damaged, got 9; remove"):
        open_index(tmp_path / "fast")
    (tmp_path / "fast" / "index.json").write_text("[]")
    with pytest.raises(SourceError, match="not an index of this version"):
        open_index(tmp_path / "fast")
    with pytest.raises(UsageError, match="at least 33554432 bytes"):
        index_corpus([], tmp_path / "small", memory=1)


@given(
    st.lists(st.lists(st.integers(0, 12), unique=True, max_size=9).map(sorted), min_size=1, max_size=4),
    st.lists(st.integers(1, 5), min_size=3, max_size=3),
)
def test_phrases_as_by_trying_all_places(places: list[list[int]], gaps: list[int]) -> None:
    """Places in two documents: 0 to 5 in the first, 6 to 12 in the second."""
    lists = [np.array([(p // 6 << 32) + p % 6 for p in each], dtype=np.int64) for each in places]
    expected = set()
    for document in (0, 1, 2):
        ends = {int(p) for p in lists[0] if p >> 32 == document}
        for each, gap in zip(lists[1:], gaps, strict=False):
            following = {int(p) for p in each if p >> 32 == document}
            ends = {p for p in following if any(1 <= p - end <= gap for end in ends)}
        if ends:
            expected.add(document)
    assert _phrase_documents(lists, gaps[: len(lists) - 1]).tolist() == sorted(expected)


@given(st.lists(st.integers(0, 5), max_size=12), st.lists(st.integers(0, 7), unique=True, max_size=8))
def test_frequencies(held: list[int], asked: list[int]) -> None:
    occurrences = np.array(sorted((d << 32) + i for i, d in enumerate(held)), dtype=np.int64)
    wanted = np.array(sorted(asked), dtype=np.int64)
    assert _frequencies(occurrences, wanted).tolist() == [held.count(d) for d in sorted(asked)]


def test_pruned_search_is_the_whole_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents left out early are none of the best k, for frequent phrases, both formulas, any k."""
    index_corpus(_corpus(1500, 3), tmp_path / "index")
    wanted = [
        phrase(*words, content=content, required=required)
        for words in (["w1"], ["w1", "w3"])
        for content in (["w2", "w5", "w90", "w4,w7"], ["w1", "w3"], ["w300", "w301", "w302", "w8"])
        for required in (False, True)
    ]
    left_out: list[int] = []
    prune = fast_engine._Candidates.prune

    def counted(self: fast_engine._Candidates, *given: object, required: bool) -> None:
        before = len(self.documents)
        prune(self, *given, required=required)
        left_out.append(before - len(self.documents))

    monkeypatch.setattr(fast_engine._Candidates, "prune", counted)
    for idf in ("whoosh", "paper"):
        engine = fast_engine.FastEngine(tmp_path / "index", EnglishAnalyzer(), idf=idf)
        for k in (1, MOST_HITS, 5000):
            monkeypatch.setattr(fast_engine, "_PRUNE_FROM", 10**9)
            whole = engine.search(wanted, k=k)
            assert all(whole)
            left_out.clear()
            monkeypatch.setattr(fast_engine, "_PRUNE_FROM", 1)
            assert engine.search(wanted, k=k) == whole
            assert (sum(left_out) > 1000) == (k < 5000)

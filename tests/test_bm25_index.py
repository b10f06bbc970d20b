"""The fast index's files: the same bytes whatever memory they were made in, whole or not there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.errors import SourceError, UsageError
from benchwright.splitting.scores.bm25 import _fast_build, fast_index, index_corpus, open_index
from benchwright.splitting.scores.bm25.analysis import EnglishAnalyzer, SegmenterAnalyzer, as_bytes


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
    numbers = index.numbers(["red", "absent", "cat", "", "re", "redd", "zzz"])
    assert numbers.tolist() == [1, -1, 0, -1, -1, -1, -1]
    assert index.document_frequencies(numbers).tolist() == [1, 0, 2, 0, 0, 0, 0]
    assert index.lists(numbers[:3])[:, :3].tolist() == [[2, 4, 2], [0, 0, 0], [0, 2, 1]]
    occurrences = np.fromfile(tmp_path / "index" / "occurrences.int64", dtype=np.int64)
    assert occurrences.tolist() == [1, 2 << 32, 0, 2]


@settings(max_examples=40)
@given(st.lists(st.text("aé\ud800北", max_size=4)), st.lists(st.text("aé\ud800北", max_size=4)))
def test_numbers_of_terms(held: list[str], asked: list[str]) -> None:
    """Those of sorted bytes, whatever the letters."""
    analyzer = SegmenterAnalyzer(lambda text: text.split("/"), "slashes-1")
    held = [f"a{term}" for term in held]
    with TemporaryDirectory() as folder:
        index_corpus(["/".join(held)], Path(folder) / "index", analyzer=analyzer)
        numbers = fast_index.FastIndex(Path(folder) / "index", analyzer).numbers([*asked, *held])
    terms = sorted({as_bytes(term) for term in held})
    wanted = [as_bytes(term) for term in [*asked, *held]]
    assert numbers.tolist() == [terms.index(term) if term in terms else -1 for term in wanted]


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

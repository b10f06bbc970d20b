"""The compiled search: bit for bit the answer of trying all documents and places; how it is compiled."""

from __future__ import annotations

import subprocess
import sys
from itertools import chain, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numba
import numba.core.caching
import numpy as np
import pytest
from bm25_helpers import documents, phrase, queries
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.errors import PrerequisiteError
from benchwright.splitting.scores.bm25 import Hit, OverlapQuery, Statistics, index_corpus, index_shards
from benchwright.splitting.scores.bm25._fast_search import _compiled
from benchwright.splitting.scores.bm25.analysis import EnglishAnalyzer
from benchwright.splitting.scores.bm25.engine import TermQuery, analysed, inverse_document_frequency
from benchwright.splitting.scores.bm25.lengths import LENGTHS, length_codes
from benchwright.splitting.scores.bm25.sharded import Shard


def _in_order(terms: list[str], query: TermQuery) -> bool:
    """Whether the phrase stands in a document, by trying all places."""
    ends = [place for place, term in enumerate(terms) if term == query.phrase[0]]
    for word, gap in zip(query.phrase[1:], query.gaps, strict=True):
        places = [place for place, term in enumerate(terms) if term == word]
        ends = [place for place in places if any(1 <= place - end <= gap for end in ends)]
    return bool(ends)


def _tried(corpus: list[str], query: OverlapQuery, formula: str, k: int) -> list[Hit]:
    """The hits by looking at every document, in Python's arithmetic."""
    texts = [EnglishAnalyzer().terms(text) for text in corpus]
    wanted = analysed(query, EnglishAnalyzer())
    if wanted is None or not corpus:
        return []
    frequencies = {term: sum(term in text for text in texts) for term in wanted.terms}
    statistics = Statistics(len(texts), sum(map(len, texts)), frequencies)
    idf = {term: inverse_document_frequency(formula, len(texts), f) for term, f in frequencies.items()}
    groups = sorted(wanted.content, key=lambda group: (-sum(idf[term] for term in group), group))
    hits = []
    for document, terms in enumerate(texts):
        present = [group for group in groups if all(term in terms for term in group)]
        if (wanted.phrase and not _in_order(terms, wanted)) or (wanted.required and not present):
            continue
        length = int(LENGTHS[length_codes(np.array([len(terms)]))[0]])
        norm = 1.2 * (0.25 + 0.75 * length / statistics.average_length)
        score = 0.0
        for group in [*((word,) for word in wanted.phrase), *present]:
            part = 0.0
            for term in group:
                count = terms.count(term)
                part += idf[term] * (count * 2.2 / (count + norm))
            score += part
        hits.append(Hit(document, score, tuple(sorted((*wanted.phrase, *chain.from_iterable(present))))))
    return sorted(hits, key=lambda hit: (-hit.score, hit.document))[:k]


@settings(max_examples=60)
@given(documents(), queries(), st.sampled_from([1, 2, 50]), st.sampled_from(["whoosh", "paper"]))
def test_as_by_trying_all_documents(corpus: list[str], query: OverlapQuery, k: int, idf: str) -> None:
    with TemporaryDirectory() as folder:
        engine = index_corpus(corpus, Path(folder) / "index", idf=idf)
        assert engine.search([query], k=k) == [_tried(corpus, query, idf, k)]


@given(
    st.lists(st.sampled_from("abc"), max_size=14), st.lists(st.sampled_from("abc"), min_size=1, max_size=5)
)
def test_phrases_of_repeated_words(text: list[str], words: list[str]) -> None:
    gaps = tuple(1 + (ord(one) + ord(other)) % 3 for one, other in pairwise(words))
    query = OverlapQuery(tuple(f"{word}{word}" for word in words), gaps, (), False)
    corpus = ["aa bb", " ".join(f"{word}{word}" for word in text), "cc aa"]
    with TemporaryDirectory() as folder:
        assert index_corpus(corpus, Path(folder) / "index").search([query]) == [
            _tried(corpus, query, "whoosh", 50)
        ]


def _sentences(count: int) -> list[str]:
    random = np.random.default_rng(3)
    words = np.array([f"w{i}" for i in range(400)])
    return [" ".join(words[random.zipf(1.3, random.integers(0, 30)) % 400]) for _ in range(count)]


@pytest.mark.parametrize("idf", ["whoosh", "paper"])
def test_frequent_words(idf: str, tmp_path: Path) -> None:
    """Documents left out early are none of the best k: lists of hundreds, any k, without a phrase too."""
    corpus = _sentences(1000)
    contents = (["w2", "w5", "w90", "w4,w7"], ["w1", "w3"], ["w300", "w301", "w302", "w8"])
    wanted = [
        OverlapQuery(words, (4,) * (len(words) - 1), tuple(content), required, may_vanish=True)
        for words in ((), ("w1",), ("w1", "w3"), ("w2", "w1", "w2"))
        for content in contents
        for required in ((False, True) if words else (True,))
    ]
    expected = [_tried(corpus, query, idf, 5000) for query in wanted]
    assert sum(map(len, expected)) > 4000
    engine = index_corpus(corpus, tmp_path / "index", idf=idf)
    for k in (1, 7, 50, 5000):
        assert engine.search(wanted, k=k) == [hits[:k] for hits in expected]


def test_a_document_of_many_occurrences(tmp_path: Path) -> None:
    """Steps that double, over runs of a document, to its end and to the end of a list."""
    corpus = ["red " * 3000 + "cat", "red", *(["cat"] * 700), "cat " * 2000 + "red cat", "red " * 5]
    wanted = [phrase("red", "cat"), phrase("red", "cat", "cat"), phrase("cat", "red", "cat", gap=1)]
    engine = index_corpus(corpus, tmp_path / "index")
    assert engine.search(wanted) == [_tried(corpus, query, "whoosh", 50) for query in wanted]
    assert [[hit.document for hit in hits] for hits in engine.search(wanted)] == [[0, 702], [], [702]]


def _twice(numbers: np.ndarray) -> float:
    return float(numbers[0] + numbers[0])


def test_compiled_code_is_kept_where_it_can_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A damaged file, or no folder to write: the function is compiled again."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    numbers = np.array([4.0])
    kinds = numba.types.float64[::1]
    assert _compiled(_twice, kinds)(numbers) == 8
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".nbi", ".nbc"}
    again = _compiled(_twice, kinds)
    assert sum(again.stats.cache_hits.values()) == 1
    for path in files:
        path.write_bytes(b"")
    assert _compiled(_twice, kinds)(numbers) == 8
    monkeypatch.setattr(numba.core.caching.CacheImpl, "_locator_classes", [])
    assert _compiled(_twice, kinds)(numbers) == 8


def test_compiled_code_is_named_by_what_it_is_made_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two versions of the compiler, or two processors, with one folder: each its own files."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    for version in ("1", "2"):
        monkeypatch.setattr(numba, "__version__", version)
        _compiled(_twice, numba.types.float64[::1])
    assert len([*tmp_path.rglob("*.nbi")]) == len([*tmp_path.rglob("*.nbc")]) == 2


def test_without_numba(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Said before anything is indexed."""
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(PrerequisiteError, match="fast needs numba") as error:
        index_corpus(["red"], tmp_path / "index")
    assert "pip install benchwright[overlap]" in str(error.value)
    with pytest.raises(PrerequisiteError):
        index_shards([Shard("one", list)], tmp_path / "shards")
    assert not list(tmp_path.iterdir())


def test_numba_is_imported_where_it_is_used() -> None:
    program = "import sys, benchwright.cli, benchwright.splitting.scores.bm25; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"

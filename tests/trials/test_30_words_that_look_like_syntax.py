"""Query words that query languages read as syntax are words like any other (tantivy #2631)."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchwright.splitting.scores.bm25 import OverlapQuery, index_corpus

VANISH = [
    "(",
    ")",
    '"',
    "AND",
    "OR",
    "NOT",
    "a:b",
    "~",
    "*",
    "c*t",
    "^2",
    "[a TO z]",
    "\\",
    "+",
    "-",
    "/",
    "{}",
]
"""Signs, stop words and single letters: nothing of these is in any index."""
CORPUS = ["cat dog", "not cat", "content cat", "cat ten", "or and not", "cat 10 dog", "c t", "don t"]


@pytest.fixture(params=["fast", "whoosh"])
def index(request: pytest.FixtureRequest, tmp_path: Path):
    return index_corpus(CORPUS, tmp_path / "index", engine=request.param)


def _documents(index, *words: str, content: tuple[str, ...] = (), required: bool = False) -> list[int]:
    query = OverlapQuery(words, (10,) * (len(words) - 1), content, required)
    return sorted(hit.document for hit in index.search([query])[0])


@pytest.mark.parametrize("word", VANISH)
def test_beside_a_word(index, word: str) -> None:
    with_cat = [0, 1, 2, 3, 5]
    assert _documents(index, "cat", word) == _documents(index, word, "cat") == with_cat
    assert _documents(index, "cat", content=(word,)) == with_cat
    assert _documents(index, word) == _documents(index, "cat", content=(word,), required=True) == []


def test_literal_words(index) -> None:
    assert _documents(index, "content:cat") == [2]
    assert _documents(index, "cat", "~10") == [5]
    assert _documents(index, "cat", "AND", "dog") == [0, 5]
    assert _documents(index, "cat", "OR", "ten") == [3]
    assert _documents(index, "*") == []
    assert _documents(index, "do*") == []
    assert _documents(index, "don't") == _documents(index, "don") == [7]
    assert _documents(index, '"', "cat", '"', "(", "dog", ")", "~", "1") == [0, 5]
    assert _documents(index, "cat", content=('"', "(", "AND"), required=True) == []

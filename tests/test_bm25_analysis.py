"""Text to terms: Whoosh's rules word by word, and whole blocks as one text after another."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.errors import PrerequisiteError, UsageError
from benchwright.splitting.scores.bm25.analysis import (
    STOP_WORDS,
    Analyzer,
    CharacterAnalyzer,
    EnglishAnalyzer,
    SegmenterAnalyzer,
    load_analyzer,
)
from benchwright.splitting.scores.bm25.lengths import LENGTHS, length_codes

LETTERS = "aAbBzZ.. '-_,*\n\t é1İΣσ–中文x\x00\u0660\ud800K"


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The trophy doesn't fit", ["trophy", "doesn", "fit"]),
        ("20,000 years", ["20", "000", "years"]),
        ("U.S. and 3.14 at 4:00", ["u.s", "3.14", "00"]),
        ("a.b..c.d .e f.", ["a.b", "c.d"]),
        ("great-grandfather_2", ["great", "grandfather_2"]),
        ("To be, or NOT to be", []),
        ("ÉTÉ Straße", ["été", "straße"]),
        ("f* ** a*b", []),
        ("", []),
    ],
)
def test_english_terms(text: str, terms: list[str]) -> None:
    assert EnglishAnalyzer().terms(text) == terms


def _decoded(analyzer: Analyzer, texts: list[str]) -> list[list[str]]:
    encoded = analyzer.encode(texts)
    vocabulary = [term.decode("utf-8", "surrogatepass") for term in encoded.vocabulary.to_pylist()]
    assert set(encoded.terms.tolist()) == set(range(len(vocabulary)))
    flat = iter(vocabulary[code] for code in encoded.terms)
    return [[next(flat) for _ in range(length)] for length in encoded.lengths]


@given(st.lists(st.text(LETTERS, max_size=12) | st.text(max_size=8), max_size=6))
def test_a_block_is_analysed_as_its_texts_are(texts: list[str]) -> None:
    for analyzer in (EnglishAnalyzer(), CharacterAnalyzer(2)):
        assert _decoded(analyzer, texts) == [analyzer.terms(text) for text in texts]


@given(st.text(LETTERS, max_size=30) | st.text(max_size=20))
def test_english_is_the_analyzer_of_whoosh(text: str) -> None:
    from whoosh.analysis import LowercaseFilter, RegexTokenizer, StopFilter

    chain = RegexTokenizer(r"\w+(\.?\w+)*") | LowercaseFilter() | StopFilter()
    assert EnglishAnalyzer().terms(text) == [token.text for token in chain(text)]


def test_stop_words_are_those_of_whoosh() -> None:
    from whoosh.analysis.filters import STOP_WORDS as reference

    assert reference == STOP_WORDS


def test_lengths_are_those_of_whoosh() -> None:
    from whoosh.util.numeric import byte_to_length, length_to_byte

    lengths = [*range(3000), *range(3000, 120_000, 37), 106_373, 106_374, 106_375, 10**9]
    codes = length_codes(np.array(lengths))
    assert codes.tolist() == [length_to_byte(length) for length in lengths]
    assert LENGTHS[codes].tolist() == [byte_to_length(length_to_byte(length)) for length in lengths]
    # METHODS D.3 gives the first values.
    shown = [
        12,
        13,
        14,
        16,
        17,
        18,
        20,
        21,
        23,
        25,
        26,
        28,
        30,
        32,
        34,
        36,
        38,
        40,
        42,
        45,
        47,
        49,
        52,
        54,
        57,
    ]
    assert LENGTHS[:11].tolist() == list(range(11))
    assert LENGTHS[11 : 11 + len(shown)].tolist() == shown


def test_characters_of_chinese() -> None:
    text = "他喜欢北京, BBC的3.5个"
    assert CharacterAnalyzer(1).terms(text) == ["他", "喜", "欢", "北", "京", "bbc", "的", "3.5", "个"]
    assert CharacterAnalyzer(2).terms(text) == ["他喜", "喜欢", "欢北", "北京", "bbc", "的", "3.5", "个"]
    assert CharacterAnalyzer(3).terms("北京") == ["北京"]


def test_segmenter() -> None:
    analyzer = SegmenterAnalyzer(lambda text: text.split("/"), "slashes-1")
    assert analyzer.terms("他/喜欢/。/ BBC / /北京") == ["他", "喜欢", "bbc", "北京"]
    assert _decoded(analyzer, ["他/。", "", "他/喜欢"]) == [["他"], [], ["他", "喜欢"]]


def test_missing_segmenter_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jieba", None)
    with pytest.raises(PrerequisiteError, match=r"pip install benchwright\[chinese\]"):
        load_analyzer("jieba")


def test_names() -> None:
    assert [load_analyzer(name).identity for name in ("english", "characters-1", "characters-2")] == [
        "english-1",
        "characters-1-1",
        "characters-2-1",
    ]
    with pytest.raises(UsageError, match="did you mean english"):
        load_analyzer("englisch")
    with pytest.raises(UsageError, match="unknown analyzer"):
        load_analyzer("characters-0")

"""Both engines: hand-worked scores, the published ones, and each against the other."""

from __future__ import annotations

import json
import math
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from bm25_helpers import ENGINES, assert_equal_hits, both, documents, phrase, queries, search
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.errors import UsageError
from benchwright.splitting.scores.bm25 import Hit, OverlapQuery, Statistics, index_corpus, open_index
from benchwright.splitting.scores.bm25.analysis import CharacterAnalyzer, EnglishAnalyzer, SegmenterAnalyzer
from benchwright.splitting.scores.bm25.engine import TermQuery, analysed

each_engine = pytest.mark.parametrize("engine", ENGINES)


def _part(documents: int, frequency: int, count: int, length: int, average: float, idf: str) -> float:
    weight = (
        math.log(documents / (frequency + 1)) + 1
        if idf == "whoosh"
        else math.log((documents - frequency + 0.5) / (frequency + 0.5))
    )
    return weight * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / average))


@each_engine
@pytest.mark.parametrize("idf", ["whoosh", "paper"])
def test_scores_by_hand(engine: str, idf: str, tmp_path: Path) -> None:
    """Document 1 has 11 terms, which count as 12; document 3 is empty and counts in N and the average."""
    corpus = ["red cat", "red dog blue red cat one two six ten ox elk", "cat red", "", "green dog"]
    query = OverlapQuery(("red", "cat"), (2,), ("blue", "dog", "dog", "zebra"), False)
    hits = search(corpus, [query], tmp_path, engine, idf=idf)[0]
    average = 17 / 5
    long = (
        _part(5, 3, 2, 12, average, idf)
        + _part(5, 3, 1, 12, average, idf)
        + _part(5, 1, 1, 12, average, idf)
        + _part(5, 2, 1, 12, average, idf)
    )
    short = 2 * _part(5, 3, 1, 2, average, idf)
    expected = [Hit(1, long, ("blue", "cat", "dog", "red")), Hit(0, short, ("cat", "red"))]
    assert_equal_hits(hits, sorted(expected, key=lambda hit: -hit.score))


@each_engine
def test_required_content(engine: str, tmp_path: Path) -> None:
    corpus = ["red cat", "red cat blue", "blue"]
    found = search(
        corpus,
        [phrase("red", "cat", content=["blue"], required=required) for required in (False, True)],
        tmp_path,
        engine,
    )
    assert [[hit.document for hit in hits] for hits in found] == [[1, 0], [1]]


@each_engine
def test_a_word_of_two_terms(engine: str, tmp_path: Path) -> None:
    """Content: both anywhere. Phrase: in order, next to each other unless `inner_gap` says otherwise."""
    corpus = ["cat 20,000", "cat 000 20", "cat 20", "cat 20 dog 000"]
    content = phrase("cat", content=["20,000"], required=True)
    inside = OverlapQuery(("cat", "20,000"), (3,), (), False)
    wide = OverlapQuery(("cat", "20,000"), (3,), (), False, inner_gap=2)
    found = search(corpus, [content, inside, wide], tmp_path, engine)
    assert [sorted(hit.document for hit in hits) for hits in found] == [[0, 1, 3], [0], [0, 3]]
    assert found[0][0].matched_terms == ("000", "20", "cat")


@each_engine
def test_repeated_words(engine: str, tmp_path: Path) -> None:
    """A word that stands twice in the phrase is met and scored twice; one that does in content, once."""
    corpus = ["red cat red", "red cat", "dog"]
    twice, once = search(
        corpus, [phrase("red", "cat", "red"), phrase("red", content=["cat", "cat"])], tmp_path, engine
    )
    assert [(hit.document, hit.matched_terms) for hit in twice] == [(0, ("cat", "red", "red"))]
    assert [hit.matched_terms for hit in once] == [("cat", "red")] * 2
    average = 6 / 3
    red, cat = _part(3, 2, 2, 3, average, "whoosh"), _part(3, 2, 1, 3, average, "whoosh")
    assert twice[0].score == pytest.approx(2 * red + cat, abs=1e-12)


@each_engine
def test_words_that_vanish(engine: str, tmp_path: Path) -> None:
    corpus = ["red cat", "cat"]
    cases = [
        (phrase("the", content=["cat"], required=True), []),
        (OverlapQuery(("the",), (), ("cat",), True, may_vanish=True), [1, 0]),
        (phrase("red", content=["the", ","], required=True), []),
        (OverlapQuery(("red",), (), ("the",), True, may_vanish=True), [0]),
        (OverlapQuery(("the",), (), ("of",), True, may_vanish=True), []),
        (OverlapQuery((), (), (), False, may_vanish=True), []),
    ]
    found = search(corpus, [query for query, _ in cases], tmp_path, engine)
    assert [[hit.document for hit in hits] for hits in found] == [expected for _, expected in cases]


@each_engine
def test_ties_by_document_number(engine: str, tmp_path: Path) -> None:
    corpus = [f"red cat {'red' if i % 3 == 0 else 'dog'}" for i in range(40)]
    hits = search(corpus, [phrase("cat", content=["red"])], tmp_path, engine, k=20)[0]
    assert [hit.document for hit in hits] == [*range(0, 40, 3), 1, 2, 4, 5, 7, 8]


def test_gaps_around_dropped_words() -> None:
    query = OverlapQuery(("the", "red", "of", "20,000", "to", "cat"), (9, 1, 7, 3, 2), (), False, inner_gap=4)
    assert analysed(query, EnglishAnalyzer()) == TermQuery(
        ("red", "20", "000", "cat"), (7, 4, 3), (), required=False
    )


@each_engine
def test_chinese(engine: str, tmp_path: Path) -> None:
    corpus = ["他不喜欢这本书,因为它太长。", "喜鹊欢叫", "她喜欢书"]
    query = phrase("喜欢", "书", gap=2, content=["太"])
    hits = search(corpus, [query], tmp_path, engine, analyzer="characters-1")[0]
    assert [hit.document for hit in hits] == [2]
    segmenter = SegmenterAnalyzer(lambda text: text.split("/"), "slashes-1")
    cut = index_corpus(["他/喜欢/书", "书/喜欢"], tmp_path / "cut", engine=engine, analyzer=segmenter)
    assert [hit.document for hit in cut.search([phrase("喜欢", "书")])[0]] == [0]
    pairs = index_corpus(corpus, tmp_path / "pairs", engine=engine, analyzer=CharacterAnalyzer(2))
    assert [hit.document for hit in pairs.search([phrase("喜欢")])[0]] == [2, 0]


def test_choices_are_checked(tmp_path: Path) -> None:
    engine = index_corpus(["red"], tmp_path / "index")
    with pytest.raises(UsageError, match="at least one hit"):
        engine.search([], k=0)
    with pytest.raises(UsageError, match="did you mean whoosh"):
        index_corpus([], tmp_path / "other", engine="whosh")
    with pytest.raises(UsageError, match="did you mean paper"):
        open_index(tmp_path / "index", idf="papers")
    with pytest.raises(UsageError, match="2 words has 0 gaps"):
        OverlapQuery(("a", "b"), (), (), False)
    with pytest.raises(UsageError, match="distances from 1"):
        OverlapQuery(("a", "b"), (0,), (), False)
    assert not (tmp_path / "other").exists()


def test_statistics_are_sums() -> None:
    parts = [Statistics(2, 5, {"red": 1, "cat": 0}), Statistics(0, 0, {}), Statistics(3, 4, {"red": 3})]
    total = Statistics.summed(parts)
    assert total == Statistics(5, 9, {"red": 4, "cat": 0})
    assert total.average_length == 9 / 5
    assert Statistics(4, 0, {}).average_length == 1


@settings(max_examples=25)
@given(documents(), st.lists(queries(), min_size=1, max_size=6), st.sampled_from([1, 3, 50]))
def test_engine_against_engine(corpus: list[str], wanted: list[OverlapQuery], k: int) -> None:
    with TemporaryDirectory() as folder:
        for idf in ("whoosh", "paper"):
            fast, whoosh = both(corpus, Path(folder), idf)
            assert (fast.documents, fast.total_length) == (whoosh.documents, whoosh.total_length)
            for found, expected in zip(fast.search(wanted, k=99), whoosh.search(wanted, k=99), strict=True):
                assert_equal_hits(found, expected)
            for found, cut in zip(fast.search(wanted, k=99), fast.search(wanted, k=k), strict=True):
                assert cut == found[:k]


@pytest.mark.corpora
@each_engine
def test_equal_to_the_published_code(engine: str, oracle_folder: Path, tmp_path: Path) -> None:
    """Documents, scores to 1e-9 and matched terms of 32 queries by Whoosh 2.7.4 over 2,000 sentences."""
    folder = oracle_folder / "whoosh_overlap"
    lines = (folder / "corpus.txt").read_text("utf-8").split("\n")
    expected = json.loads((folder / "expected.json").read_text("utf-8"))["queries"]
    found = search(lines[:2000], [_published(case["query_string"]) for case in expected], tmp_path, engine)
    assert sum(map(len, found)) == 30
    for hits, case in zip(found, expected, strict=True):
        published = [Hit(h["doc"], h["score"], tuple(h["matched_terms"])) for h in case["hits"]]
        assert_equal_hits(hits, published)


def _published(query: str) -> OverlapQuery:
    words, _, content = query.removeprefix('("').removesuffix(")").partition("\"~10') AND (")
    predicates = tuple(words.split(" "))
    return OverlapQuery(
        predicates, (10,) * (len(predicates) - 1), tuple(content.split(" OR ")), True, 10, may_vanish=True
    )

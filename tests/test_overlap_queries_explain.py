"""What `benchwright explain` says: components, places, and shares that sum up to the engines' scores."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import USER_CACHE
from overlap_query_cases import CASES, read_parses

from benchwright.builders.build import build
from benchwright.builders.explaining import explain, explanation_lines
from benchwright.cli import main
from benchwright.errors import UsageError
from benchwright.release import ReleaseFolder
from benchwright.splitting.scores.bm25.analysis import load_analyzer
from benchwright.splitting.scores.bm25.engine import Statistics, index_corpus
from benchwright.splitting.scores.bm25.query import OverlapQuery
from benchwright.splitting.scores.overlap_queries import (
    explain_document,
    match_lines,
    matched_components,
    parse_lines,
    parsed_query,
    partial_parse,
    published_query,
    query_text,
)
from benchwright.splitting.scores.overlap_queries.explain import component_shares, marked_text

ENGLISH = load_analyzer("english")


@pytest.fixture(scope="module")
def parse():
    case = CASES["connective inside"]
    filled = case.filled
    sentence = read_parses()["connective inside"]
    return partial_parse(sentence, filled.start, filled.end, case.options, pronoun=case.pronoun)


def test_a_query_for_people(parse) -> None:
    assert query_text(parsed_query(parse)) == '"wouldn\'t go through" ~10 "was too wide"; parcel, slot'
    query = OverlapQuery(("a", "b", "c"), (10, 10), ("d",), content_required=True)
    assert query_text(query) == '"a" ~10 "b" ~10 "c"; d (one of them)'
    assert query_text(OverlapQuery((), (), ("d", "e"), content_required=False)) == "; d, e"
    assert query_text(OverlapQuery(("a",), (), (), content_required=False)) == '"a"'


def test_places_and_components_of_a_document(parse) -> None:
    text = "Slot? A door wouldn't go through, for it was too wide; the parcel was not."
    match = explain_document(parsed_query(parse), parse, text, ENGLISH)
    found = {term.term: (term.components, len(term.places), term.score) for term in match.terms}
    assert found == {
        "wouldn": (("Pred_C",), 1, None),
        "go": (("Pred_C",), 1, None),
        "through": (("Pred_C",), 1, None),
        "was": (("Pred_Q",), 2, None),
        "too": (("Pred_Q",), 1, None),
        "wide": (("Pred_Q",), 1, None),
        "parcel": (("E1",), 1, None),
        "slot": (("E2",), 1, None),
    }
    assert match.score is None
    assert marked_text(match) == (
        "‹Slot›? A door «wouldn»'t «go» «through», for it «was» «too» «wide»; the ‹parcel› ‹was› not."
    )
    assert match_lines(match)[1:3] == ["  wouldn   Pred_C", "  go       Pred_C"]


def test_a_phrase_out_of_order_or_too_far_apart_has_no_place(parse) -> None:
    query = parsed_query(parse)
    order = "It was too wide and wouldn't go through."
    assert explain_document(query, parse, order, ENGLISH).phrase == ()
    near = "They wouldn't go through " + "x1 " * 9 + "was too wide"
    far = "They wouldn't go through " + "x1 " * 10 + "was too wide"
    assert len(explain_document(query, parse, near, ENGLISH).phrase) == 6
    assert explain_document(query, parse, far, ENGLISH).phrase == ()


def test_a_first_try_that_leads_nowhere_is_given_up() -> None:
    query = OverlapQuery(("red", "fox"), (2,), (), content_required=False)
    match = explain_document(query, None, "red x1 x2 red red x3 fox", ENGLISH)
    assert match.phrase == ((14, 17), (21, 24))


def test_components_of_a_hit(parse) -> None:
    query = parsed_query(parse)
    assert matched_components(query, parse, ("wide", "slot"), ENGLISH) == ("Pred_Q", "E2")
    assert matched_components(query, parse, (), ENGLISH) == ()
    published = published_query([("went", "VBD"), ("box", "NN")])
    assert matched_components(published, None, ("went", "box"), ENGLISH) == ("phrase", "content")


def test_lines_of_a_parse(parse) -> None:
    lines = parse_lines(parse)
    assert "Pred_C          wouldn't go through" in lines
    assert "connective      because" in lines


@pytest.mark.parametrize("idf", ["whoosh", "paper"])
def test_shares_sum_up_to_the_engine_s_score(parse, idf: str, tmp_path: Path) -> None:
    """Twelve terms become thirteen in the length table's next step; `was` stands twice."""
    texts = [
        "The parcel wouldn't go through the slot because it was too wide.",
        "It was a slot.",
        "Nothing was there, nothing at all, nothing but one parcel, one slot, one letter and one stamp more.",
        "A crate wouldn't go through; it was, it was, it was too wide for me, said a courier once more.",
    ]
    query = parsed_query(parse)
    engine = index_corpus(texts, tmp_path / "index", idf=idf)
    (hits,) = engine.search([query])
    assert sorted(hit.document for hit in hits) == [0, 3]
    frequencies = {
        term: sum(term in ENGLISH.terms(text) for text in texts)
        for word in (*query.phrase, *query.content)
        for term in ENGLISH.terms(word)
    }
    total = sum(len(ENGLISH.terms(text)) for text in texts)
    statistics = Statistics(len(texts), total, frequencies)
    for hit in hits:
        match = explain_document(query, parse, texts[hit.document], ENGLISH, statistics=statistics, idf=idf)
        assert match.score == pytest.approx(hit.score, abs=1e-12)
        assert sorted(term.term for term in match.terms) == sorted(set(hit.matched_terms))
        assert len(match.phrase) == 6


@pytest.mark.corpora
def test_shares_sum_up_to_the_reference_s_scores(oracle_folder: Path) -> None:
    folder = oracle_folder / "whoosh_overlap"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    texts = (folder / "corpus.txt").read_text(encoding="utf-8").split("\n")
    index = expected["index"]
    frequencies = {term: count for term, (count, _) in expected["df_idf"].items()}
    statistics = Statistics(index["doc_count_all"], index["field_length_total"], frequencies)
    judged = 0
    for reference in expected["queries"]:
        query = published_query(reference["tags"])
        for hit in reference["hits"]:
            match = explain_document(query, None, texts[hit["doc"]], ENGLISH, statistics=statistics)
            assert match.score == pytest.approx(hit["score"], abs=1e-9)
            assert sorted(term.term for term in match.terms) == sorted(set(hit["matched_terms"]))
            assert match.phrase
            judged += 1
    assert judged == 30


def test_pairs_of_characters_have_places_that_overlap() -> None:
    query = OverlapQuery((), (), ("猫吃", "鱼"), content_required=True, may_vanish=True)
    match = explain_document(query, None, "小猫吃鱼了", load_analyzer("characters-2"))
    assert [(term.term, term.places) for term in match.terms] == [("猫吃", ((1, 3),))]
    query = OverlapQuery((), (), ("猫吃", "吃鱼", "鱼了"), content_required=True, may_vanish=True)
    match = explain_document(query, None, "ＯK，小猫吃鱼，猫吃鱼了", load_analyzer("characters-2"))
    assert marked_text(match) == "ＯK，小‹猫吃鱼›，‹猫吃鱼了›"


def test_terms_without_places_are_still_named() -> None:
    """A letter whose lower case has two characters moves all that follow."""
    query = OverlapQuery((), (), ("猫",), content_required=True, may_vanish=True)
    match = explain_document(query, None, "İ 小猫", load_analyzer("characters-1"))
    assert [(term.term, term.places) for term in match.terms] == [("猫", ())]


@pytest.fixture(scope="module")
def release(tmp_path_factory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCHWRIGHT_CACHE", str(USER_CACHE))
        out = tmp_path_factory.mktemp("explain") / "release"
        with pytest.warns(match="left out"):
            build("winograd", source="sample", corpus=["sample"], chinese_corpus=["sample"], out=out)
    return out


@pytest.fixture
def models(parser, tagger, monkeypatch) -> None:
    """Parser and tagger from the user's cache."""
    monkeypatch.setenv("BENCHWRIGHT_CACHE", str(USER_CACHE))


def test_a_row_of_a_release(release: Path, models) -> None:
    explained = explain(release, "wsc:test:1")
    stored = ReleaseFolder(release).table(explained.config, "test").to_pylist()[1]
    assert explained.searched == "parsed"
    assert explained.parse.pred_c == ("did", "not", "sell")
    assert explained.parsed == stored["query"]
    assert explained.published.startswith('("did sell last had left"~10\') AND (The OR baker OR not')
    assert [hit.score for hit in explained.hits] == [hit["score"] for hit in stored["hits"]]
    assert explained.best_score == explained.hits[0].score
    assert explained.hits[0].components == ("Pred_C", "Pred_Q", "E1", "E2", "content")
    for hit, kept in zip(explained.hits, stored["hits"], strict=True):
        assert {term.term for term in hit.match.terms} == set(kept["matched_terms"])
        assert sum(component_shares(hit.match).values()) == pytest.approx(kept["score"], abs=1e-9)
    assert list(component_shares(explained.hits[0].match)) == ["Pred_C", "Pred_Q", "E1", "E2", "content"]
    assert explained.terms is None
    lines = explanation_lines(explained)
    assert f"  {explained.best_score:.4f} = " in "\n".join(lines)
    assert "  The ‹baker› «did» not" in "\n  ".join(lines)


def test_a_chinese_row_is_explained_by_its_terms(release: Path) -> None:
    explained = explain(release, "cluewsc2020:dev:3")
    stored = ReleaseFolder(release).table("cluewsc", "test").to_pylist()[3]
    assert (explained.config, explained.searched) == ("cluewsc", "terms")
    assert (explained.parsed, explained.published, explained.parse) == (None, None, None)
    assert explained.terms == stored["query"]
    assert len(explained.hits) == len(stored["hits"]) > 1
    for hit, kept in zip(explained.hits, stored["hits"], strict=True):
        assert (hit.components, hit.match.text) == (("content",), kept["text"])
        assert hit.match.score == pytest.approx(kept["score"], abs=1e-9)
    lines = explanation_lines(explained)
    assert "‹小船追不上大船›，‹因为它装满了石头›。" in lines
    assert not [line for line in lines if line.startswith(("parsed", "published"))]


def test_the_command_says_the_same(release: Path, models, capsys) -> None:
    assert main(["explain", str(release), "wsc:test:1"]) == 0
    assert capsys.readouterr().out.splitlines() == explanation_lines(explain(release, "wsc:test:1"))
    assert main(["explain", str(release), "wsc:test:1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["parse"]["pred_q"] == ["had"]


def test_rows_that_are_not_there(release: Path, models, capsys) -> None:
    with pytest.raises(UsageError, match="no row 'nothing' in "):
        explain(release, "nothing")
    for arguments in (["nothing"], ["wsc:test:1", "--config", "none"], ["wsc:test:1", "--parser", "./none"]):
        assert main(["explain", str(release), *arguments]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1

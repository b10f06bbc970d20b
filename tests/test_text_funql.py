"""FunQL: terms, atoms, compounds and templates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.text.funql import AS_IT_IS, FUNQL, Term, atoms_with_arity, parse_funql, spaced
from benchwright.text.programs import structures, template_rules

PROGRAM = "answer ( intersection ( intersection ( river , loc_2 ( m0 ) ) , loc_2 ( m1 ) ) )"


def test_a_program_by_hand() -> None:
    program = FUNQL.analyse(PROGRAM)
    assert program.atoms == {"answer", "intersection", "river", "loc_2", "m0", "m1"}
    assert program.tokens == program.symbols | {"(": 5, ")": 5, ",": 2}
    assert program.symbols == {"answer": 1, "intersection": 2, "river": 1, "loc_2": 2, "m0": 1, "m1": 1}
    assert program.compounds == {
        "answer( intersection )": 1,
        "intersection( intersection , __ )": 1,
        "intersection( river , __ )": 1,
        "intersection( __ , loc_2 )": 2,
        "loc_2( m0 )": 1,
        "loc_2( m1 )": 1,
    }
    assert (program.parsed, program.problem) == (True, None)


def test_a_value_of_two_words_is_two_atoms_and_one_argument() -> None:
    program = FUNQL.analyse("cityid(new  york, _)")
    assert program.atoms == {"cityid", "new", "york", "_"}
    assert program.compounds == {"cityid( new york , __ )": 1, "cityid( __ , _ )": 1}
    assert atoms_with_arity("cityid(new  york, _)") == {"cityid_(2)", "new york", "_"}


def test_a_quoted_value_may_hold_punctuation() -> None:
    assert [term.name for term in parse_funql("stateid('a, (b)', 'c')")] == ["stateid", "'a, (b)'", "'c'"]


def test_a_name_alone_is_a_program_without_compounds() -> None:
    program = FUNQL.analyse("state")
    assert (program.atoms, program.compounds, program.parsed) == ({"state"}, {}, True)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no program"),
        (" \n", "no program"),
        ("answer(", "a parenthesis is not closed"),
        ("answer(state", "a parenthesis is not closed"),
        ("answer()", "')' stands after ("),
        ("answer(a,)", "')' stands after ,"),
        ("answer(,a)", "',' stands after ("),
        ("answer(a))", ") stands outside parentheses"),
        ("a,b", ", stands outside parentheses"),
        ("answer(a) b", "'b' stands after )"),
        ("answer(f(a) b)", "'b' stands after )"),
        ("answer(a)(b)", "'(' stands after )"),
        ("(a)", "'(' stands after nothing"),
        ("a," + "b" * 10_000, ", stands outside parentheses"),
    ],
)
def test_a_malformed_program_is_flagged_and_has_neither_atoms_nor_template(text: str, problem: str) -> None:
    program = FUNQL.analyse(text)
    assert (program.atoms, program.compounds, program.parsed) == (None, None, False)
    assert program.problem == f"no FunQL: {problem}"
    assert AS_IT_IS.template(text) is None
    assert atoms_with_arity(text) is None


def test_a_problem_quotes_long_names_shortened() -> None:
    assert len(FUNQL.analyse("f(a)" + "b" * 10_000).problem or "") < 150


def test_nesting_has_no_limit() -> None:
    depth = 50_000
    program = FUNQL.analyse("f(" * depth + "a" + ")" * depth)
    assert program.compounds == {"f( f )": depth - 1, "f( a )": 1}


def test_templates_are_programs_without_regard_to_spacing() -> None:
    written = (PROGRAM, PROGRAM.replace(" ", ""), f" {PROGRAM}\n", PROGRAM.replace(" ", "  "))
    assert {AS_IT_IS.template(text) for text in written} == {PROGRAM}
    assert AS_IT_IS.template("answer ( state )") != AS_IT_IS.template("answer ( city )")


def test_equal_texts_are_analysed_once() -> None:
    assert FUNQL.analyse("answer ( cached )") is FUNQL.analyse("answer ( cached )")


def test_the_definitions_are_registered_for_funql() -> None:
    assert structures.get("funql") is FUNQL
    assert template_rules.get("funql") is AS_IT_IS
    assert FUNQL.language == AS_IT_IS.language == "funql"


_terms = st.recursive(
    st.from_regex(r"[a-z][a-z_0-9]{0,5}", fullmatch=True).map(Term),
    lambda inner: st.builds(Term, st.sampled_from(["f", "g_2"]), st.lists(inner, min_size=1, max_size=3)),
    max_leaves=12,
)


def _written(term: Term, space: str = "") -> str:
    if not term.arguments:
        return term.name
    arguments = f"{space},{space}".join(_written(argument, space) for argument in term.arguments)
    return f"{term.name}{space}({space}{arguments}{space})"


@given(_terms)
def test_a_written_term_is_read_back_whatever_its_spacing(term: Term) -> None:
    close, wide = _written(term), _written(term, " ")
    assert spaced(close) == wide
    for text in (close, wide):
        assert _written(parse_funql(text)) == close
    first, second = FUNQL.analyse(close), FUNQL.analyse(wide)
    assert (first.atoms, first.compounds) == (second.atoms, second.compounds)


@given(_terms)
def test_there_is_one_compound_for_every_argument(term: Term) -> None:
    compounds = FUNQL.analyse(_written(term)).compounds
    assert compounds is not None
    assert sum(compounds.values()) == sum(len(part.arguments) for part in term)


@given(st.text(alphabet=st.sampled_from("fg_0 ,()'\n\u00e9"), max_size=40))
def test_no_text_makes_the_analysis_fail(text: str) -> None:
    program = FUNQL.analyse(text)
    assert program.parsed == (program.atoms is not None) == (AS_IT_IS.template(text) is not None)
    assert program.parsed == (program.problem is None)
    if program.parsed:
        assert program.atoms


@pytest.mark.corpora
def test_all_880_programs_equal_those_of_the_published_code(oracle_folder: Path) -> None:
    lines = (oracle_folder / "tmcd_geoquery" / "dataset.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 880
    for line in lines:
        expected = json.loads(line)
        target = expected["target"]
        program = FUNQL.analyse(target)
        assert program.atoms == set(expected["atoms"])
        assert program.compounds == expected["compounds"]
        assert atoms_with_arity(target) == set(expected["atoms_arity"])
        assert AS_IT_IS.template(target) == target

"""Compounds of SQL by the paper's grammar: hand-worked trees, the published figures, a naive parser."""

from __future__ import annotations

import gzip
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.splitting.divergence import (
    ATOM_ALPHA,
    COMPOUND_ALPHA,
    chernoff_divergence,
    total_counts,
)
from benchwright.text._chart import NAME, Grammar, ParseError, Tree
from benchwright.text.programs import Program, structures
from benchwright.text.sql import sql_tokens
from benchwright.text.sql_grammar import KEYWORDS, RULES, SPIDER, analyse

FIXTURES = Path(__file__).parent / "fixtures" / "sql"


def _fixture(name: str) -> list[dict[str, Any]]:
    examples: list[dict[str, Any]] = json.loads((FIXTURES / f"{name}.json").read_text())
    return examples


def test_registered() -> None:
    assert structures.get("spider") is SPIDER
    assert (SPIDER.name, SPIDER.language, SPIDER.version) == ("spider", "sql", 1)
    assert SPIDER.analyse is analyse


@pytest.mark.parametrize("example", _fixture("compounds"), ids=lambda example: example["query"])
def test_compounds_worked_by_hand(example: dict[str, Any]) -> None:
    program = analyse(example["query"])
    assert program.problem is None
    assert program.compounds == example["compounds"]


@pytest.mark.parametrize("example", _fixture("unparsed"), ids=lambda example: repr(example["query"]))
def test_unparsed_queries_keep_their_atoms(example: dict[str, Any]) -> None:
    program = analyse(example["query"])
    assert program.compounds is None
    assert program.problem == example["problem"]
    assert program.atoms
    assert program.atoms == set(program.tokens)


@pytest.mark.parametrize("query", ["", " ", "\n\t\u00a0", ";", " ;; "])
def test_an_empty_query_has_no_atom_set(query: str) -> None:
    program = analyse(query)
    assert program.atoms is None
    assert program.compounds is None
    assert program.problem == "empty query"
    assert not program.tokens
    assert not program.symbols


def test_case_white_space_and_semicolon_do_not_count() -> None:
    first, second = analyse("SELECT  a\nFROM t ;"), analyse("select a from t")
    assert (first.atoms, first.tokens, first.symbols, first.compounds) == (
        second.atoms,
        second.tokens,
        second.symbols,
        second.compounds,
    )


def test_tokens_and_symbols_are_counted_with_multiplicity() -> None:
    program = analyse("select a , a from t group by a having a not like 'x'")
    assert program.tokens["a"] == program.symbols["a"] == 4
    # The published list of keywords has neither `having` nor `not like`.
    assert program.symbols == {"a": 4, "t": 1, "having": 1, "not like": 1, "'x'": 1}
    assert program.atoms == set(program.tokens)


def test_a_literal_is_one_name_whatever_it_contains() -> None:
    program = analyse('select a from t where b = "x union select c . d . e from ( ___"')
    assert program.parsed
    assert program.compounds is not None
    assert program.compounds['___ = "x union select c . d . e from ( ___"'] == 1


def test_words_of_keywords_that_are_alone_are_names() -> None:
    assert analyse("select by , group from order").parsed


def test_analysis_is_cached_by_text() -> None:
    assert analyse("select cached from t") is analyse("select cached from t")


@given(st.text(max_size=60))
def test_any_text_is_analysed(text: str) -> None:
    program = analyse(text)
    assert (program.atoms is None) == (not program.tokens)
    assert (program.compounds is None) == (program.problem is not None)


@pytest.mark.parametrize(
    ("query", "compounds"),
    [
        ("select " + " , ".join("a" * 4_000) + " from t", 15_998),
        ("select a from t where " + " and ".join(["a = 1"] * 2_000), 16_002),
        ("select a from t" + " join u as x on t.a = x.a" * 1_500, 36_002),
        ("select a from t where b in (" * 2_000 + "select a from t" + ")" * 2_000, 28_002),
        ("select " + "(" * 5_000 + "a" + ")" * 5_000 + " from t", 10_002),
    ],
    ids=["list", "conjunction", "joins", "subqueries", "parentheses"],
)
def test_long_queries_take_time_in_proportion(query: str, compounds: int) -> None:
    # Any cost above about linear would take minutes here.
    program = analyse(query)
    assert program.compounds is not None
    assert sum(program.compounds.values()) == compounds


@pytest.mark.parametrize(
    "query",
    [
        " union ".join(["select a from t"] * 75),
        "select " + " . ".join("a" * 150) + " from t",
        " as ".join("a" * 150),
        "select a from t where " + "(" * 299,
        "a = " * 150,
        "select a from t where b in (" + ", ".join("1" * 150) + ")",
    ],
)
def test_long_queries_without_a_parse(query: str) -> None:
    program = analyse(query)
    assert program.compounds is None
    assert sum(program.tokens.values()) >= 298


def test_ambiguity_is_an_error_even_within_a_sentence_without_tree() -> None:
    grammar = Grammar({"S": ("( A ) x",), "A": ("A + A", NAME)}, "S")
    words = ["(", "a", "+", "b", "+", "c", ")", "y"]
    with pytest.raises(ParseError, match=r"more than one parse of 'a \+ b \+ c'"):
        grammar.parse(words, [NAME if word.isalpha() else word for word in words])


def test_unit_productions_leave_no_nodes() -> None:
    grammar = Grammar({"S": ("A", "( S )"), "A": ("B",), "B": ("S", "b", f"{NAME}")}, "S")
    assert grammar.parse(["(", "x", ")"], ["(", NAME, ")"]) == Tree(
        "( ___ )", (("( ", " )"),), (Tree("x", (), ()),)
    )
    assert grammar.parse(["b"], ["b"]) == Tree("b", (), ())
    with pytest.raises(ParseError, match="no parse"):
        grammar.parse([], [])


def _naive_trees(rules: Mapping[str, Sequence[str]], words: Sequence[str], kinds: Sequence[str]) -> list[Any]:
    """At most two trees of the start symbol over all words, by trying every production on every span."""

    def right_sides(symbol: str) -> Iterable[str]:
        for right in rules[symbol]:
            yield from right_sides(right) if right in rules else (right,)

    sides = {symbol: list(dict.fromkeys(right_sides(symbol))) for symbol in rules}

    @cache
    def trees(symbol: str, begin: int, end: int) -> tuple[Any, ...]:
        return tuple(
            (right, children)
            for right in sides[symbol]
            for children in sequences(tuple(right.split()), begin, end)
        )[:2]

    @cache
    def sequences(symbols: tuple[str, ...], begin: int, end: int) -> tuple[Any, ...]:
        if end - begin < len(symbols):
            return ()
        if not symbols:
            return ((),) if begin == end else ()
        if symbols[0] not in rules:
            word = words[begin] if symbols[0] == NAME else None
            rest = sequences(symbols[1:], begin + 1, end) if kinds[begin] == symbols[0] else ()
            return tuple(((word,), *others) for others in rest)[:2]
        return tuple(
            (tree, *others)
            for middle in range(begin + 1, end - len(symbols) + 2)
            for tree in trees(symbols[0], begin, middle)
            for others in sequences(symbols[1:], middle, end)
        )[:2]

    return list(trees("ROOT", 0, len(words)))


def _labels(node: Any) -> Any:
    """A naive tree as nested (label, children)."""
    right, parts = node
    if right == NAME:
        return parts[0][0], []
    shown = ["___" if symbol in RULES else symbol for symbol in right.split()]
    return " ".join(shown), [
        _labels(part) for symbol, part in zip(right.split(), parts, strict=True) if symbol in RULES
    ]


def _as_labels(tree: Tree) -> Any:
    return tree.label, [_as_labels(child) for child in tree.children]


def _derived(chance: random.Random, symbol: str, depth: int) -> list[str]:
    """A random sentence of the grammar; beyond `depth` by first productions, which never recur."""
    if symbol not in RULES:
        return [chance.choice(["a", "b"]) if symbol == NAME else symbol]
    side = chance.choice(RULES[symbol]) if depth > 0 else RULES[symbol][0]
    return [word for part in side.split() for word in _derived(chance, part, depth - 1)]


@cache
def _whole_grammar() -> Grammar:
    return Grammar(RULES, "ROOT")


@settings(max_examples=50)
@given(st.randoms(use_true_random=False), st.integers(0, 7), st.integers(0, 2))
def test_parser_equals_a_naive_one(chance: random.Random, depth: int, changes: int) -> None:
    grammar = _whole_grammar()
    attempts = (_derived(chance, "ROOT", shallower) for shallower in range(depth, -1, -1))
    words = next(sentence for sentence in attempts if len(sentence) <= 20)
    for _ in range(changes):
        place = chance.randrange(len(words) + 1)
        words[place : place + chance.randrange(2)] = [
            chance.choice(["a", ",", "and", "(", ")", "union", "as"])
        ]
    kinds = [NAME if word in ("a", "b") else word for word in words]
    expected = _naive_trees(RULES, words, kinds)
    try:
        found = [_as_labels(grammar.parse(words, kinds))]
    except ParseError:
        assert len(expected) != 1
    else:
        assert found == [_labels(node) for node in expected]


@pytest.fixture(scope="module")
def spider(data_folder: Path) -> list[Program]:
    """All 8,034 programs, those of train first."""
    queries = [
        row["query"]
        for name in ("train_spider", "dev")
        for row in json.loads(gzip.decompress((data_folder / "spider" / f"{name}.json.gz").read_bytes()))
    ]
    assert len(queries) == 8_034
    analyse.cache_clear()
    sql_tokens.cache_clear()
    begin = time.process_time()
    programs = [analyse(query) for query in queries]
    # About 3 s; the margin is for machines that do other work.
    assert time.process_time() - begin < 15
    return programs


@pytest.fixture(scope="module")
def published(oracle_folder: Path) -> dict[str, Any]:
    figures: dict[str, Any] = json.loads((oracle_folder / "tmcd_spider" / "divergences.json").read_text())
    return figures


@pytest.mark.corpora
def test_sample_is_equal(oracle_folder: Path) -> None:
    lines = (oracle_folder / "tmcd_spider" / "sample.jsonl").read_text().splitlines()
    assert len(lines) == 303
    for sample in map(json.loads, lines):
        program = analyse(sample["sql"])
        assert program.tokens == Counter(sample["tokens"])
        assert program.atoms == set(sample["atoms"])
        assert program.compounds == sample["compounds"]
        assert sum(program.compounds.values()) == sample["n_compounds"]


@pytest.mark.corpora
def test_exactly_six_queries_are_unparsed(spider: list[Program], published: dict[str, Any]) -> None:
    unparsed = [row - 7_000 for row, program in enumerate(spider) if not program.parsed]
    assert unparsed == [225, 226, 227, 228, 926, 927]
    assert unparsed == [row for _, row, _, _ in published["unparsable_of_8034"]]
    assert all(program.atoms for program in spider)


def _sides(programs: list[Program], name: str) -> tuple[list[Program], list[Program]]:
    if name == "dev_first517_vs_last517":
        return programs[7_000:7_517], programs[7_517:]
    if name != "orig_train7000_vs_dev1034":
        programs = list(programs)
        random.Random(int(name[len("random_seed")])).shuffle(programs)
        return programs[:5_966], programs[5_966:7_000]
    return programs[:7_000], programs[7_000:]


COUNTED: dict[str, tuple[Callable[[Program], Mapping[str, int]], float]] = {
    "compound_a0.1": (lambda program: program.compounds or {}, COMPOUND_ALPHA),
    "atom_set_a0.5": (lambda program: dict.fromkeys(program.tokens, 1), ATOM_ALPHA),
    "atom_multiset_a0.5": (lambda program: program.tokens, ATOM_ALPHA),
    "atom_nonkeyword_multiset_a0.5": (lambda program: program.symbols, ATOM_ALPHA),
}


@pytest.mark.corpora
@pytest.mark.parametrize(
    "name",
    ["dev_first517_vs_last517", "orig_train7000_vs_dev1034"]
    + [f"random_seed{seed}_5966_vs_1034" for seed in range(3)],
)
def test_divergences_are_the_published_ones(
    spider: list[Program], published: dict[str, Any], name: str
) -> None:
    first, second = _sides(spider, name)
    found: dict[str, float] = {}
    for kind, (counts, alpha) in COUNTED.items():
        train, evaluation = total_counts(map(counts, first)), total_counts(map(counts, second))
        found[kind] = chernoff_divergence(train, evaluation, alpha)
        if alpha == COMPOUND_ALPHA:
            found[f"{kind}_swapped"] = chernoff_divergence(evaluation, train, alpha)
    assert found == pytest.approx(published[name], abs=1e-9, rel=0)


@pytest.mark.corpora
def test_no_keyword_is_a_symbol(spider: list[Program]) -> None:
    assert not any(KEYWORDS & program.symbols.keys() for program in spider)

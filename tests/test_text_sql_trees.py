"""Atoms and compounds by sqlglot's syntax trees, beside the paper's own."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.splitting.divergence import COMPOUND_ALPHA, chernoff_divergence, total_counts
from benchwright.text.programs import Program, structures
from benchwright.text.sql_trees import SQLGLOT, sqlglot_structure


def _same_quotes(counts: Mapping[str, int]) -> Counter[str]:
    """The paper's tokens keep the quotation marks of a string; sqlglot's are single ones."""
    same: Counter[str] = Counter()
    for text, count in counts.items():
        same[text.replace('"', "'")] += count
    return same


def test_a_small_query() -> None:
    """A where around a select of a function from a table, and a comparison with a dotted name."""
    program = SQLGLOT.analyse("SELECT count(*) FROM singer WHERE singer.Age > 20")
    words = ["select", "count", "(", "*", ")", "from", "singer", "where", "singer", ".", "age", ">", "20"]
    assert program.tokens == Counter(words)
    assert program.atoms == frozenset(words)
    assert program.symbols == Counter({"singer": 2, "age": 1, "20": 1})
    assert program.compounds == Counter(
        [
            "select ___ from ___ where ___",
            "select count ( ___ ) from ___",
            "select count ( ___ ) from ___ where ___",
            "select ___ from singer",
            "select ___ from singer where ___",
            "count ( * )",
            "select count ( * ) from ___",
            "___ where ___ > ___",
            "___ . ___ > ___",
            "___ where ___ . ___ > ___",
            "singer . ___",
            "singer . ___ > ___",
            "___ . age",
            "___ . age > ___",
            "___ > 20",
            "___ where ___ > 20",
        ]
    )
    assert program.parsed
    assert program.problem is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('SELECT a FROM t WHERE b = "x y"', "select A from T where B = 'X  y';"),
        ("SELECT a FROM t WHERE b != 1 -- why", "SELECT a FROM t WHERE b <> 1"),
        ("SELECT a FROM t WHERE b IS NOT NULL", "SELECT a FROM t WHERE b NOT NULL"),
        ("SELECT `a` FROM [t]", 'SELECT "a" FROM t'),
        ("SELECT a FROM t LIMIT 1, 2", "SELECT a FROM t LIMIT 2 OFFSET 1"),
        ("SELECT a FROM t JOIN u", "SELECT a FROM t JOIN u ON TRUE"),
    ],
)
def test_what_is_counted_alike(one: str, other: str) -> None:
    first, second = SQLGLOT.analyse(one), SQLGLOT.analyse(other)
    assert first.compounds == second.compounds
    assert (first.tokens, first.symbols, first.atoms) == (second.tokens, second.symbols, second.atoms)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT a FROM t WHERE b LIKE 'x'", "SELECT a FROM t WHERE b NOT LIKE 'x'"),
        ("SELECT a FROM t WHERE b IN (1)", "SELECT a FROM t WHERE b NOT IN (1)"),
        ("SELECT a FROM t WHERE b BETWEEN 1 AND 2", "SELECT a FROM t WHERE b NOT BETWEEN 1 AND 2"),
        ("SELECT a FROM t WHERE b IS NULL", "SELECT a FROM t WHERE b IS NOT NULL"),
        ("SELECT a FROM t WHERE b = 1", "SELECT a FROM t WHERE b = '1'"),
        ("SELECT a FROM t WHERE b = 1", "SELECT a FROM t WHERE b = -1"),
        ("SELECT a FROM t WHERE b = 'c'", "SELECT a FROM t WHERE b = c"),
        ("SELECT count(a) FROM t", "SELECT count(DISTINCT a) FROM t"),
        ("SELECT a FROM t UNION SELECT a FROM u", "SELECT a FROM t UNION ALL SELECT a FROM u"),
        ("SELECT a FROM t JOIN u ON x = y", "SELECT a FROM t LEFT JOIN u ON x = y"),
        ("SELECT a FROM t ORDER BY a", "SELECT a FROM t ORDER BY a DESC"),
        ("SELECT a FROM t ORDER BY a", "SELECT a FROM t ORDER BY a NULLS LAST"),
        ("SELECT a FROM t GROUP BY a", "SELECT a FROM t GROUP BY ROLLUP (a)"),
        ("SELECT a FROM t JOIN u ON FALSE", "SELECT a FROM t JOIN u"),
        ("SELECT f(a) OVER (ORDER BY b) FROM t", "SELECT f(a) OVER (PARTITION BY b) FROM t"),
        ("SELECT CAST(a AS INT) FROM t", "SELECT CAST(a AS TEXT) FROM t"),
        ("SELECT a FROM t INDEXED BY i", "SELECT a FROM t"),
        ("SELECT a FROM t FOR UPDATE", "SELECT a FROM t"),
        (
            "WITH t AS (SELECT a FROM u) SELECT a FROM t",
            "WITH RECURSIVE t AS (SELECT a FROM u) SELECT a FROM t",
        ),
    ],
)
def test_what_is_counted_apart(one: str, other: str) -> None:
    first, second = SQLGLOT.analyse(one), SQLGLOT.analyse(other)
    assert first.parsed
    assert second.parsed
    assert first.compounds != second.compounds
    assert first.tokens != second.tokens


def test_order_of_conditions_shows_in_compounds_only() -> None:
    first = SQLGLOT.analyse("SELECT a FROM t WHERE b = 1 AND c = 2 AND d = 3")
    second = SQLGLOT.analyse("SELECT a FROM t WHERE d = 3 AND c = 2 AND b = 1")
    assert first.tokens == second.tokens
    assert first.compounds != second.compounds


@pytest.mark.parametrize(
    ("query", "atoms"),
    [
        (
            "SELECT CASE WHEN a > 1 THEN 'x' ELSE 'y' END FROM t",
            {"case", "when", "then", "else", "end", "'x'"},
        ),
        ("SELECT strftime('%Y', d) FROM t WHERE x GLOB 'a*'", {"time_to_str", "'%y'", "glob", "'a*'"}),
        ("SELECT my_function(a, :p, ?) FROM t", {"my_function", ":p", "?", ","}),
        ("SELECT x FROM (VALUES (1, 2)) AS v(x, y)", {"values", "1", "v", "x", "as"}),
        ("INSERT INTO t (a) VALUES (1)", {"insert", "t", "a", "values", "1"}),
        ("UPDATE t SET a = 1 WHERE b = 2", {"update", "=", "where", "2"}),
        (
            "SELECT sum(x) FILTER (WHERE y > 0) OVER w FROM t WINDOW w AS (ORDER BY z)",
            {"filter", "over", "w"},
        ),
        ("SELECT a FROM t WHERE b IN ()", {"in", "(", ")"}),
    ],
)
def test_atoms_of_what_the_paper_does_not_cover(query: str, atoms: set[str]) -> None:
    program = SQLGLOT.analyse(query)
    assert program.parsed
    assert program.atoms is not None
    assert atoms <= program.atoms
    assert program.atoms == set(program.tokens)
    assert set(program.symbols) <= program.atoms


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no statement"),
        (" ;; ", "no statement"),
        ("-- a comment", "no statement"),
        ("SELECT 1; SELECT 2", "2 statements"),
        ("SELECT a FROM t WHERE", "syntax error at line 1, column 21"),
        ("SELECT 'a", "a quotation or comment does not end"),
        ("SELECT", "a SELECT of nothing"),
        ("a", "neither a query nor a change of a table"),
        ("BEGIN", "neither a query nor a change of a table"),
        ("VACUUM", "a command that sqlglot does not read"),
        ("SELECT a FROM t WHERE x IN (" * 400 + "1" + ")" * 400, "nested too deeply"),
    ],
)
def test_unread(text: str, problem: str) -> None:
    program = SQLGLOT.analyse(text)
    assert (program.atoms, program.compounds, program.problem) == (None, None, problem)
    assert not program.tokens
    assert not program.symbols
    assert not program.parsed


WORDS = [
    *(
        "SELECT",
        "FROM",
        "WHERE",
        "AND",
        "NOT",
        "IN",
        "AS",
        "UNION",
        "ORDER BY",
        "LIMIT",
        "IS",
        "NULL",
        "CASE",
    ),
    *("END", "WITH", "OVER", "a", "t", "=", "1", "'x'", '"y"', "(", ")", ",", ";", ".", "*", "--"),
]


@given(st.lists(st.sampled_from(WORDS), max_size=14))
def test_no_text_raises_and_none_has_an_empty_atom_set(words: list[str]) -> None:
    program = SQLGLOT.analyse(" ".join(words))
    assert (program.atoms is None) == (program.compounds is None) == (program.problem is not None)
    assert program.atoms is None or program.atoms
    assert sum(program.symbols.values()) <= sum(program.tokens.values())


def test_dialects() -> None:
    assert structures.get("sqlglot") is SQLGLOT
    mysql = sqlglot_structure("mysql")
    assert mysql.name == "sqlglot-mysql"
    assert mysql.analyse('SELECT a FROM t WHERE "x" = b').symbols == Counter(["a", "t", "'x'", "b"])
    # Only SQLite takes a name in double quotes for a string.
    postgres = sqlglot_structure("postgres").analyse('SELECT a FROM t WHERE b = "x"')
    assert postgres.symbols == Counter(["a", "t", "b", "x"])
    assert sqlglot_structure("tsql").analyse("SELECT TOP 5 a FROM t").parsed
    with pytest.raises(ValueError, match="klingon"):
        sqlglot_structure("klingon")


@pytest.mark.corpora
def test_equal_to_the_reference_but_for_quotes(oracle_folder: Path) -> None:
    rows = [
        json.loads(line) for line in (oracle_folder / "tmcd_spider" / "sample.jsonl").read_text().splitlines()
    ]
    assert len(rows) == 303
    for row in rows:
        program = SQLGLOT.analyse(row["sql"])
        assert program.compounds == _same_quotes(row["compounds"])
        assert program.tokens == _same_quotes(Counter(row["tokens"]))
        assert program.atoms == set(_same_quotes(Counter(row["atoms"])))


@pytest.fixture(scope="module")
def spider(data_folder: Path) -> list[tuple[Program, Program]]:
    """Every query by the paper's structure and by sqlglot's."""
    paper = structures.get("spider")
    queries = [
        row["query"]
        for name in ("train_spider.json.gz", "dev.json.gz")
        for row in json.loads(gzip.decompress((data_folder / "spider" / name).read_bytes()))
    ]
    return [(paper.analyse(query), SQLGLOT.analyse(query)) for query in queries]


@pytest.mark.corpora
def test_all_of_spider_is_read(spider: list[tuple[Program, Program]]) -> None:
    """The paper's grammar leaves six queries unread; where both read one, they count the same but once."""
    assert len(spider) == 8_034
    assert all(ours.parsed for _, ours in spider)
    read = [(paper.compounds, ours.compounds) for paper, ours in spider if paper.compounds is not None]
    assert len(read) == 8_028
    # ORDER BY and LIMIT after the last operand of a set operation: of the operand, or of the whole query.
    assert sum(_same_quotes(paper) != ours for paper, ours in read) == 2
    assert all(_same_quotes(paper.tokens) == ours.tokens for paper, ours in spider)


def _divergence(programs: Sequence[Program], order: Sequence[int], train: int = 5_966) -> float:
    counts = [programs[row].compounds or {} for row in order]
    return chernoff_divergence(total_counts(counts[:train]), total_counts(counts[train:]), COMPOUND_ALPHA)


@pytest.mark.corpora
def test_divergences_as_by_the_paper(spider: list[tuple[Program, Program]]) -> None:
    """Random splits are near to each other and low, a split by length is far from them, by both."""
    paper, ours = ([pair[side] for pair in spider] for side in (0, 1))
    random = []
    for seed in range(3):
        order = list(range(len(spider)))
        Random(seed).shuffle(order)
        random.append((_divergence(paper, order), _divergence(ours, order)))
    assert all(0.03 < value < 0.06 for pair in random for value in pair)
    assert all(abs(of_paper - of_ours) < 0.002 for of_paper, of_ours in random)
    by_length = sorted(range(len(spider)), key=lambda row: sum(ours[row].tokens.values()))
    longest = _divergence(paper, by_length), _divergence(ours, by_length)
    assert min(longest) > 3 * max(value for pair in random for value in pair)
    assert abs(longest[0] - longest[1]) < 0.01

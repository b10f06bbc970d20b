"""Execution of queries on databases: what is compared, what is refused, what is bounded."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.errors import SourceError
from benchwright.eval.metrics import Context, MetricValue, metrics
from benchwright.eval.metrics.spider.execution import (
    FailedQueryError,
    Limits,
    database_file,
    is_ordered,
    open_database,
    run_query,
    same_result,
)

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT {} FROM n"


@pytest.fixture
def farm(tmp_path: Path) -> Path:
    """A folder with one database, as Spider lays it out."""
    file = tmp_path / "databases" / "farm" / "farm.sqlite"
    file.parent.mkdir(parents=True)
    with sqlite3.connect(file) as connection:
        connection.executescript(
            "CREATE TABLE cow (id INTEGER, name TEXT, age INTEGER);"
            "INSERT INTO cow VALUES (1, 'Ada', 3), (2, 'Bea', 5), (3, 'Cleo', 5);"
            "INSERT INTO cow VALUES (4, CAST(X'C3A9E9' AS TEXT), 7);"
        )
    connection.close()
    return tmp_path / "databases"


def accuracy(folder: Path, pairs: list[tuple[str, str]], db_id: str = "farm") -> MetricValue:
    gold, predictions = (np.array(texts, dtype=object) for texts in zip(*pairs, strict=True))
    context = Context({"db_id": [db_id] * len(pairs)}, databases=folder)
    return metrics.get("execution_accuracy")(gold, predictions, context)


def test_results_are_compared_not_texts(farm: Path) -> None:
    names = "SELECT name FROM cow WHERE age > 4"
    found = accuracy(
        farm,
        [
            (names, "SELECT name FROM cow WHERE age >= 5 ORDER BY name DESC"),
            (names, "SELECT name FROM cow WHERE age > 5"),
            (f"{names} ORDER BY id", f"{names} ORDER BY id DESC"),
            (f"{names} ORDER BY id", f"{names} ORDER BY age, id"),
            ("SELECT id, age FROM cow", "SELECT age, id FROM cow"),
            ("SELECT age FROM cow", "SELECT DISTINCT age FROM cow"),
            ("SELECT count(*) FROM cow", "SELECT 4.0"),
            ("SELECT name FROM cow WHERE age > 99", "SELECT id, age FROM cow WHERE age > 99"),
            ("SELECT name FROM cow WHERE age >= 5", "SELECT name FROM cow WHERE age > = 5"),
        ],
    )
    assert found.per_example.tolist() == [1, 0, 0, 1, 1, 0, 1, 1, 1]
    assert (found.n, found.left_out, found.flagged) == (9, {}, {})


def test_a_prediction_that_fails_is_wrong_and_flagged_with_the_reason(farm: Path) -> None:
    gold = "SELECT name FROM cow"
    found = accuracy(farm, [(gold, "SELEC name"), (gold, "SELECT nosuch FROM cow"), (gold, ""), (gold, gold)])
    assert found.per_example.tolist() == [0, 0, 0, 1]
    flagged = found.flagged["failed_prediction"]
    assert list(flagged) == [0, 1, 2]
    assert "syntax error" in flagged[0]
    assert flagged[1] == "no such column: nosuch"


def test_rows_that_cannot_be_judged_are_left_out_and_counted(farm: Path) -> None:
    gold = np.array(["SELECT name FROM cow", "SELECT nosuch FROM cow", "SELECT 1"], dtype=object)
    context = Context({"db_id": ["farm", "farm", "barn"]}, databases=farm)
    found = metrics.get("execution_accuracy")(gold, gold, context)
    assert (found.value, found.n) == (1.0, 1)
    assert found.left_out == {"gold query fails": 1, "no database file": 1}
    assert np.isnan(found.per_example).tolist() == [False, True, True]


@pytest.mark.parametrize(
    "query",
    [
        "INSERT INTO cow VALUES (9, 'x', 1)",
        "DELETE FROM cow",
        "DROP TABLE cow",
        "CREATE TEMP TABLE t (x)",
        "ATTACH DATABASE 'other.sqlite' AS other",
        "ATTACH ':memory:' AS other",
        "PRAGMA user_version = 9",
        "PRAGMA table_info(cow)",
        "SELECT * FROM pragma_database_list",
        "VACUUM INTO 'copy.sqlite'",
        "BEGIN",
        "SELECT load_extension('x')",
        "SELECT random()",
        "SELECT 1; SELECT 2",
        "SELECT 1; DROP TABLE cow",
        "-- nothing",
        "SELECT '\ud800'",
        "SELECT 1 \0",
    ],
)
def test_only_one_reading_statement_runs(
    farm: Path, tmp_path: Path, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = farm / "farm" / "farm.sqlite"
    before = file.read_bytes()
    with open_database(file) as connection, pytest.raises(FailedQueryError):
        run_query(connection, query)
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["databases"]
    assert [path.name for path in file.parent.iterdir()] == ["farm.sqlite"]


@pytest.mark.parametrize(
    ("query", "limits", "reason"),
    [
        (ENDLESS.format("count(*)"), Limits(seconds=0.05), "took more than 0.05 seconds"),
        (ENDLESS.format("x"), Limits(rows=1_000), "more than 1000 rows"),
        (ENDLESS.format("printf('%.1000c', 'x')"), Limits(bytes=50_000), "or 50000 characters"),
        ("SELECT zeroblob(1000000000)", Limits(), "too big"),
    ],
)
def test_time_and_size_are_bounded(farm: Path, query: str, limits: Limits, reason: str) -> None:
    with open_database(farm / "farm" / "farm.sqlite") as connection:
        with pytest.raises(FailedQueryError, match=reason):
            run_query(connection, query, limits)
        assert run_query(connection, "SELECT 1") == [(1,)]


def test_texts_that_are_not_utf_8_are_read(farm: Path) -> None:
    with open_database(farm / "farm" / "farm.sqlite") as connection:
        assert run_query(connection, "SELECT name FROM cow WHERE id = 4") == [("é\udce9",)]


@pytest.mark.parametrize("layout", ["farm/farm.sqlite", "farm.sqlite"])
def test_where_databases_are_looked_for(tmp_path: Path, layout: str) -> None:
    file = tmp_path / layout
    file.parent.mkdir(exist_ok=True)
    file.touch()
    assert database_file(tmp_path, "farm") == file
    assert database_file(tmp_path, "barn") is None


@pytest.mark.parametrize("db_id", ["", "..", "../x", "/etc/x", "a\\b", "a\0b", ".hidden"])
def test_a_name_that_leads_elsewhere_has_no_file(tmp_path: Path, db_id: str) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "x.sqlite").touch()
    assert database_file(tmp_path / "in", db_id) is None


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "farm.sqlite").write_text("not a database, but long enough to be looked at" * 20)
    with pytest.raises(SourceError, match=r"farm\.sqlite: not a database"):
        accuracy(tmp_path, [("SELECT 1", "SELECT 1")])


@pytest.mark.parametrize(
    ("query", "ordered"),
    [
        ("SELECT a FROM t ORDER  BY b", True),
        ("SELECT a FROM t UNION SELECT b FROM u order\nby 1", True),
        ("SELECT a FROM (SELECT a FROM t ORDER BY b)", False),
        ("SELECT a FROM t WHERE b = 'order by'", False),
        ("SELECT reorder FROM by_hand", False),
    ],
)
def test_which_queries_are_ordered(query: str, ordered: bool) -> None:
    assert is_ordered(query) == ordered


ROWS = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[st.integers(0, 2)] * width), min_size=1, max_size=8)
)


@given(ROWS, st.randoms())
def test_columns_and_rows_may_be_permuted(rows: list[tuple[Any, ...]], draw: Any) -> None:
    columns = draw.sample(range(len(rows[0])), len(rows[0]))
    permuted = [tuple(row[place] for place in columns) for row in rows]
    assert same_result(rows, permuted, ordered=True)
    shuffled = draw.sample(permuted, len(permuted))
    assert same_result(rows, shuffled, ordered=False)
    assert not same_result(rows, [*shuffled, shuffled[0]], ordered=False)


def test_columns_that_match_one_by_one_but_not_together_differ() -> None:
    gold = [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert not same_result(gold, [(0, 0), (0, 0), (1, 1), (1, 1)], ordered=False)


@pytest.mark.corpora
def test_gold_queries_on_a_database_of_spider(data_folder: Path, oracle_folder: Path) -> None:
    text = (oracle_folder / "spider_eval" / "gold.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    queries = [row["query"] for row in rows if row["db_id"] == "concert_singer"]
    found = accuracy(data_folder / "spider" / "databases", [(q, q) for q in queries], "concert_singer")
    assert (found.value, found.n) == (1.0, len(queries))
    wrong = accuracy(
        data_folder / "spider" / "databases",
        [
            ("SELECT name FROM singer WHERE age > 40", "SELECT name FROM singer WHERE age > 41"),
            ("SELECT name FROM singer ORDER BY age", "SELECT name FROM singer ORDER BY age DESC"),
        ],
        "concert_singer",
    )
    assert wrong.per_example.tolist() == [0, 0]

"""The nearest training question: which one is taken, and how its query is carried to another database."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from eval_helpers import FARM_SCHEMA, nli_rows, sql_rows, write_release
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.eval import evaluate
from benchwright.eval.baselines import EvaluationData, Rows
from benchwright.eval.baselines._schema_linking import (
    Column,
    DatabaseNames,
    carry_over,
    masked,
    stem,
    words,
)
from benchwright.eval.baselines.nearest_question import NearestQuestion
from benchwright.eval.data import load_data, side_table
from benchwright.eval.metrics.spider import Schema, parse
from benchwright.eval.results import stale_reason
from benchwright.eval.run import why_not_applicable
from benchwright.progress import silent
from benchwright.release import ReleaseFolder
from benchwright.tasks import TEXT_TO_FUNQL, TEXT_TO_SQL


def names(
    tables: dict[str, list[str]], joins: list[tuple[str, str]] = (), numbers: str = ""
) -> DatabaseNames:  # type: ignore[assignment]
    """Tables with their columns; the first of each is its primary key, columns in `numbers` are numbers."""
    columns = [Column(-1, "*", "text", False, False)]
    places: dict[str, int] = {}
    ends = {end for pair in joins for end in pair}
    for number, (table, its) in enumerate(tables.items()):
        for position, name in enumerate(its):
            places[f"{table}.{name}"] = len(columns)
            kind = "number" if name in numbers.split() else "text"
            columns.append(Column(number, name, kind, position == 0, f"{table}.{name}" in ends))
    return DatabaseNames(tuple(tables), tuple(columns), tuple((places[a], places[b]) for a, b in joins))


SHOP = names(
    {"shop": ["shop_id", "name", "city"], "sale": ["sale_id", "shop", "price"]},
    [("sale.shop", "shop.shop_id")],
    "shop_id sale_id shop price",
)
RACES = names(
    {
        "circuit": ["circuit_id", "title", "country"],
        "driver": ["driver_id", "surname", "age"],
        "result": ["result_id", "driver", "points"],
    },
    [("result.driver", "driver.driver_id")],
    "circuit_id driver_id age result_id driver points",
)


@pytest.mark.parametrize(
    ("query", "question", "expected"),
    [
        ("SELECT name FROM shop", "List the surname of each driver", "SELECT surname FROM driver"),
        ("SELECT count(*) FROM shop", "How many circuits are there?", "SELECT count(*) FROM circuit"),
        (
            'SELECT city FROM shop WHERE name = "city"',
            "What is the country of the circuit titled Monza?",
            'SELECT country FROM circuit WHERE title = "city"',
        ),
        (
            "SELECT T1.name FROM shop AS T1 JOIN sale AS T2 ON T1.shop_id = T2.shop GROUP BY T1.name",
            "the surname of drivers with any result",
            "SELECT T1.surname FROM driver AS T1 JOIN result AS T2 ON T1.driver_id = T2.driver "
            "GROUP BY T1.surname",
        ),
        (
            "SELECT shop.name FROM shop JOIN sale ON sale.shop = shop.shop_id",
            "the surname of drivers with any result",
            "SELECT driver.surname FROM driver JOIN result ON result.driver = driver.driver_id",
        ),
        (
            "SELECT name FROM shop WHERE shop_id NOT IN ( SELECT shop FROM sale WHERE price  >  3 )",
            "surname of drivers without results of many points",
            "SELECT surname FROM driver WHERE driver_id NOT IN "
            "( SELECT driver FROM result WHERE points  >  3 )",
        ),
        ("SELECT nothing FROM nowhere", "anything", "SELECT nothing FROM nowhere"),
        ("", "anything", ""),
    ],
)
def test_names_are_replaced_by_those_that_the_question_asks_for(
    query: str, question: str, expected: str
) -> None:
    assert carry_over(query, SHOP, RACES, question) == expected


def test_one_table_may_stand_for_two_where_there_is_no_other() -> None:
    single = names({"cow": ["cow_id", "name"]}, [], "cow_id")
    query = "SELECT T1.name FROM shop AS T1 JOIN sale AS T2 ON T1.shop_id = T2.shop"
    expected = "SELECT T1.name FROM cow AS T1 JOIN cow AS T2 ON T1.cow_id = T2.cow_id"
    assert carry_over(query, SHOP, single, "which cows") == expected


def test_a_database_without_columns_or_tables_leaves_the_query_as_it_is() -> None:
    query = "SELECT name FROM shop"
    assert carry_over(query, SHOP, names({}), "question") == query
    assert carry_over(query, SHOP, names({"bare": []}), "question") == "SELECT name FROM bare"


def test_equal_names_go_to_the_first_column() -> None:
    target = names({"cow": ["cow_id", "left", "right"]})
    assert carry_over("SELECT city FROM shop", SHOP, target, "?") == "SELECT left FROM cow"


_SELECTED = st.sampled_from(["name", "count(*)", "max(price)", "shop_id", "*", "DISTINCT city", "sale.price"])
_CONDITIONS = st.sampled_from(
    ["", " WHERE price > 3", ' WHERE name LIKE "%shop%"', " GROUP BY city HAVING count(*) > 2", " LIMIT 1"]
)


@given(
    selected=st.lists(_SELECTED, min_size=1, max_size=3),
    joined=st.booleans(),
    condition=_CONDITIONS,
    question=st.text(alphabet="drivers aged of circuit country point title ", max_size=40),
)
@settings(max_examples=60, deadline=None)
def test_what_spider_reads_stays_readable(
    selected: list[str], joined: bool, condition: str, question: str
) -> None:
    source, target = (
        Schema(found.tables, tuple((column.table, column.name) for column in found.columns))
        for found in (SHOP, RACES)
    )
    tables = "shop JOIN sale ON sale.shop = shop.shop_id" if joined else "sale"
    query = f"SELECT {', '.join(selected)} FROM {tables}{condition}"
    try:
        parse(query, source)
    except ValueError:
        return
    parse(carry_over(query, SHOP, RACES, question), target)


def test_masks() -> None:
    question = 'How many drivers aged 30 won in "Monza" or Spa?'
    assert masked(question, RACES) == "how many _table_ aged _number_ won in _value_ or _value_"
    assert masked("What is the surname?", RACES) == "what is the _column_"


def test_words_of_any_script() -> None:
    assert words("homeTown_ID") == ("home", "town", "id")
    assert words("Straße 東京") == ("straße", "東", "京")
    assert [stem(word) for word in ("Countries", "classes", "bus", "class")] == [
        "country", "class", "bus", "class",
    ]  # fmt: skip


def rows(questions: list[str], queries: list[str], databases: list[str]) -> Rows:
    uids = [f"{place}:{question}" for place, question in enumerate(questions)]
    return Rows(uids, {"db_id": databases, "question": questions}, np.array(queries, dtype=object))


def answers(train: Rows, evaluation: Rows, task: Any = TEXT_TO_SQL) -> Any:
    data = EvaluationData("c", "test", task, evaluation, frozenset(evaluation.uids), lambda: train)
    return NearestQuestion().run(data, 0, silent)


def test_a_question_about_the_same_database_is_preferred() -> None:
    train = rows(["List all cows by age", "Show the farm"], ["q1", "q2"], ["a", "b"])
    found = answers(train, rows(["List all cows by age"] * 2, ["?"] * 2, ["b", "c"]))
    assert found.values == ["q2", "q1"]


def test_equal_similarities_go_to_the_first_row_of_the_file() -> None:
    train = rows(["old cows", "cows old", "young cows"], ["q1", "q2", "q3"], ["a"] * 3)
    assert answers(train, rows(["old cows"], ["?"], ["a"])).values == ["q1"]
    reversed_train = rows(["cows old", "old cows", "young cows"], ["q2", "q1", "q3"], ["a"] * 3)
    assert answers(reversed_train, rows(["old cows"], ["?"], ["a"])).values == ["q2"]


def test_rows_that_share_no_word_with_training_are_answered_and_flagged() -> None:
    train = rows(["old cows", "???"], ["q1", "q2"], ["a"] * 2)
    found = answers(train, rows(["old", "zebra", "!"], ["?"] * 3, ["a", "a", "b"]))
    assert found.values == ["q1"] * 3
    assert found.flagged == {"no_similar_question": frozenset({"1:zebra", "2:!"})}
    without_words = rows(["?", "!"], ["q1", "q2"], ["a"] * 2)
    assert answers(without_words, rows(["old"], ["?"], ["a"])).values == ["q1"]


def test_programs_without_databases_are_given_unchanged() -> None:
    train = Rows(
        ["a", "b"],
        {"source": ["what is the capital of m0", "how long is m0"]},
        np.array(["answer(capital(m0))", "answer(len(m0))"], dtype=object),
    )
    evaluation = Rows(["c"], {"source": ["name the capital of m0"]}, np.array(["?"], dtype=object))
    assert answers(train, evaluation, TEXT_TO_FUNQL).values == ["answer(capital(m0))"]


BARN_SCHEMA: dict[str, Any] = {
    "uid": "toy:tables:barn",
    "db_id": "barn",
    "table_names": ["horse"],
    "column_names": [{"table_id": -1, "name": "*"}]
    + [{"table_id": 0, "name": name} for name in ("horse_id", "name", "speed")],
    "foreign_keys": [],
}


@pytest.fixture
def release(tmp_path: Path) -> ReleaseFolder:
    """The farm's training questions, and a test question about another database."""
    train = sql_rows(["SELECT name FROM cow", "SELECT count(*) FROM cow", "SELECT max(age) FROM cow"])
    for row, question in zip(train, ("names of cows", "number of cows", "greatest age"), strict=True):
        row["question"] = question
    test = [
        {
            "uid": "toy:all:8",
            "db_id": "barn",
            "question": "names of horses",
            "query": "SELECT name FROM horse",
        },
        {"uid": "toy:all:9", "db_id": "farm", "question": "cow number", "query": "SELECT count(*) FROM cow"},
    ]
    splits = {"train": train, "test": test}
    return write_release(
        tmp_path / "r",
        {"random": splits, "length": splits},
        task=TEXT_TO_SQL,
        schemas=[FARM_SCHEMA, BARN_SCHEMA],
    )


def test_it_runs_by_default_and_is_judged_by_exact_set_match(release: ReleaseFolder) -> None:
    results = {r.baseline: r for r in evaluate(release, configs=["random"])}
    result = results["nearest_question"]
    assert result.metrics["exact_set_match"]["value"] == 1.0
    assert set(result.splits) == {"train", "test"}
    assert result.tables["schemas"] is not None
    assert result.settings["linking_weights"]["question"] == 2.0


def test_a_change_of_the_schemas_makes_the_result_stale(release: ReleaseFolder) -> None:
    (result,) = evaluate(release, configs=["random"], baselines=["nearest_question"])
    assert stale_reason(result, release) is None
    manifest = json.loads((release.path / "manifest.json").read_text(encoding="utf-8"))
    manifest["configs"]["schemas"]["splits"]["train"]["content_hash"] = "sha256:other"
    (release.path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    assert stale_reason(result, ReleaseFolder(release.path)) == "the table schemas has changed"


def test_schemas_reach_the_baseline_only_where_the_release_has_them(
    release: ReleaseFolder, tmp_path: Path
) -> None:
    table = side_table(release, "schemas")
    assert table is not None
    assert table.num_rows == 2
    assert side_table(release, "random") is None
    bare = tmp_path / "bare"
    shutil.copytree(release.path, bare)
    manifest = json.loads((bare / "manifest.json").read_text(encoding="utf-8"))
    del manifest["configs"]["schemas"]
    (bare / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    data = load_data(ReleaseFolder(bare), "random", "test")
    assert NearestQuestion().run(data, 0, silent).values[0] == "SELECT name FROM cow"


def test_it_is_for_free_text(tmp_path: Path) -> None:
    release = write_release(tmp_path / "n", {"random": {"train": nli_rows(0, 6), "test": nli_rows(6, 3)}})
    reason = "it needs a task with free text as its target, which nli is not"
    assert why_not_applicable(release, "random", "nearest_question") == reason

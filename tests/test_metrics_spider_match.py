"""Spider's parser, hardness and exact set match: the reference's verdicts, hand-worked cases, invariances."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.eval.metrics.spider import (
    COMPONENTS,
    EMPTY,
    HARDNESS_LEVELS,
    Comparison,
    Schema,
    UnparsedQueryError,
    compare,
    from_rows,
    hardness,
    hardness_counts,
    normalise,
    parse,
)
from benchwright.eval.metrics.spider.parse import tokens_of
from benchwright.eval.metrics.spider.schema import Column

FARM = Schema(
    ("Cow", "Owner", "Sale"),
    (
        (-1, "*"),
        (0, "ID"),
        (0, "Name"),
        (0, "Age"),
        (0, "owner_id"),
        (1, "id"),
        (1, "name"),
        (2, "cow_id"),
        (2, "price"),
    ),
    ((4, 5), (7, 1)),
)


def score(gold: str, prediction: str, schema: Schema = FARM) -> Comparison:
    try:
        found = parse(prediction, schema).query
    except UnparsedQueryError:
        found = EMPTY
    return compare(normalise(parse(gold, schema).query, schema), normalise(found, schema))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def schema_of(entry: dict[str, Any]) -> Schema:
    return Schema(
        tuple(entry["table_names_original"]),
        tuple((table, name) for table, name in entry["column_names_original"]),
        tuple((first, second) for first, second in entry["foreign_keys"]),
    )


@pytest.fixture(scope="module")
def spider(oracle_folder: Path) -> Path:
    return oracle_folder / "spider_eval"


@pytest.fixture(scope="module")
def schemas(spider: Path) -> dict[str, Schema]:
    entries = json.loads((spider / "tables_dev.json").read_text(encoding="utf-8"))
    return {entry["db_id"]: schema_of(entry) for entry in entries}


@pytest.mark.corpora
def test_hardness_of_every_development_query(spider: Path, schemas: dict[str, Schema]) -> None:
    gold = lines(spider / "gold.jsonl")
    levels: Counter[str] = Counter()
    for row in gold:
        counts = hardness_counts(parse(row["query"], schemas[row["db_id"]]).query)
        expected = row["hardness"], row["component1"], row["component2"], row["others"]
        assert (counts.level, counts.components, counts.nested, counts.others) == expected, row
        levels[counts.level] += 1
    assert [levels[name] for name in HARDNESS_LEVELS] == [248, 446, 174, 166]


@pytest.mark.corpora
@pytest.mark.parametrize("system", ["1", "9", "21"])
def test_every_component_of_system_outputs(spider: Path, schemas: dict[str, Schema], system: str) -> None:
    gold = lines(spider / "gold.jsonl")
    exact: Counter[str] = Counter()
    errors = 0
    for row in lines(spider / f"pred_{system}.jsonl"):
        reference = gold[row["i"]]
        found = verdict(reference["query"], row["pred"], schemas[reference["db_id"]])
        assert found == (row["parse_error"], row["exact"], row["comp"]), row
        errors += found[0]
        for name in (reference["hardness"], "all"):
            exact[name] += found[1]
    aggregate = json.loads((spider / "aggregate.json").read_text(encoding="utf-8"))
    assert tuple(aggregate["components_order"]) == COMPONENTS
    assert exact == aggregate["systems"][system]["exact_correct"]
    assert errors == aggregate["systems"][system]["parse_errors"]


@pytest.mark.corpora
def test_edge_cases(spider: Path, schemas: dict[str, Schema]) -> None:
    cases = lines(spider / "edge_cases.jsonl")
    assert len(cases) == 28
    for case in cases:
        schema = schemas[case["db_id"]]
        if "gold_error" in case:
            with pytest.raises(UnparsedQueryError):
                parse(case["gold"], schema)
            continue
        counts = hardness_counts(parse(case["gold"], schema).query)
        found = verdict(case["gold"], case["pred"], schema)
        assert found == (case["parse_error"], case["exact"], case["comp"]), case["note"]
        expected = case["hardness"], case["component1"], case["component2"], case["others"]
        assert (counts.level, counts.components, counts.nested, counts.others) == expected, case["note"]


def verdict(gold: str, prediction: str, schema: Schema) -> tuple[bool, int, list[list[int]]]:
    unparsed = False
    try:
        parse(prediction, schema)
    except UnparsedQueryError:
        unparsed = True
    found = score(gold, prediction, schema)
    scores = [[int(one.match), one.gold, one.prediction] for one in found.components.values()]
    return unparsed, int(found.exact), scores


@pytest.mark.corpora
def test_the_one_query_of_8034_that_names_a_table_which_its_schema_lacks(data_folder: Path) -> None:
    folder = data_folder / "spider"
    with gzip.open(folder / "tables.json.gz", "rt", encoding="utf-8") as handle:
        schemas = {entry["db_id"]: schema_of(entry) for entry in json.load(handle)}
    levels: Counter[str | None] = Counter()
    unread = []
    for split in ("train_spider", "dev"):
        with gzip.open(folder / f"{split}.json.gz", "rt", encoding="utf-8") as handle:
            for index, row in enumerate(json.load(handle)):
                level = hardness(row["query"], schemas[row["db_id"]])
                levels[level] += 1
                if level is None:
                    unread.append((split, index, row["db_id"]))
    assert unread == [("train_spider", 3153, "assets_maintenance")]
    assert [levels[name] for name in HARDNESS_LEVELS] == [1942, 3223, 1634, 1234]


@pytest.mark.parametrize(
    ("query", "level"),
    [
        ("SELECT * FROM cow", "easy"),
        ("SELECT name FROM cow WHERE age > 3", "easy"),
        ("SELECT name, age FROM cow WHERE age > 3", "medium"),  # one component, one other
        ("SELECT name FROM cow WHERE age > 3 ORDER BY age", "medium"),  # two components
        ("SELECT name FROM cow WHERE name LIKE '%a%' ORDER BY age", "hard"),  # three
        ("SELECT name FROM cow WHERE age > 3 OR age < 1 ORDER BY age LIMIT 3", "extra"),  # four
        ("SELECT name FROM cow WHERE age IN (SELECT price FROM sale)", "hard"),  # one nested
        ("SELECT name FROM cow UNION SELECT name FROM owner", "hard"),
        ("SELECT name, age FROM cow EXCEPT SELECT name, id FROM owner", "extra"),
        ("SELECT count(*) FROM (SELECT * FROM cow WHERE age > 3)", "easy"),  # not nested as a value
        # A negated condition counts as an aggregate: two of them, and two conditions, are two others.
        ("SELECT id FROM cow WHERE age NOT IN (1) AND age NOT IN (2)", "medium"),
        ("SELECT nosuch FROM cow", None),
    ],
)
def test_hardness(query: str, level: str | None) -> None:
    assert hardness(query, FARM) == level


def test_connectives_of_having_count_as_aggregates() -> None:
    one = "SELECT age FROM cow GROUP BY age HAVING count(*) > 1"
    assert hardness_counts(parse(one, FARM).query).others == 0
    three = f"{one} AND count(*) < 9 AND count(*) < 8"
    assert hardness_counts(parse(three, FARM).query).others == 1


@pytest.mark.parametrize(
    ("gold", "prediction", "failing"),
    [
        ("SELECT name, age FROM cow", "SELECT age, name FROM cow", ()),
        ("SELECT DISTINCT name FROM cow", "SELECT name FROM cow", ()),
        ("SELECT name FROM cow LIMIT 3", "SELECT name FROM cow LIMIT 5", ()),
        ("SELECT name FROM cow LIMIT 3", "SELECT name FROM cow", ("keywords",)),
        ("SELECT max(age) FROM cow", "SELECT min(age) FROM cow", ("select",)),
        ("SELECT name FROM cow WHERE age > 3", "SELECT name FROM cow WHERE age < 3", ("where",)),
        (
            "SELECT name FROM cow WHERE age > 3 AND id = 1",
            "SELECT name FROM cow WHERE age > 3 OR id = 1",
            ("and/or", "keywords"),
        ),
        ("SELECT id FROM cow", "SELECT id FROM owner", ("select", "select(no AGG)", "from")),
        (
            "SELECT T1.name FROM cow AS T1 JOIN owner AS T2 ON T1.owner_id = T2.id",
            "SELECT cow.name FROM owner JOIN cow ON cow.age = owner.name",
            (),
        ),
        # A foreign key makes the two columns one where both tables are in FROM.
        (
            "SELECT T2.id FROM cow AS T1 JOIN owner AS T2",
            "SELECT T1.owner_id FROM cow AS T1 JOIN owner AS T2",
            (),
        ),
        (
            "SELECT name FROM cow WHERE age IN (SELECT price FROM sale)",
            "SELECT name FROM cow WHERE age IN (SELECT DISTINCT price FROM sale)",
            ("where",),
        ),
        (
            "SELECT name FROM cow UNION SELECT name FROM owner",
            "SELECT name FROM cow UNION SELECT DISTINCT name FROM owner",
            (),
        ),
        (
            "SELECT name FROM cow UNION SELECT name FROM owner",
            "SELECT name FROM cow EXCEPT SELECT name FROM owner",
            ("IUEN", "keywords"),
        ),
        (
            "SELECT age FROM cow GROUP BY age HAVING count(*) > 1",
            "SELECT age FROM cow GROUP BY age HAVING count(*) < 1",
            ("group",),
        ),
        ("SELECT age FROM cow GROUP BY age, id", "SELECT age FROM cow GROUP BY id, age", ("group",)),
        ("SELECT name FROM cow", "SELEC name FRM cow", ("select", "select(no AGG)", "from")),
    ],
)
def test_exact_set_match(gold: str, prediction: str, failing: tuple[str, ...]) -> None:
    found = score(gold, prediction)
    assert (found.failing, found.exact) == (failing, not failing)


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("", "no FROM"),
        ("SELECT name", "no FROM"),
        ("SELECT nosuch FROM cow", "no column 'nosuch'"),
        ("SELECT T9.name FROM cow", "no column 't9.name'"),
        ("SELECT name FROM nosuch", "no table 'nosuch'"),
        ("SELECT name FROM cow WHERE name = 'it's'", "an odd number of quotation marks"),
        ("SELECT name FROM cow AS owner", "alias 'owner' is the name of a table"),
        ("SELECT name FROM cow WHERE age", "a comparison expected, found the end of the query"),
        ("SELECT name FROM cow WHERE age > 3 name = 'a' AND id = 1", "two conditions without AND or OR"),
        ("SELECT name FROM cow LIMIT", "LIMIT without a number"),
        ("SELECT name FROM cow ORDER age", "'by' expected, found 'age'"),
        ("SELECT name FROM cow WHERE age IN (1, 2)", "')' expected, found ','"),
        ("SELECT count(* FROM cow", "')' expected, found 'from'"),
        ("SELECT name FROM cow AS", "AS without a name"),
        (f"SELECT {'x' * 200} FROM cow", f"no column '{'x' * 76}..."),
    ],
)
def test_why_a_query_is_not_read(query: str, reason: str) -> None:
    with pytest.raises(UnparsedQueryError, match=re.escape(reason)):
        parse(query, FARM)


def test_deep_nesting_is_a_reason_and_no_crash() -> None:
    deep = "SELECT name FROM cow WHERE age IN (" * 2_000
    with pytest.raises(UnparsedQueryError, match="nested more than 50 deep"):
        parse(deep + "SELECT name FROM cow" + ")" * 2_000, FARM)


def test_text_after_a_query_is_kept_apart() -> None:
    parsed = parse("SELECT name FROM cow ; and so on", FARM)
    assert parsed.rest == ("and", "so", "on")
    assert parsed.query == parse("SELECT name FROM cow", FARM).query


def test_a_column_on_the_right_swallows_what_follows_it() -> None:
    """As in the reference: only its first unit counts, up to AND, a comma, a bracket or a clause."""
    short, long = (
        parse(f"SELECT name FROM cow WHERE age > id{rest}", FARM).query for rest in ("", " - 5 or name = 3")
    )
    assert short == long


def test_tokens() -> None:
    query = 'SELECT  T1.Name FROM cow AS T1 WHERE a >= 3 and b ! = "Red \'n" LIMIT 1;'
    assert tokens_of(query.replace("'", ""))[-6:] == ["b", "!=", '"Red n"', "limit", "1", ";"]
    assert tokens_of("a>=3 'x y' < = 1") == ["a", ">", "=3", '"x y"', "<=", "1"]


def test_foreign_key_groups_are_made_in_one_pass() -> None:
    columns = ((-1, "*"), (0, "a"), (0, "b"), (0, "c"), (0, "d"))
    first, second, third, fourth = (Column("t", name) for name in "abcd")
    # The last key joins the first group that has a member; the groups stay apart.
    schema = Schema(("t",), columns, ((2, 1), (4, 3), (4, 1)))
    expected = {first: first, second: first, third: third, fourth: third}
    assert schema.representatives == expected
    assert Schema(("t",), columns, ((3, 2), (2, 1))).representatives == {
        first: first,
        second: first,
        third: first,
    }


def test_a_schema_with_numbers_out_of_range_is_refused() -> None:
    with pytest.raises(ValueError, match="column 'x' is of table 1"):
        Schema(("t",), ((1, "x"),))
    with pytest.raises(ValueError, match="foreign key"):
        Schema(("t",), ((0, "x"),), ((0, 1),))


def test_schemas_from_the_rows_of_a_release() -> None:
    row = {
        "uid": "spider:tables:farm",
        "db_id": "farm",
        "table_names": list(FARM.table_names),
        "column_names": [{"table_id": table, "name": name} for table, name in FARM.column_names],
        "foreign_keys": [{"column_id": a, "referenced_column_id": b} for a, b in FARM.foreign_keys],
    }
    assert from_rows(pa.Table.from_pylist([row])) == {"farm": FARM}


CONDITIONS = st.sampled_from(
    [
        "age > 3",
        "age NOT IN (SELECT price FROM sale)",
        "name LIKE 'a'",
        "id BETWEEN 1 AND 2",
        "owner_id = (SELECT max(id) FROM owner)",
    ]
)
QUERIES = st.builds(
    lambda items, conditions, connective, tail: (
        f"SELECT {', '.join(items)} FROM cow"
        + (f" WHERE {f' {connective} '.join(conditions)}" if conditions else "")
        + tail
    ),
    st.lists(
        st.sampled_from(["name", "count(*)", "max(age)", "age - id", "DISTINCT name"]), min_size=1, max_size=4
    ),
    st.lists(CONDITIONS, max_size=3),
    st.sampled_from(["AND", "OR"]),
    st.sampled_from(
        [
            "",
            " LIMIT 3",
            " ORDER BY age DESC",
            " GROUP BY age HAVING count(*) > 2",
            " EXCEPT SELECT name FROM owner",
        ]
    ),
)


@given(QUERIES, QUERIES)
def test_a_query_matches_itself_and_matching_goes_both_ways(first: str, second: str) -> None:
    assert score(first, first).exact
    assert score(first, second).exact == score(second, first).exact


@given(QUERIES, st.integers(0, 99))
def test_order_case_and_aliases_do_not_matter(query: str, seed: int) -> None:
    head, _, tail = query.removeprefix("SELECT ").partition(" FROM cow")
    items = head.split(", ")
    random.Random(seed).shuffle(items)
    other = f"select {', '.join(items)} from COW as t1{tail}"
    assert score(query, other).exact

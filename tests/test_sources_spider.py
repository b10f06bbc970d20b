"""The Spider reader, on small files of our own and on the real corpus."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from benchwright.builders.base import Origin
from benchwright.builders.sources.spider import parser_source, parser_target, read_spider
from benchwright.builders.spider import SpiderBuilder
from benchwright.errors import SourceError, SourceErrors
from benchwright.faults import FaultLog

TABLE = {
    "db_id": "Zoo",
    "table_names": ["animal kinds", "keepers"],
    "table_names_original": ["Animal_Kind", "Keeper"],
    "column_names": [[-1, "*"], [0, "kind id"], [1, "full name"], [0, "weight"], [1, "kind id"]],
    "column_names_original": [[-1, "*"], [0, "Kind_ID"], [1, "Full Name"], [0, "Weight"], [1, "Kind_ID"]],
    "column_types": ["text", "number", "text", "number", "number"],
    "primary_keys": [1],
    "foreign_keys": [[4, 1]],
}
EXAMPLE = {"db_id": "Zoo", "question": " How many Keepers? ", "query": "SELECT  count(*)\n\tFROM Keeper "}


def _corpus(
    folder: Path, *, train: Any = (EXAMPLE,), dev: Any = (EXAMPLE, EXAMPLE), tables: Any = (TABLE,)
) -> Path:
    for name, value in (("train_spider.json", train), ("dev.json", dev), ("tables.json", tables)):
        if value is not None:
            (folder / name).write_text(json.dumps(value))
    return folder


def test_uids_are_rows_of_files_and_source_index_counts_on(tmp_path: Path) -> None:
    source = read_spider(_corpus(tmp_path), FaultLog())
    assert source.examples.column("uid").to_pylist() == ["spider:train:0", "spider:dev:0", "spider:dev:1"]
    assert source.examples.column("source_index").to_pylist() == [0, 1, 2]
    assert source.examples.column("source_split").to_pylist() == ["train", "dev", "dev"]
    assert (source.read, source.notes) == (3, ())
    assert [(file.name, file.rows) for file in source.files] == [
        ("tables.json", 1),
        ("train_spider.json", 1),
        ("dev.json", 2),
    ]


def test_rows_keep_their_spelling_and_the_parser_strings_do_not(tmp_path: Path) -> None:
    row = SpiderBuilder().read(_corpus(tmp_path), FaultLog(), Origin("folder")).table.to_pylist()[0]
    assert (row["question"], row["query"]) == (EXAMPLE["question"], EXAMPLE["query"])
    suffix = " | animal_kind : kind_id , weight | keeper : full name , kind_id"
    assert row["source"] == "zoo:  how many keepers? " + suffix
    assert row["target"] == "select count(*) from keeper"
    assert row["length"] == 4
    assert row["template"] == "SELECT COUNT(*) FROM KEEPER AS KEEPERalias0"
    assert (row["hardness"], row["sql_parsed"]) == (0, True)
    assert row["num_novel_compounds"] is None  # depends on where a config puts the row


def test_a_query_that_spiders_own_parser_cannot_read_has_no_hardness(tmp_path: Path) -> None:
    corpus = _corpus(tmp_path, dev=[EXAMPLE, EXAMPLE | {"query": "SELECT FROM WHERE"}])
    table = SpiderBuilder().read(corpus, FaultLog(), Origin("folder")).table
    assert table.column("hardness").to_pylist() == [0, 0, None]
    assert table.column("sql_parsed").to_pylist() == [True, True, False]


def test_schemas_are_a_side_table_by_the_names_that_queries_use(tmp_path: Path) -> None:
    data = SpiderBuilder().read(_corpus(tmp_path), FaultLog(), Origin("folder"))
    table, features = data.extras["schemas"]
    assert table.schema.equals(features.arrow_schema)
    (row,) = table.to_pylist()
    assert row["uid"] == "spider:tables:Zoo"
    assert row["table_names"] == ["Animal_Kind", "Keeper"]
    assert row["column_names"][2] == {"table_id": 1, "name": "Full Name"}
    assert row["foreign_keys"] == [{"column_id": 4, "referenced_column_id": 1}]


def test_a_compressed_corpus_inside_an_archive_folder_gives_the_same_rows(tmp_path: Path) -> None:
    plain, packed = tmp_path / "plain", tmp_path / "packed"
    plain.mkdir()
    packed.mkdir()
    for path in _corpus(plain).iterdir():
        (packed / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert read_spider(plain, FaultLog()).examples == read_spider(packed, FaultLog()).examples


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"db_id": "zoo"}, "field 'db_id': unknown db_id, got 'zoo'; add the database to tables.json"),
        ({"question": 7}, "field 'question': wrong type, got 7; give a string"),
        ({"query": ""}, "field 'query': empty text"),
        ({"question": None}, "field 'question': wrong type, got 'null'"),
    ],
)
def test_bad_rows_are_faults_with_their_place(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    root = _corpus(tmp_path, dev=[EXAMPLE, EXAMPLE | change])
    with pytest.raises(SourceErrors) as caught:
        read_spider(root, FaultLog())
    assert "dev.json, row 1, " + message in str(caught.value)


def test_dropped_rows_leave_the_numbers_of_the_others(tmp_path: Path) -> None:
    faults = FaultLog("drop")
    source = read_spider(_corpus(tmp_path, train=[{"db_id": "Zoo"}, "text", EXAMPLE]), faults)
    assert source.examples.column("uid").to_pylist() == ["spider:train:2", "spider:dev:0", "spider:dev:1"]
    assert source.examples.column("source_index").to_pylist() == [2, 3, 4]
    assert dict(faults.dropped) == {"missing field": 1, "not a JSON object": 1}
    assert source.read == source.examples.num_rows + sum(faults.dropped.values())


def test_a_file_of_bad_rows_alone_is_not_dropped(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"train_spider\.json: no usable row among 1 row \(missing fie"):
        read_spider(_corpus(tmp_path, train=[{"db_id": "Zoo"}]), FaultLog("drop"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"db_id": ""}, "field 'db_id': empty text"),
        ({"column_names_original": [[0, 5]]}, "wrong type, got [[0, 5]]; give [table number, name] pairs"),
        ({"column_types": ["text"]}, "wrong number of types, got 1; give one type for each of the 5 columns"),
        ({"primary_keys": [9]}, "field 'primary_keys': number out of range, got 9; give numbers from 0 to 4"),
        (
            {"foreign_keys": [[4]]},
            "field 'foreign_keys': wrong type, got [[4]]; give pairs of column numbers",
        ),
        ({"table_names_original": ["Animal_Kind"]}, "number out of range, got 1; give numbers from -1 to 0"),
    ],
)
def test_a_bad_schema_stops_the_read_under_any_policy(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(SourceError) as caught:
        read_spider(_corpus(tmp_path, tables=[TABLE | change]), FaultLog("drop"))
    assert message in str(caught.value)
    assert "tables.json, row 0" in str(caught.value)


def test_a_database_that_stands_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        SourceError, match=r"tables\.json, row 1, field 'db_id': db_id stands twice, got 'Zoo'"
    ):
        read_spider(_corpus(tmp_path, tables=[TABLE, TABLE]), FaultLog())


def test_a_corpus_without_train_is_read_and_noted(tmp_path: Path) -> None:
    source = read_spider(_corpus(tmp_path, train=None), FaultLog())
    assert source.notes == ("source split train is missing",)
    assert source.examples.column("uid").to_pylist() == ["spider:dev:0", "spider:dev:1"]


@pytest.mark.parametrize("missing", [{"tables": None}, {"train": None, "dev": None}])
def test_files_that_must_be_there_are_named(tmp_path: Path, missing: dict[str, None]) -> None:
    with pytest.raises(
        SourceError, match=r"no (tables\.json|train_spider\.json or dev\.json) \(plain or \.gz\)"
    ):
        read_spider(_corpus(tmp_path, **missing), FaultLog())


def test_train_others_is_not_read(tmp_path: Path) -> None:
    _corpus(tmp_path)
    (tmp_path / "train_others.json").write_text("not even JSON")
    assert read_spider(tmp_path, FaultLog()).read == 3


def test_parser_strings() -> None:
    assert parser_source("Zoo", "How  MANY?") == "zoo: how  many?"
    assert parser_target(" SELECT\ta \n FROM  B;") == "select a from b;"


@pytest.mark.corpora
def test_the_real_corpus_has_the_published_rows(data_folder: Path) -> None:
    data = SpiderBuilder().read(data_folder / "spider", FaultLog(), Origin("folder"))
    splits = data.table.column("source_split").to_pylist()
    assert (splits.count("train"), splits.count("dev")) == (7_000, 1_034)
    assert data.table.num_rows == data.read == SpiderBuilder.published_rows
    assert data.extras["schemas"][0].num_rows == 166
    assert len(set(data.table.column("uid").to_pylist())) == 8_034
    assert data.table.column("source_index").to_pylist() == list(range(8_034))


@pytest.mark.corpora
def test_source_and_target_of_the_real_dev_file_equal_the_reference_line_by_line(
    data_folder: Path, oracle_folder: Path
) -> None:
    oracle = oracle_folder / "ll_split_semantic"
    table = SpiderBuilder().read(data_folder / "spider", FaultLog(), Origin("folder")).table.slice(7_000)
    pairs = zip(table.column("source").to_pylist(), table.column("target").to_pylist(), strict=True)
    expected = (oracle / "spider_dev.tsv").read_bytes().decode().removesuffix("\n").split("\n")
    assert [f"{source}\t{target}" for source, target in pairs] == expected
    lengths = json.loads((oracle / "spider_dev_scores.json").read_text())["nltk_len"]
    assert table.column("length").to_pylist() == lengths


@pytest.mark.corpora
def test_targets_of_the_real_corpus_are_on_one_line(data_folder: Path, oracle_folder: Path) -> None:
    table = SpiderBuilder().read(data_folder / "spider", FaultLog(), Origin("folder")).table
    queries, targets = table.column("query").to_pylist(), table.column("target").to_pylist()
    assert sum("\n" in query or "\t" in query for query in queries) == 11
    assert not any("\n" in target or "\t" in target or "  " in target for target in targets)
    sample = (oracle_folder / "tmcd_spider" / "sample.jsonl").read_text().splitlines()
    assert {json.loads(line)["sql"] for line in sample} <= set(targets)

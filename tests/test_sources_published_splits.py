"""Files of published divisions, and the row numbers that they use."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from benchwright.builders.sources.files import SourceFolder
from benchwright.builders.sources.published_splits import (
    SPIDER_SPLITS,
    PublishedSplits,
    read_published_splits,
    spider_row_numbers,
)
from benchwright.builders.sources.spider import parser_source, parser_target
from benchwright.errors import SourceError
from benchwright.text.sql import sql_atoms


def _read(folder: Path, content: Any, numbers: Any = (0, 1, 2), known: Any = range(3)) -> PublishedSplits:
    (folder / "nqg_splits").mkdir(exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / "nqg_splits" / "tmcd_1.json").write_text(text)
    return read_published_splits(SourceFolder(folder), ["tmcd_1"], numbers, known)


def test_every_row_gets_its_split_and_rows_without_a_number_none(tmp_path: Path) -> None:
    found = _read(tmp_path, {"train": [2, 0], "test": [1]}, numbers=[2, None, 1, 0])
    assert found.splits["tmcd_1"].tolist() == ["train", None, "test", "train"]
    assert found.splits["tmcd_1"].dtype == object
    ((name, rows),) = [(file.name, file.rows) for file in found.files]
    assert (name, rows, found.notes) == ("nqg_splits/tmcd_1.json", 3, ())


def test_dropped_rows_leave_no_trace_and_do_not_move_others(tmp_path: Path) -> None:
    found = _read(tmp_path, {"train": [0, 1], "test": [2]}, numbers=[0, 2])
    assert found.splits["tmcd_1"].tolist() == ["train", "test"]


def test_a_missing_file_is_noted(tmp_path: Path) -> None:
    (tmp_path / "dev.json").write_text("[]")
    found = read_published_splits(SourceFolder(tmp_path), ["random_1", "tmcd_1"], [0], range(1))
    assert (dict(found.splits), found.files) == ({}, ())
    assert found.notes == ("published splits are missing: nqg_splits/random_1.json, nqg_splits/tmcd_1.json",)


def test_only_files_in_a_folder_of_that_name_count(tmp_path: Path) -> None:
    (tmp_path / "tmcd_1.json").write_text('{"train": [0], "test": []}')
    assert read_published_splits(SourceFolder(tmp_path), ["tmcd_1"], [0], range(1)).splits == {}


def test_compressed_files_and_archives_are_read(tmp_path: Path) -> None:
    inner = tmp_path / "corpus" / "nqg_splits"
    inner.mkdir(parents=True)
    (inner / "tmcd_1.json.gz").write_bytes(gzip.compress(b'{"train": [0], "test": [1]}'))
    found = read_published_splits(SourceFolder(tmp_path), ["tmcd_1"], [0, 1], range(2))
    assert found.splits["tmcd_1"].tolist() == ["train", "test"]


def test_two_copies_are_refused(tmp_path: Path) -> None:
    _read(tmp_path, {"train": [0, 1], "test": [2]})
    (tmp_path / "nqg_splits" / "tmcd_1.json.gz").write_bytes(gzip.compress(b"{}"))
    with pytest.raises(SourceError, match=r"more than one nqg_splits/tmcd_1\.json: .*; keep one"):
        read_published_splits(SourceFolder(tmp_path), ["tmcd_1"], [0], range(1))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"train": [0, 1, 1], "test": [2]}, "field 'train': a row stands twice, got 1; use the nqg_splits"),
        ({"train": [0, 1], "test": [2, 0]}, "field 'test': a row stands twice, got 0"),
        ({"train": [0, 3], "test": [1]}, "a row that the corpus does not have, got 3; use the nqg_splits"),
        ({"train": [0, -1], "test": [1]}, "a row that the corpus does not have, got -1"),
        ({"train": ["0"], "test": [1]}, "a row number that is no integer, got '0'"),
        ({"train": [True], "test": [0]}, "a row number that is no integer, got True"),
        ({"train": [0, None], "test": [1]}, "a row number that is no integer, got 'null'"),
        ({"train": [1.0], "test": [0]}, "a row number that is no integer, got 1.0"),
        ({"train": [0], "test": [1]}, "the file leaves out 1 of 3 rows, row 2 first; use the nqg_splits"),
        ({"train": {"0": 1}, "test": []}, "field 'train': no list, got {'0': 1}; give row numbers"),
        ({"train": [0, 1, 2]}, "no published split, got .*; give one JSON object with the lists train"),
        ({"train": [], "test": [], "dev": []}, "no published split"),
        ([0, 1], "no published split"),
        ('{"train": [0', "the file ends in the middle of a record"),
        ("", "the file is empty"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_division_of_the_corpus_is_refused(
    tmp_path: Path, content: Any, message: str
) -> None:
    with pytest.raises(SourceError, match=message) as error:
        _read(tmp_path, content)
    assert "tmcd_1.json" in str(error.value)
    assert "\n" not in str(error.value)


def test_row_numbers_of_spider_count_the_rows_of_large_databases() -> None:
    db_ids = ["a", *["b"] * 30, "a", *["b"] * 20, *["a"] * 47, *["c"] * 50]
    numbers = spider_row_numbers(db_ids)
    assert [number for number in numbers if number is not None] == list(range(100))
    assert {db for db, number in zip(db_ids, numbers, strict=True) if number is None} == {"a"}
    assert spider_row_numbers([]) == []


@pytest.fixture(scope="module")
def spider(data_folder: Path) -> tuple[list[dict[str, Any]], list[int | None], PublishedSplits]:
    rows = json.loads(gzip.decompress((data_folder / "spider" / "train_spider.json.gz").read_bytes()))
    numbers = spider_row_numbers([row["db_id"] for row in rows])
    published = read_published_splits(
        SourceFolder(data_folder / "spider"), SPIDER_SPLITS, numbers, range(4_376)
    )
    return rows, numbers, published


@pytest.mark.corpora
def test_spider_has_four_published_splits_of_4376_rows(spider: Any) -> None:
    rows, numbers, published = spider
    sizes = {name: Counter(sides.tolist()) for name, sides in published.splits.items()}
    assert sizes == {
        "random_1": {"train": 3_282, "test": 1_094, None: 2_624},
        "length_1": {"train": 3_282, "test": 1_094, None: 2_624},
        "template_1": {"train": 3_280, "test": 1_096, None: 2_624},
        "tmcd_1": {"train": 3_282, "test": 1_094, None: 2_624},
    }
    assert published.notes == ()
    assert len({row["db_id"] for row, number in zip(rows, numbers, strict=True) if number is not None}) == 51


@pytest.mark.corpora
def test_the_numbers_of_spider_rows_are_right_for_their_published_splits(
    spider: Any, data_folder: Path
) -> None:
    """What each split promises holds with these numbers, and with none that are shifted by a row."""
    rows, numbers, published = spider
    subset = [row for row, number in zip(rows, numbers, strict=True) if number is not None]

    def order(name: str) -> list[int]:
        content = json.loads((data_folder / "spider" / "nqg_splits" / f"{name}.json").read_text())
        return content["train"] + content["test"]

    lengths = [len(parser_source(row["db_id"], row["question"]).split(" ")) for row in subset]
    by_length = [lengths[number] for number in order("length_1")]
    assert by_length == sorted(by_length)

    # The published template split keeps equal queries together, and lists each group in one run.
    queries = [" ".join(row["query"].split()) for row in subset]
    runs = [query for query, _ in groupby(queries[number] for number in order("template_1"))]
    assert len(runs) == len(set(runs)) == 2_171

    atoms = {"train": set[str](), "test": set[str]()}
    for row, side in zip(rows, published.splits["tmcd_1"].tolist(), strict=True):
        if side is not None:
            atoms[side] |= sql_atoms(parser_target(row["query"]))
    assert atoms["test"] <= atoms["train"]

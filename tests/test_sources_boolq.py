"""The BoolQ reader, on small files of our own and on the real corpus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchwright.builders.base import Origin
from benchwright.builders.boolq import BoolQBuilder
from benchwright.builders.sources.boolq import read_boolq
from benchwright.errors import SourceError, SourceErrors
from benchwright.faults import FaultLog

ROW = {"question": "is tea hot", "title": "Tea", "answer": True, "passage": "Tea is a hot drink, mostly."}


def _write(path: Path, *rows: dict[str, Any]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_rows_uids_lengths_and_files(tmp_path: Path) -> None:
    _write(tmp_path / "train.jsonl", ROW, ROW)
    _write(tmp_path / "dev.jsonl", ROW | {"answer": False})
    data = BoolQBuilder().read(tmp_path, FaultLog(), Origin("folder"))
    rows = data.table.to_pylist()
    assert [row["uid"] for row in rows] == ["boolq:train:0", "boolq:train:1", "boolq:dev:0"]
    assert [row["source_index"] for row in rows] == [0, 1, 2]
    assert [row["answer"] for row in rows] == [True, True, False]
    assert (rows[0]["length"], rows[0]["passage_length"], rows[0]["title"]) == (3, 8, "Tea")
    assert rows[0]["content_id"] == rows[2]["content_id"]
    assert (data.read, data.notes, data.filtered) == (3, (), {})


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("answer", False, False),
        ("label", True, True),
        ("label", 1, True),
        ("label", 0, False),
        ("answer", "yes", True),
        ("answer", "no", False),
        ("answer", "true", True),
        ("answer", "False", False),
    ],
)
def test_the_answers_that_public_copies_write(tmp_path: Path, field: str, value: Any, expected: bool) -> None:
    _write(tmp_path / "dev.jsonl", {"question": "q", "passage": "p", field: value, "idx": 7})
    (row,) = read_boolq(tmp_path, FaultLog()).questions.to_pylist()
    assert row["answer"] is expected
    assert row["title"] is None


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({**ROW, "answer": "maybe"}, "unknown label, got 'maybe'; known labels: 'true'"),
        ({**ROW, "answer": 2}, "unknown label, got 2"),
        ({**ROW, "answer": None}, "unknown label, got 'null'"),
        (
            {"question": "q", "passage": "p"},
            "field 'answer': missing field; the record has question, passage",
        ),
        ({**ROW, "passage": " "}, "field 'passage': empty text"),
        ({**ROW, "title": 5}, "field 'title': wrong type, got 5"),
    ],
)
def test_bad_rows_are_faults(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    _write(tmp_path / "train.jsonl", ROW, row)
    with pytest.raises(SourceErrors) as caught:
        read_boolq(tmp_path, FaultLog())
    assert message in str(caught.value)
    assert "train.jsonl, row 1, line 2" in str(caught.value)


def test_a_file_of_bad_rows_alone_is_not_dropped(tmp_path: Path) -> None:
    _write(tmp_path / "train.jsonl", ROW)
    _write(tmp_path / "dev.jsonl", ROW | {"answer": "maybe"}, ROW | {"passage": " "})
    with pytest.raises(SourceError, match=r"dev\.jsonl: no usable row among 2 rows"):
        read_boolq(tmp_path, FaultLog("drop"))


def test_a_test_file_without_answers_is_filtered_and_counted(tmp_path: Path) -> None:
    _write(tmp_path / "train.jsonl", ROW)
    _write(tmp_path / "dev.jsonl", ROW)
    _write(
        tmp_path / "test.jsonl",
        {"question": "q", "passage": "p"},
        {"question": "q", "passage": "p", "label": -1},
        ROW,
    )
    faults = FaultLog()
    source = read_boolq(tmp_path, faults)
    assert dict(faults.filtered) == {"no label": 2}
    assert source.questions.column("uid").to_pylist() == ["boolq:train:0", "boolq:dev:0", "boolq:test:2"]
    assert source.read == 5


def test_a_parquet_copy(tmp_path: Path) -> None:
    columns = {"question": ["q"], "answer": [True], "passage": ["p"]}
    pq.write_table(pa.table(columns), tmp_path / "validation-00000-of-00001.parquet")
    source = read_boolq(tmp_path, FaultLog())
    assert source.questions.column("uid").to_pylist() == ["boolq:dev:0"]
    assert source.notes == ("source split train is missing",)


@pytest.mark.corpora
def test_the_real_files(data_folder: Path) -> None:
    source = read_boolq(data_folder / "boolq", FaultLog())
    splits = source.questions.column("source_split").to_pylist()
    assert (splits.count("train"), splits.count("dev")) == (1_886, 3_270)
    assert source.read == 5_156
    assert all(source.questions.column("title").to_pylist())

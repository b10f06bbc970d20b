"""Trial 19: folders, empty files, UTF-16, a gzip that is none, cut JSON: one line, exit code 2."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchwright.builders.base import Builder, Origin
from benchwright.builders.boolq import BoolQBuilder
from benchwright.builders.snli import SnliBuilder
from benchwright.builders.spider import SpiderBuilder
from benchwright.errors import SourceError
from benchwright.faults import FaultLog

ROW = json.dumps({"question": "is it so", "answer": True, "passage": "It is."}) + "\n"


def _message(builder: Builder, root: Path) -> str:
    with pytest.raises(SourceError) as caught:
        builder.read(root, FaultLog("drop"), Origin("folder"))
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("dev.jsonl", b"", "the file is empty; copy or download the file again"),
        (
            "dev.jsonl",
            ROW.encode("utf-16"),
            "the file is UTF-16 or binary, not UTF-8; save the file as UTF-8",
        ),
        (
            "dev.jsonl.gz",
            ROW.encode(),
            "not a gzip file; take the .gz off its name, or compress it with gzip",
        ),
        ("dev.jsonl", (ROW + ROW[:20]).encode(), "line 2: the file ends in the middle of a record"),
    ],
)
def test_files(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(data)
    for builder in (BoolQBuilder(), SnliBuilder()):
        shown = _message(builder, tmp_path)
        assert shown.startswith(str(tmp_path / name))
        assert message in shown


@pytest.mark.parametrize("builder", [BoolQBuilder(), SnliBuilder()])
def test_a_folder_in_the_place_of_a_file(tmp_path: Path, builder: Builder) -> None:
    (tmp_path / "dev.jsonl").mkdir()
    expected = f"{tmp_path / 'dev.jsonl'}: a folder stands where a file is expected; replace it by the file"
    assert _message(builder, tmp_path) == expected


def test_spider_json_cut_in_the_middle(tmp_path: Path) -> None:
    (tmp_path / "tables.json").write_text('[\n {"db_id": "zoo",\n  "table_na')
    (tmp_path / "dev.json").write_text("[]")
    expected = "line 3: the file ends in the middle of a record; copy or download the file again"
    assert _message(SpiderBuilder(), tmp_path) == f"{tmp_path / 'tables.json'}, {expected}"


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    for builder in (SpiderBuilder(), SnliBuilder(), BoolQBuilder()):
        assert "no such file or folder; check the path of the source" in _message(
            builder, tmp_path / "nowhere"
        )

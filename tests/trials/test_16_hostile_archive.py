"""Trial 16: an archive with macOS junk, paths that lead out of it, and a link (datasets #8052)."""

from __future__ import annotations

import json
import stat
import zipfile
from pathlib import Path

import pytest

from benchwright.builders.sources.boolq import read_boolq
from benchwright.errors import SourceError
from benchwright.faults import FaultLog

LINE = json.dumps({"question": "is it so", "answer": True, "passage": "It is."}) + "\n"


def _archive(folder: Path, *members: str | zipfile.ZipInfo) -> Path:
    folder.mkdir()
    with zipfile.ZipFile(folder / "boolq.zip", "w") as archive:
        archive.writestr("boolq/dev.jsonl", LINE)
        for member in members:
            archive.writestr(member, "/etc/passwd")
    return folder


def _link(name: str) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name)
    member.create_system = 3
    member.external_attr = (stat.S_IFLNK | 0o777) << 16
    return member


def test_junk_is_ignored(tmp_path: Path) -> None:
    junk = (
        "__MACOSX/boolq/._dev.jsonl",
        "__MACOSX/._x.jsonl",
        ".DS_Store",
        "boolq/.DS_Store",
        "boolq/._train.jsonl",
    )
    source = read_boolq(_archive(tmp_path / "source", *junk), FaultLog())
    assert [file.name for file in source.files] == ["boolq.zip/boolq/dev.jsonl"]
    assert source.read == 1


@pytest.mark.parametrize(
    ("member", "reason"),
    [
        ("../train.jsonl", "a path that leads out of it, got '../train.jsonl'"),
        ("boolq/../../train.jsonl", "a path that leads out of it"),
        ("__MACOSX/../../x", "a path that leads out of it"),
        ("..\\train.jsonl", "a path that leads out of it"),
        ("/tmp/train.jsonl", "an absolute path, got '/tmp/train.jsonl'"),
        ("C:/train.jsonl", "an absolute path"),
        (_link("boolq/train.jsonl"), "a symbolic link, got 'boolq/train.jsonl'"),
    ],
)
def test_the_rest_is_refused_and_nothing_is_written(
    tmp_path: Path, member: str | zipfile.ZipInfo, reason: str
) -> None:
    folder = _archive(tmp_path / "source", member)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(SourceError) as caught:
        read_boolq(folder, FaultLog("drop"))
    assert f"boolq.zip: the archive holds {reason}" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert sorted(tmp_path.rglob("*")) == before

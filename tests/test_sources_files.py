"""Finding and opening files: folders, archives, compression, and what is refused."""

from __future__ import annotations

import gzip
import hashlib
import zipfile
from pathlib import Path

import pytest

from benchwright.builders.sources.files import InputFile, SourceFolder
from benchwright.errors import SourceError


def _zip(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def _content(file: InputFile) -> bytes:
    with file.open() as stream:
        return stream.read()


def test_files_are_sorted_by_depth_then_name_and_junk_is_left_out(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.jsonl", "deep/c.jsonl", ".hidden", ".DS_Store", "__MACOSX/x.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    assert [file.name for file in SourceFolder(tmp_path).files] == ["a.jsonl", "b.jsonl", "deep/c.jsonl"]


def test_the_same_bytes_from_a_plain_file_a_gzip_file_and_an_archive(tmp_path: Path) -> None:
    data = b"line one\nline two\n"
    (tmp_path / "a.txt").write_bytes(data)
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(data, mtime=0))
    _zip(tmp_path / "c.zip", {"inside/c.txt": data, "inside/d.txt.gz": gzip.compress(data, mtime=0)})
    files = {file.name: file for file in SourceFolder(tmp_path).files}
    assert list(files) == ["a.txt", "b.txt.gz", "c.zip/inside/c.txt", "c.zip/inside/d.txt.gz"]
    assert {_content(file) for file in files.values()} == {data}
    assert {file.format for file in files.values()} == {"txt"}


def test_description_covers_the_file_as_stored(tmp_path: Path) -> None:
    data = b"a\nb\n"
    compressed = gzip.compress(data, mtime=0)
    (tmp_path / "a.txt.gz").write_bytes(compressed)
    _zip(tmp_path / "z.zip", {"a.txt": data})
    on_disk, in_archive = (file.describe(2) for file in SourceFolder(tmp_path).files)
    assert (on_disk.sha256, on_disk.bytes) == (
        f"sha256:{hashlib.sha256(compressed).hexdigest()}",
        len(compressed),
    )
    assert (in_archive.sha256, in_archive.bytes) == (f"sha256:{hashlib.sha256(data).hexdigest()}", len(data))
    assert (on_disk.rows, in_archive.name) == (2, "z.zip/a.txt")


def test_a_root_may_be_one_file_or_one_archive(tmp_path: Path) -> None:
    (tmp_path / "dev.jsonl").write_text("{}")
    archive = _zip(tmp_path / "all.zip", {"dev.jsonl": b"{}"})
    assert [file.name for file in SourceFolder(tmp_path / "dev.jsonl").files] == ["dev.jsonl"]
    assert [file.name for file in SourceFolder(archive).files] == ["dev.jsonl"]


def test_links_to_files_are_followed_because_the_hub_cache_is_made_of_them(tmp_path: Path) -> None:
    (tmp_path / "blob").write_text("content")
    snapshot = tmp_path / "snapshot"
    snapshot.mkdir()
    (snapshot / "train.jsonl").symlink_to(tmp_path / "blob")
    (snapshot / "round").symlink_to(snapshot)
    (file,) = SourceFolder(snapshot).files
    assert (file.name, _content(file)) == ("train.jsonl", b"content")


def test_find_takes_the_file_that_lies_least_deep(tmp_path: Path) -> None:
    for name in ("spider/dev.json", "spider/old/dev.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("[]")
    found = SourceFolder(tmp_path).find("dev.json")
    assert found is not None
    assert found.name == "spider/dev.json"
    assert SourceFolder(tmp_path).find("train.json") is None


def test_find_refuses_a_plain_and_a_compressed_copy_side_by_side(tmp_path: Path) -> None:
    (tmp_path / "dev.json").write_text("[]")
    (tmp_path / "dev.json.gz").write_bytes(gzip.compress(b"[]", mtime=0))
    with pytest.raises(SourceError, match=r"more than one dev\.json: dev\.json, dev\.json\.gz; keep one"):
        SourceFolder(tmp_path).find("dev.json")


def test_a_missing_root_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"nowhere: no such file or folder; check the path"):
        _ = SourceFolder(tmp_path / "nowhere").files


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("x.gz", b"plain text", "not a gzip file"),
        ("x.gz", gzip.compress(b"a" * 10_000, mtime=0)[:-20], "the compressed data end too early"),
        ("x.gz", gzip.compress(bytes(range(256)) * 40, mtime=0)[:60] + b"\xff" * 200, "damaged"),
    ],
)
def test_damaged_compression_is_one_line(tmp_path: Path, name: str, data: bytes, reason: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(SourceError) as caught:
        _content(InputFile(tmp_path / name, name))
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_damaged_archive_member_is_one_line(tmp_path: Path) -> None:
    path = _zip(tmp_path / "x.zip", {"a.txt": b"some text that compresses" * 20})
    raw = bytearray(path.read_bytes())
    raw[40:50] = b"\xff" * 10
    path.write_bytes(bytes(raw))
    (file,) = SourceFolder(path).files
    with pytest.raises(SourceError, match="compressed data are damaged"):
        _content(file)


def test_a_file_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_text("not a zip")
    with pytest.raises(
        SourceError, match=r"x\.zip: not a zip archive, or cut short; copy or download it again"
    ):
        _ = SourceFolder(tmp_path).files


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_archive_with_a_name_twice_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("train.jsonl", "{}")
        archive.writestr("train.jsonl", '{"other": 1}')
    with pytest.raises(SourceError, match=r"holds a name twice, got 'train\.jsonl'"):
        _ = SourceFolder(tmp_path).files

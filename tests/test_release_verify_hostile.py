"""Releases that may be anyone's: what a publication adds is checked, and harm is refused in one line."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import release_helpers as helpers
from tampering import TRAIN, change_card, change_header, change_manifest, lines_said, only, reseal, uid_of

from benchwright.builders.verify import Difference, verify
from benchwright.cli import main
from benchwright.publication import Publication, Withdrawal
from benchwright.release import ReleaseFolder

FOREIGN = {
    "configs": [
        {"config_name": "theirs", "data_files": [{"split": "train", "path": "theirs/*.parquet"}]},
        {"config_name": "others", "data_dir": "others"},
        {"config_name": "lists", "data_files": {"train": ["lists/a.csv", "lists/b.parquet"]}},
    ],
    "dataset_info": [{"config_name": "theirs", "features": [{"name": "x", "dtype": "string"}]}],
}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return helpers.write_release(tmp_path_factory.mktemp("original") / "made").path


@pytest.fixture
def release(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "made"))


def publish(release: Path, publication: Publication) -> None:
    """Write the publication into the manifest, and the card that goes with it."""
    change_manifest(release, lambda data: data.update(publication.put_into(data)))
    helpers.write_card(ReleaseFolder(release))


def test_configs_of_others_and_former_names_belong_to_a_release(release: Path) -> None:
    publish(release, Publication("acme/made", "1.1.0", aliases={"old": "ll_split"}, foreign=FOREIGN))
    for name in ("theirs/0.parquet", "others/x/y.parquet", "lists/b.parquet"):
        (release / name).parent.mkdir(parents=True, exist_ok=True)
        (release / name).write_bytes(b"")
    assert verify(release) == []
    (release / "lists/c.parquet").write_bytes(b"")
    assert only(verify(release)).file == "lists/c.parquet"


def test_a_former_name_with_files_of_another_config_is_found(release: Path) -> None:
    publish(release, Publication("acme/made", "1.1.0", aliases={"old": "ll_split"}))

    def exchange(header: dict[str, Any]) -> None:
        by_name = {entry["config_name"]: entry for entry in header["configs"]}
        by_name["old"]["data_files"] = [dict(part) for part in by_name["random"]["data_files"]]

    change_header(release, exchange)
    found = only(verify(release))
    assert (found.code, found.config) == ("card", "old")
    assert "data_files" in found.message


def test_a_withdrawn_row_that_still_stands_in_a_file_is_found(release: Path) -> None:
    uid = uid_of(release, 5)
    publish(release, Publication("acme/made", "2.0.0", withdrawn=(Withdrawal("wrong", (uid, "gone")),)))
    found = verify(release)
    assert {(d.code, d.uid) for d in found} == {("withdrawn", uid)}
    assert {(d.config, d.split) for d in found} >= {("ll_split", "train"), ("scores", "lm_prompt")}


@pytest.mark.parametrize(
    "publication",
    [{"withdrawn": 5}, {"changelog": [{}]}, {"aliases": []}, {"foreign": {"configs": [{"data_dir": 5}]}}, []],
)
def test_an_absurd_publication_is_one_line(
    release: Path, publication: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    change_manifest(release, lambda data: data.update(publication=publication))
    refused(release, capsys)


def refused(release: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The one line in which a release is refused or found wanting, soon."""
    start = time.monotonic()
    code = main(["verify", str(release)])
    # A bomb would take minutes, or all memory.
    assert time.monotonic() - start < 30
    lines = lines_said(capsys.readouterr())
    assert len(lines) == 1, lines
    assert code == (2 if lines[0].startswith("error: ") else 1)
    assert len(lines[0]) < 600
    return lines[0]


LAUGHS = "\n".join([
    "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]",
    *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)),
])  # fmt: skip


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (f"{LAUGHS}\nconfigs: *a11", "anchor or alias"),
        (f"{LAUGHS}\nconfigs: [config_name: *a11]", "anchor or alias"),
        ("configs: " + "[" * 50_000, "nest"),
        ("configs: !!python/object/apply:os.system ['touch harmed']", "cannot be read"),
        ("x: " + "y" * (2 << 20), "characters"),
        ("<<: &a {b: *a}", "anchor or alias"),
    ],
)
def test_a_header_that_would_do_harm_is_refused(
    release: Path,
    header: str,
    said: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    change_card(release, lambda _: f"---\n{header}\n---\n")
    reseal(release)
    assert said in refused(release, capsys)
    assert not (tmp_path / "harmed").exists()


@pytest.mark.parametrize("name", ["../../outside.parquet", "/etc/passwd", "..\\x", "a/../../x", "x\0y"])
def test_a_name_that_leads_outside_is_refused(
    release: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (release.parent.parent / "outside.parquet").write_bytes(b"secret")
    change_manifest(release, lambda data: data["configs"]["random"]["splits"]["test"].update(files=[name]))
    assert "outside the release" in refused(release, capsys)


def test_a_file_that_declares_more_rows_than_it_has_bytes_is_not_read(
    release: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = 50_000_000
    zeros = pa.table({"uid": pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int8)), ["x" * 100])})
    pq.write_table(zeros, release / TRAIN, compression="zstd")
    assert "50,000,000 rows" in refused(release, capsys)


def test_a_script_is_named_and_never_run(release: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (release / "made.py").write_text("raise SystemExit(99)", encoding="utf-8")
    assert "made.py: a script here" in refused(release, capsys)


def test_names_from_files_cannot_write_to_the_terminal() -> None:
    line = str(Difference("card", "\x1b[2J\nname", "a\rb", "c\u202ed"))
    assert line == "a\\rb, c\\u202ed: \\x1b[2J\\nname"

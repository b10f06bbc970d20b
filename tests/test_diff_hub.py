"""Comparing releases on the Hub: revisions, folders, and what is fetched for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from diff_helpers import EASY, LL, Made
from hub_fixtures import RunningHub
from huggingface_hub import CommitOperationAdd

from benchwright.builders.diff import diff
from benchwright.cli import main

BASE = Made(files={"figures/scores.svg": "<svg/>"})
REPO = "acme/made"


def publish(hub: RunningHub, folder: Path, tag: str) -> None:
    api = hub.api()
    api.create_repo(REPO, repo_type="dataset", exist_ok=True)
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    operations = [CommitOperationAdd(path.relative_to(folder).as_posix(), path) for path in files]
    api.create_commit(REPO, operations, commit_message=tag, repo_type="dataset")
    api.create_tag(REPO, tag=tag, repo_type="dataset")


def fetched(hub: RunningHub) -> set[str]:
    marker = "/resolve/"
    return {
        record.path.split(marker, 1)[1].split("/", 1)[1] for record in hub.requests if marker in record.path
    }


@pytest.fixture
def versions(hub: RunningHub, tmp_path: Path) -> list[Path]:
    """1.0.0 and 2.0.0, whose row 7 moved from validation to test."""
    first = BASE.but(publication={"repo": REPO, "version": "1.0.0"}).write(tmp_path / "a" / "made").path
    second = BASE.but(
        publication={"repo": REPO, "version": "2.0.0"}, sides={LL: "ttttttveee", EASY: BASE.sides[EASY]}
    )
    folders = [first, second.write(tmp_path / "b" / "made").path]
    for folder, tag in zip(folders, ("1.0.0", "2.0.0"), strict=True):
        publish(hub, folder, tag)
    return folders


def test_two_revisions(hub: RunningHub, versions: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", f"{REPO}@1.0.0", REPO]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == ("1 config changed: needs 2.0.0 because ll_split: 1 row moved from validation to test")
    assert lines[1] == "first difference: config ll_split, split validation, uid 'made:train:7'"
    assert main(["diff", f"{REPO}@1.0.0", REPO, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["first"], found["required"]) == (f"{REPO}@1.0.0", "2.0.0")


def test_equal_releases_give_exit_code_0_and_no_rows_are_fetched(
    hub: RunningHub, versions: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    hub.requests.clear()
    assert main(["diff", f"{REPO}@2.0.0", str(versions[1])]) == 0
    assert capsys.readouterr().out == "no difference\n"
    assert fetched(hub) == {"manifest.json", "README.md"}


def test_only_what_differs_is_fetched(hub: RunningHub, versions: list[Path]) -> None:
    hub.requests.clear()
    assert diff(f"{REPO}@1.0.0", f"{REPO}@2.0.0").bump == "major"
    assert not any(
        name.startswith((EASY, f"assignments/{EASY}", "scores", "schemas")) for name in fetched(hub)
    )


def test_files_beside_the_rows_are_told_apart_by_their_hashes(hub: RunningHub, versions: list[Path]) -> None:
    (versions[1] / "figures" / "scores.svg").write_text("<svg></svg>")
    hub.requests.clear()
    assert diff(f"{REPO}@2.0.0", versions[1]).reasons == ("files of figures: 1 changed",)
    assert "figures/scores.svg" not in fetched(hub)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (f"{REPO}@9.0.0", "no such revision"),
        ("acme/nothing", "no such data set"),
        ("nowhere", "no such folder, and not a Hub id"),
        ("./nowhere", "has no manifest.json"),
    ],
)
def test_places_that_hold_no_release_are_one_line(
    hub: RunningHub, versions: list[Path], capsys: pytest.CaptureFixture[str], place: str, message: str
) -> None:
    assert main(["diff", str(versions[0]), place]) == 2
    error = capsys.readouterr().err
    assert len(error.splitlines()) == 1
    assert message in error

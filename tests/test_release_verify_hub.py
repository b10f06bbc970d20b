"""`verify` of a release on the Hub: at a tag, changed there by others, and repositories that mean harm."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import release_helpers as helpers
from hub_fixtures import RunningHub
from tampering import ASSIGNMENT, TRAIN, change_card, change_manifest, change_table, lines_said, swap

from benchwright.builders.build import split
from benchwright.builders.hub.publish import publish
from benchwright.builders.verify import verify
from benchwright.cli import main
from benchwright.publication import Publication
from benchwright.release import ReleaseFolder

REPO = "acme/made"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = helpers.write_release(tmp_path_factory.mktemp("original") / "made").path
    published = Publication(repo=REPO, version="1.0.0")
    change_manifest(folder, lambda data: data.update(published.put_into(data)))
    helpers.write_card(ReleaseFolder(folder))
    return folder


@pytest.fixture
def release(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "made"))


@pytest.fixture
def published(hub: RunningHub, original: Path) -> RunningHub:
    """The release on the Hub, tagged 1.0.0."""
    api = hub.api()
    api.create_repo(REPO, repo_type="dataset")
    api.upload_folder(repo_id=REPO, folder_path=original, repo_type="dataset", commit_message="Publish 1.0.0")
    api.create_tag(REPO, tag="1.0.0", repo_type="dataset")
    return hub


def replace(hub: RunningHub, release: Path, name: str) -> None:
    hub.repository(REPO).plant({name: (release / name).read_bytes()}, f"change {name}")


def test_a_release_is_verified_at_a_tag_a_commit_and_the_newest_commit(published: RunningHub) -> None:
    head = published.repository(REPO).head()
    for place in (REPO, f"{REPO}@1.0.0", f"{REPO}@main", f"{REPO}@{head}"):
        assert verify(place) == []


def test_a_row_changed_on_the_hub_is_named(
    published: RunningHub, release: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change_table(release / TRAIN, swap(3, 4))
    replace(published, release, TRAIN)
    uid = pq.read_table(release / TRAIN).column("uid")[3].as_py()
    assert main(["verify", REPO, "--json"]) == 1
    first = json.loads(capsys.readouterr().out)["differences"][0]
    assert (first["code"], first["config"], first["split"], first["uid"]) == (
        "content",
        "ll_split",
        "train",
        uid,
    )
    assert main(["verify", f"{REPO}@1.0.0"]) == 0


@pytest.mark.parametrize("name", [ASSIGNMENT, "manifest.json", "README.md"])
def test_other_files_changed_on_the_hub_are_found(published: RunningHub, release: Path, name: str) -> None:
    if name == ASSIGNMENT:
        change_table(release / name, swap(3, 4))
    elif name == "manifest.json":
        change_manifest(release, lambda data: data["dataset"].update(licence="mit"))
    else:
        change_card(release, lambda text: text.replace("cc-by-4.0", "mit"))
    replace(published, release, name)
    where = name.replace("manifest.json", "README.md")
    assert where in {difference.file for difference in verify(REPO)}
    assert verify(f"{REPO}@1.0.0") == []


def test_files_that_are_missing_or_left_over_on_the_hub_are_found(published: RunningHub) -> None:
    stale = "ll_split/train-00000-of-00002.parquet"
    published.repository(REPO).plant({stale: b"old", "notes/x.parquet": b""}, "stale", remove=[TRAIN])
    found = verify(REPO)
    assert [(d.code, d.file or d.split) for d in found] == [("extra_file", stale), ("file", "train")]


@pytest.mark.parametrize(("tag", "fits"), [("1.0.0-yanked", True), ("1.0.1", False), ("release-1", True)])
def test_a_tag_holds_the_version_of_its_name(published: RunningHub, tag: str, fits: bool) -> None:
    published.api().create_tag(REPO, tag=tag, repo_type="dataset")
    found = verify(f"{REPO}@{tag}")
    assert [d.code for d in found] == ([] if fits else ["version"])


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"made.py": b"raise SystemExit(99)"}, "script 'made.py'"),
        ({"../outside.parquet": b"x"}, "outside"),
        ({"a\\b.parquet": b"x"}, "backslash"),
        ({"README.md": b"---\nconfigs: &a [*a]\n---\n"}, "anchor or alias"),
        ({"manifest.json": b"[" * 100_000}, "not JSON"),
        ({"manifest.json": b'{"format": 1'}, "not JSON"),
    ],
)
def test_a_repository_that_means_harm_is_refused_in_one_line(
    published: RunningHub, files: dict[str, bytes], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    published.repository(REPO).plant(files, "harm")
    code = main(["verify", REPO])
    lines = lines_said(capsys.readouterr())
    assert len(lines) == 1, lines
    assert code == (2 if lines[0].startswith("error: ") else 1)
    assert said in lines[0]


def test_places_that_are_no_release_are_one_line(
    published: RunningHub, capsys: pytest.CaptureFixture[str]
) -> None:
    published.api().create_repo("acme/empty", repo_type="dataset")
    for place, said in {
        "acme/nowhere": "no such data set",
        f"{REPO}@9.9.9": "no such revision",
        "acme/empty": "is not a release",
        "not a place": "no such folder",
    }.items():
        assert main(["verify", place]) == 2
        lines = lines_said(capsys.readouterr())
        assert len(lines) == 1, lines
        assert said in lines[0]


def test_a_release_on_the_hub_is_built_again_from_its_source(hub: RunningHub, tmp_path: Path) -> None:
    source = tmp_path / "rows.csv"
    rows = [f"{n},A sentence of number {n}." for n in range(40)]
    source.write_text("\n".join(["id,text", *rows]) + "\n", encoding="utf-8")
    split(source, text="text", id="id", out=tmp_path / "made", by=["length"], test=0.25)
    assert publish(tmp_path / "made", repo=REPO, create=True, load=False).verified
    assert verify(f"{REPO}@1.0.0", source=source) == []
    source.write_text(source.read_text().replace("number 7.", "number seven."), encoding="utf-8")
    found = verify(REPO, source=source)
    assert str(found[0]) == "made from other source files: rows.csv"
    assert "rows:all:7" in {difference.uid for difference in found}

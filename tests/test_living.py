"""Working on a published release: a copy is made once, knows its base, and takes results and configs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from release_helpers import fingerprint

from benchwright.builders.build import build
from benchwright.builders.hub import living
from benchwright.builders.hub.living import download, local_copy
from benchwright.builders.rebuild import rebuild
from benchwright.builders.verify import verify
from benchwright.cards import write_card
from benchwright.cli import main
from benchwright.errors import ReleaseError, UsageError
from benchwright.publication import Publication
from benchwright.release import ReleaseFolder

REPO = "acme/boolq-splits"


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A release as it stands on the Hub at 1.1.0."""
    folder = tmp_path_factory.mktemp("living") / "boolq-splits"
    release = build("boolq", source="sample", out=folder, configs=["random", "length"])
    return as_version(release.path, "1.1.0")


def as_version(folder: Path, version: str) -> Path:
    manifest = folder / "manifest.json"
    data = Publication(REPO, version).put_into(json.loads(manifest.read_text(encoding="utf-8")))
    manifest.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    write_card(folder)
    return folder


def put(hub, folder: Path, *tags: str, others: dict[str, bytes] | None = None) -> str:
    """One commit with the files of a folder, and its tags; the commit."""
    from huggingface_hub import CommitOperationAdd

    api = hub.api()
    api.create_repo(REPO, repo_type="dataset", exist_ok=True)
    files = {p.relative_to(folder).as_posix(): p for p in sorted(folder.rglob("*")) if p.is_file()}
    operations = [CommitOperationAdd(name, str(path)) for name, path in files.items()]
    operations += [CommitOperationAdd(name, content) for name, content in (others or {}).items()]
    done = api.create_commit(REPO, operations, commit_message="release", repo_type="dataset")
    for tag in tags:
        api.create_tag(REPO, tag=tag, revision=done.oid, repo_type="dataset")
    return done.oid


def test_a_download_is_the_published_release_byte_for_byte_and_names_its_base(hub_modes, made, tmp_path):
    put(hub_modes, made, "1.1.0", others={"foreign/notes.txt": b"not of the release"})
    copy = download(f"{REPO}@1.1.0", out=tmp_path / "copy")
    assert fingerprint(copy.path) == fingerprint(made)
    assert (copy.publication.repo, copy.publication.version) == (REPO, "1.1.0")
    assert verify(copy.path) == []


def test_a_bare_id_is_the_newest_version_and_not_the_newest_commit(hub, made, tmp_path):
    put(hub, made, "1.1.0")
    newer = as_version(Path(shutil.copytree(made, tmp_path / "newer")), "1.10.0")
    put(hub, newer, "1.10.0", "9.0.0-yanked", "v99")
    put(hub, as_version(newer, "2.0.0"))  # committed, but never tagged
    assert download(REPO, out=tmp_path / "copy").publication.version == "1.10.0"
    assert download(f"{REPO}@1.1.0", out=tmp_path / "old").publication.version == "1.1.0"
    assert download(f"{REPO}@main", out=tmp_path / "head").publication.version == "2.0.0"
    assert download(f"{REPO}@1.1.0", out=tmp_path / "old").path == tmp_path / "old"


def test_a_repeat_is_cheap_and_keeps_what_was_added(hub, made, tmp_path):
    put(hub, made, "1.1.0")
    copy = download(f"{REPO}@1.1.0", out=tmp_path / "copy")
    living.evaluate(copy, configs=["random"], baselines=["majority"])
    before = fingerprint(copy.path)
    hub.requests.clear()
    download(f"{REPO}@1.1.0", out=tmp_path / "copy")
    assert fingerprint(copy.path) == before
    assert not [
        record for record in hub.requests if record.path.endswith(".parquet") and record.method == "GET"
    ]


def test_a_folder_with_something_else_is_left_alone(hub, made, tmp_path):
    put(hub, made, "1.1.0")
    put(hub, as_version(Path(shutil.copytree(made, tmp_path / "newer")), "1.2.0"), "1.2.0")
    copy = download(f"{REPO}@1.1.0", out=tmp_path / "copy")
    before = fingerprint(copy.path)
    with pytest.raises(ReleaseError, match="holds another release"):
        download(f"{REPO}@1.2.0", out=copy.path)
    assert fingerprint(copy.path) == before
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(ReleaseError, match="neither empty nor a release"):
        download(REPO, out=tmp_path / "mine")
    with pytest.raises(ReleaseError, match="is a folder already"):
        download(str(copy.path), out=tmp_path / "x")
    with pytest.raises(UsageError, match="no such folder, and not a Hub id"):
        download("nowhere", out=tmp_path / "x")
    with pytest.raises(ReleaseError, match="no such data set"):
        download("acme/nothing", out=tmp_path / "x")


def test_a_download_that_fails_leaves_nothing(hub, made, tmp_path):
    put(hub, made, "1.1.0")
    hub.fail(status=403, times=99, method="GET", path=r"random/.*parquet")
    with pytest.raises(Exception, match="403"):
        download(REPO, out=tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
    hub.heal()
    assert verify(download(REPO, out=tmp_path / "copy").path) == []


def test_a_release_that_was_moved_or_never_published_by_us_names_its_new_place(hub, made, tmp_path):
    bare = Path(shutil.copytree(made, tmp_path / "bare"))
    data = json.loads((bare / "manifest.json").read_text(encoding="utf-8"))
    data.pop("publication")
    (bare / "manifest.json").write_text(json.dumps(data), encoding="utf-8")
    write_card(bare)
    put(hub, bare, "3.0.0")
    copy = download(REPO, out=tmp_path / "copy")
    assert (copy.publication.repo, copy.publication.version) == (REPO, "3.0.0")
    assert verify(copy.path) == []  # the card was sealed again


def test_a_local_folder_is_worked_on_itself_or_copied_where_asked(made, tmp_path):
    folder = Path(shutil.copytree(made, tmp_path / "folder"))
    assert local_copy(folder).path == folder
    assert local_copy(ReleaseFolder(folder)).path == folder
    copied = local_copy(folder, tmp_path / "copy")
    assert fingerprint(copied.path) == fingerprint(folder)


def test_results_are_added_to_a_copy_of_a_release_on_the_hub(hub, made, tmp_path, capsys, monkeypatch):
    put(hub, made, "1.1.0")
    monkeypatch.chdir(tmp_path)
    command = ["eval", f"{REPO}@1.1.0", "--config", "random", "--baseline", "majority"]
    assert main([*command, "--out", "work"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == (
        f"changed: work; publish with: benchwright publish work --repo {REPO}"
    )
    index = json.loads((tmp_path / "work" / "results" / "index.json").read_text(encoding="utf-8"))
    assert [(entry["config"], entry["stale"]) for entry in index["results"]] == [("random", None)]
    assert "majority" in (tmp_path / "work" / "README.md").read_text(encoding="utf-8")
    assert verify(tmp_path / "work") == []
    assert main([*command]) == 0
    assert (tmp_path / "boolq-splits" / "results" / "random").is_dir()
    assert main(["analyse", REPO, "--out", "work"]) == 0
    assert main(["card", REPO, "--out", "work"]) == 0


def test_a_config_is_added_to_a_release_on_the_hub(hub, made, tmp_path):
    put(hub, made, "1.1.0")
    out = build("boolq", source="sample", into=f"{REPO}@1.1.0", out=tmp_path / "more", configs=["random_2"])
    assert list(out.placed_configs) == ["random", "length", "random_2"]
    assert (out.publication.repo, out.publication.version) == (REPO, "1.1.0")
    for file in sorted(made.rglob("*.parquet")):
        added = out.path / file.relative_to(made)
        assert not added.is_symlink()
        assert added.read_bytes() == file.read_bytes()
    assert verify(out.path) == []


def test_a_release_on_the_hub_is_rebuilt_and_audited_without_a_copy(hub, made, tmp_path, capsys):
    put(hub, made, "1.1.0")
    assert rebuild(f"{REPO}@1.1.0", source="sample") == []
    assert main(["audit", f"{REPO}@1.1.0"]) == 0
    assert main(["download", f"{REPO}@1.1.0", "--out", str(tmp_path / "copy")]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == (f"{tmp_path / 'copy'}: {REPO}@1.1.0, version 1.1.0")

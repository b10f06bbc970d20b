"""What a release was made from against the newest there is."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from huggingface_hub import CommitOperationAdd, CommitOperationDelete

from benchwright.builders.boolq import BoolQBuilder
from benchwright.builders.build import build
from benchwright.builders.hub.outdated import outdated
from benchwright.cli import main
from benchwright.errors import UsageError
from benchwright.release import ReleaseFolder

CORPUS = "acme/corpus"


def commit(hub, files: dict[str, bytes], *, delete: tuple[str, ...] = ()) -> str:
    operations = [CommitOperationAdd(name, content) for name, content in files.items()]
    operations += [CommitOperationDelete(name) for name in delete]
    done = hub.api().create_commit(CORPUS, operations, commit_message="corpus", repo_type="dataset")
    return done.oid


def sample() -> dict[str, bytes]:
    folder = BoolQBuilder.sample_folder()
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


@pytest.fixture
def release(hub, tmp_path) -> ReleaseFolder:
    """A release of a corpus on the Hub, at the commit of then."""
    hub.api().create_repo(CORPUS, repo_type="dataset")
    commit(hub, {**sample(), "README.md": b"# Corpus\n"})
    return build("boolq", source=f"hub:{CORPUS}", out=tmp_path / "made", configs=["random"])


def test_a_newer_commit_counts_only_if_files_of_the_corpus_changed(hub, release):
    (found,) = outdated(release).origins
    assert (found.what, found.name, found.status) == ("source", CORPUS, "current")
    head = commit(hub, {"README.md": b"# Another card\n"})
    (found,) = outdated(release).origins
    assert (found.status, found.newest) == ("current", head)
    assert found.note == "a newer commit has the same files"


def test_changed_added_and_removed_files_are_named(hub, release, tmp_path, capsys):
    first, second = sorted(name for name in sample() if ".jsonl" in name)[:2]
    head = commit(hub, {first: sample()[first] + b"\n", "more.jsonl": b"{}\n"}, delete=(second,))
    (found,) = outdated(release.path).origins
    assert found.status == "outdated"
    assert (found.changed, found.added, found.removed) == ((first,), ("more.jsonl",), (second,))
    assert found.recorded == release.manifest["source"]["revision"]
    assert found.newest == head
    assert main(["outdated", str(release.path)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"source {CORPUS}@{str(found.recorded)[:12]}: outdated",
        f"  changed: {first}", "  added: more.jsonl", f"  removed: {second}",
    ]  # fmt: skip
    assert main(["outdated", str(release.path), "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["outdated"] is True
    assert answer["origins"][0]["changed"] == [first]


def test_a_corpus_that_is_gone_cannot_be_known(hub, release):
    hub.api().delete_repo(CORPUS, repo_type="dataset")
    report = outdated(release)
    assert report.origins[0].status == "unknown"
    assert not report.outdated


def test_a_corpus_from_a_folder_is_compared_with_the_copy_that_is_given(tmp_path):
    source = Path(shutil.copytree(BoolQBuilder.sample_folder(), tmp_path / "source"))
    release = build("boolq", source=source, out=tmp_path / "made", configs=["random"])
    (found,) = outdated(release).origins
    assert found.status == "unknown"
    assert "--source" in found.note
    assert not outdated(release, source=source).outdated
    first, second = sorted(path for path in source.iterdir() if ".jsonl" in path.name)[:2]
    first.write_bytes(first.read_bytes() + b"\n")
    second.unlink()
    (found,) = outdated(release, source=source).origins
    assert (found.status, found.changed, found.removed) == ("outdated", (first.name,), (second.name,))
    with pytest.raises(UsageError, match="no such file or folder"):
        outdated(release, source=tmp_path / "nowhere")


def test_a_sample_is_compared_with_that_of_this_version(tmp_path, monkeypatch):
    release = build("boolq", source="sample", out=tmp_path / "made", configs=["random"])
    assert [origin.status for origin in outdated(release).origins] == ["current"]
    changed = Path(shutil.copytree(BoolQBuilder.sample_folder(), tmp_path / "sample"))
    first = min(path for path in changed.iterdir() if ".jsonl" in path.name)
    first.write_bytes(first.read_bytes() + b"\n")
    monkeypatch.setattr(BoolQBuilder, "sample_folder", classmethod(lambda cls: changed))
    assert outdated(release).outdated


def test_a_model_with_a_newer_commit_is_outdated(hub, tmp_path):
    release = build("boolq", source="sample", out=tmp_path / "made", configs=["random"])
    api = hub.api()
    api.create_repo("acme/model", repo_type="model")
    head = api.create_commit(
        "acme/model", [CommitOperationAdd("config.json", b"{}")], commit_message="model"
    ).oid
    tables = {
        name: {"provenance": {"model": {"model": model, "revision": revision}}}
        for name, model, revision in (
            ("lm_prompt", "acme/model", head), ("lm_kfold", "acme/model", "0" * 40), ("lm", "local", None),
        )
    }  # fmt: skip
    release.manifest["scores"] = tables
    report = outdated(release)
    models = [(o.name, o.recorded, o.status) for o in report.origins if o.what == "model"]
    assert models == [("acme/model", head, "current"), ("acme/model", "0" * 40, "outdated")]

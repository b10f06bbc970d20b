"""Publishing into a repository in which others write, too: what they left there, and what they take away."""

from __future__ import annotations

import shutil

import pytest
from hub_fixtures import RunningHub
from publish_helpers import REPO, edit, errata, made, send, write_section

from benchwright.builders.errata import withdraw
from benchwright.builders.hub import _checks, _safety
from benchwright.builders.hub.remote import HubRelease
from benchwright.builders.verify import verify
from benchwright.cards import write_card
from benchwright.errors import PublishError, ReleaseError
from benchwright.eval import evaluate
from benchwright.publication import Withdrawal
from benchwright.release import ReleaseFolder


def published(hub: RunningHub, folder):
    """The repository after a first version."""
    send(made(folder))
    return hub.repository(REPO)


def based_on(folder, first):
    """Make a folder one that was built on what another one holds."""
    base = ReleaseFolder(first).publication
    return errata(folder, repo=base.repo, version=base.version, changelog=base.changelog)


@pytest.mark.parametrize(
    "header",
    [
        "configs: 5",
        "configs: [5]",
        "configs: [{config_name: [a], data_files: a.csv}]",
        "configs: [{config_name: x, data_files: a.csv, 2020-01-01: a}]",
        "configs: [{config_name: x, data_files: a.csv}]\ndataset_info: [{config_name: x, size: .nan}]",
        "configs: [{config_name: x, data_files: a.csv}]\ndataset_info: text",
    ],
)
@pytest.mark.parametrize("release", [False, True], ids=["no release", "release"])
def test_a_header_that_cannot_be_kept_is_refused_in_one_line(hub, tmp_path, header, release):
    made(tmp_path / "made")
    if release:
        send(tmp_path / "made")
    else:
        hub.api().create_repo(REPO, repo_type="dataset")
    head = hub.repository(REPO).plant({"README.md": f"---\n{header}\n---\n".encode(), "a.csv": b"a\n1\n"})
    with pytest.raises(ReleaseError, match=r"^acme/made: \w+ of its README.md .*; write it again$"):
        send(tmp_path / "made")
    assert hub.repository(REPO).head() == head


def test_files_of_others_in_folders_of_the_release_stay(hub, tmp_path):
    there = published(hub, tmp_path / "made")
    theirs = {
        "figures/photo.png": b"x", "analyses/theirs.json": b"{}", "harness/notes.md": b"x",
        "results/README.txt": b"x", "setup.py": b"raise SystemExit",
    }  # fmt: skip
    there.plant({**theirs, "random/stray.parquet": b"x"})
    based_on(made(tmp_path / "next", ["random"]).path, tmp_path / "made")
    report = send(tmp_path / "next")
    files = there.files("main")
    assert {path: files[path] for path in theirs} == theirs
    assert (report.verified, report.version) == (True, "2.0.0")
    assert "harness/lm_eval/ll_split.yaml" in report.plan.files.removed
    assert not [path for path in files if "ll_split" in path]
    assert report.notes == ("removed, as readers would take it for rows: random/stray.parquet",)
    assert verify(REPO) == []


def test_every_file_that_was_sent_is_compared(hub, tmp_path):
    """Verifying looks at no figure, and at no result that the index does not name."""
    folder = made(tmp_path / "made").path
    for name in ("figures/one.png", "figures/two.png"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(name.encode())
    there = hub.repository(REPO)

    def replace():
        there.plant({"figures/one.png": b"other"}, remove=["figures/two.png"])
        there.tag("1.0.0")

    hub.hook(1, lambda: hub.hook(1, replace, method="GET", path="/refs"), method="POST", path="/tag/")
    report = send(folder)
    assert report.verified is False
    assert report.differences == (
        "figures/two.png is missing",
        "figures/one.png is not the one that was sent",
    )
    assert ReleaseFolder(folder).publication.version is None


def test_a_public_repository_that_another_makes_meanwhile_gets_nothing(hub, tmp_path):
    made(tmp_path / "made")
    create = "/api/repos/create"
    hub.hook(1, lambda: hub.api().create_repo(REPO, repo_type="dataset"), method="POST", path=create)
    with pytest.raises(PublishError, match="acme/made exists and is public"):
        send(tmp_path / "made", private=True)
    assert len(hub.repository(REPO).commits()) == 1


def test_without_the_tag_of_its_base_a_folder_cannot_be_merged(hub, tmp_path):
    published(hub, tmp_path / "made")
    shutil.copytree(tmp_path / "made", tmp_path / "copy")
    write_section(tmp_path / "made", "Text.")
    send(tmp_path / "made")
    hub.api().delete_tag(REPO, tag="1.0.0", repo_type="dataset")
    head = hub.repository(REPO).head()
    with pytest.raises(PublishError, match=r"was made from acme/made@1.0.0, whose tag is gone.*download"):
        send(tmp_path / "copy")
    assert hub.repository(REPO).head() == head


def test_a_config_that_was_withdrawn_does_not_come_back(hub, tmp_path):
    made(tmp_path / "made", ["random"])
    send(errata(tmp_path / "made", withdrawn=(Withdrawal("leaks", config="ll_split"),)))
    with pytest.raises(PublishError, match=r"config 'll_split' was withdrawn \(leaks\) and would come back"):
        send(made(tmp_path / "older"))


@pytest.mark.parametrize("name", ["made.py", "MADE.py"])
def test_only_a_script_named_like_the_repository_is_refused(hub, tmp_path, name):
    there = published(hub, tmp_path / "made")
    there.plant({"setup.py": b"raise SystemExit", "tools/made.py": b"raise SystemExit"})
    assert verify(REPO) == []
    there.plant({name: b"raise SystemExit"})
    for look in (lambda: HubRelease(REPO), lambda: send(tmp_path / "made")):
        with pytest.raises(ReleaseError, match=f"it holds the script '{name}'"):
            look()


def test_what_readers_refuse_is_refused_before_it_is_sent(hub, tmp_path, monkeypatch):
    folder = made(tmp_path / "made").path
    evaluate(folder, configs=["random"], baselines=["majority"])
    monkeypatch.setattr(_safety, "MANIFEST_BYTES", 1_000)
    with pytest.raises(PublishError, match=r"has [0-9,]+ bytes, more than the 1,000 that are read"):
        send(folder)
    monkeypatch.undo()
    monkeypatch.setattr(_safety, "CARD_BYTES", 1_000)
    with pytest.raises(PublishError, match=r"README.md has [0-9,]+ bytes"):
        send(folder, dry_run=True)
    monkeypatch.undo()
    monkeypatch.setattr(_checks, "TOTAL_BYTES", 1_000)
    with pytest.raises(PublishError, match="readers fetch at most 1,000"):
        send(folder, dry_run=True)
    monkeypatch.undo()
    (folder / "results" / "random" / "con.json.txt").write_text("x")
    with pytest.raises(PublishError, match=r"'results/random/con.json.txt' cannot be used on every system"):
        send(folder, dry_run=True)
    assert not [record for record in hub.requests if "/commit/" in record.path]


def test_what_running_a_harness_leaves_is_not_published(hub, tmp_path):
    folder = made(tmp_path / "made").path
    for name in ("harness/lm_eval/__pycache__/utils.cpython-311.pyc", "harness/utils.pyc"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"x")
    send(folder)
    assert not [path for path in hub.repository(REPO).files("main") if path.endswith(".pyc")]
    assert (folder / "harness" / "utils.pyc").is_file()


def test_the_report_says_how_to_load_and_what_would_be_made(hub, tmp_path):
    folder = made(tmp_path / "made").path
    dry = send(folder, dry_run=True)
    assert "the repository would be created" in str(dry).splitlines()
    done = send(folder)
    assert "the repository was created" in str(done).splitlines()
    assert str(done).splitlines()[-1] == 'load_dataset("acme/made", "random", revision="1.0.0")'
    assert done.to_json()["config"] == "random"


def test_an_older_version_that_is_asked_for_is_told(hub, tmp_path):
    folder = made(tmp_path / "made").path
    send(folder)
    edit(folder, lambda facts: facts["dataset"].update(summary="Said otherwise."))
    assert send(folder, version="1.0.1").version == "1.0.1"
    report = send(folder, version="1.0.0")
    assert report.notes == (
        "1.0.0 is an older version: what is here stands there as 1.0.1, and 1.0.0 is left as it is",
    )
    assert send(folder, version="1.0.1").notes == ()


def _someones_data_set(hub: RunningHub, header: str) -> None:
    hub.api().create_repo(REPO, repo_type="dataset")
    configs = "configs:\n- config_name: theirs\n  data_files: a.csv\n"
    card = f"---\n{configs}{header}---\nTheir words.\n"
    hub.repository(REPO).plant({"README.md": card.encode(), "a.csv": b"a\n1\n"})


def test_data_of_others_under_another_licence_is_no_place_for_ours(hub, tmp_path):
    made(tmp_path / "made")
    _someones_data_set(hub, "license: cc-by-nc-4.0\n")
    with pytest.raises(PublishError, match=r"under the licence 'cc-by-nc-4\.0'.*choose another --repo"):
        send(tmp_path / "made")
    assert "1.0.0" not in hub.repository(REPO).tags()


def test_what_goes_of_the_header_of_others_is_said(hub, tmp_path):
    made(tmp_path / "made")
    _someones_data_set(hub, "pretty_name: Theirs\ntags: [hand]\n")
    report = send(tmp_path / "made")
    assert any(note.endswith("pretty_name, tags of its header with it") for note in report.notes)
    assert b"Their words." in hub.repository(REPO).files("1.0.0")["README.md"]


def test_a_card_of_another_manifest_is_not_published(hub, tmp_path):
    made(tmp_path / "made")
    manifest = tmp_path / "made" / "manifest.json"
    manifest.write_text(manifest.read_text(encoding="utf-8").replace('"corrected"', '"published"', 1))
    with pytest.raises(PublishError, match="was changed since its card was written"):
        send(tmp_path / "made")
    assert not hub.repository(REPO).exists()


def test_results_of_a_config_that_is_gone_are_left_out(hub, tmp_path):
    send(made(tmp_path / "made"))
    shutil.copytree(tmp_path / "made", tmp_path / "old")
    withdraw(tmp_path / "made", config="ll_split", reason="wrong")
    assert send(tmp_path / "made").version == "2.0.0"
    evaluate(tmp_path / "old", configs=["ll_split"], baselines=["majority"])
    write_card(tmp_path / "old")
    report = send(tmp_path / "old")
    assert any("is left out: its config is not in the release" in note for note in report.notes)
    assert not [path for path in hub.repository(REPO).files("2.0.0") if path.startswith("results/ll_split")]

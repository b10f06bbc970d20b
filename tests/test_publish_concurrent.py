"""Publishers at the same time, answers that get lost, and runs that begin again."""

from __future__ import annotations

import json
import shutil
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from unittest.mock import patch

import pytest
from publish_helpers import REPO, Killed, errata, killed_at, made, send, write_section
from release_helpers import SPECS, fingerprint, source_table

from benchwright.builders import release as writer
from benchwright.builders.hub import commit
from benchwright.builders.hub import publish as publishing
from benchwright.builders.hub._local_update import repair
from benchwright.builders.hub.client import NotOnHub
from benchwright.builders.hub.proof import _loaded_differences
from benchwright.builders.verify import verify
from benchwright.cli import main
from benchwright.errors import BenchwrightError, PublishError
from benchwright.eval import evaluate
from benchwright.release import ReleaseFolder


def sent(hub):
    """How often each large file's content was sent: by classic uploads, or as a session of xet."""
    uploads = Counter(
        record.path for record in hub.requests if record.method == "PUT" and record.status == 200
    )
    uploads["xet"] = sum("xet-write-token" in record.path for record in hub.requests)
    return uploads


def at_once(hub, *folders):
    """Publish folders, none committing before all have read the repository; their reports or errors."""
    ready = threading.Barrier(len(folders), timeout=120)
    for number in range(1, len(folders) + 1):
        hub.hook(number, ready.wait, method="POST", path="/preupload/main")

    def run(folder):
        try:
            return send(folder)
        except BenchwrightError as error:
            return error

    with ThreadPoolExecutor(len(folders)) as pool:
        return list(pool.map(run, folders))


def test_publishers_of_different_configs_both_arrive(hub_modes, tmp_path):
    hub = hub_modes
    send(made(tmp_path / "start", ["random"]))
    made(tmp_path / "one", ["ll_split"])
    shutil.copytree(tmp_path / "start", tmp_path / "two")
    write_section(tmp_path / "two", "Mine.")
    reports = at_once(hub, tmp_path / "one", tmp_path / "two")
    assert [report.verified for report in reports] == [True, True]
    versions = sorted(report.version for report in reports)
    assert versions in (["1.1.0", "1.1.1"], ["1.0.1", "1.1.0"])
    there = hub.repository(REPO)
    assert set(there.tags()) == {"1.0.0", *versions}
    assert len(there.commits()) == 4
    files = there.files("main")
    assert {"random", "ll_split"} <= {path.partition("/")[0] for path in files}
    assert "Mine." in files["README.md"].decode()
    for version in versions:
        assert verify(f"{REPO}@{version}") == []


def test_of_publishers_of_the_same_config_one_arrives_and_the_others_are_told(hub, tmp_path):
    send(made(tmp_path / "start", ["random"]))
    folders = []
    for seed in (8, 9):
        folder = tmp_path / f"seed-{seed}"
        made(folder, ["random"], seed=seed)
        folders.append(folder)
    outcomes = at_once(hub, *folders)
    errors = [outcome for outcome in outcomes if isinstance(outcome, PublishError)]
    assert len(errors) == 1
    assert "random: changed both here and on the Hub" in str(errors[0])
    assert len(hub.repository(REPO).commits()) == 3
    assert set(hub.repository(REPO).tags()) == {"1.0.0", "2.0.0"}
    assert verify(REPO) == []


def test_publishers_of_the_same_folder_make_one_commit(hub, tmp_path):
    made(tmp_path / "made", ["random"])
    hub.api().create_repo(REPO, repo_type="dataset")
    reports = at_once(hub, tmp_path / "made", tmp_path / "made")
    assert [report.version for report in reports] == ["1.0.0", "1.0.0"]
    assert len(hub.repository(REPO).commits()) == 2
    assert verify(tmp_path / "made") == []


def test_a_commit_whose_answer_is_lost_is_recognised(hub_modes, tmp_path):
    hub = hub_modes
    made(tmp_path / "made")
    hub.fail(1, 500, after=True, method="POST", path="/commit/main")
    report = send(tmp_path / "made")
    assert (report.version, report.verified) == ("1.0.0", True)
    assert len(hub.repository(REPO).commits()) == 2
    assert hub.repository(REPO).tags() == {"1.0.0": hub.repository(REPO).head()}
    assert report.commit == hub.repository(REPO).head()
    assert max(sent(hub).values()) == 1


def test_a_commit_that_failed_is_made_again_and_nothing_is_sent_twice(hub_modes, tmp_path):
    hub = hub_modes
    made(tmp_path / "made")
    hub.fail(1, 500, method="POST", path="/commit/main")
    assert send(tmp_path / "made").verified
    assert len(hub.repository(REPO).commits()) == 2
    assert max(sent(hub).values()) == 1


def test_a_hub_that_fails_each_time_ends_with_one_line_and_nothing_is_sent_again(hub_modes, tmp_path):
    hub = hub_modes
    made(tmp_path / "made")
    before = (tmp_path / "made" / "manifest.json").read_bytes()
    hub.fail(1, 500, times=100, method="POST", path="/commit/main")
    with pytest.raises(BenchwrightError, match=r"commit: the Hub answered 500.*try again"):
        send(tmp_path / "made")
    assert (tmp_path / "made" / "manifest.json").read_bytes() == before
    assert len(hub.repository(REPO).commits()) == 1
    hub.heal()
    assert send(tmp_path / "made").verified
    assert max(sent(hub).values()) == 1


def test_large_releases_are_sent_in_batches_that_resume(hub_modes, tmp_path, monkeypatch):
    """The connection ends in the third batch; the next run sends the rest and makes the one commit."""
    hub = hub_modes
    monkeypatch.setattr(commit, "BATCH_FILES", 4)
    made(tmp_path / "made")

    def end():
        raise KeyboardInterrupt

    calls = []
    send_batch = commit._send

    def counted(*arguments):
        calls.append(len(arguments[2]))
        if len(calls) == 3:
            end()
        send_batch(*arguments)

    monkeypatch.setattr(commit, "_send", counted)
    with pytest.raises(KeyboardInterrupt):
        send(tmp_path / "made")
    assert calls == [4, 4, 4]
    assert len(hub.repository(REPO).commits()) == 1
    first = sent(hub)
    assert send(tmp_path / "made").verified
    assert len(hub.repository(REPO).commits()) == 2
    assert all(count == 1 for name, count in sent(hub).items() if name != "xet")
    assert sum(first.values()) > 0


def test_more_files_than_a_batch_holds_are_still_one_commit(hub_modes, tmp_path):
    with patch.object(writer, "SHARD_BYTES", 200):
        made(tmp_path / "made")
    report = send(tmp_path / "made", load=True)
    assert report.verified
    assert len(report.plan.files.added) > commit.BATCH_FILES
    assert [entry.title for entry in hub_modes.repository(REPO).commits()] == [
        "Publish 1.0.0",
        "initial commit",
    ]
    commits = [record for record in hub_modes.requests if "/commit/" in record.path]
    assert [record.status for record in commits] == [200]


def test_contents_that_the_server_lost_are_sent_again(hub_xet, tmp_path):
    """A journal of a repository that is gone must not keep a new one from being filled."""
    made(tmp_path / "made")
    hub_xet.fail(1, 403, method="POST", path="/commit/main")
    with pytest.raises(BenchwrightError, match="refuses access"):
        send(tmp_path / "made")
    hub_xet.api().delete_repo(REPO, repo_type="dataset")
    try:
        report = send(tmp_path / "made")
    except PublishError:
        report = send(tmp_path / "made")
    assert report.verified


def test_a_commit_that_names_lost_contents_is_not_tried_with_them_again(hub, tmp_path):
    hub.fail(1, 404, method="POST", path="/commit/main", headers={"X-Error-Code": "RepoNotFound"})
    with pytest.raises(NotOnHub):
        send(made(tmp_path / "made"))
    assert commit.SentFiles(hub.endpoint, REPO).known == set()
    assert send(tmp_path / "made").verified


def test_a_tag_that_was_never_set_is_set_by_the_next_run(hub, tmp_path):
    made(tmp_path / "made")
    hub.fail(1, 403, method="POST", path="/tag/")
    with pytest.raises(BenchwrightError, match=r"tag 1.0.0: the Hub refuses access"):
        send(tmp_path / "made")
    assert hub.repository(REPO).tags() == {}
    assert ReleaseFolder(tmp_path / "made").publication.version is None
    commits = len(hub.repository(REPO).commits())
    assert "already published as 1.0.0" in str(send(tmp_path / "made"))
    assert hub.repository(REPO).tags() == {"1.0.0": hub.repository(REPO).head()}
    assert len(hub.repository(REPO).commits()) == commits
    assert ReleaseFolder(tmp_path / "made").publication.version == "1.0.0"


def test_a_version_without_its_tag_gets_it_before_the_next_one_comes(hub, tmp_path):
    made(tmp_path / "made", ["random"])
    hub.fail(1, 403, method="POST", path="/tag/")
    with pytest.raises(BenchwrightError):
        send(tmp_path / "made")
    first = hub.repository(REPO).head()
    assert send(made(tmp_path / "other", ["random"], seed=8)).version == "2.0.0"
    assert hub.repository(REPO).tags() == {"1.0.0": first, "2.0.0": hub.repository(REPO).head()}


def test_a_tag_that_another_set_elsewhere_is_not_moved(hub, tmp_path):
    made(tmp_path / "made")
    hub.api().create_repo(REPO, repo_type="dataset")
    start = hub.repository(REPO).head()
    hub.hook(1, lambda: hub.repository(REPO).tag("1.0.0", start), method="POST", path="/tag/")
    with pytest.raises(PublishError, match=r"its tag 1.0.0 was set elsewhere"):
        send(tmp_path / "made")
    assert hub.repository(REPO).tags() == {"1.0.0": start}


def test_a_version_that_is_not_as_sent_is_found_out_and_the_folder_stays(hub, tmp_path, capsys):
    folder, path = tmp_path / "made", "random/train-00000-of-00001.parquet"
    made(folder)
    made(tmp_path / "other", seed=8)
    there, before = hub.repository(REPO), (folder / "manifest.json").read_bytes()

    def replace():
        there.plant({path: (tmp_path / "other" / path).read_bytes()}, "other rows")
        hub.api().delete_tag(REPO, tag="1.0.0", repo_type="dataset")
        hub.api().create_tag(REPO, tag="1.0.0", repo_type="dataset")

    # The first look at the repository after the tag was set.
    hub.hook(1, lambda: hub.hook(1, replace, method="GET", path="/refs"), method="POST", path="/tag/")
    assert main(["publish", str(folder), "--repo", REPO, "--create", "--no-load"]) == 1
    lines = capsys.readouterr().out.splitlines()
    [found] = [line for line in lines if line.startswith("not as sent: random, train: rows are not those")]
    assert "made:train:" in found
    assert "benchwright verify acme/made@1.0.0" in lines[-1]
    assert (folder / "manifest.json").read_bytes() == before
    # Running it again sends what should stand there.
    report = send(folder)
    assert (report.version, report.verified) == ("1.0.1", True)
    assert verify(f"{REPO}@1.0.1") == []


def test_what_loads_otherwise_than_the_manifest_says_is_found_out(hub, tmp_path):
    release = made(tmp_path / "made", ["random"])
    send(release)
    published = ReleaseFolder(tmp_path / "made")
    assert list(_loaded_differences(REPO, "1.0.0", published, "random")) == []
    published.config("random")["splits"]["train"]["rows"] += 1
    del published.config("random")["features"]["premise"]
    found = list(_loaded_differences(REPO, "1.0.0", published, "random"))
    assert "loads {'train': 40, 'validation': 8, 'test': 12} rows instead of {'train': 41," in found[0]
    assert "loads other features" in found[1]
    assert "cannot be loaded" in next(_loaded_differences(REPO, "9.9.9", published, "random"))


def test_a_version_that_cannot_be_looked_at_is_verified_by_the_next_run(hub, tmp_path):
    made(tmp_path / "made")
    hub.fail(1, 500, times=50, method="GET", path="/resolve/")
    with pytest.raises(
        BenchwrightError, match=r"acme/made@1.0.0 stands on the Hub, but could not be verified"
    ):
        send(tmp_path / "made")
    hub.heal()
    assert send(tmp_path / "made").verified
    assert len(hub.repository(REPO).commits()) == 2


def test_a_folder_that_takes_what_others_changed_survives_a_kill_anywhere(hub, tmp_path, monkeypatch):
    """One config was changed on the Hub and one here; the disk fails from any operation of the update on."""

    def drawn(seed):
        parameters = {**SPECS[1].parameters, "seed": seed}
        return [replace(SPECS[1], name="drawn", parameters=parameters), SPECS[1]]

    names = ["drawn", "random"]
    send(made(tmp_path / "start", names, specs=drawn(1)))
    base = ReleaseFolder(tmp_path / "start").publication
    for folder, seed, specs in (("theirs", 8, drawn(1)), ("mine", 7, drawn(2))):
        made(tmp_path / folder, names, seed=seed, specs=specs)
        errata(tmp_path / folder, repo=base.repo, version=base.version, changelog=base.changelog)
    send(tmp_path / "theirs")
    update, left = publishing.adopt, []

    def killed_anywhere(release, former):
        done = False
        while not done:
            folder = tmp_path / f"mine-{len(left)}"
            shutil.copytree(tmp_path / "mine", folder)
            left.append(folder)
            with suppress(Killed), killed_at(len(left)):
                done = update(release, replace(former, folder=folder))
        return done

    with monkeypatch.context() as patched:
        patched.setattr(publishing, "adopt", killed_anywhere)
        send(tmp_path / "mine")
    assert len(left) > 10
    for folder in left:
        repair(folder)
    # As it was, or as it stands on the Hub: what the next run begins with.
    states = {fingerprint(folder): folder for folder in left}
    assert set(states) == {fingerprint(left[0]), fingerprint(left[-1])}
    assert len(states) == 2
    for folder in states.values():
        assert send(folder).verified
        assert verify(folder) == []
        assert fingerprint(folder) == fingerprint(left[-1])
        assert ReleaseFolder(folder).publication.version == "3.0.0"


def test_results_of_others_come_along_and_ours_stay(hub, tmp_path):
    send(made(tmp_path / "one", ["random"]))
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    [mine] = evaluate(tmp_path / "one", configs=["random"], baselines=["majority"])
    [theirs] = evaluate(tmp_path / "two", configs=["random"], baselines=["majority"], split="validation")
    assert send(tmp_path / "one").plan.bump == "patch"
    assert send(tmp_path / "two").plan.bump == "patch"
    files = hub.repository(REPO).files("main")
    assert {mine.file, theirs.file, mine.predictions_file, theirs.predictions_file} <= files.keys()
    index = json.loads(files["results/index.json"])
    assert {entry["file"] for entry in index["results"]} == {mine.file, theirs.file}
    assert verify(REPO) == []
    assert (tmp_path / "two" / mine.file).is_file()
    # What is removed here is removed there, because the folder was made from that version.
    (tmp_path / "two" / mine.file).unlink()
    (tmp_path / "two" / mine.predictions_file).unlink()
    send(tmp_path / "two")
    assert mine.file not in hub.repository(REPO).files("main")


def test_results_of_rows_that_changed_are_marked_in_the_same_commit(hub, tmp_path):
    made(tmp_path / "one", ["random"])
    [result] = evaluate(tmp_path / "one", configs=["random"], baselines=["majority"])
    send(tmp_path / "one")
    send(made(tmp_path / "two", ["random"], source=source_table(50)))
    files = hub.repository(REPO).files("main")
    assert result.file in files
    [entry] = json.loads(files["results/index.json"])["results"]
    assert "have changed" in entry["stale"]

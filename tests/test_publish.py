"""Publishing to a real server with the real clients: what stands there afterwards, and in the folder."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest
from datasets import load_dataset
from hub_fixtures import RunningHub
from publish_helpers import REPO, edit, errata, made, send, write_section
from release_helpers import source_table

from benchwright.builders.build import build
from benchwright.builders.errata import rename, withdraw, yank
from benchwright.builders.hub.publish import publish
from benchwright.builders.hydrate import strip
from benchwright.builders.verify import verify
from benchwright.errors import BenchwrightWarning, PrerequisiteError, PublishError, ReleaseError, UsageError
from benchwright.eval import evaluate
from benchwright.publication import Withdrawal
from benchwright.release import ReleaseFolder


def writing(hub: RunningHub, since: int = 0):
    """Requests that change something on a server, or prepare it."""
    return [
        record
        for record in hub.requests[since:]
        if record.method not in ("GET", "HEAD") and "validate-yaml" not in record.path
    ]


def content(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_first_version_is_one_commit_and_a_tag_and_equals_the_folder(hub_modes, tmp_path):
    release = made(tmp_path / "made")
    report = publish(release, repo=REPO, create=True, message="Hello")
    there = hub_modes.repository(REPO)
    commits = there.commits()
    assert (report.version, report.verified, report.plan.bump) == ("1.0.0", True, "first")
    assert [commit.title for commit in commits] == ["Publish 1.0.0", "initial commit"]
    assert there.tags() == {"1.0.0": commits[0].id}
    assert {path: data for path, data in there.files("1.0.0").items() if path != ".gitattributes"} == content(
        tmp_path / "made"
    )
    assert verify(tmp_path / "made") == []
    published = ReleaseFolder(tmp_path / "made").publication
    assert (published.repo, published.version, published.changelog[0].message) == (REPO, "1.0.0", "Hello")
    assert load_dataset(REPO, "random", revision="1.0.0")["train"].num_rows == 40


def test_publishing_again_does_nothing(hub_modes, tmp_path):
    send(made(tmp_path / "made"))
    before, requests = content(tmp_path / "made"), len(hub_modes.requests)
    report = send(tmp_path / "made")
    assert "already published as 1.0.0" in str(report)
    assert writing(hub_modes, requests) == []
    assert content(tmp_path / "made") == before


def test_dry_run_needs_no_rights_and_changes_nothing(hub, tmp_path, monkeypatch):
    made(tmp_path / "made")
    before = content(tmp_path / "made")
    plan = send(tmp_path / "made", dry_run=True).plan
    assert plan.creates
    assert plan.version == "1.0.0"
    assert not hub.repository(REPO).exists()
    assert content(tmp_path / "made") == before
    send(tmp_path / "made")
    made(tmp_path / "other", seed=8)
    monkeypatch.setenv("HF_TOKEN", hub.environment("reader")["HF_TOKEN"])
    requests, head = len(hub.requests), hub.repository(REPO).head()
    report = send(tmp_path / "other", dry_run=True)
    assert writing(hub, requests) == []
    assert hub.repository(REPO).head() == head
    assert (report.plan.version, report.plan.bump, report.verified) == ("2.0.0", "major", None)
    assert "because random: 32 rows moved" in str(report)
    assert ReleaseFolder(tmp_path / "other").publication.version is None
    with pytest.raises(PrerequisiteError, match="refuses access"):
        send(tmp_path / "other")


def test_the_plan_is_what_is_done(hub, tmp_path):
    send(made(tmp_path / "made"))
    made(tmp_path / "other", seed=8)
    planned = send(tmp_path / "other", dry_run=True).plan
    before = hub.repository(REPO).files("main")
    done = send(tmp_path / "other").plan
    after = hub.repository(REPO).files("main")
    assert done == planned
    assert set(done.files.added) == after.keys() - before.keys()
    assert set(done.files.removed) == before.keys() - after.keys()
    assert set(done.files.changed) == {
        path for path in after.keys() & before.keys() if after[path] != before[path]
    }


def test_version_follows_from_the_changes_and_a_smaller_one_is_refused(hub, tmp_path):
    send(made(tmp_path / "made"))
    made(tmp_path / "other", seed=8)
    requests = len(hub.requests)
    with pytest.raises(
        PublishError, match=r"1.1.0 is too small: 2.0.0 is the least after 1.0.0 because random"
    ):
        send(tmp_path / "other", version="1.1.0")
    with pytest.raises(UsageError, match=r"MAJOR.MINOR.PATCH"):
        send(tmp_path / "other", version="v2")
    assert writing(hub, requests) == []
    assert send(tmp_path / "other", version="3.0.0").version == "3.0.0"
    write_section(tmp_path / "other", "Known issues.")
    assert send(tmp_path / "other").version == "3.0.1"
    # A command that is run once more does nothing, also where a version is asked for.
    assert "already published as 3.0.1" in str(send(tmp_path / "other", version="3.0.0"))
    with pytest.raises(PublishError, match=r"2.9.9 is too small"):
        send(tmp_path / "other", version="2.9.9")
    changelog = ReleaseFolder(tmp_path / "other").publication.changelog
    assert [(entry.version, entry.bump) for entry in changelog] == [
        ("3.0.1", "patch"), ("3.0.0", "major"), ("1.0.0", "first"),
    ]  # fmt: skip
    assert set(hub.repository(REPO).tags()) == {"1.0.0", "3.0.0", "3.0.1"}
    for version in ("1.0.0", "3.0.0", "3.0.1"):
        assert verify(f"{REPO}@{version}") == []


def test_versions_never_go_below_a_tag_that_stands_there(hub, tmp_path):
    send(made(tmp_path / "made"), version="0.2.0")
    hub.repository(REPO).tag("4.0.0", "main")
    write_section(tmp_path / "made", "Text.")
    with pytest.raises(PublishError, match=r"0.2.1 is too small: acme/made has had version 4.0.0"):
        send(tmp_path / "made", version="0.2.1")
    assert send(tmp_path / "made").version == "4.0.1"


def test_a_missing_repository_is_made_only_if_asked_for(hub, tmp_path):
    made(tmp_path / "made")
    with pytest.raises(PublishError, match=r"no data set acme/made on the Hub.*--create"):
        publish(tmp_path / "made", repo=REPO)
    assert writing(hub) == []
    with pytest.raises(UsageError, match="together with create"):
        publish(tmp_path / "made", repo=REPO, private=True)


def test_private_stays_private(hub, tmp_path):
    made(tmp_path / "made")
    publish(tmp_path / "made", repo=REPO, create=True, private=True)
    assert hub.api().dataset_info(REPO).private
    hub.api().create_repo("acme/open", repo_type="dataset")
    head = hub.repository("acme/open").head()
    with pytest.raises(PublishError, match="acme/open exists and is public"):
        send(tmp_path / "made", "acme/open", private=True)
    assert hub.repository("acme/open").head() == head


def test_configs_that_others_added_come_into_the_folder(hub, tmp_path):
    send(made(tmp_path / "mine", ["random"]))
    assert send(made(tmp_path / "theirs", ["ll_split"])).version == "1.1.0"
    write_section(tmp_path / "mine", "Mine.")
    report = send(tmp_path / "mine")
    assert (report.version, report.plan.bump) == ("1.1.1", "patch")
    assert report.notes == ("as on the Hub, and in the folder afterwards: ll_split",)
    for folder in ("mine", "theirs"):
        assert list(ReleaseFolder(tmp_path / folder).configs) == ["random", "ll_split", "schemas", "scores"]
        assert verify(tmp_path / folder) == []
    assert "Mine." in (tmp_path / "mine" / "README.md").read_text()
    assert load_dataset(REPO, revision="1.1.1")["train"].num_rows == 40


def test_analyses_and_figures_of_configs_of_both_sides_are_made_again(hub, tmp_path):
    for config in ("random", "length"):
        build("snli", source="sample", out=tmp_path / config, configs=[config])
    shutil.copytree(tmp_path / "length", tmp_path / "copy")
    send(tmp_path / "random")
    report = send(tmp_path / "length")
    assert report.version == "1.1.0"
    assert any("left out of analyses/properties.json: trees" in note for note in report.notes)
    for folder in ("length", "copy"):
        # The copy is as a folder whose publication was killed after the commit.
        assert "already published as 1.1.0" in str(send(tmp_path / folder))
        assert verify(tmp_path / folder) == []
        analyses = json.loads((tmp_path / folder / "analyses" / "properties.json").read_text())
        assert list(analyses["rows"]) == ["random", "length"]


def test_a_removed_config_goes_with_all_its_files(hub, tmp_path):
    send(made(tmp_path / "made"))
    assert publish(tmp_path / "made", repo=REPO, load=False).plan.bump == "none"

    def without_random(facts):
        del facts["configs"]["random"]
        facts["configs"]["ll_split"]["default"] = True

    edit(tmp_path / "made", without_random)
    for path in [
        *(tmp_path / "made" / "random").iterdir(),
        tmp_path / "made" / "assignments" / "random.parquet",
    ]:
        path.unlink()
    report = send(tmp_path / "made")
    assert (report.version, report.plan.bump) == ("2.0.0", "major")
    assert not [path for path in hub.repository(REPO).files("main") if "random" in path]
    assert [path for path in hub.repository(REPO).files("1.0.0") if path.startswith("random/")]


def test_errata_get_their_version_and_former_names_end_with_the_next_major(hub, tmp_path):
    folder = tmp_path / "snli"
    send(build("snli", source="sample", out=folder, configs=["random"]))
    rename(folder, config="random", to="drawn")
    yank(folder, version="1.0.0", reason="Rows leak.")
    assert send(folder).version == "1.1.0"
    assert set(hub.repository(REPO).tags()) == {"1.0.0-yanked", "1.1.0"}
    for name in ("drawn", "random"):
        assert load_dataset(REPO, name, revision="1.1.0", split="test").num_rows == 5
    assert not [path for path in hub.repository(REPO).files("main") if path.startswith("random/")]
    uid = load_dataset(REPO, "drawn", revision="1.1.0", split="train")["uid"][0]
    with pytest.warns(BenchwrightWarning, match="trees were those of other rows"):
        withdraw(folder, uids=[uid], reason="Private.")
    report = send(folder, load=True)
    assert (report.version, report.verified) == ("2.0.0", True)
    published = ReleaseFolder(folder).publication
    assert published.aliases == {}
    assert published.withdrawn == (Withdrawal("Private.", (uid,), version="2.0.0"),)
    assert published.yanked == {"1.0.0": "Rows leak."}
    assert "The former name random of drawn is gone." in published.changelog[0].changes
    assert set(hub.repository(REPO).tags()) == {"1.0.0-yanked", "1.1.0", "2.0.0"}
    assert "already published" in str(send(folder))


def test_text_that_may_not_be_passed_on_is_published_as_ids(hub, tmp_path):
    made(tmp_path / "made", manifest=lambda facts: facts["dataset"].update(redistribute="ids_only"))
    requests = len(hub.requests)
    with pytest.raises(PublishError, match="lets ids be published and no text"):
        send(tmp_path / "made")
    assert hub.requests[requests:] == []
    evaluate(tmp_path / "made", configs=["random"], baselines=["majority"])
    strip(tmp_path / "made", out=tmp_path / "ids")
    index = (tmp_path / "ids" / "results" / "index.json").read_bytes()
    assert send(tmp_path / "ids", load=True).verified
    files = hub.repository(REPO).files("1.0.0")
    assert files["results/index.json"] == index
    assert not [path for path in files if path.startswith("harness/")]
    data = load_dataset(REPO, "random", revision="1.0.0", split="train")
    assert "premise" not in data.column_names
    assert data.num_rows == 40


def test_rows_that_were_withdrawn_do_not_come_back_with_an_older_config(hub, tmp_path):
    gone = (Withdrawal("private", ("made:train:0",)),)
    made(tmp_path / "made", ["random"], source=source_table().slice(1))
    send(errata(tmp_path / "made", withdrawn=gone))
    older = made(tmp_path / "older", ["ll_split"])
    with pytest.raises(PublishError, match=r"config 'll_split' holds withdrawn row\(s\): made:train:0"):
        send(older)


def test_a_pull_request_is_made_once_and_finished_after_its_merge(hub_modes, tmp_path):
    hub, folder = hub_modes, tmp_path / "made"
    send(made(folder))
    write_section(folder, "Proposed.")
    head = hub.repository(REPO).head()
    report = send(folder, pr=True)
    assert hub.repository(REPO).head() == head
    assert (report.verified, report.version) == (True, "1.0.1")
    assert report.pull_request == f"{hub.endpoint}/datasets/{REPO}/discussions/1"
    assert "once it is merged" in str(report)
    assert send(folder, pr=True).pull_request == report.pull_request
    assert set(hub.repository(REPO).pull_requests()) == {"1"}
    assert ReleaseFolder(folder).publication.version == "1.0.0"
    hub.api().merge_pull_request(REPO, 1, repo_type="dataset")
    commits = len(hub.repository(REPO).commits())
    done = send(folder)
    assert (done.version, done.verified) == ("1.0.1", True)
    assert len(hub.repository(REPO).commits()) == commits
    assert hub.repository(REPO).tags()["1.0.1"] == hub.repository(REPO).head()
    assert ReleaseFolder(folder).publication.version == "1.0.1"


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: (folder / "random" / "train-00000-of-00001.parquet").unlink(), "is missing"),
        (lambda folder: (folder / "random" / "old.parquet").write_bytes(b""), "remove it"),
        (lambda folder: edit(folder, _with_finding), "the audit of .* stops it: config random: 3 rows leak"),
        (lambda folder: edit(folder, lambda m: m["dataset"].update(redistribute="no")), "does not let it be"),
    ],
    ids=["missing file", "stray file", "audit", "licence"],
)
def test_what_must_not_be_published_is_refused_before_any_request(hub, tmp_path, spoil, message):
    made(tmp_path / "made")
    spoil(tmp_path / "made")
    requests = len(hub.requests)
    with pytest.raises(PublishError, match=message):
        send(tmp_path / "made")
    assert hub.requests[requests:] == []


def _with_finding(facts):
    facts["audit"]["findings"] = [
        {"id": "0", "code": "leak_exact", "severity": "error", "config": "random", "count": 3,
         "splits": ["train", "test"], "message": "3 rows leak", "uids": []}
    ]  # fmt: skip


def test_a_token_is_refused_wherever_it_is_written(hub, tmp_path):
    made(tmp_path / "made")
    with pytest.raises(PublishError, match="--message holds"):
        send(tmp_path / "made", message=f"with {hub.token}")
    write_section(tmp_path / "made", f"token={hub.token}")
    with pytest.raises(PublishError, match=r"README.md holds your access token") as caught:
        send(tmp_path / "made")
    assert hub.token not in str(caught.value)


def test_a_repository_of_other_files_is_refused_rather_than_hidden(hub, tmp_path):
    made(tmp_path / "made")
    hub.api().create_repo(REPO, repo_type="dataset")
    hub.repository(REPO).plant({"rows.csv": b"a,b\n1,2\n"}, "by hand")
    with pytest.raises(PublishError, match=r"holds data that its README.md does not name \(rows.csv\)"):
        send(tmp_path / "made")


def test_the_command_prints_plan_and_json_and_never_the_token(hub, tmp_path):
    made(tmp_path / "made")
    command = [sys.executable, "-m", "benchwright", "publish", str(tmp_path / "made"), "--repo", REPO]
    environment = hub.environment()

    def run(*options):
        return subprocess.run(
            [*command, *options], capture_output=True, text=True, env=environment, check=False
        )

    refused = run()
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
    assert "--create" in refused.stderr
    done = run("--create", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["version"], report["verified"], report["plan"]["bump"]) == ("1.0.0", True, "first")
    assert not any(hub.token in text for answer in (refused, done) for text in (answer.stdout, answer.stderr))


def test_what_cannot_be_published_at_all(hub, tmp_path):
    with pytest.raises(ReleaseError, match="is not a release"):
        send(tmp_path)
    with pytest.raises(UsageError, match="is no Hub id"):
        send(made(tmp_path / "made"), "made")

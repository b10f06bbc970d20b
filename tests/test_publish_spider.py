"""The whole of Spider on a Hub: a first version, one whose card changed, one with a row taken back."""

from __future__ import annotations

import pytest
from datasets import load_dataset
from hub_fixtures import RunningHub

from benchwright.builders.build import build
from benchwright.builders.errata import withdraw
from benchwright.builders.hub.publish import publish
from benchwright.builders.verify import verify
from benchwright.release import ReleaseFolder

pytestmark = pytest.mark.corpora

REPO = "acme/spider-splits"
# Its query names a table that the release of Spider does not describe.
BAD = "spider:train:3153"
VERSIONS = {"1.0.0": 8034, "1.0.1": 8034, "2.0.0": 8033}


@pytest.fixture
def published(hub: RunningHub, data_folder, tmp_path):
    folder = tmp_path / "spider-splits"
    build("spider", source=data_folder / "spider", out=folder, configs=["random", "length", "template"])
    reports = [publish(folder, repo=REPO, create=True)]
    card = folder / "README.md"
    text = card.read_text(encoding="utf-8")
    begin = "<!-- user:begin about -->"
    card.write_text(text.replace(begin, f"{begin}\nMade for the tests of benchwright."), encoding="utf-8")
    reports.append(publish(folder, repo=REPO))
    withdraw(folder, uids=[BAD], reason="its query names an unknown table")
    reports.append(publish(folder, repo=REPO))
    return folder, reports


def test_three_versions_stand_side_by_side(published, hub):
    folder, reports = published
    assert [(report.version, report.verified) for report in reports] == [(tag, True) for tag in VERSIONS]
    there = hub.repository(REPO)
    assert len(there.commits()) == 1 + len(VERSIONS)
    assert sorted(there.tags()) == sorted(VERSIONS)
    for tag, rows in VERSIONS.items():
        assert verify(f"{REPO}@{tag}") == []
        for config in ("random", "length", "template"):
            splits = load_dataset(REPO, config, revision=tag)
            assert sum(len(split) for split in splits.values()) == rows
            assert (BAD in {uid for split in splits.values() for uid in split["uid"]}) == (rows == 8034)
    assert [entry.version for entry in ReleaseFolder(folder).publication.changelog] == [*reversed(VERSIONS)]
    assert reports[1].plan.files.to_send < 1_000_000

"""Trial 39: a config rewritten with fewer rows (datasets #6918): old sizes and old shards stay nowhere."""

from __future__ import annotations

from unittest.mock import patch

import yaml
from datasets import load_dataset
from publish_helpers import REPO, made, send
from release_helpers import source_table

from benchwright.builders import release
from benchwright.builders.verify import verify


def sizes(hub, revision):
    header = yaml.safe_load(hub.repository(REPO).files(revision)["README.md"].decode().split("---\n")[1])
    infos = {info["config_name"]: info for info in header["dataset_info"]}
    return {split["name"]: split["num_examples"] for split in infos["random"]["splits"]}


def test_sizes_and_shards_change_in_the_same_commit(hub_modes, tmp_path):
    hub = hub_modes
    with patch.object(release, "SHARD_BYTES", 4_000):
        made(tmp_path / "large", source=source_table(60))
    send(tmp_path / "large", load=True)
    shards = [path for path in hub.repository(REPO).files("1.0.0") if path.startswith("random/train-")]
    assert len(shards) > 1
    made(tmp_path / "small", source=source_table(30))
    report = send(tmp_path / "small", load=True)
    assert (report.version, report.verified) == ("2.0.0", True)
    commits = hub.repository(REPO).commits()
    assert [commit.title for commit in commits[:2]] == ["Publish 2.0.0", "Publish 1.0.0"]
    after = hub.repository(REPO).files("2.0.0")
    assert [path for path in after if path.startswith("random/train-")] == [
        "random/train-00000-of-00001.parquet"
    ]
    assert set(shards) <= set(report.plan.files.removed)
    assert sizes(hub, "1.0.0") == {"train": 40, "validation": 8, "test": 12}
    assert sizes(hub, "2.0.0") == {"train": 10, "validation": 8, "test": 12}
    for version, rows in (("1.0.0", 40), ("2.0.0", 10)):
        assert load_dataset(REPO, "random", revision=version)["train"].num_rows == rows
        streamed = load_dataset(REPO, "random", revision=version, streaming=True)["train"]
        assert sum(1 for _ in streamed) == rows
        assert verify(f"{REPO}@{version}") == []

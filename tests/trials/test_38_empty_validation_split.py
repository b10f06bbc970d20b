"""Trial 38: an empty validation split (dataset-viewer #2709), which keeps its whole config from loading."""

from __future__ import annotations

import shutil

import pyarrow.parquet as pq
import pytest
from datasets import load_dataset
from publish_helpers import REPO, made, send

from benchwright.builders.build import build
from benchwright.errors import PublishError
from benchwright.release import ReleaseFolder


def test_a_split_that_was_left_out_is_named_with_its_reason_and_the_rest_loads(hub, tmp_path):
    build("snli", source="sample", out=tmp_path / "snli", configs=["random"], validation=0, test=20)
    assert send(tmp_path / "snli", load=True).verified
    card = hub.repository(REPO).files("1.0.0")["README.md"].decode()
    assert "its size is 0" in card
    assert set(load_dataset(REPO, "random", revision="1.0.0")) == {"train", "test"}


def test_a_split_without_rows_is_refused_before_any_request(hub, tmp_path):
    """As another program might write it: a file without rows, which the manifest counts."""
    folder = tmp_path / "made"
    made(folder, ["random"])
    file = folder / "random" / "validation-00000-of-00001.parquet"
    pq.write_table(pq.read_table(file).slice(0, 0), tmp_path / "empty.parquet")
    shutil.move(tmp_path / "empty.parquet", file)
    manifest = (folder / "manifest.json").read_text()
    rows = ReleaseFolder(folder).config("random")["splits"]["validation"]["rows"]
    assert f'"rows": {rows},' in manifest
    (folder / "manifest.json").write_text(manifest.replace(f'"rows": {rows},', '"rows": 0,'))
    requests = len(hub.requests)
    with pytest.raises(PublishError, match=r"random/validation of .* has no rows"):
        send(folder)
    assert hub.requests[requests:] == []

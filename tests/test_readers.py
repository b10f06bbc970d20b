"""A published release as readers meet it: loaded by name, streamed, pinned to a tag, and by plain paths."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as pad
import pyarrow.parquet as pq
import pytest
import readers_release
from datasets import config as reader_settings
from datasets import get_dataset_config_names, get_dataset_split_names, load_dataset
from hub_fixtures import RunningHub
from huggingface_hub import HfFileSystem

from benchwright.builders.hub.publish import publish
from benchwright.release import ReleaseFolder
from benchwright.tables import CONTENT_DEFINED_CHUNKING, ROW_GROUP_BYTES, rows_per_group, write_parquet

REPO = "acme/spider"
# What the viewer takes: it scans row groups of up to 300 MB, writers make them of 100 MB, rows have 2 MB.
VIEWER_SCAN, WRITER_ROW_GROUP, VIEWER_ROW = 300_000_000, 100_000_000, 2_000_000


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return readers_release.build_release(tmp_path_factory.mktemp("original") / "spider")


@pytest.fixture
def release(hub: RunningHub, original: Path, tmp_path: Path) -> ReleaseFolder:
    """The release, published as 1.0.0."""
    folder = Path(shutil.copytree(original, tmp_path / "spider"))
    report = publish(folder, repo=REPO, create=True, load=False)
    assert report.verified
    return ReleaseFolder(folder)


def rows_of(release: ReleaseFolder, config: str) -> dict[str, list[dict[str, Any]]]:
    return {split: release.table(config, split).to_pylist() for split in release.splits(config)}


def test_every_config_loads_by_name_as_the_manifest_declares(release: ReleaseFolder) -> None:
    assert get_dataset_config_names(REPO) == list(release.configs)
    for config in release.configs:
        assert get_dataset_split_names(REPO, config) == release.splits(config)
        data = load_dataset(REPO, config)
        assert {split: part.to_list() for split, part in data.items()} == rows_of(release, config)
        assert all(part.features == release.features(config) for part in data.values())


def test_without_a_name_the_default_config_loads(release: ReleaseFolder) -> None:
    assert release.config("random")["default"]
    assert load_dataset(REPO)["test"].to_list() == rows_of(release, "random")["test"]


def test_every_config_streams(release: ReleaseFolder) -> None:
    for config in release.configs:
        data = load_dataset(REPO, config, streaming=True)
        assert {split: list(part) for split, part in data.items()} == rows_of(release, config)


def test_a_tag_gives_the_same_rows_after_a_new_version(hub: RunningHub, release: ReleaseFolder) -> None:
    before = {config: rows_of(release, config) for config in release.configs}
    smaller = readers_release.build_release(release.path, configs=["length"], overwrite=True)
    report = publish(smaller, repo=REPO, load=False)
    assert (report.version, report.verified) == ("2.0.0", True)
    assert set(hub.repository(REPO).tags()) == {"1.0.0", "2.0.0"}
    assert get_dataset_config_names(REPO, revision="1.0.0") == list(before)
    assert get_dataset_config_names(REPO) == list(ReleaseFolder(smaller).configs)
    for config, rows in before.items():
        data = load_dataset(REPO, config, revision="1.0.0")
        assert {split: part.to_list() for split, part in data.items()} == rows
    streamed = load_dataset(REPO, "random", revision="1.0.0", split="test", streaming=True)
    assert list(streamed) == before["random"]["test"]


def test_pandas_and_pyarrow_read_by_path(release: ReleaseFolder) -> None:
    name = release.config("length")["splits"]["test"]["files"][0]
    expected = release.table("length", "test")
    for revision in ("", "@1.0.0"):
        frame = pd.read_parquet(f"hf://datasets/{REPO}{revision}/{name}")
        assert frame["uid"].tolist() == expected.column("uid").to_pylist()
        assert list(frame.columns) == expected.column_names
    table = pad.dataset(f"datasets/{REPO}/{name}", filesystem=HfFileSystem(), format="parquet").to_table()
    assert table.to_pylist() == expected.to_pylist()


def test_parquet_files_suit_the_viewer(release: ReleaseFolder) -> None:
    files = [file for c in release.configs for s in release.splits(c) for file in release.files(c, s)]
    for file in files:
        assert re.fullmatch(r"\w+-\d{5}-of-\d{5}\.parquet", file.name)
        facts = pq.ParquetFile(file).metadata
        groups = [facts.row_group(number) for number in range(facts.num_row_groups)]
        assert all(group.total_byte_size <= WRITER_ROW_GROUP for group in groups)
        columns = [group.column(number) for group in groups for number in range(group.num_columns)]
        assert all(column.has_offset_index and column.has_column_index for column in columns)
        table = pq.read_table(file)
        assert all(table.slice(row, 1).combine_chunks().nbytes < VIEWER_ROW for row in range(table.num_rows))


@pytest.mark.parametrize("width", [10, 1_000, 100_000, VIEWER_ROW])
def test_row_groups_stay_below_the_limits_whatever_the_rows(width: int) -> None:
    table = pa.table({"text": pa.array(["x" * width] * 64)})
    size = rows_per_group(table) * (width + 4)
    assert size <= ROW_GROUP_BYTES + width
    assert size < WRITER_ROW_GROUP < VIEWER_SCAN


def test_chunks_are_defined_as_datasets_defines_them(tmp_path: Path) -> None:
    """A row more at the top leaves nearly all pages as they were, so that they are not stored again."""
    assert reader_settings.DEFAULT_CDC_OPTIONS == CONTENT_DEFINED_CHUNKING
    letters = np.random.default_rng(5).integers(97, 123, size=(60_000, 200), dtype=np.uint8)
    texts = [row.tobytes().decode() for row in letters]
    pages = []
    for name, values in (("old", texts), ("new", ["One row more.", *texts])):
        write_parquet(pa.table({"text": values}), tmp_path / name)
        # Each page is a zstd frame, which begins with these four bytes.
        pages.append((tmp_path / name).read_bytes().split(b"\x28\xb5\x2f\xfd"))
    shared = set(pages[0]) & set(pages[1])
    assert sum(map(len, shared)) > 0.8 * sum(map(len, pages[1]))

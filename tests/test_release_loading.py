"""A written release as `datasets.load_dataset` reads it: each config and split, with declared features."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import release_helpers as helpers
from datasets import ClassLabel, IterableDataset, load_dataset

from benchwright.builders import release as writing
from benchwright.release import ReleaseFolder

CONFIGS = {
    "ll_split": {"train": 40, "validation": 8, "test": 12},
    "random": {"train": 40, "validation": 8, "test": 12},
    "schemas": {"train": 2},
    "scores": {"lm_prompt": 60},
}


@pytest.fixture
def release(tmp_path: Path) -> ReleaseFolder:
    return helpers.write_release(tmp_path / "made")


def load(release: ReleaseFolder, *arguments: str, cache: Path, **options: Any) -> Any:
    """Every call has its own cache: `datasets` keys it on names and the README, not on the rows."""
    return load_dataset(str(release.path), *arguments, cache_dir=str(cache), **options)


@pytest.mark.parametrize("config", CONFIGS)
def test_every_config_loads_with_its_splits_rows_and_features(
    release: ReleaseFolder, tmp_path: Path, config: str
) -> None:
    loaded = load(release, config, cache=tmp_path / "cache")
    assert {name: rows.num_rows for name, rows in loaded.items()} == CONFIGS[config]
    for split, rows in loaded.items():
        assert rows.features == release.features(config)
        assert rows.data.table.to_pylist() == release.table(config, split).to_pylist()


def test_without_a_name_the_default_config_loads(release: ReleaseFolder, tmp_path: Path) -> None:
    loaded = load(release, cache=tmp_path / "cache")
    assert loaded["test"]["uid"] == load(release, "ll_split", cache=tmp_path / "other")["test"]["uid"]


def test_features_are_as_declared(release: ReleaseFolder, tmp_path: Path) -> None:
    rows = load(release, "ll_split", cache=tmp_path / "cache", split="train")
    assert isinstance(rows.features["label"], ClassLabel)
    assert rows.features["label"].names == helpers.LABELS
    assert rows.features["fold"].dtype == "int8"
    assert (
        rows[5]["annotator_labels"]
        == release.table("ll_split", "train").column("annotator_labels")[5].as_py()
    )


def test_class_columns_without_any_value_load(release: ReleaseFolder, tmp_path: Path) -> None:
    rows = load(release, "random", cache=tmp_path / "cache", split="test")
    assert rows.features["hardness"].names == ["easy", "hard"]
    assert rows["hardness"][:] == [None] * 12


@pytest.mark.parametrize("config", CONFIGS)
def test_streaming_gives_the_same_rows(release: ReleaseFolder, tmp_path: Path, config: str) -> None:
    for split, rows in load(release, config, cache=tmp_path / "cache", streaming=True).items():
        assert isinstance(rows, IterableDataset)
        assert rows.features == release.features(config)
        assert list(rows) == release.table(config, split).to_pylist()


def test_shards_load_as_one_split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "SHARD_BYTES", 4_000)
    release = helpers.write_release(tmp_path / "made")
    rows = load(release, "ll_split", cache=tmp_path / "cache", split="train")
    assert rows.num_rows == 40
    assert list(rows["uid"]) == release.table("ll_split", "train").column("uid").to_pylist()


def test_a_rebuilt_folder_is_not_answered_from_the_cache_of_the_old_one(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first = helpers.write_release(tmp_path / "made")
    before = load(first, "random", cache=cache, split="test")["source_index"][:]
    source = helpers.source_table()
    position = source.column_names.index("hypothesis")
    changed = source.set_column(position, "hypothesis", [[f"Other text {n}" for n in range(helpers.ROWS)]])
    second = helpers.write_release(tmp_path / "made", source=changed, plan="e" * 64, overwrite=True)
    after = load(second, "random", cache=cache, split="test")
    assert after["source_index"][:] == before
    assert all(text.startswith("Other text") for text in after["hypothesis"])


def test_parquet_alone_carries_the_features(release: ReleaseFolder, tmp_path: Path) -> None:
    path = release.files("ll_split", "test")[0]
    rows = load_dataset("parquet", data_files=str(path), cache_dir=str(tmp_path / "cache"), split="train")
    assert rows.features == release.features("ll_split")

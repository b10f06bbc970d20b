"""The Croissant that the Hub would derive from a release is valid, and its rows can be read with it.

It is made here and not stored in releases: the Hub makes its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import mlcroissant
import pytest
from hub_croissant import converted, hub_croissant
from huggingface_hub import DatasetCard

from benchwright.builders.build import build
from benchwright.release import ReleaseFolder

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

REPO = "acme/splits"


@pytest.fixture(scope="module", params=["snli", "boolq", "spider", "geoquery"])
def release(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ReleaseFolder:
    out = tmp_path_factory.mktemp("releases") / f"{request.param}-splits"
    return build(request.param, source="sample", out=out, configs=["random", "length"])


@pytest.fixture
def metadata(release: ReleaseFolder) -> dict[str, Any]:
    return hub_croissant(DatasetCard.load(release.path / "README.md"), REPO)


@pytest.fixture
def dataset(metadata: dict[str, Any], release: ReleaseFolder, tmp_path: Path) -> mlcroissant.Dataset:
    file = tmp_path / "croissant.json"
    file.write_text(json.dumps(metadata), encoding="utf-8")
    return mlcroissant.Dataset(file, mapping={"repo": str(converted(release, tmp_path / "rows"))})


def test_it_is_valid(dataset: mlcroissant.Dataset) -> None:
    issues = dataset.metadata.ctx.issues
    assert not issues.errors, issues.report()
    # The Hub's own metadata names no date, no version and no citation either.
    recommended = ("datePublished", "version", "citeAs", "citation")
    assert [issue for issue in issues.warnings if not any(word in str(issue) for word in recommended)] == []


def test_every_config_is_a_record_set_with_a_field_per_column(
    metadata: dict[str, Any], release: ReleaseFolder
) -> None:
    rows = {record["@id"]: record for record in metadata["recordSet"] if "data" not in record}
    assert rows.keys() == set(release.configs)
    for config, record in rows.items():
        names = [field["@id"].split("/")[1] for field in record["field"]]
        assert names == ["split", *release.features(config)]
    of_splits = {record["@id"]: record["data"] for record in metadata["recordSet"] if "data" in record}
    for config in release.configs:
        found = [entry[f"{config}_splits/split_name"] for entry in of_splits[f"{config}_splits"]]
        assert found == release.splits(config)


def test_records_are_the_rows_of_the_release(dataset: mlcroissant.Dataset, release: ReleaseFolder) -> None:
    task = release.task("random")
    wanted = ["uid", *task.inputs, task.target]
    expected = {
        row["uid"]: {**row, "split": split}
        for split in release.splits("random")
        for row in release.table("random", split, wanted).to_pylist()
    }
    found = {}
    for record in dataset.records("random"):
        row = {name: _plain(record[f"random/{name}"]) for name in ["split", *wanted]}
        found[row["uid"]] = row
    assert found == expected


@pytest.mark.parametrize("release", ["spider"], indirect=True)
def test_nested_columns_are_read(dataset: mlcroissant.Dataset, release: ReleaseFolder) -> None:
    records: Iterator[dict[str, Any]] = islice(dataset.records("schemas"), 1)
    (first,) = records
    (expected,) = release.table("schemas", "train").slice(0, 1).to_pylist()
    assert _plain(first["schemas/db_id"]) == expected["db_id"]
    assert [_plain(name) for name in first["schemas/table_names"]] == expected["table_names"]


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    return value.decode("utf-8") if isinstance(value, bytes) else value

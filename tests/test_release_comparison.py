"""`compare` names where two releases part."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import release_helpers as helpers
from tampering import ASSIGNMENT, change_column, change_manifest, only, set_value

from benchwright.builders.comparison import compare


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return helpers.write_release(tmp_path_factory.mktemp("original") / "made").path


@pytest.fixture
def release(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "made"))


def other_release(tmp_path: Path, **options: Any) -> Path:
    return helpers.write_release(tmp_path / "other", **options).path


def changed_source(column: str, row: int, value: Any) -> pa.Table:
    table = helpers.source_table()
    position = table.column_names.index(column)
    field = table.schema.field(position)
    values = set_value(row, value)(table.column(column).to_pylist())
    return table.set_column(position, field, pa.array(values, field.type))


def test_equal_releases_do_not_differ(original: Path, tmp_path: Path) -> None:
    assert compare(original, other_release(tmp_path)) == []


def test_a_changed_source_row_is_named_with_its_column(original: Path, tmp_path: Path) -> None:
    found = compare(original, other_release(tmp_path, source=changed_source("hypothesis", 7, "Other.")))
    assert {(d.code, d.uid) for d in found} == {("content", "made:train:7")}
    assert {d.config for d in found} == {"ll_split", "random"}
    assert "column 'hypothesis'" in str(found[0])
    assert "'Other.'" in str(found[0])


def test_rows_on_other_sides_are_named(original: Path, tmp_path: Path) -> None:
    specs = [helpers.SPECS[0], replace(helpers.SPECS[1], parameters={"sizes": helpers.SIZES, "seed": 8})]
    found = compare(original, other_release(tmp_path, specs=specs))
    assert {(d.code, d.config) for d in found} == {("content", "random")}
    first = found[0]
    uids = [
        pq.read_table(folder / f"random/{first.split}-00000-of-00001.parquet").column("uid").to_pylist()
        for folder in (original, tmp_path / "other")
    ]
    row = next(n for n, (left, right) in enumerate(zip(*uids, strict=True)) if left != right)
    assert first.uid == uids[0][row]
    assert f"row {row} is {uids[0][row]!r} in the first release and {uids[1][row]!r} in the second" in str(
        first
    )


def test_scores_within_a_hair_are_named_with_the_largest_difference(
    original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = helpers.score_table

    def shifted(source: pa.Table) -> pa.Table:
        table = exact(source)
        values = table.column("log_likelihood").to_numpy() + np.float32(0.0005)
        return table.set_column(2, table.schema.field(2), pa.array(values, from_pandas=True))

    monkeypatch.setattr(helpers, "score_table", shifted)
    found = compare(original, other_release(tmp_path))
    assert {d.code for d in found} == {"scores"}
    assert {d.config for d in found} == {"ll_split", "scores"}
    assert "in 59 rows, by at most 0.0005" in str(found[-1])


def test_configs_splits_and_features_of_one_side_are_named(original: Path, tmp_path: Path) -> None:
    small = replace(helpers.SPECS[0], parameters={"sizes": {"train": 48, "validation": 0, "test": 12}})
    found = compare(original, other_release(tmp_path, specs=[small]))
    assert ("config", "random", None) in {(d.code, d.config, d.split) for d in found}
    assert ("split", "ll_split", "validation") in {(d.code, d.config, d.split) for d in found}


def test_other_label_names_are_named(original: Path, release: Path) -> None:
    change_manifest(release, lambda m: m["configs"]["random"]["features"]["label"]["names"].reverse())
    found = only(compare(original, release))
    assert (found.code, found.config) == ("features", "random")
    assert "'label'" in found.message


def test_another_written_order_is_named(original: Path, release: Path) -> None:
    def exchange(values: list[int]) -> list[int]:
        first, second = values.index(0), values.index(1)
        return set_value(first, 1)(set_value(second, 0)(values))

    change_column(release / ASSIGNMENT, "position", exchange)
    change_manifest(release, lambda m: m["configs"]["ll_split"]["assignment"].update(content_hash="other"))
    assert only(compare(original, release)).code == "positions"


def test_other_sources_are_named_first_where_rows_differ(original: Path, tmp_path: Path) -> None:
    other = other_release(tmp_path, source=changed_source("label", 3, 1))

    def change(data: dict[str, Any]) -> None:
        data["source"].update(fingerprint="sha256:11")
        data["source"]["files"][0].update(sha256="11")

    change_manifest(other, change)
    assert str(compare(original, other)[0]) == "made from other source files: made.jsonl"

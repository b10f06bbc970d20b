"""Configs by V-information of the labelled corpora: from rows to a release, and from its scores again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pytest
from pvi_helpers import SMALL, tiny_encoder

from benchwright.builders.base import BuildOptions, ConfigSpec
from benchwright.builders.boolq import BoolQBuilder
from benchwright.builders.build import build
from benchwright.builders.pvi_configs import difficulty_column, is_pvi_config, pvi_configs
from benchwright.builders.repair import clean_spec
from benchwright.builders.snli import SnliBuilder
from benchwright.errors import UsageError
from benchwright.release import ReleaseFolder
from benchwright.splitting import TEST, TRAIN, UNUSED, VALIDATION
from benchwright.splitting.scores import ScoreTable

CELLS = {
    "simple": ("simple", "simple"),
    "hard": ("hard", "hard"),
    "pvi_hard_test": ("simple", "hard"),
    "pvi_hard_test_reverse": ("hard", "simple"),
}
QUICK = {**SMALL, "epochs": 2}
silently = pytest.mark.filterwarnings("ignore:no usable information")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny_encoder(tmp_path_factory.mktemp("model") / "tiny")


@pytest.fixture(scope="module")
def release(model: str, tmp_path_factory: pytest.TempPathFactory) -> ReleaseFolder:
    folder = tmp_path_factory.mktemp("release")
    return build_cells("snli", folder / "out", model, cache=folder / "cache")


def build_cells(name: str, out: Path, model: str | None = None, **options: Any) -> ReleaseFolder:
    models: dict[str, Any] = {} if model is None else {"pvi_model": model, "pvi_recipe": QUICK, "k": (2,)}
    return build(
        name, source="sample", out=out, configs=["standard", *CELLS][name != "snli" :], **models, **options
    )


@silently
def test_the_cells_of_the_matrix(release: ReleaseFolder) -> None:
    """Train is simple or hard, so is what evaluates, and the published border stands."""
    sides = {}
    for name, cell in CELLS.items():
        for split, word in zip(("train", "validation", "test"), (cell[0], cell[1], cell[1]), strict=True):
            table = release.table(name, split)
            assert {word} == {["simple", "hard"][code] for code in table.column("difficulty").to_pylist()}
            assert set(table.column("source_split").to_pylist()) == {split.replace("validation", "dev")}
            sides[split, word] = set(table.column("uid").to_pylist())
    for split in ("train", "validation", "test"):
        whole = set(release.table("standard", split).column("uid").to_pylist())
        assert sides[split, "simple"] | sides[split, "hard"] == whole
        assert not sides[split, "simple"] & sides[split, "hard"]


@silently
def test_a_table_that_is_there_is_not_said_to_be_made_by_another_recipe(
    release: ReleaseFolder, tmp_path: Path
) -> None:
    """Its rows would be placed by the scores of the release, whatever the command asks for."""
    asked: dict[str, Any] = {"source": "sample", "into": release.path, "configs": ["hard_clean"]}
    asked["cache"] = tmp_path / "cache"
    batch = ScoreTable.from_release(release, "pvi").provenance["key"]["recipe"]["batch_size"]
    with pytest.raises(
        UsageError, match=rf"^--pvi-recipe batch_size={batch + 1}: score table pvi of .* was made"
    ):
        build("snli", out=tmp_path / "other", pvi_recipe={"batch_size": batch + 1}, **asked)
    made = build("snli", out=tmp_path / "same", pvi_recipe={"batch_size": batch}, **asked)
    assert "hard_clean" in made.configs


@silently
def test_rows_carry_their_scores(release: ReleaseFolder) -> None:
    scores = ScoreTable.from_release(release, "pvi")
    by_uid = {row["uid"]: row for row in scores.table.to_pylist()}
    for split in ("train", "validation"):
        table = release.table("pvi_hard_test", split)
        for row in table.to_pylist():
            scored = by_uid[row["uid"]]
            assert row["pvi_fold"] == scored["fold"]
            assert all(row[name] == scored[name] for name in ("entropy_null", "entropy_input", "pvi"))
        for label in range(3):
            rows = pc.equal(table.column("label"), label)
            other = release.table("hard" if split == "train" else "simple", split)
            here = table.filter(rows).column("pvi").to_numpy()
            there = other.filter(pc.equal(other.column("label"), label)).column("pvi").to_numpy()
            low, high = (there, here) if split == "train" else (here, there)
            assert low.max(initial=-np.inf) <= high.min(initial=np.inf)
    assert "difficulty" not in release.table("standard", "train").column_names


@silently
def test_published_scores_give_the_same_configs(release: ReleaseFolder, tmp_path: Path) -> None:
    again = build_cells("snli", tmp_path / "again", scores=release.path)
    for name in CELLS:
        for split in ("train", "validation", "test"):
            assert again.table(name, split).equals(release.table(name, split))


@silently
def test_the_published_method(model: str, tmp_path: Path) -> None:
    made = build_cells("boolq", tmp_path / "out", model, method="published", pvi_cut="midrange")
    facts = made.manifest["configs"]["simple"]["parameters"]
    assert (facts["cut"], facts["border"]) == ("midrange", "pooled")
    assert made.manifest["scores"]["pvi"]["provenance"]["key"]["fit"] == "in_sample"
    train, validation = (made.table("hard", split).num_rows for split in ("train", "validation"))
    assert abs(train * 0.4 - validation * 0.6) <= 2


def test_configs_are_made_by_name_and_only_with_a_table() -> None:
    for builder in (SnliBuilder(), BoolQBuilder()):
        names = {"pvi": ["pvi", "pvi_tiny"]}
        specs = [spec for spec in builder.configs(BuildOptions(), names) if is_pvi_config(spec)]
        assert [spec.name for spec in specs] == [*CELLS, *(f"{name}_tiny" for name in CELLS)]
        assert all(spec.extra for spec in specs)
        assert specs[3].reverse_of == "pvi_hard_test"
        assert "(score table pvi_tiny)" in specs[4].summary
        assert not [spec for spec in builder.configs(BuildOptions(), {}) if is_pvi_config(spec)]


def test_the_difficulty_of_rows_by_side() -> None:
    side = np.array([TRAIN, VALIDATION, TEST, UNUSED], dtype=np.int8)
    crossed = pvi_configs(BuildOptions(), "pvi")[2]
    for spec in (crossed, clean_spec(crossed)):
        column = difficulty_column(spec, side)
        assert column is not None
        assert column.column("difficulty").to_pylist() == [0, 1, 1, None]
    assert difficulty_column(ConfigSpec("random", "random", {}, ""), side) is None


def test_choices_that_are_unknown() -> None:
    with pytest.raises(UsageError, match="no pvi cut 'median'; give midrange or published"):
        pvi_configs(BuildOptions(pvi_cut="median"), "pvi")

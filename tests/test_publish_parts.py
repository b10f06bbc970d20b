"""Releases of several data sets with tables of V-information, published to a server with real clients."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import parts_builder
import pytest
from datasets import ClassLabel, get_dataset_config_names, load_dataset
from hub_fixtures import RunningHub
from parts_builder import write_source
from pvi_helpers import SMALL, tiny_encoder

from benchwright.builders.base import builders
from benchwright.builders.build import build
from benchwright.builders.diff import diff
from benchwright.builders.hub.outdated import outdated
from benchwright.builders.hub.publish import publish
from benchwright.builders.hydrate import hydrate, strip
from benchwright.builders.verify import verify
from benchwright.errors import PublishError
from benchwright.eval import evaluate
from benchwright.release import ReleaseFolder

REPO = "acme/curriculum-difficulty"
PARTS = ("colour", "size")
PHENOMENA = ("sentiment", "quantifier")
CELLS = ("simple", "hard")
CONFIGS = tuple(f"{part}_{cell}" for part in PARTS for cell in CELLS)
QUICK = {**SMALL, "epochs": 2}
pytestmark = pytest.mark.filterwarnings(
    "ignore:no usable information", "ignore:.*is made with other versions"
)


@pytest.fixture(scope="module", autouse=True)
def _installed() -> Iterator[None]:
    with parts_builder.installed():
        yield


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a source of two data sets, a tiny model, and a release of the halves of both."""
    folder = tmp_path_factory.mktemp("workshop")
    write_source(folder / "source")
    model = tiny_encoder(folder / "tiny")
    build(
        "puzzles", source=folder / "source", out=folder / "made", configs=CONFIGS, pvi_model=model,
        pvi_recipe=QUICK, k=[2], cache=folder / "cache",
    )  # fmt: skip
    return folder


@pytest.fixture
def made(workshop: Path, tmp_path: Path) -> ReleaseFolder:
    """The release, to be changed."""
    return ReleaseFolder(Path(shutil.copytree(workshop / "made", tmp_path / "made")))


def test_every_config_loads_through_the_server_as_it_stands(
    hub: RunningHub, made: ReleaseFolder, tmp_path: Path
) -> None:
    report = publish(made.path, repo=REPO, create=True)
    assert (report.version, report.verified) == ("1.0.0", True)
    assert verify(made.path) == []
    cache = str(tmp_path / "cache")
    assert get_dataset_config_names(REPO, revision="1.0.0") == list(made.configs)
    for name in CONFIGS:
        loaded = load_dataset(REPO, name, revision="1.0.0", cache_dir=cache)
        assert {split: rows.num_rows for split, rows in loaded.items()} == {
            split: facts["rows"] for split, facts in made.config(name)["splits"].items()
        }
        part, _, cell = name.rpartition("_")
        train = loaded["train"]
        assert train.features["label"] == ClassLabel(names=list(made.task(name).labels or ()))
        assert {uid.split(":")[0] for uid in train["uid"]} == {part}
        halves = set(train.features["difficulty"].int2str(train["difficulty"]))
        assert halves == {cell}
        assert train["uid"] == made.table(name, "train", ["uid"]).column("uid").to_pylist()


def test_tables_of_scores_of_each_part_load_beside_the_rows(
    hub: RunningHub, made: ReleaseFolder, tmp_path: Path
) -> None:
    publish(made.path, repo=REPO, create=True)
    scores = load_dataset(REPO, "scores", revision="1.0.0", cache_dir=str(tmp_path / "cache"))
    assert sorted(scores) == sorted(f"pvi_{part}" for part in PARTS)
    for part in PARTS:
        table = scores[f"pvi_{part}"]
        placed = made.assignment(f"{part}_simple").column("uid").to_pylist()
        assert sorted(table["uid"]) == sorted(placed)
        assert made.manifest["scores"][f"pvi_{part}"]["part"] == part
        of_row = dict(zip(table["uid"], table["pvi"], strict=True))
        train = load_dataset(REPO, f"{part}_simple", revision="1.0.0", cache_dir=str(tmp_path / "cache"))[
            "train"
        ]
        assert train["pvi"] == [of_row[uid] for uid in train["uid"]]


def test_a_published_release_is_compared_extended_and_published_again(
    hub: RunningHub, workshop: Path, made: ReleaseFolder, tmp_path: Path
) -> None:
    publish(made.path, repo=REPO, create=True)
    assert outdated(f"{REPO}@1.0.0", source=workshop / "source").origins
    assert not outdated(f"{REPO}@1.0.0", source=workshop / "source").outdated
    crossed = "colour_pvi_hard_test"
    longer = build(
        "puzzles", source=workshop / "source", out=tmp_path / "longer", into=f"{REPO}@1.0.0",
        configs=[crossed], cache=tmp_path / "no-model-is-run",
    )  # fmt: skip
    assert set(longer.placed_configs) == {*CONFIGS, crossed}
    assert verify(longer.path) == []
    for name in CONFIGS:
        assert longer.rows_hash(name, "train") == made.rows_hash(name, "train")
    found = str(diff(f"{REPO}@1.0.0", longer))
    assert crossed in found
    report = publish(longer.path, repo=REPO)
    assert (report.version, report.plan.bump) == ("1.1.0", "minor")
    rows = load_dataset(REPO, crossed, revision="1.1.0", cache_dir=str(tmp_path / "cache"))
    assert set(rows["train"].features["difficulty"].int2str(rows["train"]["difficulty"])) == {"simple"}
    assert set(rows["validation"].features["difficulty"].int2str(rows["validation"]["difficulty"])) == {
        "hard"
    }


def test_harness_files_and_results_know_the_labels_of_each_part(hub: RunningHub, made: ReleaseFolder) -> None:
    evaluate(made, configs=list(CONFIGS), baselines=["majority"])
    report = publish(made.path, repo=REPO, create=True)
    assert report.verified
    there = hub.repository(REPO).files("1.0.0")
    for name in CONFIGS:
        assert any(path.startswith(f"results/{name}/majority") for path in there)
    card = there["README.md"].decode()
    for part in PARTS:
        assert f"pvi_{part}" in card
        assert all(label in card for label in made.task(f"{part}_simple").labels or ())


def test_phenomena_whose_text_may_not_be_passed_on_are_published_as_ids(
    hub: RunningHub, workshop: Path, tmp_path: Path
) -> None:
    sample = builders.get("curriculum").sample_folder()
    for name in PHENOMENA:
        shutil.copytree(sample / name, tmp_path / "source" / name)
    configs = [f"{name}_simple" for name in PHENOMENA]
    full = build(
        "curriculum_difficulty", source=tmp_path / "source", out=tmp_path / "full", configs=configs,
        pvi_model=str(workshop / "tiny"), pvi_recipe=QUICK, k=[2], cache=tmp_path / "cache",
    )  # fmt: skip
    with pytest.raises(PublishError, match="take it out with `benchwright strip --where-needed`"):
        publish(full.path, repo=REPO, create=True)
    strip(full.path, out=tmp_path / "ids", where_needed=True)
    assert publish(tmp_path / "ids", repo=REPO, create=True).verified
    for name in configs:
        loaded = load_dataset(REPO, name, revision="1.0.0", cache_dir=str(tmp_path / "datasets"))
        assert loaded["train"]["uid"] == full.table(name, "train", ["uid"]).column("uid").to_pylist()
        assert "premise" not in loaded["train"].features
    scores = load_dataset(REPO, "scores", revision="1.0.0", cache_dir=str(tmp_path / "datasets"))
    assert sorted(scores) == sorted(f"pvi_{name}" for name in PHENOMENA)
    hydrate(f"{REPO}@1.0.0", source=tmp_path / "source", out=tmp_path / "again")
    again = ReleaseFolder(tmp_path / "again")
    assert [again.rows_hash(name, "train") for name in configs] == [
        full.rows_hash(name, "train") for name in configs
    ]

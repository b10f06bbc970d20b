"""The GeoQuery benchmark: rows, configs, published splits and a release of the sample."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchwright.builders.base import BuildOptions, ConfigSpec, Origin, SourceData
from benchwright.builders.build import build
from benchwright.builders.geoquery import GeoQueryBuilder
from benchwright.builders.rebuild import rebuild
from benchwright.errors import SourceError, UsageError
from benchwright.faults import FaultLog
from benchwright.release import ReleaseFolder
from benchwright.splitting import TEST, TRAIN, UNUSED, VALIDATION, Assignment, splitters
from benchwright.splitting.divergence import COMPOUND_ALPHA, chernoff_divergence, total_counts
from benchwright.text.funql import FUNQL

BUILDER = GeoQueryBuilder()
PUBLISHED = ("standard", "template_1", "tmcd_1", "length_1")


def _read(folder: Path) -> SourceData:
    return BUILDER.read(folder, FaultLog(), Origin("folder"))


def _specs(rows: int | None = None, **options: Any) -> dict[str, ConfigSpec]:
    names = {"kfold": ["lm_kfold"], "prompt": ["lm_prompt"]}
    specs = BUILDER.configs(BUILDER.resolved(BuildOptions(**options)), names, rows)
    return {spec.name: spec for spec in specs}


def _split(data: SourceData, spec: ConfigSpec) -> Assignment:
    return splitters.get(spec.splitter)(**spec.parameters).split(BUILDER.split_rows(data))


@pytest.fixture(scope="module")
def sample() -> SourceData:
    return _read(GeoQueryBuilder.sample_folder())


@pytest.fixture(scope="module")
def geoquery(data_folder: Path) -> SourceData:
    return _read(data_folder / "geoquery")


def test_the_sample_is_read_whole_and_every_place_is_masked(sample: SourceData) -> None:
    assert (sample.read, sample.table.num_rows, sample.filtered, sample.dropped) == (105, 105, {}, {})
    assert sample.notes == ()
    assert sample.programs is not None
    assert all(sample.programs.parsed)
    targets = sample.table.column("target").to_pylist()
    assert not any("id (" in target for target in targets)
    # Every symbol recurs, so that the atom constraint can be met; as in GeoQuery, targets recur too.
    atoms = Counter(atom for target in targets for atom in FUNQL.analyse(target).atoms or ())
    assert min(atoms.values()) >= 2
    assert len(set(targets)) == 40
    questions = sample.table.column("question").to_pylist()
    assert len(questions) - len(set(questions)) == 1


def test_a_row_of_the_sample(sample: SourceData) -> None:
    row = sample.table.to_pylist()[0]
    assert row.pop("content_id") != sample.table.column("content_id")[1].as_py()
    assert row == {
        "uid": "geoquery:all:0",
        "question": "Of the lakes in North Halden , which is the largest ?",
        "query": "answer(largest(lake(loc_2(stateid('north halden')))))",
        "source": "of the lakes in m0 , which is the largest",
        "target": "answer ( largest ( intersection ( lake , loc_2 ( m0 ) ) ) )",
        "entities": [{"placeholder": "m0", "value": "stateid('north halden')", "type": "state"}],
        "template": "answer ( largest ( intersection ( lake , loc_2 ( m0 ) ) ) )",
        "num_novel_compounds": None,
        "length": 12,
        "source_split": "all",
        "source_index": 0,
    }


def test_equal_sources_of_different_questions_have_different_content_ids(sample: SourceData) -> None:
    rows = sample.table.select(["source", "question", "content_id"]).to_pylist()
    by_question = {row["question"]: row["content_id"] for row in rows}
    assert len(set(by_question.values())) == len(by_question) > len({row["source"] for row in rows})


def test_configs_and_their_sizes() -> None:
    specs = _specs()
    assert [name for name, spec in specs.items() if not spec.extra] == [
        *("random", "random_2", "random_3", "length", "template", "tmcd"),
        *("ll_split", "ll_split_len", "ll_split_pt", "ll_split_pt_len"),
        *(f"nqg_{split}" for split in PUBLISHED),
    ]
    sizes = {"train": 440, "validation": 220, "test": 220}
    assert all(spec.parameters["sizes"] == sizes for spec in specs.values() if spec.splitter != "published")
    assert specs["ll_split"].parameters["constraint"] == "atoms"
    assert "constraint" not in specs["random"].parameters
    assert specs["tmcd"].parameters["max_iterations"] is None
    assert [name for name, spec in specs.items() if spec.default] == ["ll_split"]
    assert specs["nqg_tmcd_1"].parameters == {"split": "tmcd_1"}


def test_definitions_of_sql_are_refused() -> None:
    with pytest.raises(UsageError, match="the structure 'spider' is for sql, but the programs are funql"):
        BUILDER.resolved(BuildOptions(structure="spider"))
    for method in ("published", "corrected"):
        resolved = BUILDER.resolved(BuildOptions(method=method))  # type: ignore[arg-type]
        assert (resolved.structure, resolved.template_rule) == ("funql", "funql")


def test_prompts_read_the_question_lower_cased(sample: SourceData) -> None:
    contexts, continuations = BUILDER.templates[BUILDER.default_prompt].render(sample.table.slice(0, 1))
    assert contexts == ["write a question about geography:"]
    assert continuations == [" of the lakes in north halden , which is the largest ?"]
    for name in (BUILDER.kfold_template, BUILDER.training_template):
        assert BUILDER.templates[name or ""].render(sample.table.slice(0, 1)) == (
            [""],
            ["of the lakes in north halden , which is the largest ?"],
        )


@pytest.mark.parametrize("split", PUBLISHED)
def test_published_splits_of_the_sample_are_placed_as_published(sample: SourceData, split: str) -> None:
    path = GeoQueryBuilder.sample_folder() / "nqg_splits" / f"{split}.json"
    content = json.loads(path.read_text())
    assignment = _split(sample, _specs()[f"nqg_{split}"])
    assert set(assignment.rows(TRAIN).tolist()) == set(content["train"])
    assert set(assignment.rows(TEST).tolist()) == set(content["test"])
    assert len(assignment.rows(VALIDATION)) == len(assignment.rows(UNUSED)) == 0
    assert set(assignment.placed_by.tolist()) == {"published"}


def test_templates_of_the_sample_stay_whole(sample: SourceData) -> None:
    assignment = _split(sample, _specs(105)["template"])
    targets = sample.table.column("template").to_pylist()
    sides = {side: {targets[row] for row in assignment.rows(side)} for side in (TRAIN, VALIDATION, TEST)}
    assert all(sides.values())
    assert sum(map(len, sides.values())) == len(set().union(*sides.values()))


def test_novel_compounds_are_counted_for_evaluation_rows(sample: SourceData) -> None:
    spec = _specs()["nqg_tmcd_1"]
    side = _split(sample, spec).side
    placed = BUILDER.placed_columns(sample, side)
    assert placed is not None
    novel = placed.column("num_novel_compounds").to_pylist()
    compounds = [
        FUNQL.analyse(target).compounds or {} for target in sample.table.column("target").to_pylist()
    ]
    known = {name for row in np.flatnonzero(side == TRAIN) for name in compounds[row]}
    for row, value in enumerate(novel):
        assert value == (None if side[row] == TRAIN else len(set(compounds[row]) - known))
    assert any(novel)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> ReleaseFolder:
    out = tmp_path_factory.mktemp("geoquery") / "geoquery-splits"
    return build("geoquery", source="sample", out=out, configs=["random", "length", "template", "nqg_tmcd_1"])


def test_a_release_of_the_sample_loads_and_can_be_rebuilt(release: ReleaseFolder, tmp_path: Path) -> None:
    from datasets import load_dataset

    data = load_dataset(str(release.path), "nqg_tmcd_1", cache_dir=str(tmp_path / "cache"))
    content = json.loads((GeoQueryBuilder.sample_folder() / "nqg_splits" / "tmcd_1.json").read_text())
    assert {split: sorted(data[split]["source_index"]) for split in data} == {
        split: sorted(numbers) for split, numbers in content.items()
    }
    row = data["test"][0]
    assert row["entities"] == [] or set(row["entities"][0]) == {"placeholder", "value", "type"}
    assert row["num_novel_compounds"] is not None
    assert rebuild(release.path, source="sample", out=tmp_path / "again") == []


def test_files_of_published_splits_belong_to_the_source(release: ReleaseFolder) -> None:
    manifest = json.loads((release.path / "manifest.json").read_text())
    names = [file["name"] for file in manifest["source"]["files"]]
    assert names == [
        "geography-multilingual.xml",
        "geobase",
        *(f"nqg_splits/{split}.json" for split in PUBLISHED),
    ]


def test_without_published_splits_their_configs_are_left_out_and_noted(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    shutil.copytree(GeoQueryBuilder.sample_folder(), corpus)
    shutil.rmtree(corpus / "nqg_splits")
    assert _read(corpus).published_splits == {}
    with pytest.raises(SourceError, match="no published split 'tmcd_1' for config 'nqg_tmcd_1'"):
        build("geoquery", source=corpus, out=tmp_path / "named", configs=["random", "nqg_tmcd_1"])


@pytest.mark.corpora
def test_the_corpus_has_880_rows_and_filters_the_twelve_later_ones(geoquery: SourceData) -> None:
    assert geoquery.table.num_rows == BUILDER.published_rows == 880
    assert (geoquery.read, geoquery.filtered) == (892, {"beyond the 880 examples": 12})
    assert geoquery.programs is not None
    assert all(geoquery.programs.parsed)


@pytest.mark.corpora
@pytest.mark.parametrize("split", PUBLISHED)
def test_published_splits_are_placed_as_published(
    geoquery: SourceData, data_folder: Path, split: str
) -> None:
    content = json.loads((data_folder / "geoquery" / "nqg_splits" / f"{split}.json").read_text())
    assignment = _split(geoquery, _specs()[f"nqg_{split}"])
    assert assignment.rows(TRAIN).tolist() == sorted(content["train"])
    assert assignment.rows(TEST).tolist() == sorted(content["test"])


@pytest.mark.corpora
def test_the_published_template_split_has_whole_templates(geoquery: SourceData) -> None:
    assignment = _split(geoquery, _specs()["nqg_template_1"])
    templates = np.array(geoquery.table.column("template").to_pylist())
    assert not set(templates[assignment.rows(TRAIN)]) & set(templates[assignment.rows(TEST)])


@pytest.mark.corpora
def test_the_length_split_trains_on_what_the_published_one_trains_on(
    geoquery: SourceData, data_folder: Path
) -> None:
    """As texts: the published split was made from another order of equal rows."""
    content = json.loads((data_folder / "geoquery" / "nqg_splits" / "length_1.json").read_text())
    assignment = _split(geoquery, _specs()["length"])
    pairs = list(
        zip(*(geoquery.table.column(name).to_pylist() for name in ("source", "target")), strict=True)
    )
    ours = Counter(pairs[row] for row in assignment.rows(TRAIN))
    assert ours == Counter(pairs[row] for row in content["train"])


@pytest.mark.corpora
def test_novel_compounds_of_the_published_tmcd_split(geoquery: SourceData, oracle_folder: Path) -> None:
    lines = (oracle_folder / "tmcd_geoquery" / "dataset.jsonl").read_text(encoding="utf-8").splitlines()
    compounds = [set(json.loads(line)["compounds"]) for line in lines]
    side = _split(geoquery, _specs()["nqg_tmcd_1"]).side
    known = set().union(*(compounds[row] for row in np.flatnonzero(side == TRAIN)))
    placed = BUILDER.placed_columns(geoquery, side)
    assert placed is not None
    assert placed.column("num_novel_compounds").to_pylist() == [
        None if where == TRAIN else len(compounds[row] - known) for row, where in enumerate(side.tolist())
    ]


@pytest.mark.corpora
def test_the_reference_mode_of_tmcd_makes_the_published_split(
    geoquery: SourceData, data_folder: Path
) -> None:
    """As texts: equal rows changed places."""
    content = json.loads((data_folder / "geoquery" / "nqg_splits" / "tmcd_1.json").read_text())
    side = _split(geoquery, _specs(tmcd_mode="reference")["tmcd"]).side
    pairs = list(
        zip(*(geoquery.table.column(name).to_pylist() for name in ("source", "target")), strict=True)
    )
    train = Counter(pairs[row] for row in np.flatnonzero(side == TRAIN))
    assert train == Counter(pairs[row] for row in content["train"])
    assert geoquery.programs is not None
    compounds = geoquery.programs.compounds()
    sides = [
        total_counts(compounds[row] or {} for row in np.flatnonzero(where)) for where in (side == 0, side > 0)
    ]
    assert chernoff_divergence(*sides, COMPOUND_ALPHA) == pytest.approx(0.190153, abs=5e-7)

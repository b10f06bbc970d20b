"""The whole of Spider and of GeoQuery as releases: what splits of programs promise, on the real corpora."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from benchwright.builders.build import build
from benchwright.builders.rebuild import rebuild
from benchwright.builders.verify import verify
from benchwright.release import ReleaseFolder
from benchwright.text.programs import structures, template_rules

pytestmark = pytest.mark.corpora

PUBLISHED = ("random_1", "length_1", "template_1", "tmcd_1")
CONFIGS = [
    "random",
    "random_2",
    "random_3",
    "length",
    "template",
    "tmcd",
    *(f"nqg_{name}" for name in PUBLISHED),
]
UNPARSED = [f"spider:dev:{row}" for row in (225, 226, 227, 228, 926, 927)]


@pytest.fixture(scope="module")
def spider(data_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> ReleaseFolder:
    out = tmp_path_factory.mktemp("spider") / "spider-splits"
    return build("spider", source=data_folder / "spider", out=out, configs=CONFIGS)


def _sizes(release: ReleaseFolder, config: str) -> dict[str, int]:
    return {split: entry["rows"] for split, entry in release.config(config)["splits"].items()}


def _properties(release: ReleaseFolder) -> dict:
    return json.loads((release.path / "analyses" / "properties.json").read_text())


def test_sizes_are_the_published_ones_and_unparsed_queries_are_in_no_tmcd_split(spider):
    for config in ("random", "random_2", "random_3", "length", "template"):
        assert _sizes(spider, config) == {"train": 5_966, "validation": 1_034, "test": 1_034}, config
    assert _sizes(spider, "tmcd") == {"train": 5_960, "validation": 1_034, "test": 1_034}
    assignment = spider.assignment("tmcd")
    unused = assignment.filter(np.array(assignment.column("split").to_pylist()) == "unused")
    assert sorted(unused.column("uid").to_pylist()) == sorted(UNPARSED)
    (note,) = [note for note in spider.config("tmcd")["notes"] if note["code"] == "unparsed"]
    assert sorted(note["uids"]) == sorted(UNPARSED)


def test_hardness_and_parses_of_every_dev_query(spider, oracle_folder):
    names = spider.features("random")["hardness"].names
    rows = {}
    for split in spider.splits("random"):
        columns = ["uid", "query", "hardness", "sql_parsed"]
        rows |= {row["uid"]: row for row in spider.table("random", split, columns).to_pylist()}
    gold = [
        json.loads(line) for line in (oracle_folder / "spider_eval" / "gold.jsonl").read_text().splitlines()
    ]
    for line in gold:
        row = rows[f"spider:dev:{line['i']}"]
        assert (row["query"], names[row["hardness"]]) == (line["query"], line["hardness"])
    assert sorted(uid for uid, row in rows.items() if not row["sql_parsed"]) == sorted(UNPARSED)


def test_random_splits_diverge_as_little_as_the_paper_says(spider):
    """Table 13, against validation: compounds 0.042-0.047, atoms 0.076-0.080, over its random splits."""
    lines = {
        line["config"]: line
        for line in _properties(spider)["divergence"]["rows"]
        if line["evaluation"] == "validation"
    }
    assert lines["random"]["compound"] == pytest.approx(0.046897382087818684, abs=1e-9)
    assert lines["random"]["atom_symbols"] == pytest.approx(0.07967866016512193, abs=1e-9)
    for config in ("random", "random_2", "random_3"):
        assert 0.042 <= lines[config]["compound"] <= 0.0475, config
        assert 0.075 <= lines[config]["atom_symbols"] <= 0.0805, config
    assert lines["tmcd"]["compound"] > 2 * lines["template"]["compound"] > lines["random"]["compound"]


def test_no_template_and_no_unseen_atom_crosses_where_it_must_not(spider):
    sides = {
        split: spider.table("template", split, ["template"]).column("template").to_pylist()
        for split in spider.splits("template")
    }
    assert set(sides["train"]).isdisjoint(sides["validation"] + sides["test"])
    assert set(sides["validation"]).isdisjoint(sides["test"])
    analyse = structures.get("spider").analyse
    atoms = {
        split: set().union(
            *(
                analyse(target).atoms
                for target in spider.table("tmcd", split, ["target"]).column("target").to_pylist()
            )
        )
        for split in spider.splits("tmcd")
    }
    assert atoms["validation"] | atoms["test"] <= atoms["train"]
    assert template_rules.get("canonical").template(
        spider.table("random", "test", ["target"]).column("target")[0].as_py()
    )


def test_published_placements_are_not_altered(spider, data_folder):
    train = json.loads(gzip.decompress((data_folder / "spider" / "train_spider.json.gz").read_bytes()))
    counts: dict[str, int] = {}
    for example in train:
        counts[example["db_id"]] = counts.get(example["db_id"], 0) + 1
    uids = [f"spider:train:{row}" for row, example in enumerate(train) if counts[example["db_id"]] >= 50]
    assert len(uids) == 4_376
    for name in PUBLISHED:
        ids = json.loads((data_folder / "spider" / "nqg_splits" / f"{name}.json").read_text())
        for split in ("train", "test"):
            found = spider.table(f"nqg_{name}", split, ["uid"]).column("uid").to_pylist()
            assert sorted(found) == sorted(uids[row] for row in ids[split]), (name, split)
        assert spider.config(f"nqg_{name}")["unused"] == 8_034 - 4_376


def test_the_release_is_whole_and_comes_out_again(spider, data_folder):
    assert verify(spider) == []
    assert rebuild(spider, source=data_folder / "spider") == []


def test_geoquery_in_reference_mode_is_the_published_split(data_folder, tmp_path):
    release = build(
        "geoquery",
        source=data_folder / "geoquery",
        out=tmp_path / "geo",
        configs=["tmcd", "length", "nqg_tmcd_1", "nqg_length_1"],
        tmcd_mode="reference",
    )
    for made, published in (("tmcd", "nqg_tmcd_1"), ("length", "nqg_length_1")):
        texts = [
            sorted(
                (row["source"], row["target"])
                for row in release.table(config, "train", ["source", "target"]).to_pylist()
            )
            for config in (made, published)
        ]
        assert texts[0] == texts[1]
    (note,) = [note for note in release.config("tmcd")["notes"] if note["code"] == "divergence"]
    assert "is 0.190153 " in note["message"]

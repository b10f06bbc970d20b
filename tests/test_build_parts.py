"""Releases of a source of several data sets: each config has the rows, labels and scores of its own one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import parts_builder
import pyarrow.compute as pc
import pytest
from parts_builder import ROWS, TASKS, write_source
from pvi_helpers import SMALL, tiny_encoder

from benchwright.builders.audit import audit_release, report
from benchwright.builders.build import build
from benchwright.builders.diff import diff
from benchwright.builders.errata import rename, withdraw
from benchwright.builders.hydrate import hydrate, strip
from benchwright.builders.rebuild import rebuild
from benchwright.builders.rescore import rescore
from benchwright.builders.verify import verify
from benchwright.errors import ReleaseError, SourceError, UsageError
from benchwright.release import ReleaseFolder
from benchwright.splitting.scores import ScoreTable

CELLS = ("simple", "hard", "pvi_hard_test", "pvi_hard_test_reverse")
PVI_CONFIGS = [
    "colour",
    "colour_simple",
    "colour_hard_clean",
    "size_pvi_hard_test",
    "size_pvi_hard_test_reverse",
]
QUICK = {**SMALL, "epochs": 3}
pytestmark = pytest.mark.filterwarnings(
    "ignore:no usable information", "ignore:.*is made with other versions"
)


@pytest.fixture(scope="module", autouse=True)
def _installed() -> Iterator[None]:
    with parts_builder.installed():
        yield


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_source(tmp_path_factory.mktemp("source"))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny_encoder(tmp_path_factory.mktemp("model") / "tiny")


@pytest.fixture(scope="module")
def made(source: Path, tmp_path_factory: pytest.TempPathFactory) -> ReleaseFolder:
    """Every puzzle that has a file, and each without its conflicts, duplicates and leaks."""
    return build("puzzles", source=source, out=tmp_path_factory.mktemp("made") / "puzzles", repair=True)


@pytest.fixture(scope="module")
def scored(source: Path, model: str, tmp_path_factory: pytest.TempPathFactory) -> ReleaseFolder:
    """Configs of two tables of V-information, one for each puzzle."""
    folder = tmp_path_factory.mktemp("scored")
    return build(
        "puzzles", source=source, out=folder / "puzzles", configs=PVI_CONFIGS, pvi_model=model,
        pvi_recipe=QUICK, k=[2], cache=folder / "cache",
    )  # fmt: skip


def files(release: ReleaseFolder) -> dict[str, bytes]:
    paths = sorted(release.path.rglob("*.parquet"))
    return {path.relative_to(release.path).as_posix(): path.read_bytes() for path in paths}


def uids(release: ReleaseFolder, config: str) -> set[str]:
    return {
        uid
        for split in release.splits(config)
        for uid in release.table(config, split, ["uid"]).column("uid").to_pylist()
    }


def test_each_config_divides_the_rows_of_its_part(made: ReleaseFolder) -> None:
    assert list(made.configs) == ["colour", "size", "colour_clean", "size_clean"]
    assert made.manifest["source"]["parts"] == ROWS
    assert made.manifest["source"]["rows"] == sum(ROWS.values())
    for name, entry in made.configs.items():
        part = entry["part"]
        assert part == name.removesuffix("_clean")
        assert made.task(name) == TASKS[part]
        assert made.features(name)["label"].names == list(TASKS[part].labels or ())
        assert ("shade" in made.features(name)) == (part == "colour")
        assert made.assignment(name).num_rows == ROWS[part]
        assert all(uid.startswith(f"{part}:") for uid in made.assignment(name).column("uid").to_pylist())
        placed = sum(facts["rows"] for facts in entry["splits"].values())
        assert placed + entry["unused"] == ROWS[part]
    assert verify(made.path) == []


def test_rows_stand_in_the_order_of_their_own_data_set(made: ReleaseFolder, source: Path) -> None:
    lines = [json.loads(line) for line in (source / "size.jsonl").read_text(encoding="utf-8").splitlines()]
    rows = made.table("size", "validation").to_pylist()
    expected = [line for line in lines if line["split"] == "val"]
    labels = TASKS["size"].labels or ()
    found = [(row["premise"], row["hypothesis"], labels[row["label"]]) for row in rows]
    assert found == [(line["premise"], line["hypothesis"], line["label"]) for line in expected]


def test_the_audit_tells_of_each_part_and_agrees_with_that_of_the_files(made: ReleaseFolder) -> None:
    findings = made.manifest["audit"]["findings"]
    assert {finding.get("part") for finding in findings if finding["config"] is None} <= set(ROWS)
    conflicts = [finding for finding in findings if finding["code"] == "target_conflict"]
    found = {(finding.get("part"), finding["config"], finding["count"]) for finding in conflicts}
    assert found == {("colour", None, 2), (None, "colour", 2)}
    leaks = {finding["config"] for finding in findings if finding["code"] == "leak_exact"}
    assert leaks == {"colour"}
    assert made.manifest["audit"] == report(audit_release(made), set())


def test_repair_leaves_out_conflicts_and_leaks_with_reasons(made: ReleaseFolder) -> None:
    left_out = uids(made, "colour") - uids(made, "colour_clean")
    assert left_out == {"colour:train:7", "colour:train:70", "colour:train:71"}
    notes = made.config("colour_clean")["notes"]
    codes = {note["code"]: note["uids"] for note in notes if note["uids"]}
    assert codes == {"conflict": ["colour:train:7", "colour:train:71"], "leak": ["colour:train:70"]}
    assert uids(made, "size") == uids(made, "size_clean")


def test_every_config_loads(made: ReleaseFolder, tmp_path: Path) -> None:
    for name, entry in made.configs.items():
        loaded = datasets.load_dataset(str(made.path), name, cache_dir=str(tmp_path))
        assert {split: rows.num_rows for split, rows in loaded.items()} == {
            split: facts["rows"] for split, facts in entry["splits"].items()
        }
        assert all(rows.features == made.features(name) for rows in loaded.values())


def test_a_part_that_the_source_lacks_is_left_out_unless_it_is_named(source: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"no rows of 'sound' for config 'sound'.*which has colour, size"):
        build("puzzles", source=source, out=tmp_path / "out", configs=["colour", "sound"])
    only = build("puzzles", source=write_source(tmp_path / "size", ["size"]), out=tmp_path / "out")
    assert list(only.configs) == ["size"]


def test_v_information_is_that_of_the_rows_of_a_part(scored: ReleaseFolder) -> None:
    assert scored.splits("scores") == ["pvi_colour", "pvi_size"]
    for name, entry in scored.manifest["scores"].items():
        table = scored.table("scores", name)
        part = entry["part"]
        assert (entry["scorer"], name, entry["rows"]) == ("pvi", f"pvi_{part}", ROWS[part])
        assert "scored_tokens" not in entry
        assert pc.all(pc.starts_with(table.column("uid"), f"{part}:")).as_py()
        assert table.column("log_likelihood").null_count == table.num_rows
        bits = [table.column(column).to_numpy() for column in ("entropy_null", "entropy_input", "pvi")]
        np.testing.assert_allclose(bits[0] - bits[1], bits[2], atol=1e-5)
    assert verify(scored.path) == []


def test_rows_show_their_v_information_and_their_fold(scored: ReleaseFolder) -> None:
    table = scored.table("scores", "pvi_size").to_pylist()
    by_uid = {row["uid"]: row for row in table}
    for split, difficulty in (("train", 0), ("validation", 1)):
        for row in scored.table("size_pvi_hard_test", split).to_pylist():
            known = by_uid[row["uid"]]
            assert [row[name] for name in ("entropy_null", "entropy_input", "pvi", "pvi_fold")] == [
                known[name] for name in ("entropy_null", "entropy_input", "pvi", "fold")
            ]
            assert (row["log_likelihood"], row["fold"]) == (None, None)
            assert row["difficulty"] == difficulty
    assert "pvi" not in scored.features("colour")
    reverse = scored.config("size_pvi_hard_test_reverse")
    assert reverse["reverse_of"] == "size_pvi_hard_test"


def test_a_release_is_built_again_from_its_own_scores(
    scored: ReleaseFolder, made: ReleaseFolder, source: Path
) -> None:
    assert rebuild(scored.path, source=source) == []
    assert rebuild(made.path, source=source) == []
    assert verify(scored.path, source=source) == []


def test_scoring_again_gives_the_same_bits(scored: ReleaseFolder, source: Path, model: str) -> None:
    reports = rescore(scored.path, source=source, lm=model)
    assert [(found.table, found.unit, found.compared) for found in reports] == [
        ("pvi_colour", "bits", ROWS["colour"]),
        ("pvi_size", "bits", ROWS["size"]),
    ]
    assert all(found.same_identity and found.within(0.0) for found in reports)
    assert [effect.config for effect in reports[1].configs] == PVI_CONFIGS[3:]


def test_configs_of_other_parts_are_added_as_one_build_would_make_them(
    scored: ReleaseFolder, source: Path, tmp_path: Path
) -> None:
    first = build("puzzles", source=source, out=tmp_path / "first", configs=["colour"])
    second = build(
        "puzzles", source=source, into=first.path, out=tmp_path / "second", configs=["size", "size_clean"]
    )
    whole = build("puzzles", source=source, out=tmp_path / "whole", configs=["colour", "size", "size_clean"])
    assert files(second) == files(whole)
    assert second.manifest == whole.manifest
    third = build(
        "puzzles", source=source, into=scored.path, out=tmp_path / "third", configs=["size", "size_hard"]
    )
    assert {name: files(third)[name] for name in files(scored)} == files(scored)
    assert third.manifest["scores"] == scored.manifest["scores"]
    assert verify(third.path) == []
    assert rebuild(third.path, source=source) == []


def test_a_withdrawn_row_leaves_the_configs_of_its_part_alone(
    scored: ReleaseFolder, source: Path, tmp_path: Path
) -> None:
    folder = build(
        "puzzles", source=source, out=tmp_path / "puzzles", configs=PVI_CONFIGS, scores=scored.path
    )
    before, gone = files(folder), "size:val:36"
    changed = withdraw(folder.path, uids=[gone], reason="A reader asked for it.")
    after = files(changed)
    touched = {name for name in before if before[name] != after.get(name)}
    readers = [name for name in PVI_CONFIGS[3:] if gone in uids(scored, name)]
    assert touched == {
        "scores/pvi_size-00000-of-00001.parquet",
        *(f"assignments/{name}.parquet" for name in readers),
        *(f"{name}/validation-00000-of-00001.parquet" for name in readers),
    }
    assert readers
    assert "withdrawn" not in changed.config("colour")
    assert gone not in {uid for name in changed.placed_configs for uid in uids(changed, name)}
    assert verify(changed.path) == []
    assert rebuild(changed.path, source=source) == []
    again = build(
        "puzzles", source=source, out=changed.path, configs=PVI_CONFIGS, scores=changed.path, overwrite=True
    )
    assert files(again) == after
    assert again.manifest == changed.manifest
    with pytest.raises(UsageError, match="is withdrawn already"):
        withdraw(changed.path, uids=[gone], reason="Again.")
    with pytest.raises(UsageError, match="has no row 'sound:train:0'"):
        withdraw(changed.path, uids=["sound:train:0"], reason="Unknown.")


def test_configs_of_parts_are_renamed_and_withdrawn(
    scored: ReleaseFolder, source: Path, tmp_path: Path
) -> None:
    folder = build(
        "puzzles", source=source, out=tmp_path / "puzzles", configs=PVI_CONFIGS, scores=scored.path
    )
    renamed = rename(folder.path, config="size_pvi_hard_test", to="sizes")
    assert renamed.config("size_pvi_hard_test_reverse")["reverse_of"] == "sizes"
    assert rebuild(renamed.path, source=source) == []
    for config in ("colour_simple", "colour_hard_clean"):
        left = withdraw(renamed.path, config=config, reason="It was cut wrongly.")
    assert left.splits("scores") == ["pvi_size"] == list(left.manifest["scores"])
    assert "pvi" in left.features("scores")
    assert verify(left.path) == []
    assert rebuild(left.path, source=source) == []
    for config in ("sizes", "size_pvi_hard_test_reverse"):
        left = withdraw(left.path, config=config, reason="It was cut wrongly.")
    assert list(left.configs) == ["colour"]
    assert verify(left.path) == []


def test_text_is_taken_out_and_put_back(scored: ReleaseFolder, source: Path, tmp_path: Path) -> None:
    stripped = strip(scored.path, out=tmp_path / "stripped")
    assert {"pvi", "pvi_fold"} <= set(stripped.features("colour_simple"))
    assert not {"premise", "label", "difficulty"} & set(stripped.features("colour_simple"))
    assert verify(stripped.path) == []
    assert verify(stripped.path, source=source) == []
    whole = hydrate(stripped.path, source=source, out=tmp_path / "whole")
    assert whole.release is not None
    assert files(whole.release) == files(scored)
    lacking = hydrate(
        stripped.path, source=write_source(tmp_path / "colour", ["colour"]), out=tmp_path / "none"
    )
    assert lacking.release is None
    assert set(lacking.missing) == uids(scored, "size_pvi_hard_test") | uids(
        scored, "size_pvi_hard_test_reverse"
    )
    assert lacking.different == ()


def test_what_differs_is_told_by_config(made: ReleaseFolder, source: Path, tmp_path: Path) -> None:
    copy = build("puzzles", source=source, out=tmp_path / "puzzles", repair=True)
    assert not diff(made.path, copy.path)
    changed = withdraw(copy.path, uids=["colour:val:0"], reason="A reader asked for it.")
    found = diff(made.path, changed.path)
    assert found.bump == "major"
    assert sorted(config.name for config in found.configs) == ["colour", "colour_clean"]
    more = build("puzzles", source=source, out=tmp_path / "less", configs=["size"])
    assert diff(more.path, made.path).added == ("colour", "colour_clean", "size_clean")


def test_a_part_that_the_manifest_does_not_have_is_told(
    made: ReleaseFolder, source: Path, tmp_path: Path
) -> None:
    copy = build("puzzles", source=source, out=tmp_path / "puzzles", configs=["size"])
    path = copy.path / "manifest.json"
    for part, message in (("sound", "but the source has 0"), ({}, "lacks or misuses a field")):
        manifest = json.loads(path.read_text(encoding="utf-8"))
        manifest["configs"]["size"]["part"] = part
        path.write_text(json.dumps(manifest), encoding="utf-8")
        if isinstance(part, str):
            assert any(message in str(difference) for difference in verify(copy.path))
        else:
            with pytest.raises(ReleaseError, match=message):
                verify(copy.path)


@pytest.mark.parametrize("change", [{"pvi_fit": "leaky"}, {"pvi_cut": "median"}, {"pvi_border": "none"}])
def test_unknown_choices_on_v_information_are_named(
    source: Path, tmp_path: Path, change: dict[str, Any]
) -> None:
    ((option, value),) = change.items()
    with pytest.raises(UsageError, match=f"no {option.replace('_', ' ')} '{value}'; give"):
        build("puzzles", source=source, out=tmp_path / "out", **change)
    with pytest.raises(UsageError, match=f"spider has no PVI splits; leave out {option}"):
        build("spider", source="sample", out=tmp_path / "out", **change)


def test_language_model_scores_keep_their_hashes_beside_v_information(model: str, tmp_path: Path) -> None:
    """Config `scores` has the columns of both; a table knows its own."""
    from scores_helpers import tiny_gpt2

    lm = str(tiny_gpt2(tmp_path / "lm", positions=1024))
    plain = build("boolq", source="sample", out=tmp_path / "plain", configs=["ll_split_pt"], lm=[lm])
    options: dict[str, Any] = {"pvi_model": [model], "pvi_recipe": {**QUICK, "max_length": 48}, "k": [2]}
    both = build(
        "boolq",
        source="sample",
        into=plain.path,
        out=tmp_path / "both",
        configs=["simple", "hard"],
        **options,
    )
    assert both.manifest["scores"]["lm_prompt"] == plain.manifest["scores"]["lm_prompt"]
    assert "pvi" in both.features("scores")
    assert "pvi" not in plain.features("scores")
    tables = [ScoreTable.from_release(release, "lm_prompt") for release in (plain, both)]
    assert tables[0] == tables[1]
    assert both.table("scores", "lm_prompt").column("pvi").null_count == tables[0].table.num_rows
    assert verify(both.path) == []
    assert rebuild(both.path, source="sample") == []
    whole = build(
        "boolq", source="sample", out=tmp_path / "whole", configs=["ll_split_pt", "simple", "hard"],
        scores=both.path,
    )  # fmt: skip
    assert files(whole) == files(both)
    for config in ("simple", "hard"):
        left = withdraw(both.path, config=config, reason="It was cut wrongly.")
    assert files(left) == files(plain)
    assert left.config("scores") == plain.config("scores")
    assert verify(left.path) == []


def test_the_bytes_do_not_depend_on_the_hash_seed(made: ReleaseFolder, source: Path, tmp_path: Path) -> None:
    hashes = {
        subprocess.run(
            [sys.executable, parts_builder.__file__, str(source), str(tmp_path / seed / "puzzles")],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(hashes) == 1

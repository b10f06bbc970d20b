"""What a written release holds, and that its bytes depend on the rows and the plan alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import release_helpers as helpers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchwright.builders import _manifest as manifests
from benchwright.builders import release as writing
from benchwright.builders.base import ConfigSpec
from benchwright.builders.release import ReleaseWriter, SourceRows
from benchwright.builders.verify import verify
from benchwright.errors import ReleaseError
from benchwright.hashing import content_hash, row_digests
from benchwright.splitting.base import Assignment, Note
from benchwright.tasks import NLI


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return helpers.write_release(tmp_path_factory.mktemp("written") / "made").path


def run_program(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, helpers.__file__, *arguments]
    return subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


def placed(sides: list[int], notes: tuple[Note, ...] = ()) -> Assignment:
    """An assignment by hand: positions count up within each side."""
    position = [sides[:n].count(side) if side >= 0 else -1 for n, side in enumerate(sides)]
    n = len(sides)
    return Assignment(
        np.array(sides, np.int8),
        np.array(position, np.int32),
        np.array(["group"] * n, object),
        np.full(n, np.nan, np.float32),
        notes,
    )


def write_one(folder: Path, assignment: Assignment, columns: pa.Table | None = None) -> dict[str, object]:
    """The entry of one config of four rows; the release is never finished."""
    with ReleaseWriter(folder / "one", helpers.PLAN) as writer:
        rows = SourceRows(helpers.source_table(4), helpers.FEATURES)
        spec = ConfigSpec("tiny", "random", {"sizes": {"train": 3, "validation": 0, "test": 1}}, "Tiny.")
        entry = writer.start_config(spec, rows, assignment, task=NLI, columns=columns).entry()
        entry["read"] = {
            name: pq.read_table(writer.folder / facts["files"][0]) for name, facts in entry["splits"].items()
        }
        entry["assigned"] = pq.read_table(writer.folder / entry["assignment"]["file"])
    return entry


def test_rows_stand_in_source_order_in_the_declared_columns(written: Path) -> None:
    for config in ("ll_split", "random"):
        seen = []
        for split, size in (("train", 40), ("validation", 8), ("test", 12)):
            table = pq.read_table(written / config / f"{split}-00000-of-00001.parquet")
            assert table.column_names == list(helpers.FEATURES)
            assert table.num_rows == size
            index = table.column("source_index").to_pylist()
            assert index == sorted(index)
            seen += index
            source = helpers.source_table().take(pa.array(index))
            for name in ("hypothesis", "label", "annotator_labels", "entities"):
                assert table.column(name).to_pylist() == source.column(name).to_pylist()
        assert sorted(seen) == list(range(helpers.ROWS))


def test_score_columns_hold_the_scores_and_null_where_there_is_none(written: Path) -> None:
    scores = helpers.score_table(helpers.source_table())
    for split in ("train", "validation", "test"):
        table = pq.read_table(written / "ll_split" / f"{split}-00000-of-00001.parquet")
        expected = scores.take(table.column("source_index")).column("log_likelihood").to_numpy()
        found = table.column("log_likelihood")
        np.testing.assert_array_equal(found.to_numpy(zero_copy_only=False), expected)
        assert found.null_count == int(np.isnan(expected).sum())
    plain = pq.read_table(written / "random" / "train-00000-of-00001.parquet")
    assert plain.column("log_likelihood").null_count == plain.column("fold").null_count == 40


def test_assignment_names_side_position_and_digest_of_every_row(written: Path) -> None:
    table = pq.read_table(written / "assignments" / "ll_split.parquet")
    assert table.column("uid").to_pylist() == helpers.source_table().column("uid").to_pylist()
    source, scores = helpers.source_table(), helpers.score_table(helpers.source_table())
    assignment = helpers.split(helpers.SPECS[0], source, scores)
    names = np.array(["train", "validation", "test"])
    assert table.column("split").to_pylist() == names[assignment.side].tolist()
    assert table.column("position").to_pylist() == assignment.position.tolist()
    assert table.column("score").null_count == 1
    digests = SourceRows(source, helpers.FEATURES).digests
    assert table.column("row_digest").to_pylist() == [bytes(row) for row in digests]


def test_content_hash_can_be_computed_from_the_file_alone(written: Path) -> None:
    facts = json.loads((written / "manifest.json").read_text())["configs"]["ll_split"]["splits"]["test"]
    table = pq.read_table(written / facts["files"][0])
    payload = table.drop_columns(["log_likelihood", "lm_num_tokens", "fold", "placed_by"])
    labels = {"label": helpers.LABELS, "hardness": ["easy", "hard"]}
    assert content_hash(row_digests(payload, labels)) == facts["content_hash"]
    assert facts["bytes"] == (written / facts["files"][0]).stat().st_size


def test_manifest_is_stable_text_with_the_keys_of_the_contract(written: Path) -> None:
    text = (written / "manifest.json").read_text(encoding="utf-8")
    assert text.endswith("}\n")
    data = json.loads(text)
    assert list(data) == list(writing.MANIFEST_KEYS)
    assert data["source"]["filtered"] == {"empty": 1, "no gold label": 2}
    entry = data["configs"]["ll_split"]
    assert entry["parameters"]["sizes"] == {"train": 40, "validation": 8, "test": 12}
    assert entry["placed_by"]["train"] == {"score": 39, "unscored": 1}
    assert [name for name, config in data["configs"].items() if config["default"]] == ["ll_split"]
    assert list(data["configs"]) == ["ll_split", "random", "schemas", "scores"]
    assert str(written.parent) not in text


def test_empty_splits_are_left_out_with_the_reason(tmp_path: Path) -> None:
    entry = write_one(tmp_path, placed([0, 0, 0, 2]))
    assert list(entry["splits"]) == ["train", "test"]
    assert entry["left_out"] == [{"split": "validation", "reason": "its size is 0"}]


def test_unused_rows_are_assigned_but_stand_in_no_file(tmp_path: Path) -> None:
    entry = write_one(tmp_path, placed([0, -1, 2, 0]))
    assert entry["unused"] == 1
    assert entry["assigned"].column("split").to_pylist() == ["train", "unused", "test", "train"]
    assert entry["assigned"].column("position").to_pylist() == [0, -1, 0, 1]
    uids = {name: table.column("uid").to_pylist() for name, table in entry["read"].items()}
    assert uids == {"train": ["made:train:0", "made:train:3"], "test": ["made:train:2"]}


def test_no_placed_row_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="places no row"):
        write_one(tmp_path, placed([-1, -1, -1, -1]))
    assert list(tmp_path.iterdir()) == []


def test_notes_keep_twenty_uids_and_the_count(tmp_path: Path) -> None:
    note = Note("unscored", "rows without a score train", tuple(f"u{n}" for n in range(25)))
    (found,) = write_one(tmp_path, placed([0, 0, 1, 2], (note,)))["notes"]
    assert (found["count"], len(found["uids"]), found["code"]) == (25, 20, "unscored")


def test_columns_of_one_config_change_its_digests_alone(tmp_path: Path) -> None:
    plain = write_one(tmp_path / "a", placed([0, 0, 2, 2]))
    changed = write_one(
        tmp_path / "b", placed([0, 0, 2, 2]), columns=pa.table({"hardness": pa.array([None, None, 1, 0])})
    )
    assert changed["read"]["test"].column("hardness").to_pylist() == [1, 0]
    assert changed["splits"]["test"]["content_hash"] != plain["splits"]["test"]["content_hash"]
    assert (
        changed["read"]["train"]
        .drop_columns(["hardness"])
        .equals(plain["read"]["train"].drop_columns(["hardness"]))
    )


def test_large_splits_are_cut_into_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "SHARD_BYTES", 4_000)
    release = helpers.write_release(tmp_path / "made")
    files = release.config("ll_split")["splits"]["train"]["files"]
    assert len(files) > 1
    assert files[0] == f"ll_split/train-00000-of-{len(files):05d}.parquet"
    assert release.table("ll_split", "train").num_rows == 40
    assert verify(release) == []


@pytest.mark.parametrize("value", [-1, 3])
def test_class_values_without_a_name_are_refused(value: int) -> None:
    table = helpers.source_table(4)
    table = table.set_column(table.column_names.index("label"), "label", pa.array([0, value, 1, 2]))
    with pytest.raises(ReleaseError, match=f"made:train:1.*label {value}"):
        SourceRows(table, helpers.FEATURES)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"choices": {"prompt": "hf_" + "a1" * 17}}, "choices.prompt.*access token"),
        ({"choices": {"hf_" + "a1" * 17: 1}}, "access token"),
        ({"choices": {"model": "/home/someone/model"}}, "choices.model.*path of this machine"),
        ({"choices": {"model": "see C:\\Users\\someone"}}, "path of this machine"),
        ({"choices": {"model": ["x", "~/model"]}}, r"choices.model\[1\]"),
    ],
)
def test_manifest_never_carries_tokens_or_paths(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    with ReleaseWriter(tmp_path / "made", helpers.PLAN) as writer, pytest.raises(ReleaseError, match=message):
        writer.finish(helpers.manifest({"a": {"default": True}}, **changes))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["and/or", "https://a.b/c/d", "/", "{question} /en", "1/2 of rows"])
def test_slashes_in_texts_are_not_taken_for_paths(text: str) -> None:
    assert manifests._PRIVATE_PATH.search(text) is None


@pytest.mark.parametrize("defaults", [(), ("a", "b")])
def test_exactly_one_default(tmp_path: Path, defaults: tuple[str, ...]) -> None:
    configs = {name: {"default": name in defaults} for name in ("a", "b")}
    with (
        ReleaseWriter(tmp_path / "made", helpers.PLAN) as writer,
        pytest.raises(ReleaseError, match="default"),
    ):
        writer.finish(helpers.manifest(configs))


def test_same_bytes_in_every_process_and_for_every_hash_seed(written: Path, tmp_path: Path) -> None:
    found = set()
    for seed in ("0", "1", "random"):
        run = run_program(str(tmp_path / f"seed{seed}" / "made"), PYTHONHASHSEED=seed)
        assert run.returncode == 0, run.stderr
        found.add(run.stdout.strip())
    assert found == {helpers.fingerprint(written)}


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.permutations(range(helpers.ROWS)))
def test_order_of_rows_in_memory_changes_no_byte(
    written: Path, tmp_path_factory: pytest.TempPathFactory, order: list[int]
) -> None:
    source = helpers.source_table().take(pa.array(order))
    release = helpers.write_release(tmp_path_factory.mktemp("permuted") / "made", source=source)
    assert helpers.fingerprint(release.path) == helpers.fingerprint(written)


def test_chunks_of_the_source_change_no_byte(written: Path, tmp_path: Path) -> None:
    table = helpers.source_table()
    pieces = pa.concat_tables([table.slice(0, 7), table.slice(7, 20), table.slice(27)])
    release = helpers.write_release(tmp_path / "made", source=pieces)
    assert helpers.fingerprint(release.path) == helpers.fingerprint(written)


def test_a_config_without_scores_may_be_the_default(tmp_path: Path) -> None:
    specs = [replace(helpers.SPECS[1], default=True)]
    assert verify(helpers.write_release(tmp_path / "made", specs=specs)) == []


def test_published_scores_give_the_same_bytes_as_new_ones(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    published = pq.read_table(written / "scores" / "lm_prompt-00000-of-00001.parquet")
    with monkeypatch.context() as patch:
        values = published.column("log_likelihood").to_numpy()
        new = published.set_column(2, published.schema.field(2), pa.array(values, from_pandas=False))
        assert new.column("log_likelihood").null_count == 0
        patch.setattr(helpers, "score_table", lambda source: new)
        release = helpers.write_release(tmp_path / "new")
    assert helpers.fingerprint(release.path) == helpers.fingerprint(written)
    monkeypatch.setattr(helpers, "score_table", lambda source: published)
    again = helpers.write_release(tmp_path / "again")
    assert helpers.fingerprint(again.path) == helpers.fingerprint(written)


def test_configs_written_one_by_one_are_those_written_together(written: Path, tmp_path: Path) -> None:
    together = json.loads((written / "manifest.json").read_text())["configs"]
    source = helpers.source_table()
    scores = helpers.score_table(source)
    with ReleaseWriter(tmp_path / "made", helpers.PLAN) as writer:
        rows = SourceRows(source, helpers.FEATURES)
        for spec in reversed(helpers.SPECS):
            assignment = helpers.split(spec, source, scores)
            read = scores if spec.scores else None
            alone = writer.start_config(spec, rows, assignment, task=NLI, scores=read).entry()
            assert alone == together[spec.name]

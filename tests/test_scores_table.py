"""The score table: what it refuses, how it is kept, and which rows it gives."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchwright.errors import BenchwrightError, ReleaseError, SourceError
from benchwright.features import SCORES
from benchwright.release import ReleaseFolder
from benchwright.splitting.scores import ScoreTable, score_identity
from benchwright.splitting.scores.table import SCHEMA, check_table

UIDS = ["toy:train:0", "toy:train:1", "toy:dev:0"]
COLUMNS: dict[str, Any] = {
    "uid": UIDS,
    "content_id": ["a", "b", "c"],
    "log_likelihood": [-12.5, None, -3.25],
    "lm_num_tokens": [7, None, 2],
    "length": [6, 900, 2],
    "fold": [None, None, None],
    "status": ["ok", "overlength", "ok"],
}
KEY = {"scorer": "prompt", "model": {"weights_sha256": "sha256:0"}}


def make(**columns: list[Any]) -> ScoreTable:
    table = pa.table({**COLUMNS, **columns}, schema=SCHEMA)
    return ScoreTable(table, {"key": KEY, "environment": {"threads": 1}}, score_identity(KEY))


def test_columns_are_those_of_the_scores_config() -> None:
    assert SCHEMA.names == list(SCORES)
    assert SCHEMA.equals(SCORES.arrow_schema)


def test_saved_tables_come_back_equal_and_in_equal_bytes(tmp_path: Path) -> None:
    scores = make()
    scores.save(tmp_path / "a")
    scores.save(tmp_path / "b")
    loaded = ScoreTable.load(tmp_path / "a")
    assert loaded.table.equals(scores.table)
    assert (loaded.identity, loaded.provenance) == (scores.identity, scores.provenance)
    for name in ("scores.parquet", "provenance.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_saving_replaces_a_score_table_and_nothing_else(tmp_path: Path) -> None:
    make().save(tmp_path / "a")
    make(log_likelihood=[-1.0, None, -2.0]).save(tmp_path / "a")
    assert ScoreTable.load(tmp_path / "a").table.column("log_likelihood").to_pylist() == [-1.0, None, -2.0]
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "thesis.tex").write_text("years of work")
    with pytest.raises(ReleaseError, match="thesis is in the way"):
        make().save(tmp_path / "thesis")
    assert (tmp_path / "thesis" / "thesis.tex").read_text() == "years of work"


def test_a_table_that_was_moved_aside_by_an_interrupted_save_is_put_back(tmp_path: Path) -> None:
    make().save(tmp_path / "a")
    (tmp_path / "a").rename(tmp_path / ".a.old")
    assert ScoreTable.load(tmp_path / "a").table.equals(make().table)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


def _edit(path: Path, **changes: Any) -> None:
    entry = json.loads(path.read_text())
    path.write_text(json.dumps({**entry, **changes}))


def _rewrite(path: Path, **columns: list[Any]) -> None:
    pq.write_table(pa.table({**COLUMNS, **columns}, schema=SCHEMA), path)


@pytest.mark.parametrize(
    ("name", "damage", "message"),
    [
        ("provenance.json", Path.unlink, "no score table"),
        ("provenance.json", _cut, "not JSON"),
        ("provenance.json", lambda path: path.write_text("[]"), "unknown format"),
        ("provenance.json", lambda path: _edit(path, format=2), "unknown format"),
        ("provenance.json", lambda path: _edit(path, rows=4), "states 4 rows"),
        ("provenance.json", lambda path: _edit(path, identity="sha256:1"), "states 3 rows, sha256:1"),
        ("provenance.json", lambda path: _edit(path, provenance={}), "provenance is incomplete"),
        ("provenance.json", lambda path: _edit(path, provenance=None), "provenance is incomplete"),
        ("scores.parquet", Path.unlink, "is missing"),
        ("scores.parquet", _cut, "not a whole parquet file"),
        ("scores.parquet", lambda path: path.write_bytes(b""), "not a whole parquet file"),
        ("scores.parquet", lambda path: _rewrite(path, log_likelihood=[-12.0, None, -3.25]), "were changed"),
        ("scores.parquet", lambda path: _rewrite(path, content_id=["a", "b", "d"]), "were changed"),
        ("scores.parquet", lambda path: _rewrite(path, uid=["x", "x", "y"]), "uid stands twice, got 'x'"),
        (
            "scores.parquet",
            lambda path: _rewrite(path, status=["ok", "bad", "ok"]),
            "row 1, .*status is none of",
        ),
        (
            "scores.parquet",
            lambda path: pq.write_table(pa.table({"uid": UIDS}), path),
            "columns are uid and not uid, content_id",
        ),
    ],
)
def test_damage_is_one_line_that_names_the_file(tmp_path: Path, name: str, damage: Any, message: str) -> None:
    make().save(tmp_path / "a")
    damage(tmp_path / "a" / name)
    with pytest.raises(BenchwrightError, match=message) as caught:
        ScoreTable.load(tmp_path / "a")
    assert str(tmp_path / "a") in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "score the rows again" in str(caught.value)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"uid": ["a", None, "b"]}, "row 1, field 'uid': a row has no uid"),
        ({"log_likelihood": [-1.0, -2.0, -3.0]}, "row 1, .*contradict each other, got -2.0"),
        ({"log_likelihood": [None, None, -3.0]}, "row 0, .*contradict"),
        ({"log_likelihood": [math.inf, None, -3.0]}, "row 0, .*contradict"),
        ({"log_likelihood": [math.nan, None, -3.0]}, "row 0, .*contradict"),
        ({"lm_num_tokens": [7, 3, 2]}, "row 1, field 'lm_num_tokens'.*contradict"),
        ({"lm_num_tokens": [7, None, 0]}, "row 2, field 'lm_num_tokens'.*contradict"),
    ],
)
def test_rows_that_contradict_themselves(columns: dict[str, list[Any]], message: str) -> None:
    with pytest.raises(SourceError, match=message):
        check_table(pa.table({**COLUMNS, **columns}, schema=SCHEMA))


def test_column_types_of_other_writers_are_accepted_if_they_fit() -> None:
    wide = pa.table({**COLUMNS, "fold": pa.nulls(3)}).cast(
        pa.schema([*SCHEMA.remove(0).insert(0, pa.field("uid", pa.large_string()))])
    )
    assert check_table(wide).schema.equals(SCHEMA)
    with pytest.raises(SourceError, match="column types do not fit"):
        check_table(wide.set_column(4, "length", pa.array(["many", "few", "none"])))


def test_aligned_gives_the_rows_asked_for_in_their_order() -> None:
    scores = make().aligned(["toy:dev:0", "toy:train:1"], ["c", "b"])
    assert scores.log_likelihood.dtype == np.float32
    assert scores.num_tokens.dtype == np.int32
    np.testing.assert_array_equal(scores.log_likelihood, np.array([-3.25, np.nan], np.float32))
    assert scores.num_tokens.tolist() == [2, 0]
    everything = make().aligned(make().table.column("uid"))
    assert everything.num_tokens.tolist() == [7, 0, 2]
    assert make().aligned([]).num_tokens.tolist() == []


def test_aligned_names_the_row_that_it_cannot_give() -> None:
    with pytest.raises(SourceError, match=r"no score for 2 of 3 rows, the first, got 'toy:train:9'"):
        make().aligned(["toy:train:0", "toy:train:9", "toy:train:10"])
    with pytest.raises(SourceError, match=r"uid stands twice in the rows, got 'toy:dev:0'"):
        make().aligned(["toy:dev:0", "toy:train:0", "toy:dev:0"])
    with pytest.raises(
        SourceError, match=r"not the one that was scored, got 'toy:train:1'.*score its rows again"
    ):
        make().aligned(UIDS, ["a", "z", "c"])


def test_identity_follows_every_part_of_the_key_and_nothing_else() -> None:
    assert score_identity({"a": 1, "b": 2}) == score_identity({"b": 2, "a": 1})
    assert score_identity({"a": 1}) != score_identity({"a": 2})
    first, second = make(), make()
    second.provenance["environment"]["threads"] = 8
    assert first.identity == second.identity


def test_entry_counts_rows_and_hashes_scores_apart_from_rows() -> None:
    entry = make().entry()
    assert {name: entry[name] for name in ("scorer", "rows", "scored", "overlength", "empty")} == {
        "scorer": "prompt",
        "rows": 3,
        "scored": 2,
        "overlength": 1,
        "empty": 0,
    }
    moved = make(log_likelihood=[-12.25, None, -3.25]).entry()
    assert moved["content_hash"] == entry["content_hash"]
    assert moved["scores_hash"] != entry["scores_hash"]
    json.dumps(entry, allow_nan=False)


def _release(folder: Path, scores: ScoreTable, **changes: Any) -> ReleaseFolder:
    (folder / "scores").mkdir(parents=True)
    file = "scores/lm_prompt-00000-of-00001.parquet"
    pq.write_table(scores.table, folder / file)
    split = {"files": [file], "rows": scores.table.num_rows}
    manifest = {
        "format": 1,
        "dataset": {},
        "scores": {"lm_prompt": {**scores.entry(), **changes}},
        "configs": {"scores": {"kind": "scores", "features": {}, "splits": {"lm_prompt": split}}},
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return ReleaseFolder(folder)


def test_scores_are_read_from_a_release(tmp_path: Path) -> None:
    release = _release(tmp_path / "release", make())
    assert ScoreTable.from_release(release, "lm_prompt").table.equals(make().table)
    with pytest.raises(ReleaseError, match="no score table 'lm_kfold'; it has lm_prompt"):
        ScoreTable.from_release(release, "lm_kfold")
    changed = _release(tmp_path / "changed", make(), scores_hash="sha256:1")
    with pytest.raises(SourceError, match="were changed after they were written"):
        ScoreTable.from_release(changed, "lm_prompt")

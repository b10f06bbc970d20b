"""`benchwright split` from a user's file to a release: loaded, audited and built again."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from datasets import load_dataset

from benchwright.builders.audit import audit_release
from benchwright.builders.build import split
from benchwright.builders.rebuild import rebuild
from benchwright.errors import SourceError, UsageError


def _write(path: Path) -> list[list[str]]:
    rows = [
        [f"Sentence {n}{' and more' * (n % 5)}.", ["None", "b", "NA"][n % 3], f"{n % 9}"] for n in range(90)
    ]
    rows += [rows[4], rows[7]]
    with path.open("w", encoding="utf-8", newline="") as handle:
        csv.writer(handle).writerows([["Text", "label", "null"], *rows])
    return rows


@pytest.mark.parametrize("label", [None, "label"])
def test_a_file_becomes_a_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, label: str | None) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    rows = _write(tmp_path / "mine.csv")
    release = split(
        tmp_path / "mine.csv",
        text="Text",
        label=label,
        out=tmp_path / "out",
        by=["length", "random"],
        test=0.2,
    )
    assert release.dataset["published"] is False
    assert [name for name, entry in release.configs.items() if entry["default"]] == ["length"]
    for config in ("length", "random"):
        data = load_dataset(str(tmp_path / "out"), config, cache_dir=str(tmp_path / "cache"))
        assert sum(split.num_rows for split in data.values()) == 92
        loaded = {row["source_index"]: row for split in data.values() for row in split}
        assert [loaded[number]["Text"] for number in range(92)] == [row[0] for row in rows]
        assert [loaded[number]["null"] for number in range(92)] == [row[2] for row in rows]
        if label is not None:
            names = data["train"].features["label"].names
            assert names == ["NA", "None", "b"]
            assert [names[loaded[number]["label"]] for number in range(92)] == [row[1] for row in rows]
        side = {row["source_index"]: name for name, split in data.items() for row in split}
        assert side[4] == side[90]
        assert side[7] == side[91]
    severities = {finding.severity for finding in audit_release(release)}
    assert severities - {"info"} == {"warning"}
    assert rebuild(release, source=tmp_path / "mine.csv") == []


def test_a_mistake_leaves_nothing_behind(tmp_path: Path) -> None:
    _write(tmp_path / "mine.csv")
    with pytest.raises(UsageError, match="--text 'text' is no column; did you mean Text"):
        split(tmp_path / "mine.csv", text="text", out=tmp_path / "out", by=["random"])
    with (tmp_path / "mine.csv").open("a") as handle:
        handle.write("a ragged line\n")
    with pytest.raises(SourceError, match="row 92, line 94: wrong number of fields, got 1"):
        split(tmp_path / "mine.csv", text="Text", out=tmp_path / "out", by=["random"])
    assert [path.name for path in tmp_path.iterdir()] == ["mine.csv"]
    release = split(
        tmp_path / "mine.csv", text="Text", out=tmp_path / "out", by=["random"], on_bad_row="drop"
    )
    source = release.manifest["source"]
    assert (source["read"], source["rows"], source["dropped"]) == (93, 92, {"wrong number of fields": 1})

"""Splits of a user's own file, from the file to the audit: copies stay together, nothing leaks."""

from __future__ import annotations

import csv
import hashlib
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from benchwright.builders.audit import AuditRows, audit_config, audit_corpus
from benchwright.builders.base import BuildOptions, ConfigSpec, Origin, SourceData
from benchwright.builders.custom import PROGRAM_RULES, RULES, CustomBuilder, custom_builder
from benchwright.errors import SourceError, SplitError
from benchwright.faults import FaultLog
from benchwright.splitting import Assignment, Scores, splitters

TABLES = {"prompt": ["lm_prompt"], "kfold": ["lm_kfold"]}
TEXT_RULES = [rule for rule in RULES if rule not in PROGRAM_RULES]
SUBJECTS = ("The cat", "A neighbour", "My uncle", "Nobody", "The whole village", "An old sailor")
VERBS = ("sleeps", "sings", "waits", "complains about the weather", "runs for the last train", "laughs")
RULE_CONFIGS = [
    *("random", "length", "ll_split_pt", "ll_split_pt_len"),
    *("ll_split_pt_reverse", "ll_split_pt_len_reverse"),
]


def _sentences(count: int) -> list[dict[str, str]]:
    """Distinct sentences with a label and an author."""
    return [
        {
            "text": f"{SUBJECTS[row % 6]} {VERBS[row // 6 % 6]}{' again' * (row % 4)}, day {row}.",
            "label": "calm" if row % 5 < 3 else "loud",
            "author": f"author {row % 17}",
        }
        for row in range(count)
    ]


def _write(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def _read(path: Path, rows: list[dict[str, str]], **columns: Any) -> tuple[CustomBuilder, SourceData]:
    builder = custom_builder("own", text="text", by=TEXT_RULES, **columns)
    return builder, builder.read(_write(path, rows), FaultLog(), Origin("folder"))


def _scores(data: SourceData) -> Scores:
    """Made-up log-likelihoods that depend on the text alone, as a language model's do; some are missing."""
    digests = [hashlib.sha256(text.encode()).digest() for text in data.table.column("text").to_pylist()]
    values = np.array([-digest[0] / 4 for digest in digests], dtype=np.float32)
    values[[digest[1] < 8 for digest in digests]] = np.nan
    return Scores(values, np.full(len(values), 7, dtype=np.int32))


def _specs(builder: CustomBuilder, data: SourceData) -> dict[str, ConfigSpec]:
    specs = builder.configs(BuildOptions(), TABLES, data.table.num_rows)
    return {spec.name: spec for spec in specs if not spec.extra}


def _split(builder: CustomBuilder, data: SourceData, config: str) -> Assignment:
    spec = _specs(builder, data)[config]
    splitter = splitters.get(spec.splitter)(**spec.parameters)
    return splitter.split(builder.split_rows(data), _scores(data) if spec.scores else None)


def _sides(data: SourceData, assignment: Assignment) -> dict[str, int]:
    return dict(zip(data.table.column("uid").to_pylist(), assignment.side.tolist(), strict=True))


def _audit(builder: CustomBuilder, data: SourceData, config: str, side: np.ndarray) -> list[tuple[str, str]]:
    rows = AuditRows.from_table(data.table, builder.task)
    findings = audit_corpus(rows, builder.published) + audit_config(config, rows, side, builder.published)
    return sorted((finding.severity, finding.code) for finding in findings)


@pytest.mark.parametrize("config", RULE_CONFIGS)
@pytest.mark.parametrize("labelled", [True, False])
def test_a_pair_that_stands_twice_stays_on_one_side(tmp_path: Path, config: str, labelled: bool) -> None:
    rows = _sentences(200)
    # Copies of every fifth row, far from their originals; one of them with another label.
    copies = [dict(row) for row in rows[::5]]
    copies[0]["label"] = "loud" if copies[0]["label"] == "calm" else "calm"
    builder, data = _read(tmp_path / "own.csv", rows + copies, label="label" if labelled else None)
    assignment = _split(builder, data, config)
    side = assignment.side
    for copy in range(len(copies)):
        assert side[200 + copy] == side[5 * copy]
    sizes = assignment.sizes()
    assert (sizes.total, sizes.validation, sizes.test) == (
        240,
        pytest.approx(24, abs=2),
        pytest.approx(24, abs=2),
    )
    assert sizes.validation <= 24
    assert sizes.test <= 24
    found = _audit(builder, data, config, side)
    assert not [code for severity, code in found if severity == "error"]
    assert not [code for _, code in found if code.startswith("leak")]
    assert ("warning", "duplicate_row") in found
    assert (("warning", "target_conflict") in found) == labelled
    # The same rows without the rule: the audit calls the leak an error.
    careless = np.where(np.arange(240) < 200, 0, 2).astype(np.int8)
    assert ("error", "leak_exact") in _audit(builder, data, config, careless)


@pytest.mark.parametrize("config", RULE_CONFIGS)
def test_groups_of_a_column_stay_on_one_side(tmp_path: Path, config: str) -> None:
    rows = _sentences(300)
    builder, data = _read(tmp_path / "own.csv", [*rows, rows[3]], label="label", group="author")
    side = _split(builder, data, config).side
    authors = np.array([row["author"] for row in rows] + [rows[3]["author"]])
    assert all(len(set(side[authors == author])) == 1 for author in set(authors))
    assert set(side) == {0, 1, 2}
    assert not [code for severity, code in _audit(builder, data, config, side) if severity == "error"]


@pytest.mark.parametrize("config", RULE_CONFIGS)
@pytest.mark.parametrize("columns", [{}, {"label": "label"}, {"label": "label", "id": "key"}])
def test_the_order_of_the_file_decides_nothing(tmp_path: Path, config: str, columns: dict[str, str]) -> None:
    rows = [{"key": f"k{number}", **row} for number, row in enumerate(_sentences(120))]
    # Exact copies but for the id: rows that a shuffle may exchange.
    rows += [{**row, "key": f"copy {row['key']}"} for row in rows[:10]]
    builder, data = _read(tmp_path / "own.csv", rows, **columns)
    expected = _sides(data, _split(builder, data, config))
    for seed in range(3):
        shuffled = random.Random(seed).sample(rows, len(rows))
        builder, data = _read(tmp_path / "own.csv", shuffled, **columns)
        assert _sides(data, _split(builder, data, config)) == expected


@settings(max_examples=15, deadline=None)
@given(
    texts=st.lists(st.integers(0, 400).map("text {}".format), min_size=60, max_size=120),
    authors=st.lists(st.sampled_from(["", "", *"abcdefghijklmnop"]), min_size=120, max_size=120),
    grouped=st.booleans(),
    config=st.sampled_from(RULE_CONFIGS),
)
def test_no_split_leaks(
    texts: list[str],
    authors: list[str],
    grouped: bool,
    config: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    rows = [{"text": text, "author": author} for text, author in zip(texts, authors, strict=False)]
    path = tmp_path_factory.mktemp("own") / "own.csv"
    builder, data = _read(path, rows, group="author" if grouped else None)
    try:
        side = _split(builder, data, config).side
    except SplitError:
        # No whole group fits a side: refused, never an empty split without a word.
        event("refused")
        return
    inputs, values = np.array(texts), np.array(authors[: len(texts)])
    assert all(len(set(side[inputs == text])) == 1 for text in texts)
    if grouped:
        assert all(len(set(side[values == value])) == 1 for value in set(values) - {""})
    assert not [code for _, code in _audit(builder, data, config, side) if code == "leak_exact"]


def test_one_group_that_is_most_of_the_rows_trains(tmp_path: Path) -> None:
    rows = _sentences(100)
    for row in rows[:70]:
        row["author"] = "one author"
    builder, data = _read(tmp_path / "own.csv", rows, group="author")
    for config in RULE_CONFIGS:
        side = _split(builder, data, config).side
        assert set(side[:70]) == {0}
        assert set(side[70:]) >= {1, 2}
    assert "the largest with 70 of 100 rows" in data.notes[-1]


def test_a_label_with_one_member_trains(tmp_path: Path) -> None:
    rows = _sentences(100)
    rows[40]["label"] = "unique"
    builder, data = _read(tmp_path / "own.csv", rows, label="label")
    for config in RULE_CONFIGS:
        assignment = _split(builder, data, config)
        assert assignment.side[40] == 0
        notes = [note.message for note in assignment.notes if note.code == "label_without_evaluation"]
        assert notes == ["label 'unique' (1 rows) has no evaluation rows"]
        assert assignment.sizes().evaluation == 20


def test_shares_of_labels_are_kept(tmp_path: Path) -> None:
    builder, data = _read(tmp_path / "own.csv", _sentences(500), label="label")
    labels = np.array(data.table.column("label").to_pylist())
    for config in RULE_CONFIGS:
        side = _split(builder, data, config).side
        assert [np.bincount(labels[side == number]).tolist() for number in (1, 2)] == [[30, 20], [30, 20]]


def test_published_sizes_hold_exactly_where_nothing_repeats(tmp_path: Path) -> None:
    builder, data = _read(tmp_path / "own.csv", _sentences(101), validation=7, test=0.2)
    for config in RULE_CONFIGS:
        sizes = _split(builder, data, config).sizes()
        assert (sizes.train, sizes.validation, sizes.test) == (74, 7, 20)
        assert sizes == builder.published_sizes


def test_files_of_a_hub_data_set_are_one_table(tmp_path: Path) -> None:
    folder = tmp_path / "snapshot"
    (folder / "data").mkdir(parents=True)
    rows = _sentences(60)
    _write(folder / "data" / "train-00000.csv", rows[:30])
    _write(folder / "data" / "train-00001.csv", rows[30:50])
    _write(folder / "data" / "test-00000.csv", [*rows[50:], rows[0]])
    (folder / "dataset_infos.json").write_text('{"default": {}}')
    origin = Origin("hub", "org/name", "0" * 40)
    builder = custom_builder("own", text="text", label="label", id="text")
    with pytest.raises(
        SourceError, match=r"id stands twice.*; data/test-00000.csv, row 10, line 12 has it too"
    ):
        builder.read(folder, FaultLog(), origin)
    builder = custom_builder("own", text="text", label="label")
    data = builder.read(folder, FaultLog(), origin)
    assert [file.name for file in data.files] == [
        "data/test-00000.csv",
        "data/train-00000.csv",
        "data/train-00001.csv",
    ]
    assert data.read == data.table.num_rows == 61
    assert data.table.column("source_index").to_pylist() == list(range(61))
    assert data.table.column("text").to_pylist() == [row["text"] for row in [*rows[50:], rows[0], *rows[:50]]]
    train = custom_builder("own", text="text", files="data/train-*").read(folder, FaultLog(), origin)
    assert train.table.column("text").to_pylist() == [row["text"] for row in rows[:50]]
    assert set(train.table.column("uid").to_pylist()).isdisjoint(data.table.column("uid").to_pylist())

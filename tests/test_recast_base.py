"""The registry of recasts, what makes a folder a corpus, and the invariants of collected pairs."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recast_corpora import write

from benchwright.builders.curriculum.recast import find_recasts, recasts
from benchwright.builders.curriculum.recast.base import (
    CONFLICT,
    EMPTY_COMPONENT,
    RECAST_SCHEMA,
    Item,
    Pair,
    PairCollector,
    SplitRecords,
    conflicting_items,
    recast_records,
)
from benchwright.builders.sources.records import Record
from benchwright.errors import SourceError, SourceErrors
from benchwright.faults import FaultLog

HERE = Record("corpus.tsv", 0, 2, {})
PIQA_LINE = '{"goal": "g", "sol1": "a", "sol2": "b"}\n'


def collector(policy: str = "drop", **options: object) -> PairCollector:
    return PairCollector("ours", "rule", FaultLog(policy), **options)  # type: ignore[arg-type]


def add(
    pairs: PairCollector, *rows: tuple[str, str, str], split: str = "train", source_id: str = "0"
) -> None:
    pairs.add(HERE, [Pair(*row) for row in rows], split=split, source_id=source_id)


def test_every_recast_names_itself_and_its_documentation() -> None:
    for name in recasts:
        recast = recasts.get(name)
        assert name == f"{recast.phenomenon}/{recast.corpus}"
        assert recast.files
        assert recast.rule.endswith(".")


def test_corpora_are_found_as_folders_and_archives(tmp_path: Path) -> None:
    write(tmp_path / "piqa", "train.jsonl", PIQA_LINE)
    write(tmp_path / "piqa", "train-labels.lst", "0\n")
    write(tmp_path / "other", "data.csv", "a\n1\n")
    with zipfile.ZipFile(tmp_path / "winogrande.zip", "w") as archive:
        archive.writestr("winogrande_1.1/dev.jsonl", "{}\n")
    found = find_recasts(tmp_path)
    assert [(recast.phenomenon, recast.corpus, folder.name) for recast, folder in found] == [
        ("coreference", "winogrande", "winogrande.zip"),
        ("physicalqa", "piqa", "piqa"),
    ]


def test_a_corpus_folder_without_its_files_is_an_error(tmp_path: Path) -> None:
    write(tmp_path / "logiqa", "notes.md", "nothing")
    with pytest.raises(SourceError) as caught:
        find_recasts(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path / 'logiqa'}: no file of this corpus; "
        "its published files are: Train.txt, Eval.txt, Test.txt"
    )
    assert find_recasts(tmp_path, taken=[tmp_path / "logiqa"]) == []


def test_a_corpus_that_is_there_twice_is_an_error(tmp_path: Path) -> None:
    write(tmp_path / "logiqa", "Train.txt", "\n")
    write(tmp_path, "logiqa.zip", b"")
    with pytest.raises(SourceError, match=r"both logiqa and logiqa\.zip"):
        find_recasts(tmp_path)


def test_rows_carry_item_group_rule_and_split() -> None:
    pairs = collector()
    pairs.add(
        HERE,
        [Pair("p", "h", "entailed", "x", "y"), Pair("p", "i", "not-entailed")],
        split="dev",
        source_id="7",
        group_id="g",
        rule="other",
    )
    add(pairs, ("q", "r", "entailed"), split="dev", source_id="8")
    made = pairs.finish([], ["a note"])
    assert made.table.schema == RECAST_SCHEMA
    assert made.table.to_pylist()[0] == {
        "premise": "p",
        "hypothesis": "h",
        "label": "entailed",
        "source_dataset": "ours",
        "source_id": "7",
        "group_id": "ours:dev:g",
        "recast_rule": "other",
        "answer": "x",
        "substituted": "y",
        "source_split": "dev",
    }
    assert made.table.column("group_id").to_pylist() == ["ours:dev:g", "ours:dev:g", "ours:dev:8"]
    assert made.table.column("recast_rule").to_pylist() == ["other", "other", "rule"]
    assert (made.read, made.notes) == (3, ("a note",))


@pytest.mark.parametrize("row", [("", "h"), ("p", " "), ("\n", "h"), ("p", "")])
def test_an_item_with_an_empty_component_is_a_fault_as_a_whole(row: tuple[str, str]) -> None:
    pairs = collector()
    add(pairs, ("p", "good", "entailed"), (*row, "not-entailed"))
    add(pairs, ("p", "h", "entailed"), source_id="1")
    made = pairs.finish([])
    assert made.table.column("source_id").to_pylist() == ["1"]
    assert pairs.faults.dropped == {EMPTY_COMPONENT: 1}
    assert made.read == 2


def test_faults_stop_the_read_by_default() -> None:
    pairs = collector("fail")
    add(pairs, ("", "h", "entailed"))
    with pytest.raises(SourceErrors) as caught:
        pairs.finish([])
    assert "corpus.tsv, row 0, line 2, field 'premise': empty component, got ''; fill it in" in str(
        caught.value
    )


@pytest.mark.parametrize(
    ("label", "source_id", "reason"), [("maybe", "1", "unknown label"), ("entailed", "0", "id stands twice")]
)
def test_other_faults(label: str, source_id: str, reason: str) -> None:
    pairs = collector()
    add(pairs, ("p", "h", "entailed"))
    add(pairs, ("q", "i", label), source_id=source_id)
    assert pairs.finish([]).table.num_rows == 1
    assert pairs.faults.dropped == {reason: 1}


def test_an_id_may_begin_anew_in_another_split() -> None:
    pairs = collector()
    add(pairs, ("p", "h", "entailed"))
    add(pairs, ("q", "h", "entailed"), split="dev")
    assert pairs.finish([]).table.column("group_id").to_pylist() == ["ours:train:0", "ours:dev:0"]


def test_items_that_contradict_themselves_or_others_are_filtered_whole() -> None:
    pairs = collector()
    add(
        pairs, ("p", "same", "entailed"), ("p", "same", "not-entailed"), ("p", "x", "entailed"), source_id="0"
    )
    add(pairs, ("q", "h", "entailed"), ("q", "other", "entailed"), source_id="1")
    add(pairs, ("q", "h", "not-entailed"), split="dev", source_id="2")
    add(pairs, ("r", "h", "entailed"), source_id="3")
    add(pairs, ("r", "h", "entailed"), source_id="4")
    made = pairs.finish([])
    assert made.table.column("source_id").to_pylist() == ["3", "4"]
    assert pairs.faults.filtered == {CONFLICT: 6}
    assert made.read == 8


def test_conflicts_that_are_declared_stay() -> None:
    pairs = collector(keep_conflicts=True)
    add(pairs, ("p", "h", "entailed"))
    add(pairs, ("p", "h", "not-entailed"), source_id="1")
    assert pairs.finish([]).table.num_rows == 2


@given(
    st.lists(
        st.tuples(
            st.sampled_from("pq"),
            st.sampled_from("hi"),
            st.sampled_from(["entailed", "not-entailed"]),
            st.integers(0, 6),
        ),
        max_size=30,
    )
)
def test_no_two_rows_that_are_left_contradict_each_other(rows: list[tuple[str, str, str, int]]) -> None:
    table = pa.table(
        {
            name: pa.array([row[n] for row in rows], pa.string())
            for n, name in enumerate(("premise", "hypothesis", "label"))
        }
    )
    items = np.array([row[3] for row in rows], dtype=np.int64)
    bad = conflicting_items(table, items)
    left = [row[:3] for row, out in zip(rows, bad, strict=True) if not out]
    assert len({row[:2] for row in left}) == len(set(left))
    # Nothing goes that is in no conflict: some row of each item that goes has one.
    labels: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        labels.setdefault(row[:2], set()).add(row[2])
    conflicted = {row[3] for row in rows if len(labels[row[:2]]) > 1}
    assert {row[3] for row, out in zip(rows, bad, strict=True) if out} == conflicted


def test_three_labels() -> None:
    pairs = collector(labels=("entailment", "neutral", "contradiction"))
    add(pairs, ("p", "h", "neutral"))
    assert pairs.finish([]).table.column("label").to_pylist() == ["neutral"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("data.csv", 'id,text\n1,"a ""b"", c"\n2,d\n'),
        ("data.tsv", 'id\ttext\n1\ta "b", c\n2\td\n'),
        ("data.jsonl", '{"id": "1", "text": "a \\"b\\", c"}\n{"id": "2", "text": "d"}\n'),
        ("data.json", '[{"id": "1", "text": "a \\"b\\", c"}, {"id": "2", "text": "d"}]'),
    ],
)
def test_records_of_every_format(tmp_path: Path, name: str, content: str) -> None:
    write(tmp_path, name, content)
    source = SplitRecords(
        tmp_path, {"train": ("none.csv", name), "dev": ("dev.csv",)}, FaultLog(), ("train", "dev")
    )
    assert [(split, record.row, record.fields) for split, record in source] == [
        ("train", 0, {"id": "1", "text": 'a "b", c'}),
        ("train", 1, {"id": "2", "text": "d"}),
    ]
    assert [(file.name, file.rows) for file in source.files] == [(name, 2)]
    assert source.notes == ("source split dev is missing",)


def test_what_a_recast_says_of_a_record(tmp_path: Path) -> None:
    write(tmp_path, "data.tsv", "text\ngood\nbad\nleave out\n\t\n")
    faults = FaultLog("drop")
    source = SplitRecords(tmp_path, {"train": ("data.tsv",)}, faults)
    pairs = PairCollector("ours", "rule", faults)

    def make(split: str, record: Record) -> Item | str:
        text = record.text("text")
        if text == "bad":
            raise record.fault("bad text", "text", value=text)
        return text if text == "leave out" else Item(str(record.row), [Pair(text, text, "entailed")])

    recast_records(source, pairs, make)
    made = pairs.finish(source.files)
    assert made.table.column("premise").to_pylist() == ["good"]
    assert faults.filtered == {"leave out": 1}
    assert faults.dropped == {"bad text": 1, "more fields than the header has": 1}
    assert made.read == 4

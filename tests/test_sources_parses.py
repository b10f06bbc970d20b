"""Readers of constituency parses: a user's file and SNLI's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchwright.builders.sources.parses import RowParse, SnliParses, read_parses
from benchwright.errors import SourceError
from benchwright.eval.analyses.trees import TreeMeasures
from benchwright.faults import FaultLog

TREE = "(ROOT (NP (DT A) (NN dog)))"
MEASURES = TreeMeasures(2, 2, 4, 1)


def lines(path: Path, records) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def pair(number: int, **changes: str) -> dict[str, str]:
    return {
        "pairID": f"{number}",
        "sentence1": "A dog",
        "sentence2": "A cat",
        "sentence1_parse": TREE,
        "sentence2_parse": "(ROOT (NN cat))",
        **changes,
    }


def test_a_users_file(tmp_path):
    path = lines(tmp_path / "parses.jsonl", [{"uid": "u1", "column": "question", "parse": TREE}])
    assert list(read_parses(path, FaultLog())) == [RowParse("u1", "question", MEASURES)]


def test_a_broken_tree_names_its_place(tmp_path):
    records = [
        {"uid": "u1", "column": "question", "parse": TREE},
        {"uid": "u2", "column": "q", "parse": "(S dog"},
    ]
    faults = FaultLog()
    assert len(list(read_parses(lines(tmp_path / "parses.jsonl", records), faults))) == 1
    with pytest.raises(
        SourceError, match=r"row 1, line 2, field 'parse': not a bracketed tree .*opened and not closed"
    ):
        faults.finish()


def test_the_parses_of_snli(tmp_path):
    lines(tmp_path / "snli_1.0_train.jsonl", [pair(1), pair(2, sentence1_parse="(ROOT )")])
    lines(tmp_path / "snli_1.0_dev.jsonl", [pair(3)])
    (tmp_path / "snli_1.0_test.tsv").write_text("premise\thypothesis\tlabel\na\tb\t0\n", encoding="utf-8")
    pairs = SnliParses(tmp_path, FaultLog())
    found = {found.pair_id: found for found in pairs}
    assert list(found) == ["1", "2", "3"]
    assert (found["1"].premise, found["1"].premise_measures) == ("A dog", MEASURES)
    assert found["2"].premise_measures is None
    assert found["2"].hypothesis_measures == TreeMeasures(1, 1, 1, 0)
    assert [file.name for file in pairs.files] == ["snli_1.0_train.jsonl", "snli_1.0_dev.jsonl"]


def test_copies_without_parses_are_passed_over(tmp_path):
    lines(tmp_path / "train.jsonl", [{"premise": "a", "hypothesis": "b", "label": 0}])
    pairs = SnliParses(tmp_path, FaultLog())
    assert list(pairs) == []
    assert pairs.files == []

"""PIQA: a goal and two solutions, one of which works.

Source: "PIQA: Reasoning about Physical Commonsense in Natural Language" (1911.11641).
"""

from __future__ import annotations

from pathlib import Path

from ....faults import FaultLog
from ...sources.records import Record
from ._labels import LABEL, LabelledRecords
from .base import Item, PairCollector, Recast, RecastRows, recast_records
from .rules import choices_to_pairs

CORPUS = "piqa"
RULE = "choices"
_FILES = {"train": ("train.jsonl", "train-labels.lst"), "dev": ("valid.jsonl", "valid-labels.lst")}


def recast_piqa(root: Path, faults: FaultLog) -> RecastRows:
    """Read `train.jsonl`, `valid.jsonl` (goal, sol1, sol2) and `train-labels.lst`, `valid-labels.lst`.

    A label is 0 or 1, the number of the right solution; `tests.jsonl` has no labels and is not read. An
    item's id is its row. Raises SourceError and SourceErrors as the readers do.
    """
    source = LabelledRecords(root, _FILES, faults)
    pairs = PairCollector(CORPUS, RULE, faults)
    recast_records(source, pairs, _item)
    return pairs.finish(source.files, source.notes)


def _item(split: str, record: Record) -> Item:
    correct = record.label(LABEL, {"0": 0, "1": 1})
    solutions = [record.text("sol1"), record.text("sol2")]
    return Item(str(record.row), choices_to_pairs(record.text("goal"), solutions, correct))


PIQA = Recast(
    phenomenon="physicalqa",
    corpus=CORPUS,
    files=("train-labels.lst", "valid-labels.lst", "valid.jsonl"),
    rule="The goal is the premise of both solutions; the one that works is entailed.",
    recaster=recast_piqa,
)

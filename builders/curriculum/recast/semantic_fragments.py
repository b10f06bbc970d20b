"""Semantic fragments: synthetic inferences about booleans, counting, conditionals, ..., monotonicity.

Source: "Probing Natural Language Inference Models through Semantic Fragments" (1909.07521). Format:
github.com/yakazimir/semantic_fragments, data/README.md: below the folder `semantic_fragments` (or its `data`)
each fragment has train/train.json, train/dev.json and test/test.json (JSON Lines: sentence1, sentence2,
gold_label, pairID, captionID), and the same in train/challenge_train.tsv, train/challenge_dev.tsv and
test/challenge_dev.tsv (no header: id, premise, hypothesis, LABEL in capitals). JSON comes before TSV.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from ....faults import FaultLog
from ...sources.files import InputFile
from ...sources.records import Record, Records
from ._paths import Cells, Ids, PathRecords, Reader
from .base import (
    CONTRADICTION,
    ENTAILMENT,
    NEUTRAL,
    Item,
    Pair,
    PairCollector,
    Recast,
    RecastRows,
    recast_records,
)
from .monotonicity import TWO_WAY
from .rules import fingerprint

_COLUMNS = ("pairID", "sentence1", "sentence2", "gold_label")
_THREE_WAY: dict[str | int, str] = {label: label for label in (ENTAILMENT, NEUTRAL, CONTRADICTION)}


def _names(fragment: str, splits: Sequence[str] = ("train", "dev", "test")) -> dict[str, tuple[str, str]]:
    held_out = {"train": "challenge_train", "dev": "challenge_dev", "test": "challenge_dev"}
    folders = {"train": "train", "dev": "train", "test": "test"}
    return {
        split: (
            f"{fragment}/{folders[split]}/{split}.json",
            f"{fragment}/{folders[split]}/{held_out[split]}.tsv",
        )
        for split in splits
    }


def _read(file: InputFile, faults: FaultLog) -> Reader:
    return Records(file, faults) if file.format == "json" else Cells(file, faults, columns=_COLUMNS)


def _recast_fragment(
    root: Path,
    faults: FaultLog,
    *,
    fragment: str,
    splits: Sequence[str] = ("train", "dev", "test"),
    labels: Mapping[str | int, str] = _THREE_WAY,
) -> RecastRows:
    """The pairs of one fragment as published; rows of one premise are one group."""
    source = PathRecords(root, _names(fragment, splits), faults, read=_read, expected=splits)
    pairs = PairCollector("semantic_fragments", "as_published", faults, labels=sorted(set(labels.values())))
    known = dict(labels)
    known.update((str(name).upper(), label) for name, label in labels.items())
    ids = Ids()

    def item(split: str, record: Record) -> Item:
        premise = record.filled_text("sentence1")
        pair = Pair(premise, record.filled_text("sentence2"), record.label("gold_label", known))
        name = ids.unique(split, record.filled_text("pairID"))
        return Item(f"{fragment}:{name}", [pair], f"{fragment}:{fingerprint(premise)}")

    recast_records(source, pairs, item)
    return pairs.finish(source.files, source.notes)


def _logic(fragment: str) -> Recast:
    return Recast(
        phenomenon=fragment,
        corpus="semantic_fragments",
        files=tuple(name for names in _names(fragment).values() for name in names),
        rule="Pairs and labels as published.",
        recaster=partial(_recast_fragment, fragment=fragment),
        differs="The published dev split too; the release has train and, as its validation split, test.",
    )


BOOLEAN, COMPARATIVE, CONDITIONAL, COUNTING, NEGATION, QUANTIFIER = map(
    _logic, ("boolean", "comparative", "conditional", "counting", "negation", "quantifier")
)
MONOTONICITY = Recast(
    phenomenon="monotonicity_infer",
    corpus="semantic_fragments",
    files=_names("monotonicity_hard", ("test",))["test"],
    rule="The test pairs of monotonicity_hard as published; entailment is entailed, all else is not.",
    recaster=partial(_recast_fragment, fragment="monotonicity_hard", splits=("test",), labels=TWO_WAY),
)

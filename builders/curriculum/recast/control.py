"""ConTRoL: inferences over long contexts.

Source: "Natural Language Inference in Context: Investigating Contextual Reasoning over Long Texts"
(2011.04864). Format: github.com/csitfun/ConTRoL-dataset, data: train.jsonl, dev.jsonl, test.jsonl with uid,
premise, hypothesis and label (e, n, c), in the folder `control`.
"""

from __future__ import annotations

from pathlib import Path

from ....faults import FaultLog
from ...sources.records import Record
from .base import (
    CONTRADICTION,
    ENTAILMENT,
    NEUTRAL,
    Item,
    Pair,
    PairCollector,
    Recast,
    RecastRows,
    SplitRecords,
    recast_records,
)
from .rules import fingerprint

_NAMES = {split: (f"{split}.jsonl",) for split in ("train", "dev", "test")}
_CLASSES = (ENTAILMENT, NEUTRAL, CONTRADICTION)
_LABELS: dict[str | int, str] = {"e": ENTAILMENT, "n": NEUTRAL, "c": CONTRADICTION}


def recast_control(root: Path, faults: FaultLog) -> RecastRows:
    """The pairs as published, with three labels; pairs of one premise are one group."""
    source = SplitRecords(root, _NAMES, faults)
    pairs = PairCollector("control", "as_published", faults, labels=_CLASSES)

    def item(_split: str, record: Record) -> Item:
        premise = record.filled_text("premise")
        pair = Pair(premise, record.filled_text("hypothesis"), record.label("label", _LABELS))
        return Item(record.filled_text("uid"), [pair], fingerprint(premise))

    recast_records(source, pairs, item)
    return pairs.finish(source.files, source.notes)


CONTROL = Recast(
    phenomenon="control",
    corpus="control",
    files=tuple(name for names in _NAMES.values() for name in names),
    rule="Pairs and labels as published.",
    recaster=recast_control,
    differs="Published dev and test splits apart; the release joins them as validation.",
)

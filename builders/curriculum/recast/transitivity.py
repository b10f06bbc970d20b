"""Veridical verbs and lexical entailment, chained.

Source: "Exploring Transitivity in Neural NLI Models through Veridicality" (2101.10713). Format:
github.com/verypluming/transitivity, README.md: naturalistic/train.tsv and naturalistic/dev_matched.tsv with
MultiNLI's columns (index, promptID, pairID, genre, ..., sentence1, sentence2, label1, gold_label), in the
folder `transitivity`.
"""

from __future__ import annotations

from pathlib import Path

from ....faults import FaultLog
from ...sources.records import Record
from ._paths import Ids, PathRecords
from .base import Item, Pair, PairCollector, Recast, RecastRows, recast_records
from .monotonicity import TWO_WAY
from .rules import fingerprint

_NAMES = {
    "train": ("naturalistic/train.tsv", "train.tsv"),
    "test": ("naturalistic/dev_matched.tsv", "dev_matched.tsv"),
}


def recast_transitivity(root: Path, faults: FaultLog) -> RecastRows:
    """The pairs as published; pairs of one premise are one group. The testing pairs are the test split."""
    source = PathRecords(root, _NAMES, faults, expected=tuple(_NAMES))
    pairs = PairCollector("transitivity", "as_published", faults)
    ids = Ids()

    def item(split: str, record: Record) -> Item:
        premise = record.filled_text("sentence1")
        pair = Pair(premise, record.filled_text("sentence2"), record.label("gold_label", TWO_WAY))
        number = record.optional_text("index") or str(record.row)
        return Item(ids.unique(split, number), [pair], fingerprint(premise))

    recast_records(source, pairs, item)
    return pairs.finish(source.files, source.notes)


TRANSITIVITY = Recast(
    phenomenon="transitive",
    corpus="transitivity",
    files=("train.tsv", "dev_matched.tsv"),
    rule="Pairs as published; entailment is entailed, neutral is not.",
    recaster=recast_transitivity,
    differs="All pairs in their published splits; the release has a sample, with 6,000 pairs in both splits.",
)

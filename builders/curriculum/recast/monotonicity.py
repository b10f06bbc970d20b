"""HELP and MED: monotonicity inferences, and how the released task joins them.

Sources: "HELP: A Dataset for Identifying Shortcomings of Neural Models in Monotonicity Reasoning"
(1904.12166) and "Can neural networks understand monotonicity reasoning?" (1906.06448). Formats:
github.com/verypluming/HELP, output_en/pmb_train_v1.0.tsv (a column without a name, filename, determiner,
monotonicity, gold_label, replace_target, replace_source, replace_mode, ori_sentence, new_sentence; quoted as
pandas quotes), in the folder `help`; github.com/verypluming/MED, MED.tsv (MultiNLI's columns: index,
promptID, pairID, genre, ..., sentence1, sentence2, label1 to label5, gold_label), in the folder `med`.
"""

from __future__ import annotations

from pathlib import Path

from ....faults import FaultLog
from ...sources.records import Record
from ._paths import Ids
from .base import (
    CONTRADICTION,
    ENTAILED,
    ENTAILMENT,
    NEUTRAL,
    NOT_ENTAILED,
    Item,
    Pair,
    PairCollector,
    Recast,
    RecastRows,
    SplitRecords,
    recast_records,
)
from .rules import fingerprint

TWO_WAY: dict[str | int, str] = {
    ENTAILMENT: ENTAILED,
    NEUTRAL: NOT_ENTAILED,
    CONTRADICTION: NOT_ENTAILED,
}
"""Three labels as two, by name."""

_RULE = "as_published"
_RULE_TEXT = "Pairs as published; entailment is entailed, neutral and contradiction are not."
_HELP_NAMES = {"train": ("pmb_train_v1.0.tsv", "pmb_train.tsv")}
_MED_NAMES = {"test": ("MED.tsv",)}


def recast_help(root: Path, faults: FaultLog) -> RecastRows:
    """The pairs of HELP (a training set); pairs made from one document are one group."""
    source = SplitRecords(root, _HELP_NAMES, faults, expected=("train",))
    pairs = PairCollector("help", _RULE, faults)
    ids = Ids()

    def item(split: str, record: Record) -> Item:
        document = record.filled_text("filename")
        number = record.optional_text("") or str(record.row)
        pair = Pair(
            record.filled_text("ori_sentence"),
            record.filled_text("new_sentence"),
            record.label("gold_label", TWO_WAY),
        )
        return Item(ids.unique(split, f"{document}:{number}"), [pair], document)

    recast_records(source, pairs, item)
    return pairs.finish(source.files, source.notes)


def recast_med(root: Path, faults: FaultLog) -> RecastRows:
    """The pairs of MED (a test set); a pair and the same two sentences the other way round are one group."""
    source = SplitRecords(root, _MED_NAMES, faults, expected=("test",))
    pairs = PairCollector("med", _RULE, faults)

    def item(_split: str, record: Record) -> Item:
        premise, hypothesis = record.filled_text("sentence1"), record.filled_text("sentence2")
        pair = Pair(premise, hypothesis, record.label("gold_label", TWO_WAY))
        group = fingerprint(*sorted((premise, hypothesis)))
        return Item(record.optional_text("index") or str(record.row), [pair], group)

    recast_records(source, pairs, item)
    return pairs.finish(source.files, source.notes)


HELP = Recast(
    phenomenon="monotonicity_infer",
    corpus="help",
    files=_HELP_NAMES["train"],
    rule=_RULE_TEXT,
    recaster=recast_help,
)
MED = Recast(
    phenomenon="monotonicity_infer",
    corpus="med",
    files=_MED_NAMES["test"],
    rule=_RULE_TEXT,
    recaster=recast_med,
)

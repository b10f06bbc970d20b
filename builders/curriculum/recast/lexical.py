"""Lexical inference in context: Levy/Holt, SherLIiC and one-word substitutions ("Breaking NLI").

Sources: "Language Models for Lexical Inference in Context" (2102.05331), "SherLIiC: A Typed Event-Focused
Lexical Inference Benchmark for Evaluating Natural Language Inference" (P19-1086), "Breaking NLI Systems with
Sentences that Require Simple Lexical Inferences" (P18-2103). Formats:

- `levy_holt`: train.txt, dev.txt, test.txt without header, tab-separated HYPOTHESIS, PREMISE, LABEL: both
  `ARGUMENT, RELATION, ARGUMENT`, the label True or False, or y or n as first published
  (github.com/mnschmit/lm-lexical-inference, src/data/levy_holt.py);
- `sherliic`: dev.csv, test.csv of 22 columns, told by their places: 6 to 9 premise and 10 to 13 hypothesis
  (left argument, middle, right argument, end), 14 and 15 whether their arguments are reversed, 16 and 17
  examples of the arguments with ` / ` between them, 18 yes or no (src/data/sherliic.py of the same);
- `breaking_nli`: dataset.jsonl with sentence1, sentence2, gold_label, pairID, category
  (github.com/BIU-NLP/Breaking_NLI, README.md), a test set.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from ....faults import FaultLog
from ...sources.records import Record
from ._paths import Cells, PathRecords
from .base import (
    ENTAILED,
    NOT_ENTAILED,
    Item,
    Pair,
    PairCollector,
    Recast,
    RecastRows,
    SplitRecords,
    recast_records,
)
from .monotonicity import TWO_WAY
from .rules import fingerprint

_LEVY_HOLT_NAMES = {split: (f"{split}.txt",) for split in ("train", "dev", "test")}
_LEVY_HOLT_LABELS: dict[str | int, str] = {
    "True": ENTAILED,
    "False": NOT_ENTAILED,
    "y": ENTAILED,
    "n": NOT_ENTAILED,
}
_SHERLIIC_NAMES = {split: (f"{split}.csv",) for split in ("dev", "test")}
_SHERLIIC_COLUMNS = 22
_SHERLIIC_LABELS = {"yes": ENTAILED, "no": NOT_ENTAILED}
_TRIPLE = 3


def recast_levy_holt(root: Path, faults: FaultLog) -> RecastRows:
    """Each triple as a sentence: its parts with spaces between them, a capital first, a full stop last.

    A pair and the same two triples the other way round are one group.
    """
    read = partial(Cells, columns=("hypothesis", "premise", "label"))
    source = PathRecords(root, _LEVY_HOLT_NAMES, faults, read=read)
    pairs = PairCollector("levy_holt", "triples_to_sentences", faults)

    def item(_split: str, record: Record) -> Item:
        record.fields["label"] = record.fields["label"].strip()
        premise, hypothesis = _triple(record, "premise"), _triple(record, "hypothesis")
        label = record.label("label", _LEVY_HOLT_LABELS)
        group = fingerprint(*sorted((premise, hypothesis)))
        return Item(str(record.row), [Pair(premise, hypothesis, label)], group)

    recast_records(source, pairs, item)
    return pairs.finish(source.files, source.notes)


def _triple(record: Record, field: str) -> str:
    """The sentence of a triple. Raises SourceError."""
    text = record.text(field)
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != _TRIPLE or not all(parts):
        raise record.fault("not a triple", field, value=text, fix="give ARGUMENT, RELATION, ARGUMENT")
    return _sentence(*parts)


def _sentence(*parts: str) -> str:
    """Parts with single spaces between them, the first letter in upper case, ended by a full stop."""
    text = " ".join([stripped for part in parts if (stripped := part.strip())])
    ended = text if text.endswith((".", "!", "?")) else f"{text}."
    return ended[0].upper() + ended[1:]


def recast_sherliic(root: Path, faults: FaultLog) -> RecastRows:
    """Premise and hypothesis with the first example of each argument in its place; each pair is a group."""
    source = SplitRecords(root, _SHERLIIC_NAMES, faults, expected=("dev", "test"))
    pairs = PairCollector("sherliic", "arguments_filled_in", faults)

    def item(_split: str, record: Record) -> Item:
        cells = list(record.fields.values())
        if len(cells) != _SHERLIIC_COLUMNS:
            raise record.fault(
                "wrong number of fields", value=len(cells), fix=f"give {_SHERLIIC_COLUMNS}, as SherLIiC has"
            )
        label = _SHERLIIC_LABELS.get(cells[17])
        if label is None:
            column = list(record.fields)[17]
            raise record.fault("unknown label", column, value=cells[17], fix="known labels: 'yes', 'no'")
        arguments = tuple(cells[place].split(" / ")[0].strip() for place in (15, 16))
        premise, hypothesis = (
            _filled_in(record, cells[start : start + 4], cells[reversed_at] == "True", arguments)
            for start, reversed_at in ((5, 13), (9, 14))
        )
        return Item(cells[0], [Pair(premise, hypothesis, label)])

    recast_records(source, pairs, item)
    return pairs.finish(source.files, source.notes)


def _filled_in(record: Record, parts: list[str], is_reversed: bool, arguments: tuple[str, ...]) -> str:
    _, middle, _, end = parts
    left, right = reversed(arguments) if is_reversed else arguments
    if not left or not right or not middle.strip():
        raise record.fault("empty text", value=parts, fix="give a relation, and examples of both arguments")
    return _sentence(left, middle, right, end)


def recast_breaking_nli(root: Path, faults: FaultLog) -> RecastRows:
    """The pairs as published, all in the test split; pairs of one premise are one group."""
    source = SplitRecords(root, {"test": ("dataset.jsonl",)}, faults, expected=("test",))
    pairs = PairCollector("breaking_nli", "as_published", faults)

    def item(_split: str, record: Record) -> Item:
        premise = record.filled_text("sentence1")
        pair = Pair(premise, record.filled_text("sentence2"), record.label("gold_label", TWO_WAY))
        return Item(str(record.fields.get("pairID", record.row)), [pair], fingerprint(premise))

    recast_records(source, pairs, item)
    return pairs.finish(source.files, source.notes)


LEVY_HOLT = Recast(
    phenomenon="lexical",
    corpus="levy_holt",
    files=("train.txt", "dev.txt", "test.txt"),
    rule="Triples as sentences; True (or y) is entailed.",
    recaster=recast_levy_holt,
    differs=(
        "All pairs in their published splits (the release has as many not-entailed as entailed ones); "
        "casing as published."
    ),
)
SHERLIIC = Recast(
    phenomenon="lexical",
    corpus="sherliic",
    files=("dev.csv", "test.csv"),
    rule="Relations with the first examples of their arguments; yes is entailed.",
    recaster=recast_sherliic,
    released=False,
)
BREAKING_NLI = Recast(
    phenomenon="lexical",
    corpus="breaking_nli",
    files=("dataset.jsonl",),
    rule="Pairs as published; entailment is entailed, neutral and contradiction are not.",
    recaster=recast_breaking_nli,
    differs="All pairs; the release has 982 of each label.",
)

"""TRACIE: when implicit events of a story start and end.

Source: "Temporal Reasoning on Implicit Events from Distant Supervision" (2021.naacl-main.107). Formats:
github.com/allenai/tracie, README.md and data: lines `event: QUERY story: STORY<tab>answer: positive|negative`
in data/uniform-prior (tracie_train_uniform_prior.txt, tracie_test.txt) and data/iid (tracie_train.txt,
tracie_test.txt); and JSON Lines with query, story and label in github.com/allenai/aristo-leaderboard, tracie
(train_uniform.jsonl, train_iid.jsonl; the test file there has no labels). The folder is `tracie`; of both
divisions, uniform-prior is read.
"""

from __future__ import annotations

import re
from pathlib import Path

from ....faults import FaultLog
from ...sources.files import InputFile
from ...sources.records import Record, Records
from ._paths import Lines, PathRecords, Reader
from .base import (
    CONTRADICTION,
    ENTAILED,
    ENTAILMENT,
    NOT_ENTAILED,
    Item,
    Pair,
    PairCollector,
    Recast,
    RecastRows,
    recast_records,
)
from .rules import filled, fingerprint

_RULE = "story_and_query"
_NAMES = {
    "train": (
        "tracie_train_uniform_prior.txt",
        "iid/tracie_train.txt",
        "tracie_train.txt",
        "train_uniform.jsonl",
        "train_iid.jsonl",
    ),
    "test": ("uniform-prior/tracie_test.txt", "iid/tracie_test.txt", "tracie_test.txt"),
}
_LABELS: dict[str | int, str] = {
    "positive": ENTAILED,
    "negative": NOT_ENTAILED,
    ENTAILMENT: ENTAILED,
    CONTRADICTION: NOT_ENTAILED,
}
_LINE = re.compile(r"event: (.*?) story: (.*)\tanswer: (\S+)\s*")


def recast_tracie(root: Path, faults: FaultLog) -> RecastRows:
    """One pair a query: the story and `EVENT starts|ends before|after EVENT`.

    Queries of one story are one group.
    """
    source = PathRecords(root, _NAMES, faults, read=_read, expected=("train", "test"))
    pairs = PairCollector("tracie", _RULE, faults)

    def item(_split: str, record: Record) -> Item:
        if "text" in record.fields:
            record = _parsed(record)
        story = filled("story", record.filled_text("story"))
        query = filled("query", record.filled_text("query").removeprefix("event:"))
        label = record.label("label" if "label" in record.fields else "gold_label", _LABELS)
        return Item(str(record.row), [Pair(story, query, label)], fingerprint(story))

    recast_records(source, pairs, item)
    return pairs.finish(source.files, source.notes)


def _read(file: InputFile, faults: FaultLog) -> Reader:
    return Records(file, faults) if file.format == "jsonl" else Lines(file, faults)


def _parsed(record: Record) -> Record:
    """The record of a line of text. Raises SourceError."""
    match = _LINE.fullmatch(record.fields["text"])
    if match is None:
        fix = "write `event: QUERY story: STORY`, a tab, and `answer: positive` or `answer: negative`"
        raise record.fault("line of another form", value=record.fields["text"], fix=fix)
    fields = dict(zip(("query", "story", "label"), match.groups(), strict=True))
    return Record(record.path, record.row, record.line, fields)


TRACIE = Recast(
    phenomenon="temporal",
    corpus="tracie",
    files=tuple(name for names in _NAMES.values() for name in names if "/" not in name),
    rule="The story and the query (`EVENT starts|ends before|after EVENT`); positive is entailed.",
    recaster=recast_tracie,
    differs=(
        "The published splits (the release trains on the 4,248 test queries and validates on the 1,174 of "
        "training); no white space around the texts."
    ),
)

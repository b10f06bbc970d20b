"""SemEval-2020 task 5: antecedents and consequents of counterfactual statements.

Source: "SemEval-2020 Task 5: Counterfactual Recognition" (2008.00563). Format:
github.com/arielsho/SemEval-2020-Task-5, Subtask-2: subtask2_train.csv and subtask2_test.csv with sentenceID,
sentence, antecedent, consequent, and antecedent_startid, antecedent_endid, consequent_startid,
consequent_endid: places of the first and the last character, -1 where there is no consequent. The folder is
`semeval2020_task5`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from ....errors import show
from ....faults import FaultLog
from ...sources.records import Record
from ._paths import drawn
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

NOTHING_LEFT = "the part is the whole sentence"
NO_OTHER_SPAN = "no other boundaries for the part"

_RULE = "masked_part"
_NAMES = {"train": ("subtask2_train.csv",), "test": ("subtask2_test.csv",)}
_MASK = "<hypo>"
_PLACE = re.compile(r"[0-9]{1,9}")
_WORD = re.compile(r"\S+")
_LETTER = re.compile(r"\w")
_MOST_WORDS = 3


def recast_counterfactual(root: Path, faults: FaultLog) -> RecastRows:
    """Two pairs for each antecedent and each consequent, which `<hypo>` stands for in the premise.

    Entailed: `<hypo> should be 'PART'`; not entailed: the same with other boundaries, one to three words off
    at one end, drawn by a hash of the sentence's id. All rows of a sentence are one group. Filtered are parts
    that are the whole sentence, and those that have no other boundaries.
    """
    source = SplitRecords(root, _NAMES, faults, expected=("train", "test"))
    pairs = PairCollector("semeval2020_task5", _RULE, faults)

    def item(_split: str, record: Record) -> Item | str:
        part = record.fields["part"]
        name = record.filled_text("sentenceID")
        sentence = record.filled_text("sentence")
        start, end = _span(record, part, sentence)
        before, after = sentence[:start], sentence[end:]
        if not _LETTER.search(before + after):
            return NOTHING_LEFT
        other = _other_span(sentence, start, end, f"{name}:{part}")
        if other is None:
            return NO_OTHER_SPAN
        premise, gold = f"{before}{_MASK}{after}", sentence[start:end]
        made = [
            Pair(premise, _statement(gold), ENTAILED, gold),
            Pair(premise, _statement(other), NOT_ENTAILED, gold, other),
        ]
        return Item(f"{name}:{part}", made, name)

    recast_records(_parts(source), pairs, item)
    return pairs.finish(source.files, source.notes)


def _parts(source: Iterable[tuple[str, Record]]) -> Iterator[tuple[str, Record]]:
    """Each record once for the antecedent and, where it has one, once for the consequent: field `part`."""
    for split, record in source:
        path, row, line, fields = record
        yield split, Record(path, row, line, {**fields, "part": "antecedent"})
        if fields.get("consequent_startid") != "-1":
            yield split, Record(path, row, line, {**fields, "part": "consequent"})


def _span(record: Record, part: str, sentence: str) -> tuple[int, int]:
    """Start and end (exclusive) of a part in its sentence. Raises SourceError."""
    start, last = (_place(record, f"{part}_{side}id", len(sentence)) for side in ("start", "end"))
    text = record.text(part)
    if start > last or sentence[start : last + 1] != text.strip():
        fix = f"characters {start} to {last} of the sentence are {show(sentence[start : last + 1])}"
        raise record.fault(
            "not the part that its places name", part, value=text, fix=f"{fix}; make them agree"
        )
    return start, last + 1


def _place(record: Record, field: str, length: int) -> int:
    text = record.text(field).strip()
    if not _PLACE.fullmatch(text) or int(text) >= length:
        fix = f"give the place of a character of the sentence, from 0 to {length - 1}"
        raise record.fault("not a place in the sentence", field, value=text, fix=fix)
    return int(text)


def _statement(part: str) -> str:
    return f"{_MASK} should be '{part}'"


def _other_span(sentence: str, start: int, end: int, key: str) -> str | None:
    """A part with another beginning or another end, drawn by a hash of `key`; None if there is none.

    Boundaries that only add or take off punctuation are the same.
    """
    return drawn(_near_spans(sentence, start, end), sentence[start:end], key)


def _near_spans(sentence: str, start: int, end: int) -> list[str]:
    """The part with one to three words less or more at its beginning or its end."""
    inside = [word.span() for word in _WORD.finditer(sentence, start, end)]
    left = [word.start() for word in _WORD.finditer(sentence, 0, start)]
    right = [word.end() for word in islice(_WORD.finditer(sentence, end), _MOST_WORDS)]
    spans: list[str] = []
    for words in range(1, _MOST_WORDS + 1):
        if words < len(inside):
            spans += (sentence[inside[words][0] : end], sentence[start : inside[-1 - words][1]])
        if words <= len(left):
            spans.append(sentence[left[-words] : end])
        if words <= len(right):
            spans.append(sentence[start : right[words - 1]])
    return spans


COUNTERFACTUAL = Recast(
    phenomenon="counterfactual",
    corpus="semeval2020_task5",
    files=("subtask2_train.csv", "subtask2_test.csv"),
    rule="`<hypo>` stands for a part; the hypothesis says what it is, with right or with wrong ends.",
    recaster=recast_counterfactual,
    differs="Both parts of every sentence (the release has about one a sentence); wrong ends are drawn anew.",
)

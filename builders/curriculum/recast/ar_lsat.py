"""AR-LSAT: analytical reasoning games of the law school test, with five options a question.

Source: "AR-LSAT: Investigating Analytical Reasoning of Text" (2104.06598).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ....errors import SourceError
from ....faults import FaultLog
from ...sources.files import InputFile
from ...sources.records import Record, read_json_list
from ._collecting import recast_files
from .base import Item, PairCollector, Recast, RecastRows
from .rules import choices_to_pairs, joined

CORPUS = "ar_lsat"
RULE = "question_and_choices"
_FILES = {
    "train": ("AR_TrainingData.json",),
    "dev": ("AR_DevelopmentData.json",),
    "test": ("AR_TestData.json",),
}
_NUMBERS: dict[str | int, int] = {letter: number for number, letter in enumerate("ABCDE")}
_LAYOUT = "give a list of {id, passage, questions: [{id, question, options, answer}]}"


def recast_ar_lsat(root: Path, faults: FaultLog) -> RecastRows:
    """Read `AR_TrainingData.json`, `AR_DevelopmentData.json` and `AR_TestData.json`.

    Each is a list of passages with `id`, `passage` and `questions` (`id`, `question`, `options`, and as
    `answer` the letter of an option). Questions on one passage form a group. Raises SourceError and
    SourceErrors as the readers do.
    """
    return recast_files(root, _FILES, _Questions, PairCollector(CORPUS, RULE, faults), _item)


class _Questions:
    """Iterates over records with a question and its passage; afterwards `rows` is their number."""

    def __init__(self, file: InputFile) -> None:
        self.file = file
        self.rows = 0

    def __iter__(self) -> Iterator[Record]:
        for passage in read_json_list(self.file):
            questions: Any = passage.get("questions") if isinstance(passage, dict) else None
            if not isinstance(questions, list) or not all(isinstance(item, dict) for item in questions):
                reason = "not a passage with questions"
                raise SourceError(reason, path=self.file.shown, value=passage, fix=_LAYOUT)
            for question in questions:
                fields = question | {"passage": passage.get("passage"), "passage_id": passage.get("id")}
                yield Record(self.file.shown, self.rows, None, fields)
                self.rows += 1


def _item(split: str, record: Record) -> Item:
    options = record.texts("options")
    correct = record.label("answer", _NUMBERS)
    if correct >= len(options):
        raise record.fault(
            "no such option", "answer", value=record.fields["answer"], fix=f"{len(options)} are there"
        )
    premise = joined(passage=record.text("passage"), question=record.text("question"))
    key = f"{CORPUS}:{record.text('id')}"
    return Item(
        record.text("id"),
        choices_to_pairs(premise, options, correct, wrong=1, key=key),
        group_id=record.text("passage_id"),
    )


AR_LSAT = Recast(
    phenomenon="analytic",
    corpus=CORPUS,
    files=("AR_TrainingData.json", "AR_DevelopmentData.json", "AR_TestData.json"),
    rule="Passage and question are the premise of the correct option (entailed) and of one wrong option.",
    recaster=recast_ar_lsat,
)

"""Cosmos QA: a passage, a question about causes or effects, and four answers.

Source: "Cosmos QA: Machine Reading Comprehension with Contextual Commonsense Reasoning" (1909.00277).
"""

from __future__ import annotations

import re
from pathlib import Path

from ....faults import FaultLog
from ...sources.records import Record
from .base import Item, PairCollector, Recast, RecastRows, SplitRecords, recast_records
from .rules import choices_to_pairs, joined

CORPUS = "cosmos_qa"
RULE = "question_and_choices"
NONE_OF_THE_ABOVE = "the answer is none of the choices"
_FILES = {"train": ("train.csv",), "dev": ("valid.csv",)}
_ANSWERS = ("answer0", "answer1", "answer2", "answer3")
_NUMBERS: dict[str | int, int] = {str(number): number for number in range(len(_ANSWERS))}
_NONE = re.compile(r"\s*none of the above choices?\s*\.?\s*", re.IGNORECASE)
_PASSAGE = re.compile(r"##q\d+")


def recast_cosmos_qa(root: Path, faults: FaultLog) -> RecastRows:
    """Read `train.csv` and `valid.csv` (id, context, question, answer0 to answer3, label 0 to 3).

    The test file has no labels and is not read. One choice of most items is "None of the above choices .": it
    says nothing by itself, so it is never taken as the wrong choice, and items of which it is the answer are
    filtered. An item's id is its row; questions on one passage form a group. Raises SourceError and
    SourceErrors as the readers do.
    """
    source = SplitRecords(root, _FILES, faults, expected=tuple(_FILES))
    pairs = PairCollector(CORPUS, RULE, faults)
    recast_records(source, pairs, _item)
    return pairs.finish(source.files, source.notes)


def _item(split: str, record: Record) -> Item | str:
    answer = record.label("label", _NUMBERS)
    answers = [record.text(name) for name in _ANSWERS]
    named = [number for number, text in enumerate(answers) if not _NONE.fullmatch(text)]
    if answer not in named:
        return NONE_OF_THE_ABOVE
    choices = [answers[number] for number in named]
    premise = joined(context=record.text("context"), question=record.text("question"))
    name = record.text("id")
    return Item(
        str(record.row),
        choices_to_pairs(premise, choices, named.index(answer), wrong=1, key=f"{CORPUS}:{split}:{name}"),
        group_id=_PASSAGE.split(name)[0] or None,
    )


COSMOS_QA = Recast(
    phenomenon="cosmoqa",
    corpus=CORPUS,
    files=("train.csv", "valid.csv"),
    rule="Passage and question are the premise of the answer (entailed) and of one wrong choice.",
    recaster=recast_cosmos_qa,
    differs="One wrong choice an item in both splits; the release has about three in validation.",
)

"""ESTER: questions about relations of events, answered by spans of a passage.

Source: "ESTER: A Machine Reading Comprehension Dataset for Event Semantic Relation Reasoning" (2104.08350).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from ....errors import SourceError
from ....faults import FaultLog
from ...sources.records import Record
from .base import Item, Pair, PairCollector, Recast, RecastRows, SplitRecords, recast_records
from .rules import ENTAILED, NOT_ENTAILED, filled, fingerprint, joined
from .substitution import WrongAnswers

CORPUS = "ester"
RULE = "question_and_answer_span"
NO_ANSWERS = "no answer"
_FILES = {"train": ("final_train_ans_gen.json",), "dev": ("final_dev_ans_gen.json",)}


class _Passage(NamedTuple):
    """The answers to all questions about a passage, and its group."""

    answers: list[str]
    group: str


def recast_ester(root: Path, faults: FaultLog) -> RecastRows:
    """Read `final_train_ans_gen.json` and `final_dev_ans_gen.json`.

    Each is a list of questions with `context`, `question` and `answer_texts`; the first answer is the
    entailed hypothesis, and another answer span of the passage (else of the corpus) the one that is not
    entailed. An item's id is its row; questions on one passage form a group. Raises SourceError and
    SourceErrors as the readers do.
    """
    source = SplitRecords(root, _FILES, faults, expected=tuple(_FILES))
    records = list(source)
    passages = _passages(record for _, record in records)
    wrong = WrongAnswers(answer for passage in passages.values() for answer in passage.answers)
    pairs = PairCollector(CORPUS, RULE, faults)
    recast_records(records, pairs, lambda split, record: _item(record, passages, wrong))
    return pairs.finish(source.files, source.notes)


def _passages(records: Iterable[Record]) -> Mapping[str, _Passage]:
    """The passages by their texts; records that lack an answer or a passage are judged later."""
    found: dict[str, _Passage] = {}
    for record in records:
        try:
            context, answers = record.text("context"), record.texts("answer_texts")
        except SourceError:
            continue
        passage = found.get(context)
        if passage is None:
            passage = found[context] = _Passage([], fingerprint(context))
        passage.answers.extend([text for text in answers if text.strip()])
    return found


def _item(record: Record, passages: Mapping[str, _Passage], wrong: WrongAnswers) -> Item | str:
    answers = [filled("answer_texts", answer) for answer in record.texts("answer_texts")]
    if not answers:
        return NO_ANSWERS
    context, question = record.text("context"), record.text("question")
    premise = joined(context=context, question=question)
    pairs = [Pair(premise, answers[0], ENTAILED, answer=answers[0])]
    passage = passages[context]
    other = wrong.draw(answers, key=f"{context}\x1f{question}", nearby=passage.answers, question=question)
    if other is not None:
        pairs.append(Pair(premise, other.strip(), NOT_ENTAILED, answer=answers[0], substituted=other.strip()))
    return Item(str(record.row), pairs, group_id=passage.group)


ESTER = Recast(
    phenomenon="ester",
    corpus=CORPUS,
    files=tuple(name for names in _FILES.values() for name in names),
    rule=(
        "Passage and question are the premise of the answer span (entailed) and of a span that answers "
        "another question."
    ),
    recaster=recast_ester,
    differs=(
        "No wrong span is contained in an answer or contains one. Validation is the dev file; no test "
        "file is read."
    ),
)

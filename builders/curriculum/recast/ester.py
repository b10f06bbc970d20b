"""ESTER: questions about relations of events, answered by spans of a passage.

Source: "ESTER: A Machine Reading Comprehension Dataset for Event Semantic Relation Reasoning" (2104.08350).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

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


def recast_ester(root: Path, faults: FaultLog) -> RecastRows:
    """Read `final_train_ans_gen.json` and `final_dev_ans_gen.json`.

    Each is a list of questions with `context`, `question` and `answer_texts`; the first answer is the
    entailed hypothesis, and another answer span of the passage (else of the corpus) the one that is not
    entailed. An item's id is its row; questions on one passage form a group. Raises SourceError and
    SourceErrors as the readers do.
    """
    source = SplitRecords(root, _FILES, faults, expected=tuple(_FILES))
    records = list(source)
    nearby = _answers_by_passage(record for _, record in records)
    wrong = WrongAnswers(answer for answers in nearby.values() for answer in answers)
    pairs = PairCollector(CORPUS, RULE, faults)
    recast_records(records, pairs, lambda split, record: _item(split, record, nearby, wrong))
    return pairs.finish(source.files, source.notes)


def _answers_by_passage(records: Iterable[Record]) -> Mapping[str, list[str]]:
    """The answers to all questions about each passage; records that lack them are judged later."""
    found: dict[str, list[str]] = defaultdict(list)
    for record in records:
        try:
            found[record.text("context")].extend(
                text for text in record.texts("answer_texts") if text.strip()
            )
        except SourceError:
            continue
    return found


def _item(split: str, record: Record, nearby: Mapping[str, Sequence[str]], wrong: WrongAnswers) -> Item | str:
    answers = [filled("answer_texts", answer) for answer in record.texts("answer_texts")]
    if not answers:
        return NO_ANSWERS
    context, question = record.text("context"), record.text("question")
    premise = joined(context=context, question=question)
    pairs = [Pair(premise, answers[0], ENTAILED, answer=answers[0])]
    other = wrong.draw(answers, key=f"{context}\x1f{question}", nearby=nearby[context], question=question)
    if other is not None:
        pairs.append(Pair(premise, other.strip(), NOT_ENTAILED, answer=answers[0], substituted=other.strip()))
    return Item(str(record.row), pairs, group_id=fingerprint(context))


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

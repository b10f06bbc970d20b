"""Free-response questions as statements: entailed with the right answer, not entailed with a wrong one.

Source: "Curriculum" (2204.06283, Section 3). The passage is the premise; `text.statements` makes the
sentence, `substitution` the wrong answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ....text.statements import NoStatement, Statement, statements
from ....text.tagging import Tagger
from ...sources.records import Record
from .base import PairCollector
from .rules import ENTAILED, NOT_ENTAILED, Pair, capitalised

NO_STATEMENT = "no statement"


class AskedPassage(NamedTuple):
    """One question on a passage. `answers` are all right answers, the one to use first; none is empty.

    `wrong` is the wrong answer that takes its place, None where none was found.
    """

    record: Record
    split: str
    source_id: str
    group_id: str
    passage: str
    question: str
    answers: Sequence[str]
    wrong: str | None


def collect_statements(
    asked: Sequence[AskedPassage], pairs: PairCollector, *, tagger: Tagger | None = None
) -> None:
    """Add the pairs of each question to `pairs`.

    A question for which no rule of `text.statements` fits is filtered, with the reason. Without `tagger`, the
    stored one is used (see `text.tagging`), with its errors.
    """
    right = [item.answers[0] for item in asked]
    wrong = [item.wrong if item.wrong is not None else item.answers[0] for item in asked]
    questions = [item.question for item in asked]
    made = statements(questions + questions, right + wrong, tagger=tagger)
    for item, true, false in zip(asked, made[: len(asked)], made[len(asked) :], strict=True):
        if isinstance(true, NoStatement):
            pairs.faults.filter(f"{NO_STATEMENT}: {true.reason.replace('_', ' ')}")
            continue
        pairs.add(
            item.record,
            _pairs(item, true, false),
            split=item.split,
            source_id=item.source_id,
            group_id=item.group_id,
        )


def _pairs(item: AskedPassage, true: Statement, false: Statement | NoStatement) -> list[Pair]:
    premise, gold = item.passage.strip(), item.answers[0]
    found = [Pair(premise, capitalised(true.text), ENTAILED, answer=gold)]
    if item.wrong is not None and isinstance(false, Statement) and false.text != true.text:
        hypothesis = capitalised(false.text)
        found.append(Pair(premise, hypothesis, NOT_ENTAILED, answer=gold, substituted=item.wrong))
    return found

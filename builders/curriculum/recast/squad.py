"""SQuAD v1.1: questions on paragraphs of Wikipedia, answered by spans.

Source: "SQuAD: 100,000+ Questions for Machine Comprehension of Text" (1606.05250).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ....faults import FaultLog
from ...base import SourceFile
from ...sources.files import SourceFolder
from ...sources.records import Record
from ...sources.splits import split_files
from ...sources.squad import read_squad_file
from .base import PairCollector, Recast, RecastRows
from .rules import fingerprint
from .statements import AskedPassage, collect_statements
from .substitution import WrongAnswers

CORPUS = "squad"
RULE = "statement"
_SPLITS = ("train", "dev")


class _Question(NamedTuple):
    """A question with its answers, the one to use first. `record` says where it stands."""

    record: Record
    split: str
    question_id: str
    context: str
    question: str
    answers: list[str]


def recast_squad(root: Path, faults: FaultLog) -> RecastRows:
    """Read the `.json` files whose names speak of train or dev (`train-v1.1.json`, `dev-v1.1.json`).

    As `sources.squad` reads them. Of several answers the one that most annotators gave is used, the first one
    of those where several are; questions on one paragraph form a group. Raises SourceError and SourceErrors
    as the readers do.
    """
    chosen = split_files(SourceFolder(root), ("json",), expected=_SPLITS)
    pairs = PairCollector(CORPUS, RULE, faults)
    files: list[SourceFile] = []
    questions: list[_Question] = []
    for split, parts in chosen.files.items():
        for file in parts:
            source = read_squad_file(file, faults)
            questions.extend(_questions(split, file.shown, source.questions))
            files.extend(source.files)
    nearby: dict[str, list[str]] = defaultdict(list)
    for question in questions:
        nearby[question.context].append(question.answers[0])
    groups = {context: fingerprint(context) for context in nearby}
    wrong = WrongAnswers(answer for answers in nearby.values() for answer in answers)
    asked = [_asked(item, nearby[item.context], groups[item.context], wrong) for item in questions]
    collect_statements(asked, pairs)
    return pairs.finish(files, chosen.notes)


def _questions(split: str, path: str, table: pa.Table) -> Iterator[_Question]:
    """The questions of a file, made of the columns that are used."""
    columns = [table[name].to_pylist() for name in ("source_index", "id", "context", "question")]
    texts = pc.struct_field(table["answers"], "text").to_pylist()
    for row, question_id, context, question, given in zip(*columns, texts, strict=True):
        yield _Question(Record(path, row, None, {}), split, question_id, context, question, _ordered(given))


def _ordered(texts: Sequence[str]) -> list[str]:
    """The answers with the most frequent one in front, once; of several such the first."""
    given = [text.strip() for text in texts]
    first = max(given, key=given.count)
    return [first, *[answer for answer in given if answer != first]]


def _asked(item: _Question, nearby: Sequence[str], group_id: str, wrong: WrongAnswers) -> AskedPassage:
    other = wrong.draw(
        item.answers, key=item.question_id, nearby=nearby, passage=item.context, question=item.question
    )
    return AskedPassage(
        record=item.record,
        split=item.split,
        source_id=item.question_id,
        group_id=group_id,
        passage=item.context,
        question=item.question,
        answers=item.answers,
        wrong=other,
    )


SQUAD = Recast(
    phenomenon="drop",
    corpus=CORPUS,
    files=("train-v1.1.json", "dev-v1.1.json", "*train*.json", "*dev*.json"),
    rule=(
        "The hypothesis is the statement that question and answer make, entailed with the right answer, not "
        "entailed with another of its type."
    ),
    recaster=recast_squad,
    differs=(
        "The released task was not made from SQuAD, whose questions become statements as DROP's do. "
        "Validation is the dev file; no test file is read."
    ),
    released=False,
)

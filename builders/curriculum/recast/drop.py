"""DROP: questions on paragraphs that ask for numbers, dates or spans.

Source: "DROP: A Reading Comprehension Benchmark Requiring Discrete Reasoning Over Paragraphs" (1903.00161).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ....errors import SourceError
from ....faults import FaultLog
from ...sources.files import InputFile
from ...sources.records import Record, read_json
from ...sources.splits import missing_notes
from .base import EMPTY_COMPONENT, PairCollector, Recast, RecastRows, corpus_files
from .statements import AskedPassage, collect_statements
from .substitution import WrongAnswers

CORPUS = "drop"
RULE = "statement"
NO_ANSWER = "no answer"
_FILES = {"train": ("drop_dataset_train.json",), "dev": ("drop_dataset_dev.json",)}
_LAYOUT = 'give {"PASSAGE ID": {"passage", "qa_pairs": [{"question", "answer", "query_id"}]}}'
_PARTS_OF_DATE = ("day", "month", "year")
_DATE = "give day, month and year"


class _Question(NamedTuple):
    """A question with its answers, each a list of spans: the published one, then other annotators'."""

    record: Record
    split: str
    answers: list[list[str]]

    @property
    def gold(self) -> list[str]:
        return self.answers[0]

    @property
    def passage(self) -> tuple[str, str]:
        """Split and id: ids may begin anew in each file."""
        return self.split, self.record.fields["passage_id"]


def recast_drop(root: Path, faults: FaultLog) -> RecastRows:
    """Read `drop_dataset_train.json` and `drop_dataset_dev.json`.

    A file maps passage ids to `passage` and `qa_pairs` (`question`, `query_id`, `answer`, and in the dev file
    `validated_answers`). An answer has `number`, `date` (`day`, `month`, `year`) and `spans`, of which one is
    filled; several spans are joined by commas and "and", and one of them is replaced in the wrong answer.
    Numbers and parts of a date may be JSON numbers. Questions on one passage form a group. Raises SourceError
    and SourceErrors as the readers do.
    """
    found = corpus_files(root, _FILES)
    pairs = PairCollector(CORPUS, RULE, faults)
    files, questions = [], []
    for split, file in found.items():
        records = list(_records(file))
        if not records:
            raise SourceError("no question", path=file.shown, fix=_LAYOUT)
        questions += [question for record in records if (question := _read(split, record, faults))]
        files.append(file.describe(len(records)))
    nearby: dict[tuple[str, str], list[str]] = {}
    for question in questions:
        nearby.setdefault(question.passage, []).extend(question.gold)
    wrong = WrongAnswers(span for spans in nearby.values() for span in spans)
    collect_statements([_asked(question, nearby, wrong) for question in questions], pairs)
    return pairs.finish(files, missing_notes(found, tuple(_FILES)))


def _records(file: InputFile) -> Iterator[Record]:
    content = read_json(file)
    row = 0
    passages = content.items() if isinstance(content, dict) else [("", None)]
    for passage_id, passage in passages:
        questions = passage.get("qa_pairs") if isinstance(passage, dict) else None
        if (
            not isinstance(passage, dict)
            or not isinstance(questions, list)
            or not all(isinstance(item, dict) for item in questions)
        ):
            raise SourceError("not a passage with questions", path=file.shown, field=passage_id, fix=_LAYOUT)
        for question in questions:
            yield Record(
                file.shown,
                row,
                None,
                {**question, "passage_id": passage_id, "passage": passage.get("passage")},
            )
            row += 1


def _read(split: str, record: Record, faults: FaultLog) -> _Question | None:
    """The question, or None where it was reported."""
    try:
        for name in ("passage", "question"):
            if not record.text(name).strip():
                raise record.fault(EMPTY_COMPONENT, name, value=record.fields[name], fix="fill it in")
        record.text("query_id")
        given = {"answer": record.fields.get("answer"), **_validated(record)}
        answers = [_spans(record, field, answer) for field, answer in given.items()]
    except SourceError as fault:
        faults.bad(fault)
        return None
    if not answers[0]:
        faults.filter(NO_ANSWER)
        return None
    return _Question(record, split, [spans for spans in answers if spans])


def _validated(record: Record) -> dict[str, Any]:
    """The answers of other annotators, by the names that faults give them. Raises SourceError."""
    answers = record.fields.get("validated_answers")
    if answers is None:
        return {}
    if not isinstance(answers, list):
        raise record.fault("wrong type", "validated_answers", value=answers, fix="give a list of answers")
    return {f"validated_answers[{number}]": answer for number, answer in enumerate(answers)}


def _spans(record: Record, field: str, answer: Any) -> list[str]:
    """The texts of one answer; empty where the corpus has none. Raises SourceError."""
    parts = _members(record, field, answer, "give number, date and spans")
    number = _written(record, f"{field}.number", parts.get("number"))
    if number:
        return [number]
    if parts.get("spans") is not None:
        name = f"{field}.spans"
        spans = record._replace(fields={name: parts["spans"]}).texts(name)
        filled = [text for span in spans if (text := span.strip())]
        if filled:
            return filled
    date = {} if parts.get("date") is None else _members(record, f"{field}.date", parts["date"], _DATE)
    texts = [_written(record, f"{field}.date.{name}", date.get(name)) for name in _PARTS_OF_DATE]
    text = " ".join(text for text in texts if text)
    return [text] if text else []


def _members(record: Record, field: str, value: Any, fix: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise record.fault("wrong type", field, value="null" if value is None else value, fix=fix)
    return value


def _written(record: Record, field: str, value: Any) -> str:
    """A number or a part of a date as text; empty where the corpus has none. Raises SourceError."""
    if value is None:
        return ""
    if type(value) is str:
        record.refuse_surrogates(field, value)
        return value.strip()
    if type(value) is int or (type(value) is float and math.isfinite(value)):
        return str(value)
    raise record.fault("wrong type", field, value=value, fix="give a string or a number")


def _asked(
    question: _Question, nearby: dict[tuple[str, str], list[str]], wrong: WrongAnswers
) -> AskedPassage:
    record = question.record
    passage_id, passage, query_id = (record.fields[name] for name in ("passage_id", "passage", "query_id"))
    gold = question.gold
    # Of several spans one is replaced: the rest stay right, as in a mistake that a reader makes.
    every = [span for spans in question.answers for span in spans]
    other = wrong.draw(
        [gold[-1], *every],
        key=query_id,
        nearby=nearby[question.passage],
        passage=passage,
        question=record.fields["question"],
    )
    return AskedPassage(
        record=record,
        split=question.split,
        source_id=query_id,
        group_id=passage_id,
        passage=passage,
        question=record.fields["question"],
        answers=[_listed(spans) for spans in question.answers],
        wrong=None if other is None else _listed([*gold[:-1], other]),
    )


def _listed(spans: Sequence[str]) -> str:
    return spans[0] if len(spans) == 1 else f"{', '.join(spans[:-1])} and {spans[-1]}"


DROP = Recast(
    phenomenon="drop",
    corpus=CORPUS,
    files=tuple(name for names in _FILES.values() for name in names),
    rule=(
        "The hypothesis is the statement that question and answer make, entailed with the right answer, not "
        "entailed with another number, date or span of the passage or corpus."
    ),
    recaster=recast_drop,
    differs=(
        "Questions are turned into sentences; the release puts the answer in place of the question word. "
        "Validation is the dev file; no test file is read."
    ),
)

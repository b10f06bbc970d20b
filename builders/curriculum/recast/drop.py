"""DROP: questions on paragraphs that ask for numbers, dates or spans.

Source: "DROP: A Reading Comprehension Benchmark Requiring Discrete Reasoning Over Paragraphs" (1903.00161).
"""

from __future__ import annotations

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


class _Question(NamedTuple):
    """A question with its answers, each a list of spans: the published one, then other annotators'."""

    record: Record
    split: str
    answers: list[list[str]]

    @property
    def gold(self) -> list[str]:
        return self.answers[0]


def recast_drop(root: Path, faults: FaultLog) -> RecastRows:
    """Read `drop_dataset_train.json` and `drop_dataset_dev.json`.

    A file maps passage ids to `passage` and `qa_pairs` (`question`, `query_id`, `answer`, and in the dev file
    `validated_answers`). An answer has `number`, `date` (`day`, `month`, `year`) and `spans`, of which one is
    filled; several spans are joined by commas and "and", and one of them is replaced in the wrong answer.
    Questions on one passage form a group. Raises SourceError and SourceErrors as the readers do.
    """
    found = corpus_files(root, _FILES)
    pairs = PairCollector(CORPUS, RULE, faults)
    files, questions = [], []
    for split, file in found.items():
        records = list(_records(file))
        questions += [question for record in records if (question := _read(split, record, faults))]
        files.append(file.describe(len(records)))
    nearby: dict[str, list[str]] = {}
    for question in questions:
        nearby.setdefault(question.record.fields["passage_id"], []).extend(question.gold)
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
                {**question, "passage_id": passage_id, "passage": found.get("passage")},
            )
            row += 1


def _read(split: str, record: Record, faults: FaultLog) -> _Question | None:
    """The question, or None where it was reported."""
    try:
        for name in ("passage", "question"):
            if not record.text(name).strip():
                raise record.fault(EMPTY_COMPONENT, name, value=record.fields[name], fix="fill it in")
        record.text("query_id")
        given = [record.fields.get("answer"), *(record.fields.get("validated_answers") or [])]
        answers = [_spans(record, answer) for answer in given]
    except SourceError as fault:
        faults.bad(fault)
        return None
    if not answers[0]:
        faults.filter(NO_ANSWER)
        return None
    return _Question(record, split, [spans for spans in answers if spans])


def _spans(record: Record, answer: Any) -> list[str]:
    """The texts of one answer; empty where the corpus has none. Raises SourceError."""
    if not isinstance(answer, dict):
        raise record.fault("wrong type", "answer", value=answer, fix="give number, date and spans")
    parts = record._replace(fields=answer)
    number = answer.get("number")
    if number not in (None, ""):
        return [str(number)]
    spans = [text.strip() for text in parts.texts("spans")] if answer.get("spans") else []
    if any(spans):
        return [text for text in spans if text]
    date = answer.get("date")
    if not isinstance(date, dict):
        return []
    text = " ".join(str(date[name]).strip() for name in _PARTS_OF_DATE if date.get(name))
    return [text] if text.strip() else []


def _asked(question: _Question, nearby: dict[str, list[str]], wrong: WrongAnswers) -> AskedPassage:
    record = question.record
    passage_id, passage, query_id = (record.fields[name] for name in ("passage_id", "passage", "query_id"))
    gold = question.gold
    # Of several spans one is replaced: the rest stay right, as in a mistake that a reader makes.
    every = [span for spans in question.answers for span in spans]
    other = wrong.draw(
        [gold[-1], *every],
        key=query_id,
        nearby=nearby[passage_id],
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
    read=recast_drop,
    differs="Questions are turned into sentences; the release puts the answer in place of the question word.",
)

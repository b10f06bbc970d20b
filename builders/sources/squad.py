"""SQuAD v1.1 and its natural distribution shifts: one JSON file a set.

Sources: "SQuAD: 100,000+ Questions for Machine Comprehension of Text" (1606.05250) and "The Effect of
Natural Distribution Shift on Question Answering Models" (2004.14444). Texts are kept to the character:
leading spaces, `\\r\\n`, no-break spaces and the final newline of a context are what the offsets count.
An offset is a number of Unicode code points, not of bytes or UTF-16 units.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from ...errors import SourceError, show
from ...faults import FaultLog
from ..base import SourceFile
from .files import InputFile, SourceFolder
from .records import Record, read_json

QUESTIONS_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("title", pa.string()),
        ("context", pa.string()),
        ("question", pa.string()),
        ("answers", pa.struct([("text", pa.list_(pa.string())), ("answer_start", pa.list_(pa.int32()))])),
        ("source_index", pa.int32()),
    ]
)
"""The columns of `squad` on the Hub, then the question's 0-based number in the file."""

_OF_QUESTION = ["id", "question", "answers"]
_LAYOUT = (
    'SQuAD v1.1 is {"data": [{"title", "paragraphs": [{"context", "qas": [{"id", "question", "answers"}]}]}]}'
)
_ANSWERS_LAYOUT = 'give one or more of {"text", "answer_start"}'


@dataclass(frozen=True)
class SquadSource:
    """Questions in file order, and what was read; `read` counts bad questions too."""

    questions: pa.Table
    files: tuple[SourceFile, ...]
    read: int


def read_squad(root: Path, faults: FaultLog) -> SquadSource:
    """Read one JSON file (plain or .gz), or a folder or zip archive that holds exactly one.

    A question is a fault where it lacks a text, repeats an id, has no answer, or has an answer for which
    `context[answer_start : answer_start + len(text)] == text` does not hold. Equal answers of several
    annotators are all kept. Keys that are not named in `QUESTIONS_SCHEMA` are not read.

    Raises SourceError for a file that cannot be read or has another structure, SourceErrors as `faults`
    decides.
    """
    return read_squad_file(_only_file(root), faults)


def read_squad_file(file: InputFile, faults: FaultLog) -> SquadSource:
    """Read one JSON file, as `read_squad` does, with its errors."""
    rows: list[dict[str, Any]] = []
    first_rows: dict[str, int] = {}
    read = 0
    for record in _records(file):
        read += 1
        try:
            question = _question(record)
            first = first_rows.setdefault(question["id"], record.row)
            if first != record.row:
                fix = f"row {first} has it too; keep one of the two, or give each its own id"
                raise record.fault("id stands twice", "id", value=question["id"], fix=fix)
        except SourceError as fault:
            faults.bad(fault)
            continue
        rows.append(question | {"source_index": record.row})
    if not read:
        raise SourceError("no question in the file", path=file.shown, fix="copy or download the file again")
    faults.finish()
    return SquadSource(pa.Table.from_pylist(rows, schema=QUESTIONS_SCHEMA), (file.describe(read),), read)


def _only_file(root: Path) -> InputFile:
    files = [file for file in SourceFolder(root).files if file.format == "json"]
    if not files:
        raise SourceError("no .json file (plain or .gz)", path=root, fix="give a file of SQuAD v1.1")
    if len(files) > 1:
        names = ", ".join(file.name for file in files)
        raise SourceError(f"more than one .json file: {names}", path=root, fix="give one of them")
    return files[0]


def _records(file: InputFile) -> Iterator[Record]:
    """One record a question: its own fields and those of its paragraph and article.

    The record's place names the question's id: a row number alone is no help in nested JSON.
    """
    content = read_json(file)
    if not isinstance(content, dict):
        raise SourceError("not a JSON object", path=file.shown, value=content, fix=_LAYOUT)
    row = 0
    for a, article in enumerate(_objects(file, content, "data")):
        for p, paragraph in enumerate(_objects(file, article, "paragraphs", f"data[{a}].")):
            for question in _objects(file, paragraph, "qas", f"data[{a}].paragraphs[{p}]."):
                fields: dict[str, Any] = {}
                for holder, names in (
                    (question, _OF_QUESTION),
                    (paragraph, ["context"]),
                    (article, ["title"]),
                ):
                    fields |= {name: holder[name] for name in names if name in holder}
                place = f"{file.shown}, question {show(question['id'])}" if "id" in question else file.shown
                yield Record(place, row, None, fields)
                row += 1


def _objects(file: InputFile, holder: dict[str, Any], key: str, parent: str = "") -> list[dict[str, Any]]:
    value = holder.get(key)
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        reason = "not a list of objects" if key in holder else "missing field"
        raise SourceError(reason, path=file.shown, field=parent + key, value=value, fix=_LAYOUT)
    return value


def _question(record: Record) -> dict[str, Any]:
    question = {name: record.filled_text(name) for name in ("id", "context", "question")}
    title = record.text("title")
    answers = record.fields.get("answers")
    if answers in (None, []):
        raise record.fault("no answer", "answers", fix=_ANSWERS_LAYOUT)
    if not isinstance(answers, list):
        raise record.fault("wrong type", "answers", value=answers, fix=_ANSWERS_LAYOUT)
    checked = [_answer(record, number, answer, question["context"]) for number, answer in enumerate(answers)]
    texts, starts = zip(*checked, strict=True)
    return question | {"title": title, "answers": {"text": list(texts), "answer_start": list(starts)}}


def _answer(record: Record, number: int, answer: Any, context: str) -> tuple[str, int]:
    """Text and start of one answer, checked against the context."""
    field = f"answers[{number}]"
    if not isinstance(answer, dict):
        raise record.fault("wrong type", field, value=answer, fix=_ANSWERS_LAYOUT)
    # The question's record with the answer's fields: faults name both.
    fields = {f"{field}.{name}": value for name, value in answer.items()}
    inner = record._replace(fields=fields)
    text = inner.filled_text(f"{field}.text")
    start = fields.get(f"{field}.answer_start")
    if type(start) is not int:
        raise record.fault("wrong type", f"{field}.answer_start", value=start, fix="give a whole number")
    if start < 0 or context[start : start + len(text)] != text:
        raise record.fault(
            "the answer does not stand at its offset",
            f"{field}.answer_start",
            value=start,
            fix=_offset_fix(context, text, start),
        )
    return text, start


def _offset_fix(context: str, text: str, start: int) -> str:
    places = []
    place = context.find(text)
    while place >= 0:
        places.append(place)
        place = context.find(text, place + 1)
    if not places:
        return f"the context does not hold {show(text)}: correct the answer's text"
    nearest = min(places, key=lambda place: abs(place - start))
    return f"{show(text)} stands at {nearest}: count Unicode code points of the unchanged context"

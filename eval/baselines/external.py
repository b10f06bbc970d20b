"""Predictions made elsewhere, read from a file and judged like a baseline's."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import SourceError, UsageError
from ...progress import Progress
from ...tasks import Task
from .base import Baseline, EvaluationData, Predictions

FIELDS = ("uid", "prediction")


class ExternalPredictions(Baseline):
    """A file of predictions, shown in results as `external:<name>`.

    JSON Lines with the fields uid and prediction, or CSV or TSV (no quoting) with these columns; the
    extension says which. Answers are label names or text, never label ids, so that no order of labels
    can be confused. Every evaluated row needs exactly one answer: a model that skips rows would otherwise
    be judged on the rows it likes. Rows of the split that `limit` leaves out may be answered or not.
    """

    def __init__(self, path: str | Path, name: str | None = None) -> None:
        self.path = Path(path)
        label = self.path.stem if name is None else name
        if not label or len(label) > 100 or not label.isprintable():
            raise UsageError(f"a name for predictions has 1 to 100 printable characters, got {label!r}")
        self.name = f"external:{label}"

    def run(self, data: EvaluationData, seed: int, progress: Progress) -> Predictions:
        """Raises SourceError, with file, line and uid, for the first answer that cannot be used."""
        answers = read_predictions(self.path, data.task, data.split_uids)
        missing = [uid for uid in data.evaluation.uids if uid not in answers]
        if missing:
            rows = f"{len(missing)} of the {len(data.evaluation)} rows of {data.config}/{data.split}"
            reason = f"no prediction for {rows}"
            raise SourceError(
                reason, path=self.path, field="uid", value=missing[0], fix="add one line for every row"
            )
        progress(len(data.evaluation))
        return Predictions(data.evaluation.uids, [answers[uid] for uid in data.evaluation.uids])


@dataclass(frozen=True)
class _Record:
    line: int
    fields: dict[str, Any]


def read_predictions(path: Path, task: Task, known_uids: frozenset[str]) -> dict[str, str]:
    """uid -> answer. Raises SourceError for a missing field, an unknown label or uid, and a second answer."""
    answers: dict[str, str] = {}
    lines: dict[str, int] = {}
    for record in _records(path):
        uid, answer = (_text(record, name, path) for name in FIELDS)
        place: dict[str, Any] = {"path": path, "line": record.line}
        if uid not in known_uids:
            fix = "predictions are for one split of one config, by the uids of its rows"
            raise SourceError("the split has no such row", **place, field="uid", value=uid, fix=fix)
        if uid in answers:
            fix = f"keep one of lines {lines[uid]} and {record.line}"
            raise SourceError("a second prediction for a row", **place, field="uid", value=uid, fix=fix)
        if task.labels is not None and answer not in task.labels:
            reason = f"unknown label for {uid}"
            fix = f"write one of {', '.join(task.labels)}"
            raise SourceError(reason, **place, field="prediction", value=answer, fix=fix)
        answers[uid], lines[uid] = answer, record.line
    return answers


def _text(record: _Record, name: str, path: Path) -> str:
    value = record.fields.get(name)
    if isinstance(value, str):
        return value
    reason = "the field is missing" if name not in record.fields else "the field is no text"
    uid = record.fields.get("uid")
    if name == "prediction" and isinstance(uid, str):
        reason += f" for {uid}"
    fix = "labels are given by name, not by number" if name == "prediction" else "uids are strings"
    raise SourceError(reason, path=path, line=record.line, field=name, value=value, fix=fix)


def _records(path: Path) -> Iterator[_Record]:
    readers = {".jsonl": _json_lines, ".csv": _separated, ".tsv": _separated}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise UsageError(f"predictions are read from .jsonl, .csv or .tsv files, got {str(path)!r}")
    if not path.is_file():
        raise UsageError(f"no file of predictions at {str(path)!r}")
    try:
        yield from reader(path)
    except UnicodeDecodeError as error:
        raise SourceError(
            f"not UTF-8 at byte {error.start}", path=path, fix="save the file as UTF-8"
        ) from None


def _json_lines(path: Path) -> Iterator[_Record]:
    # Only "\n" ends a record: str.splitlines would cut strings at U+2028 and its like.
    for line, text in enumerate(path.read_bytes().decode("utf-8-sig").split("\n"), start=1):
        if not text.strip():
            continue
        try:
            fields = json.loads(text)
        except ValueError as error:
            reason = "not JSON (" + str(error) + ")"
            raise SourceError(
                reason, path=path, line=line, value=text, fix="write one object per line"
            ) from None
        if not isinstance(fields, dict):
            raise SourceError(
                "not an object", path=path, line=line, value=fields, fix='write {"uid", "prediction"}'
            )
        yield _Record(line, fields)


def _separated(path: Path) -> Iterator[_Record]:
    text = path.read_bytes().decode("utf-8-sig")
    rows = _tsv_rows(text) if path.suffix.lower() == ".tsv" else _csv_rows(path, text)
    _, header = next(rows, (1, []))
    absent = [name for name in FIELDS if name not in header]
    if absent:
        fix = f"the first line names the columns {' and '.join(FIELDS)}"
        raise SourceError(f"no column {absent[0]!r}", path=path, line=1, value=header, fix=fix)
    for line, row in rows:
        if len(row) != len(header):
            reason = f"{len(row)} fields under {len(header)} columns"
            raise SourceError(reason, path=path, line=line, value=row, fix="give every row all columns")
        yield _Record(line, dict(zip(header, row, strict=True)))


def _tsv_rows(text: str) -> Iterator[tuple[int, list[str]]]:
    # TSV has no quoting: a lone quotation mark is a character like any other.
    for line, row in enumerate(text.split("\n"), start=1):
        if row.rstrip("\r"):
            yield line, row.rstrip("\r").split("\t")


def _csv_rows(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    line = 1
    try:
        for row in reader:
            if row:
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise SourceError(
            f"not CSV ({error})", path=path, line=line, fix="quote fields as RFC 4180 says"
        ) from None

"""BoolQ as JSON Lines, in its published form and in that of public copies.

Source: "BoolQ: Exploring the Surprising Difficulty of Natural Yes/No Questions" (1905.10044).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from ...errors import SourceError
from ...faults import FaultLog
from ..base import SourceFile
from .files import SourceFolder
from .records import Record, Records
from .splits import SOURCE_SPLITS, split_files

NO_LABEL = "no label"
LABELLED_SPLITS = ("train", "dev")

QUESTIONS_SCHEMA = pa.schema(
    [
        ("uid", pa.string()),
        ("question", pa.string()),
        ("passage", pa.string()),
        ("answer", pa.bool_()),
        ("title", pa.string()),
        ("source_split", pa.string()),
        ("source_index", pa.int32()),
    ]
)

_FORMATS = ("jsonl", "json", "parquet")
_ANSWERS: dict[str | int, bool] = {
    "true": True,
    "false": False,
    "True": True,
    "False": False,
    "yes": True,
    "no": False,
    1: True,
    0: False,
}


@dataclass(frozen=True)
class BoolQSource:
    """Labelled questions in source order (train, dev, test), and what was read."""

    questions: pa.Table
    files: tuple[SourceFile, ...]
    read: int
    notes: tuple[str, ...]


def read_boolq(root: Path, faults: FaultLog) -> BoolQSource:
    """Read a folder, zip archive or single file with at least one split of BoolQ.

    Files (`.jsonl`, `.json`, `.parquet`) are found by the split's word in their names (`split_files`).
    Records have question, passage, perhaps title, and answer (or label): a boolean, 0 or 1, yes or no,
    true or false. The published test file has no answers: its records are filtered as "no label"; in the
    other files a missing answer is a fault. A uid ends in the record's row in its split.

    Raises SourceError for files that cannot be read or of which every row is bad, SourceErrors as `faults`
    decides.
    """
    chosen = split_files(SourceFolder(root), _FORMATS, expected=LABELLED_SPLITS)
    rows: list[dict[str, Any]] = []
    files: list[SourceFile] = []
    read = 0
    for split in SOURCE_SPLITS:
        start = read
        for file in chosen.files.get(split, ()):
            records = Records(file, faults)
            for record in records:
                index = read + record.row
                try:
                    question = _question(record, split)
                except SourceError as fault:
                    faults.bad(fault)
                    continue
                if question is None:
                    faults.filter(NO_LABEL)
                else:
                    place = {
                        "uid": f"boolq:{split}:{index - start}",
                        "source_split": split,
                        "source_index": index,
                    }
                    rows.append(question | place)
            records.refuse_all_bad()
            read += records.rows
            files.append(file.describe(records.rows))
    faults.finish()
    return BoolQSource(pa.Table.from_pylist(rows, schema=QUESTIONS_SCHEMA), tuple(files), read, chosen.notes)


def _question(record: Record, split: str) -> dict[str, Any] | None:
    question = {
        "question": record.filled_text("question"),
        "passage": record.filled_text("passage"),
        "title": record.optional_text("title"),
    }
    field = "answer" if "answer" in record.fields or "label" not in record.fields else "label"
    value = record.fields.get(field)
    if split not in LABELLED_SPLITS and value in (None, -1):
        return None
    return question | {"answer": value if isinstance(value, bool) else record.label(field, _ANSWERS)}

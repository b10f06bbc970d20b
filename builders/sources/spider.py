"""Spider in its published format: train_spider.json, dev.json and tables.json.

Source: "Spider: A Large-Scale Human-Labeled Dataset for Complex and Cross-Domain Semantic Parsing and
Text-to-SQL Task" (1809.08887). Only the keys that are named here are read, so that files without the token
and parse fields will do. `train_others.json` is no part of the 8,034 examples of likelihood splits and is
not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from ...errors import SourceError
from ...faults import FaultLog
from ..base import SourceFile
from .files import InputFile, SourceFolder
from .records import Record, Records, read_json_list
from .splits import missing_notes

TABLES_FILE = "tables.json"
SPLIT_FILES = {"train": "train_spider.json", "dev": "dev.json"}

EXAMPLES_SCHEMA = pa.schema(
    [
        ("uid", pa.string()),
        ("db_id", pa.string()),
        ("question", pa.string()),
        ("query", pa.string()),
        ("source_split", pa.string()),
        ("source_index", pa.int32()),
    ]
)


@dataclass(frozen=True)
class DatabaseSchema:
    """One database of tables.json, with the identifiers that SQL queries use (`*_original`).

    `columns` are (table number, name) pairs; the first one is `*` of table -1. Keys are column numbers.
    """

    db_id: str
    tables: tuple[str, ...]
    columns: tuple[tuple[int, str], ...]
    column_types: tuple[str, ...]
    primary_keys: tuple[int, ...]
    foreign_keys: tuple[tuple[int, int], ...]

    def suffix(self) -> str:
        """What follows the question in a parser's input: ` | table : column , column | ...`, lower-cased."""
        return "".join(
            f" | {table} : " + " , ".join(name for owner, name in self.columns if owner == number)
            for number, table in enumerate(self.tables)
        ).lower()


@dataclass(frozen=True)
class SpiderSource:
    """Examples in source order (train, then dev), the databases, and what was read, by split and in all."""

    examples: pa.Table
    rows_read: Mapping[str, int]
    databases: dict[str, DatabaseSchema]
    files: tuple[SourceFile, ...]
    read: int
    notes: tuple[str, ...]


def read_spider(root: Path, faults: FaultLog) -> SpiderSource:
    """Read a folder (or zip archive) with tables.json and at least one of train_spider.json and dev.json.

    A row that lacks a key, has a value of a wrong type, an empty text or an unknown `db_id` is a fault.
    Raises SourceError for files that are missing or cannot be read, or of which every row is bad, and for any
    fault in tables.json.
    """
    folder = SourceFolder(root)
    tables = folder.find(TABLES_FILE)
    if tables is None:
        raise _missing(folder, TABLES_FILE)
    present = {split: file for split, name in SPLIT_FILES.items() if (file := folder.find(name))}
    if not present:
        raise _missing(folder, " or ".join(SPLIT_FILES.values()))
    databases = _read_databases(tables)
    files = [tables.describe(len(databases))]
    rows: list[dict[str, Any]] = []
    rows_read: dict[str, int] = {}
    for split, file in present.items():
        records, before = Records(file, faults), sum(rows_read.values())
        for record in records:
            try:
                example = _example(record, databases)
            except SourceError as fault:
                faults.bad(fault)
                continue
            place = {
                "uid": f"spider:{split}:{record.row}",
                "source_split": split,
                "source_index": before + record.row,
            }
            rows.append(example | place)
        records.refuse_all_bad()
        rows_read[split] = records.rows
        files.append(file.describe(records.rows))
    faults.finish()
    examples = pa.Table.from_pylist(rows, schema=EXAMPLES_SCHEMA)
    notes = missing_notes(present, tuple(SPLIT_FILES))
    return SpiderSource(examples, rows_read, databases, tuple(files), sum(rows_read.values()), notes)


def parser_source(db_id: str, question: str) -> str:
    """`db_id: question`, lower-cased: a parser's input before the schema suffix."""
    return f"{db_id}: {question}".lower()


def parser_target(query: str) -> str:
    """The query lower-cased, with every run of white space turned into one space."""
    return " ".join(query.split()).lower()


def _example(record: Record, databases: Mapping[str, DatabaseSchema]) -> dict[str, str]:
    example = {field: record.filled_text(field) for field in ("db_id", "question", "query")}
    if example["db_id"] not in databases:
        fix = f"add the database to {TABLES_FILE}, or use the tables of the same release"
        raise record.fault("unknown db_id", "db_id", value=example["db_id"], fix=fix)
    return example


def _read_databases(file: InputFile) -> dict[str, DatabaseSchema]:
    databases: dict[str, DatabaseSchema] = {}
    for row, fields in enumerate(read_json_list(file)):
        if not isinstance(fields, dict):
            raise SourceError(
                "not a JSON object", path=file.shown, row=row, value=fields, fix="give a list of databases"
            )
        record = Record(file.shown, row, None, fields)
        database = _database(record)
        if database.db_id in databases:
            raise record.fault("db_id stands twice", "db_id", value=database.db_id, fix="keep one of the two")
        databases[database.db_id] = database
    return databases


def _database(record: Record) -> DatabaseSchema:
    tables = record.texts("table_names_original")
    columns = tuple(
        (owner, name)
        for owner, name in _pairs(record, "column_names_original", "[table number, name] pairs", str)
    )
    for _, name in columns:
        record.refuse_surrogates("column_names_original", name)
    types = record.texts("column_types")
    if len(types) != len(columns):
        fix = f"give one type for each of the {len(columns)} columns"
        raise record.fault("wrong number of types", "column_types", value=len(types), fix=fix)
    _check_range(record, "column_names_original", [owner for owner, _ in columns], -1, len(tables))
    primary = record.integers("primary_keys")
    foreign = _pairs(record, "foreign_keys", "pairs of column numbers", int)
    _check_range(record, "primary_keys", primary, 0, len(columns))
    _check_range(record, "foreign_keys", [column for pair in foreign for column in pair], 0, len(columns))
    return DatabaseSchema(
        record.filled_text("db_id"), tuple(tables), columns, tuple(types), tuple(primary), tuple(foreign)
    )


def _pairs(record: Record, field: str, expected: str, second: type) -> list[tuple[int, Any]]:
    value = record.fields.get(field)
    if not isinstance(value, list) or not all(
        isinstance(pair, list) and len(pair) == 2 and type(pair[0]) is int and type(pair[1]) is second
        for pair in value
    ):
        raise record.fault(
            "wrong type" if value is not None else "missing field", field, value=value, fix=f"give {expected}"
        )
    return [(pair[0], pair[1]) for pair in value]


def _check_range(record: Record, field: str, numbers: list[int], low: int, high: int) -> None:
    for number in numbers:
        if not low <= number < high:
            raise record.fault(
                "number out of range", field, value=number, fix=f"give numbers from {low} to {high - 1}"
            )


def _missing(folder: SourceFolder, name: str) -> SourceError:
    return SourceError(
        f"no {name} (plain or .gz)", path=folder.root, fix="give the folder that holds Spider's files"
    )

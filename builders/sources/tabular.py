"""Tables in the formats that users keep their own data in, with every cell as it stands.

CSV (RFC 4180 quoting), tab-separated (no quoting), JSON Lines, JSON lists of objects and parquet. Cells of
CSV and tab-separated files are strings, whatever they look like: `None`, `NA`, `null` and `007` are text.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ...errors import SourceError
from ...faults import FaultLog
from ..base import SourceFile
from ._json_columns import JsonColumns
from .files import InputFile, SourceFolder
from .records import Record, Records, text_lines

FORMATS = ("parquet", "jsonl", "ndjson", "csv", "tsv", "json")
# The csv module stops at 131,072 characters a field by default; a document may be longer.
_CSV_FIELD_LIMIT = 2**31 - 1
_LARGEST_INT64 = 2**63 - 1


@dataclass(frozen=True)
class TabularRows:
    """The usable rows of one file or of several alike, in file order, with the user's columns alone.

    Arrays of shape (n,), int64: `parts` says which of `files` a row is from, `rows` numbers the records of
    that file from 0, bad ones included, and `lines` is the line that the record begins on, from 1 (None
    for formats without lines). `files` count every record met; `paths` is what error messages show.
    """

    table: pa.Table
    files: tuple[SourceFile, ...]
    paths: tuple[str, ...]
    parts: np.ndarray
    rows: np.ndarray
    lines: np.ndarray | None

    @property
    def read(self) -> int:
        """Number of records met, bad ones included."""
        return sum(file.rows for file in self.files)

    def record_numbers(self) -> np.ndarray:
        """The number of each row among all records of all files, from 0: shape (n,), int64."""
        counts = np.array([file.rows for file in self.files])
        return (np.cumsum(counts) - counts)[self.parts] + self.rows

    def place(self, index: int) -> str:
        """Where row `index` of `table` stands, for messages about another row."""
        file = f"{self.files[self.parts[index]].name}, " if len(self.files) > 1 else ""
        line = "" if self.lines is None else f", line {self.lines[index]}"
        return f"{file}row {self.rows[index]}{line}"

    def fault(self, index: int, reason: str, field: str, fix: str) -> SourceError:
        """A SourceError about one cell of row `index` of `table`, with its value."""
        value = self.table.column(field)[index].as_py()
        return SourceError(
            reason,
            path=self.paths[self.parts[index]],
            row=int(self.rows[index]),
            line=None if self.lines is None else int(self.lines[index]),
            field=field,
            # A None would leave the value out of the message.
            value="null" if value is None else value,
            fix=fix,
        )

    def filter(self, keep: np.ndarray) -> TabularRows:
        """The rows where the boolean array `keep` holds."""
        return replace(
            self,
            table=self.table.filter(pa.array(keep)),
            parts=self.parts[keep],
            rows=self.rows[keep],
            lines=None if self.lines is None else self.lines[keep],
        )


def read_table(path: Path, faults: FaultLog) -> TabularRows:
    """Read one .csv, .tsv, .jsonl, .ndjson or .json file, plain or gzip-compressed, or a .parquet file.

    All records must have the columns of the header or, in JSON, of the first object; values of one column
    must be of one type, which the first one sets (null fits everywhere; whole numbers and fractions mix).
    Records that differ go to `faults`, and the caller ends with `faults.finish()`. Empty lines are no
    records. Text columns come as `string`, dictionaries decoded; metadata of a parquet schema is kept.

    Raises SourceError for a file that cannot be used as a whole: missing, a folder, of unknown format,
    empty, not UTF-8, cut short, without a usable row, with a column name that is missing or stands twice,
    or with a column type that a release cannot hold.
    """
    if path.is_dir():
        raise SourceError("is a folder", path=path, fix="give one file")
    return read_tables([InputFile(path, path.name)], faults)


def read_tables(files: Sequence[InputFile], faults: FaultLog) -> TabularRows:
    """Read the parts of one table, as `read_table` does. Raises SourceError if their columns differ too."""
    parts = [_read_part(file, faults) for file in files]
    filled = [part for part in parts if part.table.num_rows]
    if not filled:
        faults.finish()
        raise _no_usable_row(files[0])
    numbers = [np.full(len(part.rows), number, np.int64) for number, part in enumerate(parts)]
    lines = [part.lines for part in filled if part.lines is not None]
    return TabularRows(
        table=_concatenated(filled),
        files=tuple(part.file.describe(part.read) for part in parts),
        paths=tuple(part.file.shown for part in parts),
        parts=np.concatenate(numbers),
        rows=np.concatenate([part.rows for part in parts]),
        lines=np.concatenate(lines) if len(lines) == len(filled) else None,
    )


class CsvRecords:
    """Iterates over the usable records of a CSV file, cells as text; afterwards `rows` is the number met.

    They are what `read_table` reads, with its errors; all of the file is read when iteration begins.
    """

    def __init__(self, file: InputFile, faults: FaultLog) -> None:
        self.file, self.faults = file, faults
        self.rows = 0

    def __iter__(self) -> Iterator[Record]:
        with _long_csv_fields():
            cells = _usable_cells(self.file, _csv_cells(self.file), self.faults)
        self.rows = cells.read
        if not cells.kept:
            self.faults.finish()
            raise _no_usable_row(self.file)
        shown, header = self.file.shown, cells.header
        for number, line, values in zip(cells.rows, cells.lines, cells.kept, strict=True):
            yield Record(shown, number, line, dict(zip(header, values, strict=True)))


def table_files(folder: Path, pattern: str | None = None) -> list[InputFile]:
    """The parts of the one table in a folder: all files of the first of parquet, JSON Lines, CSV, ... there.

    With `pattern` (`data/train-*.parquet`), the files whose name below the folder matches. Raises
    SourceError if there is none.
    """
    known = [file for file in SourceFolder(folder).files if file.format in FORMATS]
    if pattern is not None:
        found = [file for file in known if fnmatchcase(file.name, pattern)]
    else:
        formats = {file.format for file in known}
        chosen = next((name for name in FORMATS if name in formats), None)
        found = [file for file in known if file.format == chosen]
    if not found:
        names = ", ".join(file.name for file in known[:5]) or "none"
        raise SourceError(
            "no table file of that name", path=folder, value=pattern, fix=f"table files are: {names}"
        )
    return sorted(found, key=lambda file: file.name)


class _Part(NamedTuple):
    """One file's usable rows; `read` counts its records."""

    file: InputFile
    table: pa.Table
    rows: np.ndarray
    lines: np.ndarray | None
    read: int


def _read_part(file: InputFile, faults: FaultLog) -> _Part:
    compressed = file.plain_name != file.name
    if file.format not in FORMATS or (file.format == "parquet" and compressed):
        known = ", ".join(f".{name}" for name in FORMATS)
        fix = f"give one of {known}; all but parquet may be .gz"
        raise SourceError("unknown format", path=file.shown, value=file.name, fix=fix)
    if file.format == "parquet":
        part = _read_parquet(file)
    elif file.format == "csv":
        with _long_csv_fields():
            part = _read_cells(file, _csv_cells(file), faults)
    elif file.format == "tsv":
        part = _read_cells(file, _tsv_cells(file), faults)
    else:
        part = _read_json(file, faults)
    return part._replace(table=_plain_types(part.table, file))


def _concatenated(parts: Sequence[_Part]) -> pa.Table:
    """One table, columns of nulls alone as text. Raises SourceError for parts that are not of one kind."""
    first, fix = parts[0], "name the files of one table with a pattern, or give one file"
    for other in parts[1:]:
        for what, differs in (
            ("columns", set(first.table.column_names) != set(other.table.column_names)),
            ("features", _noted_features(first.table) != _noted_features(other.table)),
        ):
            if differs:
                reason = f"{what} differ from those of {first.file.name}"
                raise SourceError(reason, path=other.file.shown, fix=fix)
    try:
        table = pa.concat_tables([part.table for part in parts], promote_options="permissive")
    except pa.ArrowException as error:
        raise SourceError(f"parts differ in types ({error})", path=first.file.shown, fix=fix) from None
    for position, field in enumerate(table.schema):
        if pa.types.is_null(field.type):
            text = field.with_type(pa.string())
            table = table.set_column(position, text, table.column(position).cast(text.type))
    return table


def _noted_features(table: pa.Table) -> bytes | None:
    return (table.schema.metadata or {}).get(b"huggingface")


def _read_json(file: InputFile, faults: FaultLog) -> _Part:
    records = Records(file, faults)
    columns = JsonColumns()
    for record in records:
        columns.add(record, faults)
    _check_names(columns.names, file.shown)
    lines = None if None in columns.lines else np.array(columns.lines, dtype=np.int64)
    return _Part(file, columns.table(file.shown), np.array(columns.rows, dtype=np.int64), lines, records.rows)


class _Cells(NamedTuple):
    """One record of a file with a header; `cells` is a reason where it could not be cut into fields."""

    line: int
    cells: list[str] | str


class _UsableCells(NamedTuple):
    """The records of a file that have a cell for every column; `read` counts all that were met."""

    header: list[str]
    kept: list[list[str]]
    rows: list[int]
    lines: list[int]
    read: int


def _read_cells(file: InputFile, records: Iterator[_Cells], faults: FaultLog) -> _Part:
    cells = _usable_cells(file, records, faults)
    columns = zip(*cells.kept, strict=True) if cells.kept else [()] * len(cells.header)
    table = pa.table(
        {name: pa.array(column, pa.string()) for name, column in zip(cells.header, columns, strict=True)}
    )
    rows, lines = (np.array(numbers, dtype=np.int64) for numbers in (cells.rows, cells.lines))
    return _Part(file, table, rows, lines, cells.read)


def _usable_cells(file: InputFile, records: Iterator[_Cells], faults: FaultLog) -> _UsableCells:
    """Records whose first one is the header. Raises SourceError for a header that cannot be used."""
    line, header = next(records, _Cells(1, []))
    if isinstance(header, str):
        raise SourceError(header, path=file.shown, line=line, fix="repair the header line")
    _check_names(header, file.shown)
    kept, rows, lines = [], [], []
    row = -1
    for row, (line, cells) in enumerate(records):
        if isinstance(cells, list) and len(cells) == len(header):
            kept.append(cells)
            rows.append(row)
            lines.append(line)
            continue
        record = Record(file.shown, row, line, {})
        if isinstance(cells, str):
            fix = "close the quotes, and write a quotation mark that stands inside them twice"
            faults.bad(record.fault(cells, fix=fix))
        else:
            fix = f"give {len(header)} fields, as the header has"
            faults.bad(record.fault("wrong number of fields", value=len(cells), fix=fix))
    return _UsableCells(header, kept, rows, lines, row + 1)


def _no_usable_row(file: InputFile) -> SourceError:
    return SourceError("no usable row", path=file.shown, fix="give a file with at least one good row")


def _tsv_cells(file: InputFile) -> Iterator[_Cells]:
    for line, text in text_lines(file):
        content = text.removesuffix("\n").removesuffix("\r")
        if content:
            yield _Cells(line, content.split("\t"))


def _csv_cells(file: InputFile) -> Iterator[_Cells]:
    """Records of a CSV file. After a line that cannot be read, reading goes on with the line below it.

    A quotation mark that is never closed takes in everything up to the next one, so that the record which
    fails may span good lines: only the line on which it begins is given up.
    """
    lines = [text for _, text in text_lines(file)]
    start = 0
    while start < len(lines):
        first = start
        reader = csv.reader(map(lines.__getitem__, range(first, len(lines))), strict=True)
        try:
            for cells in reader:
                if cells:
                    yield _Cells(start + 1, cells)
                start = first + reader.line_num
            return
        except csv.Error as error:
            unquoted = "new-line character" in str(error)
            yield _Cells(
                start + 1, "carriage return outside quotes" if unquoted else "unbalanced quotation mark"
            )
            start += 1


@contextmanager
def _long_csv_fields() -> Iterator[None]:
    before = csv.field_size_limit(_CSV_FIELD_LIMIT)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _read_parquet(file: InputFile) -> _Part:
    with file.open() as stream:
        if not stream.peek(1):
            raise SourceError("the file is empty", path=file.shown, fix="copy or download the file again")
        try:
            table = pq.ParquetFile(stream).read()
            table.validate(full=True)
        except pa.ArrowException:
            raise SourceError(
                "not a parquet file, or damaged", path=file.shown, fix="copy or download it again"
            ) from None
    _check_names(table.column_names, file.shown)
    return _Part(file, table, np.arange(table.num_rows, dtype=np.int64), None, table.num_rows)


def _check_names(names: Sequence[str], path: str) -> None:
    seen: set[str] = set()
    for position, name in enumerate(names, 1):
        if not name:
            fix = "name every column (pandas writes its index without a name: use `to_csv(index=False)`)"
            raise SourceError(f"column {position} has no name", path=path, fix=fix)
        if name in seen:
            raise SourceError("column name stands twice", path=path, field=name, fix="rename one of the two")
        if any("\ud800" <= character <= "\udfff" for character in name):
            raise SourceError(
                "half a surrogate pair in a column name", path=path, field=name, fix="repair it"
            )
        seen.add(name)


def _plain_types(table: pa.Table, file: InputFile) -> pa.Table:
    """Text as `string`, dictionaries decoded. Raises SourceError for a type that no release can hold."""
    for position, field in enumerate(table.schema):
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
            kind = pa.string()
        if not _is_plain(kind) or (pa.types.is_uint64(kind) and not _fits_int64(table.column(position))):
            reason = f"a release cannot hold type {field.type}"
            fix = "turn it into text or numbers, or take it out"
            raise SourceError(reason, path=file.shown, field=field.name, fix=fix)
        if kind != field.type:
            column = table.column(position).cast(kind)
            table = table.set_column(position, field.with_type(kind), column)
    return table


def _is_plain(kind: pa.DataType) -> bool:
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _is_plain(kind.value_type)
    if pa.types.is_struct(kind):
        return kind.num_fields > 0 and all(_is_plain(field.type) for field in kind)
    return (
        pa.types.is_null(kind)
        or pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
    )


def _fits_int64(column: pa.ChunkedArray) -> bool:
    return (pc.max(column).as_py() or 0) <= _LARGEST_INT64

"""Tables in the formats that users keep their own data in, with every cell as it stands.

CSV (RFC 4180 quoting), tab-separated (no quoting), JSON Lines, JSON lists of objects and parquet. Cells of
CSV and tab-separated files are strings, whatever they look like: `None`, `NA`, `null` and `007` are text.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ...errors import SourceError
from ...faults import FaultLog
from ..base import SourceFile
from .files import InputFile, SourceFolder
from .records import Record, Records, text_lines

FORMATS = ("parquet", "jsonl", "ndjson", "csv", "tsv", "json")
# The csv module stops at 131,072 characters a field by default; a document may be longer.
_CSV_FIELD_LIMIT = 2**31 - 1
_INT64 = range(-(2**63), 2**63)


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
        raise SourceError("no usable row", path=files[0].shown, fix="give a file with at least one good row")
    for part in filled[1:]:
        _require_alike(filled[0], part)
    numbers = [np.full(len(part.rows), number, np.int64) for number, part in enumerate(parts)]
    lines = [part.lines for part in filled if part.lines is not None]
    return TabularRows(
        table=pa.concat_tables([part.table for part in filled], promote_options="permissive"),
        files=tuple(part.file.describe(part.read) for part in parts),
        paths=tuple(part.file.shown for part in parts),
        parts=np.concatenate(numbers),
        rows=np.concatenate([part.rows for part in parts]),
        lines=np.concatenate(lines) if len(lines) == len(filled) else None,
    )


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
    part = _read_parquet(file) if file.format == "parquet" else _read_records(file, faults)
    return part._replace(table=_plain_types(part.table, file))


def _require_alike(first: _Part, other: _Part) -> None:
    """Raise SourceError unless two parts have the same columns, and classes by the same names if any."""
    fix = "name the files of one table with a pattern, or give one file"
    if set(first.table.column_names) != set(other.table.column_names):
        raise SourceError(f"columns differ from those of {first.file.name}", path=other.file.shown, fix=fix)
    for name in first.table.column_names:
        kinds = first.table.schema.field(name).type, other.table.schema.field(name).type
        if kinds[0] != kinds[1] and not all(
            pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in kinds
        ):
            reason = f"type {kinds[1]} differs from {kinds[0]} in {first.file.name}"
            raise SourceError(reason, path=other.file.shown, field=name, fix=fix)
    noted = [(part.table.schema.metadata or {}).get(b"huggingface") for part in (first, other)]
    if noted[0] != noted[1]:
        raise SourceError(f"features differ from those of {first.file.name}", path=other.file.shown, fix=fix)


def _read_records(file: InputFile, faults: FaultLog) -> _Part:
    columns = _Columns(file)
    if file.format == "csv":
        with _long_csv_fields():
            read = _add_cells(_csv_cells(file), file, columns, faults)
    elif file.format == "tsv":
        read = _add_cells(_tsv_cells(file), file, columns, faults)
    else:
        # Records goes by names, and knows JSON Lines by one of their two.
        name = file.name if file.format != "ndjson" else "lines.jsonl" + file.name[len(file.plain_name) :]
        records = Records(replace(file, name=name), faults)
        for record in records:
            columns.add(record, faults)
        read = records.rows
    lines = np.array(columns.lines, dtype=np.int64) if None not in columns.lines else None
    return _Part(file, columns.table(), np.array(columns.rows, dtype=np.int64), lines, read)


class _Columns:
    """Values by column, with the type of each column as far as it is known."""

    def __init__(self, file: InputFile) -> None:
        self.rows: list[int] = []
        self.lines: list[int | None] = []
        self._file = file
        self._values: dict[str, list[Any]] | None = None
        self._types: dict[str, pa.DataType] = {}

    def declare(self, names: Sequence[str]) -> None:
        """Fix the names of the columns. Raises SourceError for names that no table can have."""
        _check_names(names, self._file.shown)
        self._values = {name: [] for name in names}
        self._types = dict.fromkeys(names, pa.null())

    def add(self, record: Record, faults: FaultLog) -> None:
        """Add one record, or report it; the first one declares the columns if nothing else did."""
        if self._values is None:
            self.declare(list(record.fields))
        assert self._values is not None
        try:
            changed = self._new_types(record)
        except SourceError as fault:
            faults.bad(fault)
            return
        self._types.update(changed)
        for name, values in self._values.items():
            values.append(record.fields[name])
        self.rows.append(record.row)
        self.lines.append(record.line)

    def table(self) -> pa.Table:
        values = self._values or {}
        return pa.table({name: pa.array(column, self._types[name]) for name, column in values.items()})

    def _new_types(self, record: Record) -> dict[str, pa.DataType]:
        """The columns whose type this record widens. Raises SourceError if the record does not fit."""
        if record.fields.keys() != self._types.keys():
            raise _other_fields(record, list(self._types))
        changed = {}
        for name, value in record.fields.items():
            known = self._types[name]
            try:
                found = _type_of(value)
                if found is known:
                    continue
                wider = _unify(known, found)
            except _UnfitError as error:
                raise record.fault(str(error), name, value=value, fix="repair the value") from None
            if wider is None:
                raise record.fault(
                    "type differs from earlier rows",
                    name,
                    value=value,
                    fix=f"give {_spoken(known)}, as before",
                )
            changed[name] = wider
        return changed


def _other_fields(record: Record, names: list[str]) -> SourceError:
    missing = [name for name in names if name not in record.fields]
    if missing:
        return record.fault(
            "missing field", missing[0], fix="give every record the same fields, null where there is no value"
        )
    unknown = next(name for name in record.fields if name not in names)
    return record.fault(
        "field that the first record lacks",
        unknown,
        value=record.fields[unknown],
        fix="give every record the same fields, null where there is no value",
    )


class _Cells(NamedTuple):
    """One record of a file with a header; `cells` is a reason where it could not be cut into fields."""

    line: int
    cells: list[str] | str


def _add_cells(records: Iterable[_Cells], file: InputFile, columns: _Columns, faults: FaultLog) -> int:
    """Add the records after the header; returns how many there were, bad ones included."""
    header: list[str] | None = None
    path = file.shown
    row = 0
    for line, cells in records:
        if header is None:
            if isinstance(cells, str):
                raise SourceError(cells, path=path, line=line, fix="repair the header line")
            columns.declare(header := cells)
            continue
        record = Record(path, row, line, {})
        row += 1
        if isinstance(cells, str):
            fix = "close the quotes, and write a quotation mark that stands inside them twice"
            faults.bad(record.fault(cells, fix=fix))
        elif len(cells) != len(header):
            fix = f"give {len(header)} fields, as the header has"
            faults.bad(record.fault("wrong number of fields", value=len(cells), fix=fix))
        else:
            columns.add(record._replace(fields=dict(zip(header, cells, strict=True))), faults)
    return row


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
        reader = csv.reader((lines[number] for number in range(first, len(lines))), strict=True)
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
    for position, name in enumerate(names):
        if not name:
            fix = "name every column (pandas writes its index without a name: use `to_csv(index=False)`)"
            raise SourceError(f"column {position + 1} has no name", path=path, fix=fix)
        if name in names[:position]:
            raise SourceError(
                "a column name stands twice", path=path, field=name, fix="rename one of the two"
            )


def _plain_types(table: pa.Table, file: InputFile) -> pa.Table:
    """Text as `string`, columns of nulls alone as text. Raises SourceError for a type no release can hold."""
    for position, field in enumerate(table.schema):
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if pa.types.is_large_string(kind) or pa.types.is_string_view(kind) or pa.types.is_null(kind):
            kind = pa.string()
        if not _is_plain(kind) or (pa.types.is_uint64(kind) and not _fits_int64(table.column(position))):
            fix = "turn it into text or numbers, or take it out"
            raise SourceError(
                f"a release cannot hold type {field.type}", path=file.shown, field=field.name, fix=fix
            )
        if kind != field.type:
            column = table.column(position).cast(kind)
            table = table.set_column(position, field.with_type(kind), column)
    return table


def _is_plain(kind: pa.DataType) -> bool:
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.types.is_null(kind.value_type) or _is_plain(kind.value_type)
    if pa.types.is_struct(kind):
        return kind.num_fields > 0 and all(
            pa.types.is_null(field.type) or _is_plain(field.type) for field in kind
        )
    return (
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
    )


def _fits_int64(column: pa.ChunkedArray) -> bool:
    return (pc.max(column).as_py() or 0) in _INT64


class _UnfitError(Exception):
    """A JSON value that no column can hold; the message is the reason."""


_NULL, _BOOL, _INT, _FLOAT, _TEXT = pa.null(), pa.bool_(), pa.int64(), pa.float64(), pa.string()


def _type_of(value: Any) -> pa.DataType:
    """The Arrow type of a JSON value. Raises _UnfitError."""
    if type(value) is str:
        if not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                raise _UnfitError("half a surrogate pair") from None
        return _TEXT
    if value is None:
        return _NULL
    if type(value) is bool:
        return _BOOL
    if type(value) is int:
        if value not in _INT64:
            raise _UnfitError("number beyond 64 bits")
        return _INT
    if type(value) is float:
        if value in (float("inf"), float("-inf")):
            raise _UnfitError("number beyond 64 bits")
        return _FLOAT
    if isinstance(value, list):
        items = _NULL
        for item in value:
            wider = _unify(items, _type_of(item))
            if wider is None:
                raise _UnfitError("list of mixed types")
            items = wider
        return pa.list_(items)
    return pa.struct([(name, _type_of(item)) for name, item in value.items()])


def _unify(known: pa.DataType, found: pa.DataType) -> pa.DataType | None:
    """The type that holds values of both, or None. A nested record may lack fields: they are null then."""
    if known == found or pa.types.is_null(found):
        return known
    if pa.types.is_null(known):
        return found
    if {known, found} == {_INT, _FLOAT}:
        return _FLOAT
    if pa.types.is_list(known) and pa.types.is_list(found):
        items = _unify(known.value_type, found.value_type)
        return None if items is None else pa.list_(items)
    if pa.types.is_struct(known) and pa.types.is_struct(found):
        return _unify_structs(known, found)
    return None


def _unify_structs(known: pa.DataType, found: pa.DataType) -> pa.DataType | None:
    fields = {field.name: field.type for field in known}
    for field in found:
        wider = _unify(fields.get(field.name, _NULL), field.type)
        if wider is None:
            return None
        fields[field.name] = wider
    return pa.struct(list(fields.items()))


def _spoken(kind: pa.DataType) -> str:
    names = {_TEXT: "text", _BOOL: "true or false", _INT: "a number", _FLOAT: "a number"}
    return names.get(kind, "a list" if pa.types.is_list(kind) else "an object")

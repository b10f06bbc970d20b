"""Records of JSON, JSON Lines, tab-separated and parquet files, with their places and strict types.

JSON Lines and tab-separated files are cut at `\\n` and nowhere else: U+2028, U+0085 and U+000B are text.
A quotation mark in a tab-separated file is text too (see `Records` for files where it cannot be), and no
spelling (`NA`, `null`, `None`) means a missing value.
"""

from __future__ import annotations

import codecs
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, count
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from ...errors import SourceError
from ...faults import FaultLog
from ...wording import plural
from .files import InputFile

Label = TypeVar("Label")

_MISSING: Final = object()
_GIT_LFS = "version https://git-lfs.github.com/spec/"
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Record(NamedTuple):
    """One record: where it stands (`row` 0-based, `line` 1-based or None) and its fields."""

    path: str
    row: int
    line: int | None
    fields: dict[str, Any]

    def fault(
        self, reason: str, field: str | None = None, *, value: object = None, fix: str = ""
    ) -> SourceError:
        """A SourceError at this record."""
        return SourceError(
            reason, path=self.path, row=self.row, line=self.line, field=field, value=value, fix=fix
        )

    def text(self, field: str) -> str:
        """A string that can be written as UTF-8. Raises SourceError."""
        value = self.fields.get(field, _MISSING)
        if type(value) is not str:
            raise self._wrong(field, value, "a string")
        if not value.isascii():
            self.refuse_surrogates(field, value)
        return value

    def filled_text(self, field: str) -> str:
        """A string with at least one character that is no white space. Raises SourceError."""
        value = self.text(field)
        if not value or value.isspace():
            raise self.fault("empty text", field, value=value, fix="fill it in, or take the record out")
        return value

    def optional_text(self, field: str) -> str | None:
        """A string; None where the field is missing, null or empty. Raises SourceError."""
        if self.fields.get(field) in (None, ""):
            return None
        return self.text(field)

    def texts(self, field: str) -> list[str]:
        """A list of strings. Raises SourceError."""
        value = self.fields.get(field, _MISSING)
        if not isinstance(value, list):
            raise self._wrong(field, value, "a list of strings")
        try:
            all_ascii = "".join(value).isascii()
        except TypeError:
            raise self._wrong(field, value, "a list of strings") from None
        if not all_ascii:
            for item in value:
                self.refuse_surrogates(field, item)
        return value

    def integers(self, field: str) -> list[int]:
        """A list of integers. Raises SourceError."""
        value = self.fields.get(field, _MISSING)
        if not isinstance(value, list) or not all(type(item) is int for item in value):
            raise self._wrong(field, value, "a list of integers")
        return value

    def label(self, field: str, known: Mapping[str | int, Label]) -> Label:
        """The class that `known` gives for the value: by name, or by a number that `known` has too.

        Raises SourceError for anything else; a boolean is no number here.
        """
        value = self.fields.get(field, _MISSING)
        if type(value) in (str, int) and value in known:
            return known[value]
        if value is _MISSING:
            raise self._wrong(field, value, "a label")
        shown = "null" if value is None else value
        raise self.fault(
            "unknown label", field, value=shown, fix=f"known labels: {', '.join(map(repr, known))}"
        )

    def _wrong(self, field: str, value: object, expected: str) -> SourceError:
        if value is _MISSING:
            known = ", ".join(self.fields) or "no field at all"
            return self.fault("missing field", field, fix=f"the record has {known}")
        # `value=None` would leave the value out of the message.
        shown = "null" if value is None else value
        return self.fault("wrong type", field, value=shown, fix=f"give {expected}")

    def refuse_surrogates(self, field: str, value: str) -> None:
        """Raise SourceError for text that has no UTF-8 form: JSON can escape half of a surrogate pair."""
        try:
            value.encode()
        except UnicodeEncodeError:
            raise self.fault("half a surrogate pair", field, value=value, fix="repair the escape") from None


class Records:
    """Iterates over the records of one file; afterwards `rows` is the number met, bad ones included.

    `quoted` then says whether a tab-separated file had CSV quotes, which were undone: spreadsheets and pandas
    write them. They are believed only where every field with a quotation mark is enclosed in marks and
    has doubled ones inside; a single field that does not makes all marks of the file text.

    The format follows the file's name: jsonl, json (a list, or JSON Lines), tsv or txt (a header line, then
    tab-separated fields; a short row lacks the last fields), parquet. Records that cannot be read go to
    `faults`. Raises SourceError for a file that cannot be used as a whole: empty, not UTF-8, cut short.
    """

    def __init__(self, file: InputFile, faults: FaultLog) -> None:
        self.file = file
        self.rows = 0
        self.quoted = False
        self._faults = faults
        self._shown = file.shown
        self._faults_before = faults.dropped.copy()

    def __iter__(self) -> Iterator[Record]:
        readers: dict[str, Callable[[], Iterator[Record]]] = {
            "jsonl": self._json_lines,
            "ndjson": self._json_lines,
            "json": self._json,
            "tsv": self._tab_separated,
            "txt": self._tab_separated,
            "parquet": self._parquet,
        }
        if self.file.format not in readers:
            raise SourceError(
                "unknown format", path=self.file.shown, fix=f"give one of {', '.join(readers)}, plain or .gz"
            )
        yield from readers[self.file.format]()
        if not self.rows:
            raise _empty(self.file)

    def refuse_all_bad(self) -> None:
        """Raise SourceError if every record of the file was dropped: nobody means to drop all of a file.

        For readers that report each record once at most, when they have met all records of the file.
        """
        bad = self._faults.dropped - self._faults_before
        if self._faults.policy == "drop" and bad.total() == self.rows:
            raise no_usable_row(self._shown, bad)

    def _next(self, line: int | None, fields: Any) -> Record:
        record = Record(self._shown, self.rows, line, fields)
        self.rows += 1
        return record

    def _json_lines(self) -> Iterator[Record]:
        for line, text in text_lines(self.file):
            content = text.strip(" \t\r\n")
            if not content:
                continue
            try:
                fields = _decode_json(content)
            except (ValueError, RecursionError) as error:
                if not text.endswith("\n"):
                    raise cut_short(self.file, line) from None
                fault = self._next(line, {}).fault(
                    f"not valid JSON ({_json_reason(error)})", fix="repair the line"
                )
                self._faults.bad(fault)
                continue
            record = self._next(line, fields)
            if isinstance(fields, dict):
                yield record
            else:
                self._faults.bad(
                    record.fault("not a JSON object", value=fields, fix="give one object per line")
                )

    def _json(self) -> Iterator[Record]:
        with self.file.open() as stream:
            start = stream.peek(64)[:64].lstrip(codecs.BOM_UTF8).lstrip()
        if start.startswith(b"{"):
            yield from self._json_lines()
            return
        for fields in read_json_list(self.file):
            record = self._next(None, fields)
            if isinstance(fields, dict):
                yield record
            else:
                self._faults.bad(
                    record.fault("not a JSON object", value=fields, fix="give a list of objects")
                )

    def _tab_separated(self) -> Iterator[Record]:
        self.quoted = _has_csv_quotes(self.file)
        lines = text_lines(self.file)
        header = self._tab_cells(without_line_end(next(lines)[1]))
        if len(set(header)) < len(header):
            raise SourceError(
                "a column name stands twice", path=self.file.shown, line=1, fix="rename one of them"
            )
        for line, text in lines:
            content = without_line_end(text)
            if not content:
                continue
            cells = self._tab_cells(content)
            record = self._next(line, dict(zip(header, cells, strict=False)))
            if len(cells) > len(header):
                fix = f"give {len(header)} fields"
                self._faults.bad(record.fault("more fields than the header has", value=len(cells), fix=fix))
            else:
                yield record

    def _tab_cells(self, line: str) -> list[str]:
        cells = line.split("\t")
        if self.quoted and '"' in line:
            return [cell[1:-1].replace('""', '"') if '"' in cell else cell for cell in cells]
        return cells

    def _parquet(self) -> Iterator[Record]:
        with self.file.open() as stream:
            try:
                # A parquet file is read from its end; compressed streams can only start over.
                source = pq.ParquetFile(io.BytesIO(stream.read()))
                names = _class_names(source.schema_arrow)
                for batch in source.iter_batches():
                    for fields in batch.to_pylist():
                        yield self._next(
                            None, {key: _named(value, names.get(key)) for key, value in fields.items()}
                        )
            except pa.ArrowException:
                raise SourceError(
                    "not a parquet file, or damaged", path=self.file.shown, fix="copy or download it again"
                ) from None


def text_lines(file: InputFile) -> Iterator[tuple[int, str]]:
    """Numbered lines (from 1) with their `\\n`, decoded as UTF-8, a byte order mark taken off.

    Raises SourceError for a file that is empty, no text, or not UTF-8.
    """
    with file.open() as stream:
        _refuse_other_formats(file, stream)
        first = next(stream).removeprefix(codecs.BOM_UTF8)
        numbers = count(1)
        try:
            yield from zip(numbers, map(bytes.decode, chain((first,), stream)), strict=False)
        except UnicodeDecodeError:
            # The number of the line that could not be decoded was drawn before it.
            line = next(numbers) - 1
            raise SourceError("not UTF-8", path=file.shown, line=line, fix="save the file as UTF-8") from None


def read_json_list(file: InputFile) -> list[Any]:
    """The items of a JSON file that holds one list. Raises SourceError for anything else."""
    value = read_json(file)
    if not isinstance(value, list):
        raise SourceError("not a JSON list", path=file.shown, value=value, fix="give a list of objects")
    return value


def read_json(file: InputFile) -> Any:
    """The value of a file that is one JSON text. Raises SourceError for anything else."""
    with file.open() as stream:
        _refuse_other_formats(file, stream)
        raw = stream.read().removeprefix(codecs.BOM_UTF8)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise SourceError("not UTF-8", path=file.shown, line=line, fix="save the file as UTF-8") from None
    try:
        return _decode_json(text)
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
            raise cut_short(file, text.count("\n") + 1) from None
        raise SourceError(
            f"not valid JSON ({error.msg})",
            path=file.shown,
            line=error.lineno,
            fix="repair it or download it again",
        ) from None
    except (ValueError, RecursionError) as error:
        raise SourceError(
            f"not valid JSON ({_json_reason(error)})", path=file.shown, fix="repair it"
        ) from None


def no_usable_row(path: str | Path, bad: Counter[str]) -> SourceError:
    """The fault of a file or folder whose rows were all dropped, `bad` of them by reason."""
    reasons = ", ".join(f"{reason}: {rows:,}" for reason, rows in bad.items())
    return SourceError(
        f"no usable row among {plural(bad.total(), 'row')} ({reasons})",
        path=path,
        fix="repair them, or leave the file out; without --on-bad-row drop each is named",
    )


def cut_short(file: InputFile, line: int) -> SourceError:
    """The fault of a file that ends in the middle of JSON: nobody knows how many rows are missing."""
    return SourceError(
        "the file ends in the middle of a record",
        path=file.shown,
        line=line,
        fix="copy or download the file again",
    )


def _empty(file: InputFile) -> SourceError:
    return SourceError("the file is empty", path=file.shown, fix="copy or download the file again")


def _refuse_other_formats(file: InputFile, stream: io.BufferedReader) -> None:
    start = stream.peek(64)[:64]
    if not start.removeprefix(codecs.BOM_UTF8):
        raise _empty(file)
    if start.startswith(b"\x1f\x8b"):
        raise SourceError("the file is gzip-compressed", path=file.shown, fix="add .gz to its name")
    if start.startswith(b"PK\x03\x04"):
        raise SourceError(
            "the file is a zip archive", path=file.shown, fix="give it a name that ends in .zip"
        )
    if start.startswith(_UTF16_MARKS) or b"\0" in start[:4]:
        raise SourceError(
            "the file is UTF-16 or binary, not UTF-8", path=file.shown, fix="save the file as UTF-8"
        )
    if start.startswith(_GIT_LFS.encode()):
        raise SourceError(
            "the file is a Git LFS pointer, not the data", path=file.shown, fix="run `git lfs pull`"
        )


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


# Any: `scan_once` stands in no stub, though every decoder has it.
_decoder: Any = json.JSONDecoder(parse_constant=_refuse_constant)


def _decode_json(text: str) -> Any:
    """The value of a JSON text. Raises ValueError, RecursionError as `json.loads` does."""
    try:
        value, end = _decoder.scan_once(text, 0)
    except StopIteration:
        end = -1
    # White space around the value, anything else after it, or none at all: what is rare is left to `decode`.
    return value if end == len(text) else _decoder.decode(text)


def _json_reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return error.msg
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


def without_line_end(line: str) -> str:
    """A line of `text_lines` without its `\\n` or `\\r\\n`."""
    return line.removesuffix("\n").removesuffix("\r")


def _has_csv_quotes(file: InputFile) -> bool:
    """Whether the quotation marks of a tab-separated file can only be those of a CSV writer."""
    found = False
    for line in _lines_with_marks(file):
        for cell in without_line_end(line).split("\t"):
            if '"' in cell:
                inside = cell[1:-1]
                enclosed = len(cell) > 1 and cell[0] == cell[-1] == '"'
                # Writers quote only what holds a mark; an enclosed field without one is a quotation.
                if not enclosed or '""' not in inside or '"' in inside.replace('""', ""):
                    return False
                found = True
    return found


def _lines_with_marks(file: InputFile) -> Iterator[str]:
    """The lines with a quotation mark; what is no UTF-8 is for those to report who read all lines."""
    with file.open() as stream:
        _refuse_other_formats(file, stream)
        for number, raw in enumerate(stream):
            if b'"' in raw:
                yield (raw if number else raw.removeprefix(codecs.BOM_UTF8)).decode(errors="replace")


def _class_names(schema: pa.Schema) -> dict[str, list[str]]:
    """Label names of the class columns that `datasets` has noted in a parquet file."""
    try:
        noted = json.loads((schema.metadata or {}).get(b"huggingface", b"{}"))["info"]["features"]
        return {name: kind["names"] for name, kind in noted.items() if kind.get("_type") == "ClassLabel"}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


def _named(value: Any, names: list[str] | None) -> Any:
    """A class number as its name, so that no reader depends on the order of the classes."""
    return names[value] if names is not None and type(value) is int and 0 <= value < len(names) else value

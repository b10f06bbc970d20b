"""The documents of corpus files, form by form."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ...errors import SourceError
from ...faults import FaultLog
from ..sources.files import InputFile
from ..sources.records import Record, cut_short
from .base import EMPTY, CorpusCounts, CorpusDocument, CorpusForm, Part, cut_evenly, stretches
from .streams import Line, compression, cut_lines, decoded, lines, whole_text

_ROWS = 1024
_GONE = {"[deleted]": "deleted", "[removed]": "removed"}
_ONE_LINE = "give one object per line"


def _file(part: Part) -> InputFile:
    if part.file is None:
        raise TypeError("a part on the Hub has no file")
    return part.file


def _stored_size(part: Part) -> int:
    return _file(part).size


class LineForm(CorpusForm):
    """One document a line; empty lines are skipped."""

    def documents(self, part: Part, counts: CorpusCounts, faults: FaultLog) -> Iterator[CorpusDocument]:
        file = _file(part)
        for line in lines(file, part.start, part.end, part.number):
            if not line.raw or line.raw.isspace():
                counts.skipped["empty line"] += 1
                continue
            try:
                document = self.document(file, line, counts)
            except SourceError as fault:
                faults.bad(fault)
                continue
            if document is not None:
                yield document

    def document(self, file: InputFile, line: Line, counts: CorpusCounts) -> CorpusDocument | None:
        """The document of a line, or None for one that is skipped and counted. Raises SourceError."""
        return CorpusDocument(f"{file.name}:{line.number}", decoded(file, line))

    def cut(self, parts: Sequence[Part], shards: int) -> list[list[Part]]:
        """At ends of lines where files are few, else between files."""
        sizes = [_stored_size(part) for part in parts]
        alone = [
            part
            for part, size in zip(parts, sizes, strict=True)
            if size * shards > sum(sizes) and (compression(_file(part)) is None or len(parts) < shards)
        ]
        pieces, weights = [], []
        for part, size in zip(parts, sizes, strict=True):
            made = self._cut_file(part, -(-size * shards // max(1, sum(sizes)))) if part in alone else [part]
            pieces += made
            weights += [size // len(made)] * len(made)
        return cut_evenly(pieces, weights, shards)

    def _cut_file(self, part: Part, pieces: int) -> list[Part]:
        file = _file(part)
        size = _stored_size(part) if compression(file) is None else cut_lines(file, [])[1]
        cuts, end = cut_lines(file, [size * number // pieces for number in range(1, pieces)])
        return stretches(part, [(cut.start, cut.number) for cut in cuts if cut.start < end])


class TaggedForm(LineForm):
    """A sentence a line, each token with its tag after a slash, as NLTK's copy of the Brown corpus has them.

    The tags go, the tokens are joined by spaces.
    """

    def document(self, file: InputFile, line: Line, counts: CorpusCounts) -> CorpusDocument | None:
        """The words of a line. Raises SourceError for a token without a tag."""
        words = []
        for token in decoded(file, line).split():
            word, slash, tag = token.rpartition("/")
            if not (word and slash and tag):
                record = Record(file.shown, line.number - 1, line.number, {})
                raise record.fault("a token without a tag", value=token, fix="write every token as word/tag")
            words.append(word)
        return CorpusDocument(f"{file.name}:{line.number}", " ".join(words))


@dataclass(frozen=True)
class JsonLinesForm(LineForm):
    """One JSON object a line, its text in `text_field`, its id in `id_field` (a string or an integer)."""

    text_field: str = "text"
    id_field: str | None = None

    def document(self, file: InputFile, line: Line, counts: CorpusCounts) -> CorpusDocument | None:
        """The document of a record. Raises SourceError, also past any policy for a file that is cut short."""
        record = self._record(file, line)
        text = record.text(self.text_field)
        if not text or text.isspace():
            counts.skipped[EMPTY] += 1
            return None
        return CorpusDocument(document_id(record, self.id_field, f"{file.name}:{line.number}"), text)

    def documents(self, part: Part, counts: CorpusCounts, faults: FaultLog) -> Iterator[CorpusDocument]:
        try:
            yield from super().documents(part, counts, faults)
        except _CutShortError as error:
            raise cut_short(_file(part), error.line) from None

    def _record(self, file: InputFile, line: Line) -> Record:
        record = Record(file.shown, line.number - 1, line.number, {})
        text = decoded(file, line)
        try:
            fields = json.loads(text)
        except (ValueError, RecursionError) as error:
            if line.end - line.start == len(line.raw):
                # No end of line after it: nobody knows what is missing.
                raise _CutShortError(line.number) from None
            reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            raise record.fault(f"not valid JSON ({reason})", fix="repair the line") from None
        if not isinstance(fields, dict):
            raise record.fault("not a JSON object", value=fields, fix=_ONE_LINE)
        return record._replace(fields=fields)


class _CutShortError(Exception):
    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


@dataclass(frozen=True)
class RedditForm(JsonLinesForm):
    """A dump of Reddit: one JSON object a line. Comments that were deleted or removed are skipped."""

    text_field: str = "body"
    id_field: str | None = "id"

    def document(self, file: InputFile, line: Line, counts: CorpusCounts) -> CorpusDocument | None:
        """The text of a comment. Raises SourceError."""
        found = super().document(file, line, counts)
        gone = None if found is None else _GONE.get(found.text.strip())
        if gone is not None:
            counts.skipped[gone] += 1
            return None
        return found


class FileForm(CorpusForm):
    """Every file is one document."""

    def documents(self, part: Part, counts: CorpusCounts, faults: FaultLog) -> Iterator[CorpusDocument]:
        file = _file(part)
        yield CorpusDocument(file.name, whole_text(file))

    def cut(self, parts: Sequence[Part], shards: int) -> list[list[Part]]:
        return cut_evenly(parts, [_stored_size(part) for part in parts], shards)


@dataclass(frozen=True)
class ParquetForm(CorpusForm):
    """One document a row, its text in the column `text_field`, its id in `id_field`."""

    text_field: str = "text"
    id_field: str | None = None

    def documents(self, part: Part, counts: CorpusCounts, faults: FaultLog) -> Iterator[CorpusDocument]:
        file = _file(part)
        records = (
            (Record(file.shown, row, None, fields), f"{file.name}:{row}")
            for row, fields in self._rows(file, part)
        )
        yield from documents_of(records, self.text_field, self.id_field, counts, faults)

    def _rows(self, file: InputFile, part: Part) -> Iterator[tuple[int, dict[str, Any]]]:
        """Numbered rows of the columns that are needed; row groups before and after the part are not read."""
        wanted = [name for name in (self.text_field, self.id_field) if name is not None]
        try:
            with _parquet(file) as source:
                known = source.schema_arrow.names
                for name in wanted:
                    if name not in known:
                        fix = f"the file has {', '.join(known)}"
                        raise SourceError("missing field", path=file.shown, field=name, fix=fix)
                first = 0
                for group in range(source.num_row_groups):
                    size = source.metadata.row_group(group).num_rows
                    after = part.end is not None and first >= part.end
                    if not after and first + size > part.start:
                        yield from _rows_between(source, group, first, wanted, part)
                    first += size
        except (pa.ArrowException, OSError) as error:
            reason = "not a parquet file, or damaged"
            if isinstance(error, FileNotFoundError):
                reason = "no such file"
            raise SourceError(reason, path=file.shown, fix="copy or download it again") from None

    def cut(self, parts: Sequence[Part], shards: int) -> list[list[Part]]:
        """Between rows."""
        sizes = [self._count(_file(part)) for part in parts]
        total, pieces, weights, before = sum(sizes), [], [], 0
        wanted = [total * number // shards for number in range(1, shards)]
        for part, size in zip(parts, sizes, strict=True):
            inside = [place - before for place in wanted if before < place < before + size]
            made = stretches(part, [(place, place) for place in inside])
            pieces += made
            weights += [(each.end or size) - each.start for each in made]
            before += size
        return cut_evenly(pieces, weights, shards)

    def _count(self, file: InputFile) -> int:
        try:
            with _parquet(file) as source:
                return int(source.metadata.num_rows)
        except (pa.ArrowException, OSError):
            raise SourceError(
                "not a parquet file, or damaged", path=file.shown, fix="copy or download it again"
            ) from None


def _parquet(file: InputFile) -> pq.ParquetFile:
    if file.member is not None:
        fix = "unpack the archive and give the folder: parquet is read from its end"
        raise SourceError("a parquet file inside an archive", path=file.shown, fix=fix)
    return pq.ParquetFile(file.path)


def _rows_between(
    source: pq.ParquetFile, group: int, first: int, wanted: list[str], part: Part
) -> Iterator[tuple[int, dict[str, Any]]]:
    row = first
    for batch in source.iter_batches(_ROWS, row_groups=[group], columns=wanted):
        for fields in batch.to_pylist():
            if row >= part.start and (part.end is None or row < part.end):
                yield row, fields
            row += 1


def documents_of(
    records: Iterable[tuple[Record, str]],
    text_field: str,
    id_field: str | None,
    counts: CorpusCounts,
    faults: FaultLog,
) -> Iterator[CorpusDocument]:
    """The documents of records that come with the id that they have without an `id_field`."""
    for record, otherwise in records:
        try:
            text = record.text(text_field)
            name = document_id(record, id_field, otherwise)
        except SourceError as fault:
            faults.bad(fault)
            continue
        if not text or text.isspace():
            counts.skipped[EMPTY] += 1
            continue
        yield CorpusDocument(name, text)


def document_id(record: Record, field: str | None, otherwise: str) -> str:
    """The id of a record: a string or an integer in `field`; without one `otherwise`. Raises SourceError."""
    if field is None:
        return otherwise
    value = record.fields.get(field)
    if type(value) is int:
        return str(value)
    return record.filled_text(field)

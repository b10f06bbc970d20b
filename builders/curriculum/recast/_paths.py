"""Records of corpora whose files are told by their folders, or whose layout has no header.

`PathRecords` is to paths what `SplitRecords` is to names. `Lines`, `Cells` and `Blocks` read layouts that
`Records` does not know; like it, they count what they meet in `rows`, bad records included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Protocol

from ....errors import SourceError
from ....faults import FaultLog
from ...base import SourceFile
from ...sources.files import InputFile, SourceFolder
from ...sources.records import Record, Records, text_lines, without_line_end
from ...sources.splits import SOURCE_SPLITS, missing_notes
from .rules import says_the_same, turned


class Reader(Protocol):
    """What iterates over the records of one file; afterwards `rows` is the number met."""

    rows: int

    def __iter__(self) -> Iterator[Record]: ...


class PathRecords:
    """Iterates over the records of all splits of a corpus, as (source split, record).

    `names` maps splits to patterns for the end of a path (`boolean/train/train.json`, `task_1/dev.jsonl`), in
    order of preference: all files that match the first pattern that any file matches are parts of the
    split, in the order of their names; of copies at several depths, the least deep. `read` reads one file.
    Afterwards `files` describes what was read; `notes` name the `expected` splits that are missing.

    Raises SourceError if no file of any split is there, and as the reader does; bad records go to `faults`.
    """

    def __init__(
        self,
        root: Path,
        names: Mapping[str, Sequence[str]],
        faults: FaultLog,
        *,
        read: Callable[[InputFile, FaultLog], Reader] = Records,
        expected: Sequence[str] = SOURCE_SPLITS,
    ) -> None:
        self._found = path_files(root, names)
        self._faults, self._read = faults, read
        self.files: list[SourceFile] = []
        self.notes = missing_notes(self._found, expected)

    def __iter__(self) -> Iterator[tuple[str, Record]]:
        for split, files in self._found.items():
            for file in files:
                records = self._read(file, self._faults)
                for record in records:
                    yield split, record
                self.files.append(file.describe(records.rows))


def path_files(root: Path, names: Mapping[str, Sequence[str]]) -> dict[str, list[InputFile]]:
    """The files of every source split that is there, as `PathRecords` finds them.

    Raises SourceError if no file of any split is there.
    """
    files = SourceFolder(root).files
    found = {
        split: matching for split, patterns in names.items() if (matching := matching_files(files, patterns))
    }
    if not found:
        wanted = ", ".join(dict.fromkeys(pattern for patterns in names.values() for pattern in patterns))
        raise SourceError("no file of this corpus", path=root, fix=f"its published files are: {wanted}")
    return found


def matching_files(files: Sequence[InputFile], patterns: Sequence[str]) -> list[InputFile]:
    """The files that match the first pattern that any matches, the least deep of them alone."""
    for pattern in patterns:
        matches = [file for file in files if PurePosixPath(file.plain_name).match(pattern)]
        if matches:
            depth = min(file.name.count("/") for file in matches)
            return [file for file in matches if file.name.count("/") == depth]
    return []


class Lines:
    """Iterates over the lines of a text file that are not blank, as records with the field `text`."""

    def __init__(self, file: InputFile, faults: FaultLog) -> None:
        self.file, self.faults = file, faults
        self.rows = 0

    def __iter__(self) -> Iterator[Record]:
        shown = self.file.shown
        for line, text in text_lines(self.file):
            content = without_line_end(text)
            if content and not content.isspace():
                yield Record(shown, self.rows, line, {"text": content})
                self.rows += 1


class Cells:
    """Iterates over the rows of a tab-separated file without a header, as records with the fields `columns`.

    A line with another number of fields is a fault. Quotation marks are text.
    """

    def __init__(self, file: InputFile, faults: FaultLog, *, columns: Sequence[str]) -> None:
        self.file, self.faults, self.columns = file, faults, columns
        self.rows = 0

    def __iter__(self) -> Iterator[Record]:
        columns, shown = self.columns, self.file.shown
        for line, text in text_lines(self.file):
            content = without_line_end(text)
            if not content or content.isspace():
                continue
            cells = content.split("\t")
            record = Record(shown, self.rows, line, dict(zip(columns, cells, strict=False)))
            self.rows += 1
            if len(cells) == len(columns):
                yield record
            else:
                fix = f"give {len(columns)} tab-separated fields: {', '.join(columns)}"
                self.faults.bad(record.fault("wrong number of fields", value=len(cells), fix=fix))


class Blocks:
    """Iterates over blocks of lines `key: value` with empty lines between them, as records of these fields.

    White space around a value is no part of it. A line without a colon and a key that stands twice are
    faults of their block.
    """

    def __init__(self, file: InputFile, faults: FaultLog) -> None:
        self.file, self.faults = file, faults
        self.rows = 0

    def __iter__(self) -> Iterator[Record]:
        shown = self.file.shown
        fields: dict[str, str] = {}
        first, broken = 0, False
        for line, text in text_lines(self.file):
            content = text.strip()
            if not content:
                if fields and not broken:
                    yield Record(shown, self.rows - 1, first, fields)
                first, broken, fields = 0, False, {}
                continue
            if not first:
                first = line
                self.rows += 1
            if broken:
                continue
            key, colon, value = content.partition(":")
            if colon and key not in fields:
                fields[key] = value.strip()
            else:
                broken = True
                self.faults.bad(_bad_line(Record(shown, self.rows - 1, line, fields), key, content))
        if fields and not broken:
            yield Record(shown, self.rows - 1, first, fields)


def _bad_line(record: Record, key: str, text: str) -> SourceError:
    if ":" not in text:
        return record.fault("not a line `key: value`", value=text, fix="give key and value")
    return record.fault("a key stands twice", key, fix="put an empty line between entries")


class Ids:
    """Ids that stand once in a split: a repeated one gets a number (`68`, `68~2`, `68~3`)."""

    def __init__(self) -> None:
        self._met: dict[tuple[str, str], int] = {}

    def unique(self, split: str, name: str) -> str:
        """`name`, numbered from its second time in `split`."""
        key = (split, name)
        count = self._met[key] = self._met.get(key, 0) + 1
        return name if count == 1 else f"{name}~{count}"


def drawn(options: Sequence[str], answer: str, key: str) -> str | None:
    """One of `options`, by a hash of `key`, that says something, and something else than `answer`.

    From the option that the hash names the others follow in order, so the result depends on that order. None
    if no option is left.
    """
    for option in turned(options, key):
        if not (says_the_same(option, answer) or says_the_same(option, "")):
            return option
    return None

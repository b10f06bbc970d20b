"""Which file holds which split of a source, told from file names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from ...errors import SourceError
from .files import InputFile, SourceFolder

SOURCE_SPLITS = ("train", "dev", "test")
_SPLIT_WORDS = {
    "train": "train",
    "training": "train",
    "dev": "dev",
    "development": "dev",
    "valid": "dev",
    "validation": "dev",
    "val": "dev",
    "test": "test",
}
_WORD = re.compile(r"[a-z]+")


@dataclass(frozen=True)
class SplitFiles:
    """The files of each source split in reading order, and what the manifest should say about the choice."""

    files: dict[str, tuple[InputFile, ...]]
    notes: tuple[str, ...]


def source_split(name: str) -> str | None:
    """The source split that a relative file name speaks of: `train`, `dev`, `test`; None if none or two.

    The words train, dev, validation, test (and their usual variants) count as whole words of the file's
    name, else of the nearest folder that has one: `plain_text/train/0000.parquet`.
    """
    found = _locate(name)
    return found[0] if found else None


def split_files(
    folder: SourceFolder,
    formats: Sequence[str],
    *,
    published_prefix: str = "",
    expected: Sequence[str] = SOURCE_SPLITS,
) -> SplitFiles:
    """The files of every source split that is there.

    Several files of one split are parts of it and are read in name order. Where a folder holds a split
    more than once, files named as published (`published_prefix`) come before others, then the first of
    `formats` that there is counts; what is passed over is noted. A missing one of the `expected`
    splits is noted too.

    Raises SourceError if no split is there, or if two copies of a split cannot be told from its parts.
    """
    found: dict[str, list[InputFile]] = {split: [] for split in SOURCE_SPLITS}
    for file in folder.files:
        split = source_split(file.name)
        if split is not None and file.format in formats:
            found[split].append(file)
    chosen = {
        split: _one_copy(folder, split, files, formats, published_prefix)
        for split, files in found.items()
        if files
    }
    if not chosen:
        raise SourceError(
            "no file of a split found",
            path=folder.root,
            fix=f"name files after train, dev or test, as {', '.join(formats)}, plain or .gz",
        )
    read = {file.name for files in chosen.values() for file in files}
    passed_over = sorted(file.name for files in found.values() for file in files if file.name not in read)
    return SplitFiles(
        chosen,
        (*missing_notes(chosen, expected), *(f"not read, another copy: {name}" for name in passed_over)),
    )


def missing_notes(present: Iterable[str], expected: Sequence[str]) -> tuple[str, ...]:
    """What the manifest says about source splits that are not there."""
    there = set(present)
    return tuple(f"source split {split} is missing" for split in expected if split not in there)


def _one_copy(
    folder: SourceFolder, split: str, files: list[InputFile], formats: Sequence[str], published_prefix: str
) -> tuple[InputFile, ...]:
    published = [file for file in files if PurePosixPath(file.name).name.startswith(published_prefix)]
    candidates = published or files
    first = min(formats.index(file.format) for file in candidates)
    parts = sorted((file for file in candidates if file.format == formats[first]), key=lambda file: file.name)
    # Parts of one file share what stands before and up to the split's word: `x_dev.part_a`, `x_dev.part_b`.
    if len({_series(file.name) for file in parts}) > 1 or len({file.plain_name for file in parts}) < len(
        parts
    ):
        names = ", ".join(file.name for file in parts)
        raise SourceError(
            f"more than one copy of split {split}: {names}",
            path=folder.root,
            fix="keep one of them; parts of one file are named alike up to the split's word",
        )
    return tuple(parts)


def _series(name: str) -> str:
    located = _locate(name)
    return located[1] if located else name


def _locate(name: str) -> tuple[str, str] | None:
    """The split that a name speaks of, and the name up to the end of that word."""
    parts = name.split("/")
    for depth in range(len(parts) - 1, -1, -1):
        words = [word for word in _WORD.finditer(parts[depth].lower()) if word.group() in _SPLIT_WORDS]
        if words:
            splits = {_SPLIT_WORDS[word.group()] for word in words}
            end = words[0].end()
            return (
                (splits.pop(), "/".join([*parts[:depth], parts[depth][:end]])) if len(splits) == 1 else None
            )
    return None

"""Recasts of corpora that have one file a split, in a layout of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ...sources.files import InputFile
from ...sources.records import Record
from ...sources.splits import missing_notes
from ._paths import Reader
from .base import Item, PairCollector, RecastRows, corpus_files, recast_records


def recast_files(
    root: Path,
    names: Mapping[str, Sequence[str]],
    read: Callable[[InputFile], Reader],
    pairs: PairCollector,
    make: Callable[[str, Record], Item | str],
) -> RecastRows:
    """The rows of all splits that are there: `names` as in `corpus_files`, `make` as in `recast_records`.

    `read` reads one file. Raises SourceError and SourceErrors as these and the reader do.
    """
    found = corpus_files(root, names)
    files = []
    for split, file in found.items():
        records = read(file)
        recast_records(((split, record) for record in records), pairs, make)
        files.append(file.describe(records.rows))
    return pairs.finish(files, missing_notes(found, tuple(names)))

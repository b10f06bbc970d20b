"""Published divisions of a corpus: files `nqg_splits/NAME.json` beside it, with row numbers per split.

Source: "Compositional Generalization and Natural Language Variation: Can a Semantic Parsing Approach Handle
Both?" (2010.12725), which divides GeoQuery and the larger databases of Spider. A file is one JSON object:
`{"train": [...], "test": [...]}`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

import numpy as np

from ...errors import SourceError
from ..base import SourceFile
from .files import InputFile, SourceFolder
from .records import read_json

FOLDER = "nqg_splits"
SPLITS = ("train", "test")
SPIDER_SPLITS = ("random_1", "length_1", "template_1", "tmcd_1")
SPIDER_SMALLEST_DATABASE = 50
_FIX = f"use the {FOLDER} of this corpus, or take the file away"


@dataclass(frozen=True)
class PublishedSplits:
    """Divisions by name: the split of every row, shape (rows,), object; None for a row in no split."""

    splits: Mapping[str, np.ndarray] = field(default_factory=dict)
    files: tuple[SourceFile, ...] = ()
    notes: tuple[str, ...] = ()


def read_published_splits(
    folder: SourceFolder,
    names: Sequence[str],
    numbers: Sequence[int | None],
    known: Collection[int],
) -> PublishedSplits:
    """Read the divisions called `names` as far as they are there; what is missing is noted.

    `numbers` gives for each row the number that the files know it by, None for rows that they do not divide.
    `known` are all row numbers of the corpus, those of dropped rows included. Raises SourceError for a file
    that is no such JSON object, names a row twice or a row that the corpus lacks, or leaves one out.
    """
    splits: dict[str, np.ndarray] = {}
    files: list[SourceFile] = []
    for name in names:
        file = _find(folder, name)
        if file is None:
            continue
        placed = _placed(file, known)
        splits[name] = np.array(
            [None if number is None else placed[number] for number in numbers], dtype=object
        )
        files.append(file.describe(len(placed)))
    missing = [f"{FOLDER}/{name}.json" for name in names if name not in splits]
    notes = (f"published splits are missing: {', '.join(missing)}",) if missing else ()
    return PublishedSplits(splits, tuple(files), notes)


def spider_row_numbers(db_ids: Sequence[str]) -> list[int | None]:
    """The numbers that published splits of Spider know rows by, for the rows of train_spider.json in order.

    Rows of databases with at least 50 questions are counted from 0 in the order of the file; others are in
    no split. In the published file these are 4,376 rows of 51 databases.

    >>> spider_row_numbers(["small", *["large"] * 50])[:3]
    [None, 0, 1]
    """
    sizes = Counter(db_ids)
    numbers: list[int | None] = []
    count = 0
    for db_id in db_ids:
        large = sizes[db_id] >= SPIDER_SMALLEST_DATABASE
        numbers.append(count if large else None)
        count += large
    return numbers


def _find(folder: SourceFolder, name: str) -> InputFile | None:
    """The file of one division, as JSON or compressed, in a folder called nqg_splits."""
    matches = [
        file for file in folder.files if PurePosixPath(file.plain_name).parts[-2:] == (FOLDER, f"{name}.json")
    ]
    if len(matches) > 1:
        listed = ", ".join(file.name for file in matches)
        raise SourceError(f"more than one {FOLDER}/{name}.json: {listed}", path=folder.root, fix="keep one")
    return matches[0] if matches else None


def _placed(file: InputFile, known: Collection[int]) -> dict[int, str]:
    """The split of every row number."""
    value = read_json(file)
    if not isinstance(value, dict) or sorted(value) != sorted(SPLITS):
        fix = "give one JSON object with the lists train and test"
        raise SourceError("no published split", path=file.shown, value=value, fix=fix)
    placed: dict[int, str] = {}
    for split in SPLITS:
        rows = value[split]
        if not isinstance(rows, list):
            raise SourceError("no list", path=file.shown, field=split, value=rows, fix="give row numbers")
        for number in rows:
            reason = _refusal(number, placed, known)
            if reason is not None:
                # `value=None` would leave the value out of the message.
                shown = "null" if number is None else number
                raise SourceError(reason, path=file.shown, field=split, value=shown, fix=_FIX)
            placed[number] = split
    left_out = sorted(set(known) - placed.keys())
    if left_out:
        reason = f"the file leaves out {len(left_out)} of {len(known)} rows, row {left_out[0]} first"
        raise SourceError(reason, path=file.shown, fix=_FIX)
    return placed


def _refusal(number: object, placed: Mapping[int, str], known: Collection[int]) -> str | None:
    if type(number) is not int:
        return "a row number that is no integer"
    if number not in known:
        return "a row that the corpus does not have"
    return "a row stands twice" if number in placed else None

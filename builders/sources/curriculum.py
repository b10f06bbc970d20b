"""The published task files of Curriculum: `TASK/train.jsonl` and `TASK/val.jsonl`, in archives or folders.

Source: "Curriculum: A Broad-Coverage Benchmark for Linguistic Phenomena in Natural Language Understanding"
(2204.06283); format of the files of its repository.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import pyarrow as pa

from ...errors import SourceError
from ...faults import FaultLog
from ...registry import closest
from ..base import SourceFile
from .files import InputFile, SourceFolder
from .records import Record, Records

TASK_SPLITS = ("train", "val")
"""The source splits of a task, in reading order; there is no test split."""

PAIRS_SCHEMA = pa.schema(
    [
        ("uid", pa.string()),
        ("premise", pa.string()),
        ("hypothesis", pa.string()),
        ("label", pa.int64()),
        ("group_id", pa.string()),
        ("source_split", pa.string()),
    ]
)

_FIELDS = ("premise", "hypothesis", "gold_label", "idx")
_UPDATE = " ; "


@dataclass(frozen=True)
class TaskFiles:
    """The two files of one published task. `place` is the file, folder or archive below the root, or ""."""

    task: str
    place: str
    train: InputFile
    val: InputFile


@dataclass(frozen=True)
class TaskPairs:
    """The pairs of one task in file order, train first, with PAIRS_SCHEMA; texts are exactly as published.

    `label` indexes the labels that the reader was given. `group_id` is null where no other row is of the same
    source item.
    """

    pairs: pa.Table
    files: tuple[SourceFile, ...]
    read: int
    notes: tuple[str, ...]


class _Pair(NamedTuple):
    premise: str
    hypothesis: str
    label: int
    row: int


def find_tasks(root: Path, tasks: Collection[str], others: Collection[str] = ()) -> list[TaskFiles]:
    """The published tasks in a folder or zip archive, in the order of `tasks`.

    A task is `TASK.zip` or a folder `TASK`, the root itself perhaps, with train.jsonl and val.jsonl somewhere
    in it, plain or gzip-compressed. `others` are folders and archives of the root that hold other things and
    are passed over; one that has the name of a task, too (`drop`), is one of a task if it holds val.jsonl.

    Raises SourceError for a task of unknown name, one that stands twice, or one that lacks one of its files.
    """
    found: dict[str, dict[str, dict[str, list[InputFile]]]] = {}
    for file in SourceFolder(root).files:
        located = _located(file, root, tasks, others)
        if located is not None:
            task, split, place = located
            found.setdefault(task, {}).setdefault(place, {}).setdefault(split, []).append(file)
    chosen = []
    for task in tasks:
        places = found.get(task, {})
        if task in others:
            places = {place: files for place, files in places.items() if "val" in files}
        if places:
            chosen.append(_only_copy(task, places, root))
    return chosen


def _only_copy(task: str, places: Mapping[str, Mapping[str, Sequence[InputFile]]], root: Path) -> TaskFiles:
    """The two files of a task. Raises SourceError if there are more, or fewer."""
    place, files = next(iter(places.items()))
    for split in TASK_SPLITS:
        copies = [file for found in places.values() for file in found.get(split, ())]
        if len(copies) > 1:
            names = ", ".join(file.name for file in copies)
            raise SourceError(f"task {task!r} stands twice: {names}", path=root, fix="keep one of them")
        if not copies:
            fix = f"put {split}.jsonl of {task} beside its other file"
            raise SourceError(f"task {task!r} has no {split}.jsonl", path=root, fix=fix)
    return TaskFiles(task, place, files["train"][0], files["val"][0])


def _located(
    file: InputFile, root: Path, tasks: Collection[str], others: Collection[str]
) -> tuple[str, str, str] | None:
    """The task and source split of a file, and the top-level entry that it is in; None for another file."""
    path = PurePosixPath(file.plain_name)
    split = path.stem
    if path.suffix != ".jsonl" or split not in TASK_SPLITS:
        return None
    # Archives count as folders of their names; a root that is one task has that name itself.
    folders = [part.removesuffix(".zip") for part in path.parts[:-1]]
    place = path.parts[0] if folders else ""
    if folders and folders[0] in others:
        return (folders[0], split, place) if folders[0] in tasks else None
    named = [*reversed(folders), root.name.removesuffix(".zip")]
    task = next((name for name in named if name in tasks), None)
    if task is not None:
        return task, split, place
    if named[0] in others:
        fix = "put the folder of the corpus into the source itself, not deeper"
        raise SourceError("a corpus in a folder of another name", path=file.shown, value=named[0], fix=fix)
    raise SourceError(
        "no task of Curriculum has this name",
        path=file.shown,
        value=named[0],
        fix=closest(named[0], [*tasks, *(name for name in others if name not in tasks)]),
    )


def read_task(
    files: TaskFiles,
    labels: Mapping[str, Mapping[str | int, int]],
    faults: FaultLog,
    *,
    item: str | None = None,
) -> TaskPairs:
    """Read both files of a task.

    Records have premise, hypothesis, gold_label and idx; further fields are passed over and counted in the
    notes. `labels` gives, for each source split, the class that each gold_label stands for; any other one is
    a fault. Texts may be empty, as published: that is for the audit to find. A uid ends in the 0-based row of
    its file, which idx repeats; notes say where it does not.

    `item` says what rows of one source item have in common: `adjacent premises`, equal to those of the line
    before, `equal premises`, equal to those of any line of the file, or `adjacent hypotheses`, equal to those
    of the line before after premises that are equal up to their last " ; ". Rows that are alone have no
    group.

    Raises SourceError for files that cannot be read or of which every row is bad, SourceErrors as `faults`
    decides.
    """
    tables: list[pa.Table] = []
    described: list[SourceFile] = []
    notes: list[str] = []
    for split, file in zip(TASK_SPLITS, (files.train, files.val), strict=True):
        reader = _SplitReader(files.task, split, labels[split], faults)
        described.append(reader.read(file))
        tables.append(reader.table(item))
        notes.extend(reader.notes(file))
    read = sum(file.rows for file in described)
    return TaskPairs(pa.concat_tables(tables), tuple(described), read, tuple(notes))


class _SplitReader:
    """Collects the pairs of one file."""

    def __init__(self, task: str, split: str, labels: Mapping[str | int, int], faults: FaultLog) -> None:
        self.prefix, self.split, self.faults = f"curriculum_{task}:{split}", split, faults
        self.labels = labels
        self._pairs: list[_Pair] = []
        self._other_fields: Counter[str] = Counter()
        self._other_idx = 0

    def read(self, file: InputFile) -> SourceFile:
        """Add the records of the file."""
        records = Records(file, self.faults)
        for record in records:
            try:
                pair = _Pair(
                    record.text("premise"),
                    record.text("hypothesis"),
                    record.label("gold_label", self.labels),
                    record.row,
                )
            except SourceError as fault:
                self.faults.bad(fault)
                continue
            self._pairs.append(pair)
            self._count(record)
        records.refuse_all_bad()
        return file.describe(records.rows)

    def _count(self, record: Record) -> None:
        if record.fields.get("idx") != record.row:
            self._other_idx += 1
        if len(record.fields) > len(_FIELDS) or "idx" not in record.fields:
            self._other_fields.update(name for name in record.fields if name not in _FIELDS)

    def notes(self, file: InputFile) -> Iterable[str]:
        """What the manifest should say about the file."""
        if self._other_idx:
            yield f"{file.name}: idx of {self._other_idx:,} row(s) is not the row; rows are numbered by place"
        for name, rows in sorted(self._other_fields.items()):
            yield f"{file.name}: field {name!r} of {rows:,} row(s) is not used"

    def table(self, item: str | None) -> pa.Table:
        """All pairs, with PAIRS_SCHEMA."""
        uids = [f"{self.prefix}:{pair.row}" for pair in self._pairs]
        columns = {
            "uid": uids,
            "premise": [pair.premise for pair in self._pairs],
            "hypothesis": [pair.hypothesis for pair in self._pairs],
            "label": [pair.label for pair in self._pairs],
            "group_id": _groups(uids, self._pairs, item),
            "source_split": [self.split] * len(uids),
        }
        return pa.table(columns, schema=PAIRS_SCHEMA)


def _groups(uids: Sequence[str], pairs: Sequence[_Pair], item: str | None) -> list[str | None]:
    """For each row the uid of the first row of its source item; None for an item of one row."""
    if item is None:
        return [None] * len(uids)
    first: list[int] = []
    seen: dict[object, int] = {}
    for row, pair in enumerate(pairs):
        key: object = pair.premise
        if item == "adjacent hypotheses":
            situation, mark, _ = pair.premise.rpartition(_UPDATE)
            key = (situation if mark else pair.premise, pair.hypothesis)
        if item != "equal premises" and key not in seen:
            seen.clear()
        first.append(seen.setdefault(key, row))
    sizes = Counter(first)
    return [uids[row] if sizes[row] > 1 else None for row in first]

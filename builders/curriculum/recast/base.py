"""What every recast of a source corpus gives, how recasts are found, and the invariants that all keep.

A recast turns one corpus in its own published format into premise-hypothesis pairs of one phenomenon
("Curriculum: A Broad-Coverage Benchmark for Linguistic Phenomena in Natural Language Understanding",
2204.06283, Section 3 and its appendix tables). Pairs are collected item by item: no component is empty, no
text is changed but for what the rule says, and an item whose inputs contradict each other or those of
another item is left out as a whole and counted.
"""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ....errors import SourceError
from ....faults import FaultLog
from ....registry import Registry
from ...base import SourceFile
from ...sources.files import InputFile, SourceFolder
from ...sources.records import Record, Records
from ...sources.splits import SOURCE_SPLITS, missing_notes
from ...sources.tabular import CsvRecords
from .rules import (
    CONTRADICTION,
    ENTAILED,
    ENTAILMENT,
    NEUTRAL,
    NOT_ENTAILED,
    EmptyComponentError,
    Pair,
)

__all__ = ["CONTRADICTION", "ENTAILED", "ENTAILMENT", "NEUTRAL", "NOT_ENTAILED", "Pair"]

EMPTY_COMPONENT = "empty component"
CONFLICT = "equal inputs with different labels"
_FILL_IN = "fill it in, or take the item out"

RECAST_SCHEMA = pa.schema(
    [
        ("premise", pa.string()),
        ("hypothesis", pa.string()),
        ("label", pa.string()),
        ("source_dataset", pa.string()),
        ("source_id", pa.string()),
        ("group_id", pa.string()),
        ("recast_rule", pa.string()),
        ("answer", pa.string()),
        ("substituted", pa.string()),
        ("source_split", pa.string()),
    ]
)
"""`label` is a name; `source_split` is train, dev or test; the rest as in the Curriculum family of rows."""


@dataclass(frozen=True)
class RecastRows:
    """The pairs of one corpus in source order, with RECAST_SCHEMA.

    `read` counts the pairs made, those left out, and the records that made none:
    read = rows + what this recast added to `dropped` and `filtered` of its fault log.
    """

    table: pa.Table
    files: tuple[SourceFile, ...]
    read: int
    notes: tuple[str, ...] = ()


Recaster = Callable[[Path, FaultLog], RecastRows]


@dataclass(frozen=True)
class Recast:
    """How one corpus becomes rows of one phenomenon.

    `files` are names that the corpus' published files have (without `.gz`; patterns as of `PurePath.match`,
    which compares a path from its end): any of them makes a folder one of this corpus. `rule` says in a
    sentence what is done, `differs` what is not as in the released task. `released` is False for a corpus
    that the released task was not made from. `recaster` reads a folder or archive of the corpus.
    """

    phenomenon: str
    corpus: str
    files: tuple[str, ...]
    rule: str
    recaster: Recaster
    differs: str = ""
    released: bool = True

    def accepts(self, folder: Path) -> bool:
        """Whether a folder (or zip archive) holds a file of this corpus. Raises SourceError for a bad one."""
        names = [PurePosixPath(file.plain_name) for file in SourceFolder(folder).files]
        return any(name.match(pattern) for name in names for pattern in self.files)

    def read(self, folder: Path, faults: FaultLog) -> RecastRows:
        """The rows of a folder (or zip archive) of this corpus, with the errors of its `recaster`."""
        with _no_collection():
            return self.recaster(folder, faults)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Let Python's garbage collector rest.

    Records are no part of cycles, but where a corpus is held as a whole the collector would go through all of
    them again and again, for up to a third of the time.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


recasts: Registry[Recast] = Registry("recast")
"""Recasts by `phenomenon/corpus`; packages add theirs through the entry-point group `benchwright.recasts`."""


class FoundRecast(NamedTuple):
    """A recast and the folder or zip archive of its corpus."""

    recast: Recast
    folder: Path


def find_recasts(root: Path, taken: Collection[Path] = ()) -> list[FoundRecast]:
    """The recasts that a source folder has corpora for, sorted by phenomenon and corpus.

    A corpus is a folder `root/CORPUS` or an archive `root/CORPUS.zip`; those that are `taken` are passed
    over: some tasks have the name of a corpus. Raises SourceError for one in which no published file of that
    corpus is found, or that is there twice.
    """
    found: list[FoundRecast] = []
    expected: dict[Path, list[str]] = {}
    for name in recasts:
        folder = _corpus_folder(root, name.partition("/")[2], taken)
        if folder is None:
            continue
        recast = recasts.get(name)
        expected.setdefault(folder, []).extend(recast.files)
        if recast.accepts(folder):
            found.append(FoundRecast(recast, folder))
    accepted = {folder for _, folder in found}
    for folder, files in expected.items():
        if folder not in accepted:
            wanted = ", ".join(dict.fromkeys(files))
            raise SourceError("no file of this corpus", path=folder, fix=f"its published files are: {wanted}")
    return found


def _corpus_folder(root: Path, corpus: str, taken: Collection[Path]) -> Path | None:
    places = (root / corpus, root / f"{corpus}.zip")
    there = [path for path in places if path.exists() and path not in taken]
    if len(there) > 1:
        raise SourceError(f"both {corpus} and {corpus}.zip", path=root, fix="keep one of them")
    return there[0] if there else None


_OF_ITEM = ("source_id", "group_id", "recast_rule", "source_split")


class PairCollector:
    """Collects the pairs of one corpus, item by item, and keeps the invariants.

    An item with an empty component is a fault; so is a `source_id` that stands twice in a split, and a
    label that is not among `labels`. Items whose inputs are equal to others with another label are filtered
    in `finish`, unless `keep_conflicts` declares that they belong to the corpus.
    """

    def __init__(
        self,
        corpus: str,
        rule: str,
        faults: FaultLog,
        *,
        labels: Sequence[str] = (ENTAILED, NOT_ENTAILED),
        keep_conflicts: bool = False,
    ) -> None:
        self.corpus, self.rule, self.faults = corpus, rule, faults
        self._labels = frozenset(labels)
        self._keep_conflicts = keep_conflicts
        self._before = _left_out(faults)
        # The values of all pairs in one list, and those of all items in another: containers that live on are
        # what Python's garbage collector looks through, and one list grows in one call.
        self._pairs: list[str | None] = []
        self._items: list[str] = []
        self._sizes: list[int] = []
        self._seen: dict[str, set[str]] = defaultdict(set)

    def add(
        self,
        record: Record,
        pairs: Sequence[Pair],
        *,
        split: str,
        source_id: str,
        group_id: str | None = None,
        rule: str | None = None,
    ) -> None:
        """Add all pairs of one item, or report it.

        `group_id` is shared by rows that must stay on one side (None: those of the item); `rule` replaces
        that of the corpus for this item.
        """
        seen = self._seen[split]
        if source_id in seen:
            self._bad(record, "id stands twice", value=source_id, fix="give each item an id of its own")
            return
        labels = self._labels
        values: list[str | None] = []
        for pair in pairs:
            premise, hypothesis, label, _, _ = pair
            if (
                not premise
                or not hypothesis
                or label not in labels
                or premise.isspace()
                or hypothesis.isspace()
            ):
                self._report(record, premise, hypothesis, label)
                return
            values += pair
        seen.add(source_id)
        # Ids may begin anew in every split, and rows of two splits are never one group.
        group = f"{self.corpus}:{split}:{source_id if group_id is None else group_id}"
        self._items += (source_id, group, rule or self.rule, split)
        self._pairs += values
        self._sizes.append(len(pairs))

    def _report(self, record: Record, premise: str, hypothesis: str, label: str) -> None:
        """Report the first thing that is wrong with a pair."""
        for name, text in (("premise", premise), ("hypothesis", hypothesis)):
            if not text.strip():
                self._bad(record, EMPTY_COMPONENT, name, value=text, fix=_FILL_IN)
                return
        known = ", ".join(sorted(self._labels))
        self._bad(record, "unknown label", value=label, fix=f"known labels: {known}")

    def finish(self, files: Sequence[SourceFile], notes: Sequence[str] = ()) -> RecastRows:
        """All rows in order of arrival. Raises SourceErrors as the fault log decides."""
        items = np.repeat(np.arange(len(self._sizes)), self._sizes)
        columns = _columns(Pair._fields, self._pairs)
        columns["source_dataset"] = pa.repeat(self.corpus, len(items))
        places = pa.array(items)
        columns |= {name: values.take(places) for name, values in _columns(_OF_ITEM, self._items).items()}
        table = pa.table([columns[name] for name in RECAST_SCHEMA.names], schema=RECAST_SCHEMA)
        if not self._keep_conflicts:
            bad = conflicting_items(table, items)
            if bad.any():
                self.faults.filter(CONFLICT, int(bad.sum()))
                table = table.filter(pa.array(~bad))
        self.faults.finish()
        read = table.num_rows + _left_out(self.faults) - self._before
        return RecastRows(table, tuple(files), read, tuple(notes))

    def _bad(self, record: Record, reason: str, field: str | None = None, *, value: str, fix: str) -> None:
        self.faults.bad(record.fault(reason, field, value=value, fix=fix))


def _columns(names: Sequence[str], values: list[Any]) -> dict[str, pa.Array]:
    """Texts by name, from all values row by row."""
    return {name: pa.array(values[place :: len(names)], pa.string()) for place, name in enumerate(names)}


def conflicting_items(table: pa.Table, items: np.ndarray) -> np.ndarray:
    """Which rows belong to an item with an input that another row has with another label: shape (n,), bool.

    `items` (int64[n]) numbers the item of each row; inputs are premise and hypothesis, compared as they are.
    """
    hypotheses = _codes(table.column("hypothesis"))
    # Most hypotheses stand once, and premises are long.
    (again,) = np.nonzero(np.bincount(hypotheses)[hypotheses] > 1)
    if not len(again):
        return np.zeros(table.num_rows, dtype=bool)
    places = pa.array(again)
    premises, labels = (_codes(table.column(name).take(places)) for name in ("premise", "label"))
    inputs = _codes(pa.array(premises * table.num_rows + hypotheses[again]))
    label_of = np.zeros(int(inputs.max()) + 1, dtype=np.int64)
    # The last row of each input decides: where there are two labels, some row has another one than it.
    label_of[inputs] = labels
    differs = label_of[inputs] != labels
    return np.isin(items, items[again[np.isin(inputs, inputs[differs])]])


def _codes(values: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """A number below n for each of n values, equal for equal values: shape (n,), int64."""
    whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    return pc.dictionary_encode(whole).indices.to_numpy().astype(np.int64)


def corpus_files(root: Path, names: Mapping[str, Sequence[str]]) -> dict[str, InputFile]:
    """The file of every source split that is there, in the order of `names` (split to file names).

    The first name that is found counts. Raises SourceError if no file of any split is there.
    """
    folder = SourceFolder(root)
    found: dict[str, InputFile] = {}
    for split, choices in names.items():
        file = next((file for name in choices if (file := folder.find(name)) is not None), None)
        if file is not None:
            found[split] = file
    if not found:
        wanted = ", ".join(name for choices in names.values() for name in choices)
        raise SourceError("no file of this corpus", path=root, fix=f"its published files are: {wanted}")
    return found


class SplitRecords:
    """Iterates over the records of all splits of a corpus, as (source split, record).

    `names` as in `corpus_files`; files are read in that order as `Records` reads them, CSV as `CsvRecords`
    does. Afterwards `files` describes what was read; `notes` name the `expected` splits that
    are missing. Raises SourceError as these do; bad records go to `faults`.
    """

    def __init__(
        self,
        root: Path,
        names: Mapping[str, Sequence[str]],
        faults: FaultLog,
        expected: Sequence[str] = SOURCE_SPLITS,
    ) -> None:
        self._found = corpus_files(root, names)
        self._faults = faults
        self.files: list[SourceFile] = []
        self.notes = missing_notes(self._found, expected)

    def __iter__(self) -> Iterator[tuple[str, Record]]:
        for split, file in self._found.items():
            reader: type[CsvRecords] | type[Records] = CsvRecords if file.format == "csv" else Records
            records = reader(file, self._faults)
            for record in records:
                yield split, record
            self.files.append(file.describe(records.rows))


class Item(NamedTuple):
    """The pairs of one source item; the rest as in `PairCollector.add`."""

    source_id: str
    pairs: Sequence[Pair]
    group_id: str | None = None
    rule: str | None = None


def recast_records(
    records: Iterable[tuple[str, Record]], collector: PairCollector, make: Callable[[str, Record], Item | str]
) -> None:
    """Add to `collector` the item that `make` gives for the split and fields of every record.

    A SourceError or EmptyComponentError that `make` raises is a fault of that record; a text that it returns
    is the reason for which a documented filter leaves the record out.
    """
    faults = collector.faults
    for split, record in records:
        try:
            item = make(split, record)
        except SourceError as fault:
            faults.bad(fault)
            continue
        except EmptyComponentError as empty:
            faults.bad(record.fault(EMPTY_COMPONENT, empty.component, value=empty.text, fix=_FILL_IN))
            continue
        if isinstance(item, str):
            faults.filter(item)
            continue
        source_id, pairs, group_id, rule = item
        collector.add(record, pairs, split=split, source_id=source_id, group_id=group_id, rule=rule)


def _left_out(faults: FaultLog) -> int:
    return sum(faults.dropped.values()) + sum(faults.filtered.values())

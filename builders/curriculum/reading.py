"""From a source folder to the rows of all phenomena that it has: published files, or else recasts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...errors import SourceError, UsageError
from ...faults import FaultLog
from ...hashing import content_ids
from ...registry import closest
from ...tasks import BINARY_NLI
from ..base import SourceFile
from ..sources.curriculum import TASK_SPLITS, TaskFiles, find_tasks, read_task
from ..sources.records import no_usable_row
from .phenomena import CORPORA, PHENOMENA, Corpus, Phenomenon
from .recast import Recast, RecastRows, find_recasts, recasts
from .recast.base import CONFLICT, FoundRecast

ROWS_SCHEMA = pa.schema(
    [
        ("uid", pa.string()),
        ("content_id", pa.string()),
        ("premise", pa.string()),
        ("hypothesis", pa.string()),
        ("label", pa.int64()),
        ("phenomenon", pa.string()),
        ("category", pa.string()),
        ("source_dataset", pa.string()),
        ("source_id", pa.string()),
        ("group_id", pa.string()),
        ("recast_rule", pa.string()),
        ("answer", pa.string()),
        ("substituted", pa.string()),
        ("source_split", pa.string()),
        ("source_index", pa.int32()),
    ]
)
"""Columns of all rows.

`label` indexes the labels of the row's own phenomenon; `source_index` counts its rows, so that no other
phenomenon of a source changes it.
"""

# Other words for the labels of a task that single released files have.
_RELEASED_LABELS: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("monotonicity_infer", "train"): {"entailment": "entailed", "neutral": "not-entailed"},
}


@dataclass(frozen=True)
class PhenomenonRows:
    """The rows of one phenomenon with ROWS_SCHEMA, and the corpora that they come from."""

    phenomenon: Phenomenon
    table: pa.Table
    corpora: tuple[Corpus, ...]
    files: tuple[SourceFile, ...]
    read: int
    notes: tuple[str, ...]


@dataclass(frozen=True)
class CurriculumSource:
    """All rows, phenomenon by phenomenon, and the row numbers (int64) of each."""

    table: pa.Table
    parts: dict[str, np.ndarray]
    rows: tuple[PhenomenonRows, ...]
    notes: tuple[str, ...]


def read_curriculum(root: Path, faults: FaultLog) -> CurriculumSource:
    """Read every phenomenon of `root`: `find_tasks` and `find_recasts` say what counts.

    Published tasks are read from a folder or a zip archive, corpora from a folder alone (each may be an
    archive in it). Where a phenomenon has published files, corpora for it are not recast, which a note says.
    Raises SourceError if there is neither, or for files that cannot be used, those of which every row is bad
    among them; SourceErrors as `faults` decides; UsageError for a recast of a package that names no
    phenomenon.
    """
    corpora = sorted({name.partition("/")[2] for name in recasts})
    published = {files.task: files for files in find_tasks(root, list(PHENOMENA), corpora)}
    taken = [root / files.place for files in published.values()]
    found: dict[str, list[FoundRecast]] = {}
    for recast in find_recasts(root, taken) if root.is_dir() else ():
        found.setdefault(_known_phenomenon(recast.recast), []).append(recast)
    rows, notes = [], []
    for name, phenomenon in PHENOMENA.items():
        if name in published:
            rows.append(_published(phenomenon, published[name], faults))
            passed_over = ", ".join(recast.recast.corpus for recast in found.get(name, ()))
            if passed_over:
                notes.append(f"{name}: the published files are read, not {passed_over}")
        elif name in found:
            rows.append(_recast(phenomenon, found[name], faults))
    faults.finish()
    rows = [made for made in rows if made.table.num_rows]
    if not rows:
        raise SourceError(
            "no task of Curriculum and no corpus to recast",
            path=root,
            fix="give a folder or zip archive with TASK/train.jsonl and TASK/val.jsonl (or TASK.zip), or a "
            "folder, no archive, with CORPUS/ and the corpus' own files in it; `benchwright list` names them",
        )
    return _joined(rows, notes)


def _known_phenomenon(recast: Recast) -> str:
    if recast.phenomenon not in PHENOMENA:
        raise UsageError(
            f"the recast of {recast.corpus!r} is for no phenomenon of Curriculum, got {recast.phenomenon!r}; "
            f"{closest(recast.phenomenon, list(PHENOMENA))}"
        )
    return recast.phenomenon


def _joined(rows: Sequence[PhenomenonRows], notes: Sequence[str]) -> CurriculumSource:
    table = pa.concat_tables([made.table for made in rows]).combine_chunks()
    ends = np.cumsum([made.table.num_rows for made in rows])
    parts = {
        made.phenomenon.name: np.arange(end - made.table.num_rows, end, dtype=np.int64)
        for made, end in zip(rows, ends.tolist(), strict=True)
    }
    said = [note for made in rows for note in made.notes]
    return CurriculumSource(table, parts, tuple(rows), (*notes, *said))


def _published(phenomenon: Phenomenon, files: TaskFiles, faults: FaultLog) -> PhenomenonRows:
    numbers: dict[str | int, int] = {
        label: number for number, label in enumerate(phenomenon.task.labels or ())
    }
    labels: dict[str, Mapping[str | int, int]] = {}
    notes = []
    for split in TASK_SPLITS:
        words = _RELEASED_LABELS.get((phenomenon.name, split))
        labels[split] = numbers
        if words is not None:
            labels[split] = {word: numbers[label] for word, label in words.items()}
            said = ", ".join(f"{word!r} is {label!r}" for word, label in words.items())
            notes.append(f"{phenomenon.name}: in {split}, {said}")
    made = read_task(files, labels, faults, item=phenomenon.item)
    columns = {name: made.pairs.column(name) for name in made.pairs.column_names}
    dataset = phenomenon.source_dataset
    columns["source_dataset"] = pa.nulls(made.pairs.num_rows, pa.string())
    if dataset is not None:
        columns["source_dataset"] = pa.repeat(dataset, made.pairs.num_rows)
    table = _rows_table(phenomenon, columns, made.pairs.num_rows)
    return PhenomenonRows(phenomenon, table, phenomenon.corpora, made.files, made.read, (*notes, *made.notes))


def _recast(phenomenon: Phenomenon, found: Sequence[FoundRecast], faults: FaultLog) -> PhenomenonRows:
    tables: list[pa.Table] = []
    files: list[SourceFile] = []
    notes: list[str] = []
    corpora: list[Corpus] = []
    read = 0
    for recast, folder in found:
        before = faults.dropped.copy()
        made = recast.read(folder, faults)
        dropped = faults.dropped - before
        if faults.policy == "drop" and made.read and dropped.total() == made.read:
            raise no_usable_row(folder, dropped)
        tables.append(_recast_table(phenomenon, recast.corpus, made, folder))
        files.extend(replace(file, name=f"{folder.name}/{file.name}") for file in made.files)
        notes.append(f"{phenomenon.name}: recast from {recast.corpus}. {recast.differs}".rstrip(" "))
        notes.extend(f"{phenomenon.name}: {note}" for note in made.notes)
        corpora.append(_corpus(recast.corpus))
        read += made.read
    table = pa.concat_tables(tables)
    bad = _contradicted(table)
    if bad.any():
        # A recast leaves out what contradicts itself; only here are its rows seen beside those of others.
        faults.filter(CONFLICT, int(bad.sum()))
        table = table.filter(pa.array(~bad))
    position = ROWS_SCHEMA.get_field_index("source_index")
    numbers = pa.array(np.arange(table.num_rows, dtype=np.int32))
    table = table.set_column(position, ROWS_SCHEMA.field(position), numbers)
    return PhenomenonRows(phenomenon, table, tuple(corpora), tuple(files), read, tuple(notes))


def _contradicted(table: pa.Table) -> np.ndarray:
    """Rows of items that have an input which another corpus has with another label: bool[n]."""
    counted = table.group_by("content_id").aggregate(
        [("label", "count_distinct"), ("source_dataset", "count_distinct")]
    )
    several = [
        pc.greater(counted.column(f"{name}_count_distinct"), 1) for name in ("label", "source_dataset")
    ]
    inputs = counted.filter(pc.and_(*several)).column("content_id").combine_chunks()
    if not len(inputs):
        return np.zeros(table.num_rows, dtype=bool)
    items = table.select(["source_dataset", "source_split", "source_id"])
    texts = [items.column(name).combine_chunks() for name in items.column_names]
    keys = pc.binary_join_element_wise(*texts, "\x1f")
    found = keys.filter(pc.is_in(table.column("content_id").combine_chunks(), value_set=inputs))
    return np.asarray(pc.is_in(keys, value_set=found))


def _corpus(name: str) -> Corpus:
    """The corpus of that name; of one that a package adds no licence is known, so no text is passed on."""
    return CORPORA.get(name) or Corpus(name, name, "unknown", homepage="", citation="")


def _recast_table(phenomenon: Phenomenon, corpus: str, made: RecastRows, folder: Path) -> pa.Table:
    """The rows that a recast made. Raises SourceError for a label that is none of the phenomenon's."""
    table = made.table
    names = pa.array(phenomenon.task.labels, pa.string())
    columns = {name: table.column(name) for name in table.column_names}
    columns["label"] = pc.index_in(table.column("label"), value_set=names).cast(pa.int64())
    if columns["label"].null_count:
        row = pc.index(columns["label"].is_null(), True).as_py()
        label = table.column("label")[row].as_py()
        raise SourceError(
            f"recast {phenomenon.name}/{corpus} gives a label that its phenomenon does not have",
            path=folder,
            row=row,
            field="label",
            value="null" if label is None else label,
            fix=f"labels of {phenomenon.name} are: {', '.join(phenomenon.task.labels or ())}",
        )
    columns["uid"] = pa.array(_recast_uids(phenomenon.name, corpus, table), pa.string())
    return _rows_table(phenomenon, columns, table.num_rows)


def _recast_uids(task: str, corpus: str, table: pa.Table) -> list[str]:
    """`curriculum_TASK:SPLIT:CORPUS:ID#k`, k counting the rows of one source item."""
    seen: dict[str, int] = {}
    uids = []
    for split, source_id in zip(
        table.column("source_split").to_pylist(), table.column("source_id").to_pylist(), strict=True
    ):
        item = f"curriculum_{task}:{split}:{corpus}:{source_id}"
        seen[item] = seen.get(item, -1) + 1
        uids.append(f"{item}#{seen[item]}")
    return uids


def _rows_table(phenomenon: Phenomenon, columns: Mapping[str, pa.Array], rows: int) -> pa.Table:
    """ROWS_SCHEMA from the columns that there are; others are null."""
    made = {
        **columns,
        "content_id": content_ids(
            pa.table({name: columns[name] for name in BINARY_NLI.inputs}), list(BINARY_NLI.inputs)
        ),
        "phenomenon": pa.repeat(phenomenon.name, rows),
        "category": pa.repeat(phenomenon.category, rows),
        "source_index": pa.array(np.arange(rows, dtype=np.int32)),
    }
    return pa.table(
        [made[field.name] if field.name in made else pa.nulls(rows, field.type) for field in ROWS_SCHEMA],
        schema=ROWS_SCHEMA,
    )

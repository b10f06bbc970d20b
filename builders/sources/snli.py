"""SNLI in its published formats (JSON Lines and tab-separated) and in the simple form of public copies.

Source: "A large annotated corpus for learning natural language inference" (1508.05326). The filters are
those of "Benchmarking Long-tail Generalization with Likelihood Splits" (2210.06799), as its code has them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ...errors import SourceError
from ...faults import FaultLog
from ..base import SourceFile
from .files import InputFile, SourceFolder
from .records import Record, Records
from .splits import SOURCE_SPLITS, split_files

LABELS = ("entailment", "neutral", "contradiction")
NO_GOLD_LABEL = "no gold label"
PREMISE_NOT_SEEN = "premise cannot see picture"
HYPOTHESIS_NOT_GIVEN = "hypothesis n/a"

PAIRS_SCHEMA = pa.schema(
    [
        ("uid", pa.string()),
        ("premise", pa.string()),
        ("hypothesis", pa.string()),
        ("label", pa.int64()),
        ("annotator_labels", pa.list_(pa.string())),
        ("pair_id", pa.string()),
        ("caption_id", pa.string()),
        ("source_split", pa.string()),
        ("source_index", pa.int32()),
    ]
)

# In order of preference where a folder holds one split in several formats.
_FORMATS = ("jsonl", "json", "txt", "tsv", "parquet")
_NOT_SEEN = "Cannot see picture to describe."
_UNLABELLED = -1
_BLOCK = 1 << 16
_ANNOTATOR_COLUMNS = ("label1", "label2", "label3", "label4", "label5")
_GOLD: dict[str | int, int] = {**{name: number for number, name in enumerate(LABELS)}, "-": _UNLABELLED}
# Public copies number the classes in the order of LABELS; a tab-separated file has numbers as text.
_SIMPLE: dict[str | int, int] = _GOLD | {
    spelling: number for number in (0, 1, 2, _UNLABELLED) for spelling in (number, str(number))
}


@dataclass(frozen=True)
class SnliSource:
    """Pairs in source order (train, dev, test) after the filters, and what was read.

    `pairs` has PAIRS_SCHEMA: `label` indexes LABELS; annotator_labels, pair_id and caption_id are null
    where the copy lacks them; `source_index` is the row among all records read.
    """

    pairs: pa.Table
    files: tuple[SourceFile, ...]
    read: int
    notes: tuple[str, ...]


class _Pair(NamedTuple):
    premise: str
    hypothesis: str
    label: int
    annotator_labels: list[str] | None = None
    pair_id: str | None = None
    caption_id: str | None = None


def read_snli(root: Path, faults: FaultLog) -> SnliSource:
    """Read a folder, zip archive or single file with at least one split of SNLI.

    Files are found by the split's word in their names (`split_files`); those named `snli_1.0_*` come before
    other copies. Formats are told by suffix: `.jsonl`, `.json`, `.txt` and `.tsv` (tab-separated with a
    header), `.parquet`. Records have sentence1, sentence2, gold_label (and pairID, captionID, and
    annotator_labels or label1 to label5), or premise, hypothesis, label: a name, or 0, 1, 2 for entailment,
    neutral, contradiction and -1 for none.

    Three filters, in this order, each counted: the gold label is `-` (or -1); the premise is exactly
    "Cannot see picture to describe."; the hypothesis is `n/a` in any case. Every other text is text.

    A uid ends in the pairID where that is unique among the records of the split, else in the record's row
    in the split; if such a row reads like a pairID, all uids of the split end in rows.

    Raises SourceError for files that cannot be read or of which every row is bad, SourceErrors as `faults`
    decides.
    """
    chosen = split_files(SourceFolder(root), _FORMATS, published_prefix="snli_1.0_")
    tables: list[pa.Table] = []
    files: list[SourceFile] = []
    notes = list(chosen.notes)
    read = 0
    for split in SOURCE_SPLITS:
        reader = _SplitReader(split, read, faults)
        files.extend(reader.read(file) for file in chosen.files.get(split, ()))
        tables.append(reader.table())
        notes.extend(reader.notes)
        read += reader.records
    faults.finish()
    return SnliSource(pa.concat_tables(tables), tuple(files), read, tuple(notes))


class _SplitReader:
    """Collects the pairs of one split; full blocks go to Arrow, where they take a third of the memory."""

    def __init__(self, split: str, first_index: int, faults: FaultLog) -> None:
        self.split, self.first_index, self.faults = split, first_index, faults
        self.records = 0
        self.notes: list[str] = []
        self._blocks: list[pa.Table] = []
        self._rows: list[int] = []
        self._pairs: list[_Pair] = []
        self._other_pair_ids: list[str | None] = []

    def read(self, file: InputFile) -> SourceFile:
        """Add the records of one file, which follow those of the files before."""
        records = Records(file, self.faults)
        for record in records:
            try:
                pair = _pair(record)
            except SourceError as fault:
                self.faults.bad(fault)
                continue
            reason = _filter_reason(pair)
            if reason is not None:
                self.faults.filter(reason)
                self._other_pair_ids.append(pair.pair_id)
                continue
            self._rows.append(self.records + record.row)
            self._pairs.append(pair)
            if len(self._pairs) == _BLOCK:
                self._flush()
        records.refuse_all_bad()
        self.records += records.rows
        if records.quoted:
            self.notes.append(f"CSV quotation marks undone: {file.name}")
        return file.describe(records.rows)

    def table(self) -> pa.Table:
        """All pairs kept, with PAIRS_SCHEMA."""
        self._flush()
        table = pa.concat_tables(self._blocks)
        rows = table.column("row")
        columns = {
            "uid": pc.binary_join_element_wise(f"snli:{self.split}", self._row_names(table), ":"),
            "source_split": pa.repeat(self.split, table.num_rows),
            "source_index": pc.cast(pc.add(rows, self.first_index), pa.int32()),
        }
        columns |= {name: table.column(name) for name in _Pair._fields}
        return pa.table([columns[name] for name in PAIRS_SCHEMA.names], schema=PAIRS_SCHEMA)

    def _row_names(self, table: pa.Table) -> pa.ChunkedArray:
        """The last part of each row's uid: the pairID where unique, else the row."""
        pair_ids, rows = table.column("pair_id"), pc.cast(table.column("row"), pa.string())
        counts = pc.value_counts(
            pa.chunked_array([*pair_ids.chunks, pa.array(self._other_pair_ids, pa.string())])
        )
        repeated = counts.filter(pc.greater(counts.field("counts"), 1)).field("values")
        usable = pc.and_(pc.is_valid(pair_ids), pc.invert(pc.is_in(pair_ids, value_set=repeated)))
        names = pc.if_else(usable, pair_ids, rows)
        # A pairID may read like the row of another record: then only rows are sure to be unique.
        return names if pc.count_distinct(names).as_py() == len(names) else rows

    def _flush(self) -> None:
        columns = zip(*self._pairs, strict=True) if self._pairs else ((),) * len(_Pair._fields)
        arrays = [
            pa.array(values, PAIRS_SCHEMA.field(name).type)
            for name, values in zip(_Pair._fields, columns, strict=True)
        ]
        self._blocks.append(
            pa.table([*arrays, pa.array(self._rows, pa.int64())], names=[*_Pair._fields, "row"])
        )
        self._pairs, self._rows = [], []


def _pair(record: Record) -> _Pair:
    fields = record.fields
    if "gold_label" not in fields:
        return _Pair(record.text("premise"), record.text("hypothesis"), record.label("label", _SIMPLE))
    return _Pair(
        record.text("sentence1"),
        record.text("sentence2"),
        record.label("gold_label", _GOLD),
        _annotator_labels(record),
        record.optional_text("pairID"),
        record.optional_text("captionID"),
    )


def _annotator_labels(record: Record) -> list[str] | None:
    if "annotator_labels" in record.fields:
        return record.texts("annotator_labels")
    given = [column for column in _ANNOTATOR_COLUMNS if column in record.fields]
    # Most pairs have one annotator; the tab-separated form leaves the other columns empty.
    return [text for column in given if (text := record.text(column))] if given else None


def _filter_reason(pair: _Pair) -> str | None:
    if pair.label == _UNLABELLED:
        return NO_GOLD_LABEL
    if pair.premise == _NOT_SEEN:
        return PREMISE_NOT_SEEN
    return HYPOTHESIS_NOT_GIVEN if pair.hypothesis.lower() == "n/a" else None

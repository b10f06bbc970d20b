"""Rows of a user's own data: which can be used, what their labels, uids and groups are.

Pure functions from a table that was read to one that can be split.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from datasets import ClassLabel, Features, Value

from ..errors import SourceError, UsageError, show
from ..faults import FaultLog
from ..features import HEAD, PLACEMENT, PVI
from ..hashing import content_ids
from ..registry import closest
from ..splitting import connected_groups
from ..text import word_counts
from ..wording import plural
from .programs import Programs
from .sources.tabular import TabularRows

SOURCE_SPLIT = "all"
PROGRAM_COLUMNS = {
    "template": Value("string"),
    "program_parsed": Value("bool"),
    "num_novel_compounds": Value("int32"),
}
"""What a release of programs adds to the user's columns."""
# More values than this are no classes but texts or ids in the wrong column.
_MOST_CLASSES = 1_000
_UIDS_SHOWN = 5


@dataclass(frozen=True)
class Columns:
    """Which of the user's columns plays which part. Raises UsageError for parts that exclude one another."""

    text: str
    context: str | None = None
    label: str | None = None
    group: str | None = None
    id: str | None = None
    program: str | None = None

    def __post_init__(self) -> None:
        if self.context == self.text:
            raise UsageError(f"column {self.text!r} is text and context at once; name two columns")
        if self.label in self.inputs:
            raise UsageError(f"column {self.label!r} is input and label at once; name two columns")
        if self.program in self.inputs:
            raise UsageError(f"column {self.program!r} is input and program at once; name two columns")
        if self.label is not None and self.program is not None:
            raise UsageError(
                f"rows have one target, not a label ({self.label!r}) and a program ({self.program!r}); "
                "leave one of them out"
            )

    @property
    def inputs(self) -> tuple[str, ...]:
        """What a model may read, in reading order."""
        return (self.text,) if self.context is None else (self.context, self.text)

    @property
    def target(self) -> str | None:
        """What a model predicts: the label or the program."""
        return self.label if self.program is None else self.program

    def check(self, names: Sequence[str]) -> None:
        """Raise UsageError unless `names` has every column and none that a release adds by itself."""
        for part, name in vars(self).items():
            if name is not None and name not in names:
                raise UsageError(f"--{part} {name!r} is no column; {closest(name, names)}")
        added = {*HEAD, *PLACEMENT, *PVI, *(PROGRAM_COLUMNS if self.program is not None else ())}
        taken = [name for name in names if name in added]
        if taken:
            listed = ", ".join(map(repr, taken))
            raise UsageError(f"the data have columns that a release adds by itself: {listed}; rename them")


def usable_rows(source: TabularRows, columns: Columns, faults: FaultLog) -> TabularRows:
    """The rows that have everything they need; each other row is reported once, in file order."""
    found: dict[int, SourceError] = {}

    def report(bad: np.ndarray, field: str, reason: str, fix: str) -> None:
        for index in np.flatnonzero(bad).tolist():
            found.setdefault(index, source.fault(index, reason, field, fix))

    for name in columns.inputs:
        _require_text(source, name)
        report(_blank(source.table.column(name)), name, "empty text", "fill it in, or take the row out")
    if columns.label is not None:
        labels = source.table.column(columns.label)
        report(_blank(labels), columns.label, "no label", "fill it in, or take the row out")
        if pa.types.is_integer(labels.type):
            negative = pc.fill_null(pc.less(labels, 0), False).to_numpy()
            report(negative, columns.label, "negative label", "number classes from 0, or write their names")
    if columns.program is not None:
        _require_text(source, columns.program)
        blank = _blank(source.table.column(columns.program))
        report(blank, columns.program, "no program", "fill it in, or take the row out")
    if columns.group is not None:
        _require_names(source, columns.group, "groups")
    if columns.id is not None:
        _require_names(source, columns.id, "ids")
        ids = source.table.column(columns.id)
        report(_blank(ids), columns.id, "no id", "fill it in, or take the row out")
        found |= _repeated_ids(source, columns.id, set(found))
    for index in sorted(found):
        faults.bad(found[index])
    keep = np.ones(source.table.num_rows, dtype=bool)
    keep[list(found)] = False
    return source.filter(keep)


def _repeated_ids(source: TabularRows, name: str, passed_over: set[int]) -> dict[int, SourceError]:
    """A fault for every row whose id an earlier row has, naming both."""
    first: dict[Any, int] = {}
    faults = {}
    for index, value in enumerate(source.table.column(name).to_pylist()):
        if index in passed_over or first.setdefault(value, index) == index:
            continue
        fix = f"{source.place(first[value])} has it too: make ids unique, or leave out --id"
        faults[index] = source.fault(index, "id stands twice", name, fix)
    return faults


def _blank(column: pa.ChunkedArray) -> np.ndarray:
    """Rows with null, or text of nothing but white space: shape (rows,), bool."""
    if not pa.types.is_string(column.type):
        return column.is_null().to_numpy()
    return pc.fill_null(pc.equal(pc.utf8_trim_whitespace(column), ""), True).to_numpy()


def _require_text(source: TabularRows, name: str) -> None:
    if not pa.types.is_string(source.table.column(name).type):
        raise _unfit_type(source, name, "give a column of text")


def _require_names(source: TabularRows, name: str, what: str) -> None:
    kind = source.table.column(name).type
    if not (pa.types.is_string(kind) or pa.types.is_integer(kind)):
        raise _unfit_type(source, name, f"{what} are text or whole numbers")


def _unfit_type(source: TabularRows, name: str, fix: str) -> SourceError:
    kind = source.table.column(name).type
    return SourceError(f"the column holds {kind}", path=source.paths[0], field=name, fix=fix)


def typed(source: TabularRows, columns: Columns) -> tuple[pa.Table, Features]:
    """The user's columns without metadata, and their features; labels as classes."""
    declared = _declared_classes(source.table.schema)
    table = source.table.replace_schema_metadata(None)
    features = Features.from_arrow_schema(table.schema)
    features.update({name: kind for name, kind in declared.items() if _all_named(table.column(name), kind)})
    if columns.label is not None:
        column, feature = _classes(source, columns.label, features[columns.label])
        position = table.column_names.index(columns.label)
        table = table.set_column(position, columns.label, column)
        features[columns.label] = feature
    return table, features


def _declared_classes(schema: pa.Schema) -> dict[str, ClassLabel]:
    """Class columns that `datasets` has noted in a parquet file."""
    try:
        features = Features.from_arrow_schema(schema)
    except (ValueError, TypeError, KeyError):
        return {}
    return {name: kind for name, kind in features.items() if isinstance(kind, ClassLabel)}


def _all_named(column: pa.ChunkedArray, feature: ClassLabel) -> bool:
    """Whether every value is the number of a class: -1, which often marks rows without one, is none."""
    if not pa.types.is_integer(column.type):
        return False
    extremes = pc.min_max(column).as_py()
    return extremes["min"] is None or (extremes["min"] >= 0 and extremes["max"] < feature.num_classes)


def _classes(source: TabularRows, name: str, feature: Any) -> tuple[pa.ChunkedArray, ClassLabel | Value]:
    """A label column as integers or booleans, and its feature.

    Text becomes class numbers, names sorted by code point. Whole numbers and booleans stay what they are;
    the names of whole numbers are their digits. Raises SourceError for a column that holds no classes.
    """
    column = source.table.column(name)
    texts, numbers = pa.types.is_string(column.type), pa.types.is_integer(column.type)
    if not (texts or numbers or pa.types.is_boolean(column.type)):
        raise _unfit_type(source, name, "labels are text, whole numbers or true and false")
    distinct = pc.unique(column)
    if len(distinct) < 2:
        raise _no_classes(source, name, f"every label is {show(distinct[0].as_py())}", "leave out --label")
    if not (texts or numbers):
        return column, Value("bool")
    if isinstance(feature, ClassLabel):
        return column.cast(pa.int64()), feature
    count = len(distinct) if texts else pc.max(column).as_py() + 1
    if count > _MOST_CLASSES:
        what = f"{count} different labels" if texts else f"a label is {count - 1}"
        raise _no_classes(source, name, what, f"give at most {_MOST_CLASSES} classes, or name another column")
    if numbers:
        return column.cast(pa.int64()), ClassLabel(names=[str(number) for number in range(count)])
    names = sorted(distinct.to_pylist())
    codes = pc.index_in(column, value_set=pa.array(names, pa.string())).cast(pa.int64())
    return codes, ClassLabel(names=names)


def _no_classes(source: TabularRows, name: str, reason: str, fix: str) -> SourceError:
    return SourceError(reason, path=source.paths[0], field=name, fix=fix)


def with_programs(payload: pa.Table, features: Features, programs: Programs) -> tuple[pa.Table, Features]:
    """The payload and its features with PROGRAM_COLUMNS; novelty depends on the config, and is null here."""
    values = {
        "template": programs.templates,
        "program_parsed": programs.parsed,
        "num_novel_compounds": [None] * payload.num_rows,
    }
    for name, kind in PROGRAM_COLUMNS.items():
        payload = payload.append_column(name, pa.array(values[name], kind()))
    return payload, Features({**features, **PROGRAM_COLUMNS})


def with_head_and_tail(payload: pa.Table, source: TabularRows, columns: Columns, corpus: str) -> pa.Table:
    """The user's columns with uid, content_id, length, source_split and source_index."""
    content_id = content_ids(source.table, list(columns.inputs))
    if columns.id is not None:
        ids = [str(value) for value in source.table.column(columns.id).to_pylist()]
    else:
        key = [*columns.inputs, *([columns.target] if columns.target is not None else [])]
        ids = _numbered(content_ids(source.table.replace_schema_metadata(None), key).to_pylist())
    added = {
        "uid": pa.array([f"{corpus}:{SOURCE_SPLIT}:{value}" for value in ids], pa.string()),
        "content_id": content_id,
    }
    placed = {
        "length": pa.array(word_counts(payload.column(columns.text).to_pylist()), pa.int32()),
        "source_split": pa.array([SOURCE_SPLIT] * payload.num_rows, pa.string()),
        "source_index": pa.array(source.record_numbers(), pa.int32()),
    }
    own = {name: payload.column(name) for name in payload.column_names}
    return pa.table({**added, **own, **placed})


def _numbered(ids: Sequence[str]) -> list[str]:
    """The same ids, the second of its kind with `#2`, and so on."""
    seen: Counter[str] = Counter()
    numbered = []
    for value in ids:
        seen[value] += 1
        numbered.append(value if seen[value] == 1 else f"{value}#{seen[value]}")
    return numbered


def side_groups(table: pa.Table, columns: Columns) -> np.ndarray | None:
    """Numbers of what must stay together, shape (rows,), int64; None if nothing must.

    Rows of equal input and rows of one value of the group column: both together, so that a chain of the
    two relations is one group.
    """
    inputs = _codes(table.column("content_id"))
    values = _group_codes(table, columns)
    groups = inputs if values is None else connected_groups(inputs, values)
    return groups if len(np.unique(groups)) < len(groups) else None


def _group_codes(table: pa.Table, columns: Columns) -> np.ndarray | None:
    """The group column as numbers, -1 where it is empty."""
    if columns.group is None:
        return None
    column = table.column(columns.group)
    return np.where(_blank(column), -1, _codes(column))


def _codes(column: pa.ChunkedArray) -> np.ndarray:
    encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)


def placement_notes(table: pa.Table, columns: Columns) -> tuple[str, ...]:
    """What a reader of the splits should know about what stays together."""
    counts = np.bincount(_codes(table.column("content_id")))
    notes = ["Rows are placed in the order of their uids, not in that of the file."]
    repeated = counts[counts > 1]
    if len(repeated):
        notes.append(
            f"{plural(int(repeated.sum()), 'row')} share their input with another row "
            f"({plural(len(repeated), 'input')}); rows of equal input stay on one side."
        )
    values = _group_codes(table, columns)
    if values is not None:
        alone = int((values < 0).sum())
        sizes = np.bincount(values[values >= 0], minlength=1)
        notes.append(
            f"Rows of one {columns.group!r} stay on one side: {plural(int((sizes > 0).sum()), 'value')}, the "
            f"largest with {int(sizes.max()):,} of {plural(table.num_rows, 'row')}; "
            f"{plural(alone, 'row has', 'rows have')} none."
        )
    return tuple(notes)


def program_notes(
    programs: Programs, uids: Sequence[str], by: Sequence[str], constraint: str | None
) -> tuple[str, ...]:
    """Which programs could not be read, by what, and where their rows are placed, as far as `by` asks.

    `by` are the rules that rows are divided by, `constraint` what was chosen ("atoms", "none" or None). What
    the same rows lack is one note.
    """
    found: dict[tuple[int, ...], list[tuple[str, str]]] = {}
    for what, fate, values in _asked_of(programs, by, constraint):
        rows = tuple(row for row, value in enumerate(values) if value is None)
        found.setdefault(rows, []).append((what, fate))
    found.pop((), None)
    notes = []
    for rows, lacking in found.items():
        have, them = ("has", "it") if len(rows) == 1 else ("have", "them")
        said = [f"{what} ({fate.format(them)})" for what, fate in lacking]
        listed = " and ".join([", ".join(said[:-1]), said[-1]] if said[1:] else said)
        shown = ", ".join(uids[row] for row in rows[:_UIDS_SHOWN])
        more = ", ..." if len(rows) > _UIDS_SHOWN else ""
        notes.append(f"{len(rows):,} of {len(uids):,} programs {have} {listed}: {shown}{more}.")
    return tuple(notes)


def _asked_of(
    programs: Programs, by: Sequence[str], constraint: str | None
) -> Iterator[tuple[str, str, Sequence[object]]]:
    """What the rules in `by` need of programs, where rows without it are placed, and the values."""
    structure, rule = programs.structure.name, programs.rule.name
    if "tmcd" in by:
        yield f"no parse by {structure!r}", "splits by tmcd leave {} out", programs.compounds()
    # Likelihood splits have the constraint unless it is switched off, others by request alone.
    usual = [each for each in by if each.startswith("likelihood")]
    constrained = [each for each in by if each != "tmcd"] if constraint == "atoms" else usual
    if constrained and constraint != "none":
        yield f"no atoms by {structure!r}", "splits under the atom constraint train on {}", programs.atoms()
    if "template" in by:
        yield f"no template by {rule!r}", "splits by template train on {}", programs.templates

"""What PVI scoring knows of its rows: text pairs, labels, which of them train, and in which fold each is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...errors import SourceError, UsageError, show
from ...hashing import canonical_json, columns_hash, sha256_text
from ...tasks import Task
from .._units import Units, connected_groups

NO_FOLD = -1
MOST_FOLDS = 127
_TRAINING_SPLIT = "train"


@dataclass(frozen=True, eq=False)
class LabelledPairs:
    """n rows in source order.

    `first`, `second`: the texts a model reads. `labels` int64[n]; `trains` bool[n]: a model may learn from
    the row; `inputs` int64[n]: equal numbers where both texts are equal; `groups` int64[n]: equal numbers
    where rows must be in one fold; `label_names` in the order of labels; `fingerprint` covers all of it.
    """

    first: list[str]
    second: list[str]
    labels: np.ndarray
    trains: np.ndarray
    inputs: np.ndarray
    groups: np.ndarray
    label_names: tuple[str, ...]
    fingerprint: str

    def __len__(self) -> int:
        return len(self.labels)

    def texts(self, rows: np.ndarray) -> tuple[list[str], list[str]]:
        """First and second texts of `rows` (int64)."""
        chosen = rows.tolist()
        return [self.first[row] for row in chosen], [self.second[row] for row in chosen]


def read_pairs(rows: pa.Table, task: Task) -> LabelledPairs:
    """The rows, which stand in source order, as a classifier reads them.

    Rows whose `source_split` is `train` train; without that column, or without such rows, all of them do.
    Rows with one value of `group_id` (where there is such a column) or with equal texts are one group. Raises
    UsageError for a task that is no classification of text pairs or a missing column, SourceError for a text
    or label that is none.
    """
    if task.labels is None or len(task.inputs) != 2:
        raise UsageError(
            f"task {task.name} has no labelled pairs of texts; V-information needs a task with two inputs "
            "and labels"
        )
    missing = [name for name in (*task.inputs, task.target) if name not in rows.column_names]
    if missing:
        raise UsageError(f"rows to score lack {', '.join(missing)}; read them with a builder or a reader")
    first, second = (_texts(rows, name) for name in task.inputs)
    labels = _labels(rows, task)
    codes: dict[tuple[str, str], int] = {}
    pairs = zip(first, second, strict=True)
    inputs = np.array([codes.setdefault(pair, len(codes)) for pair in pairs], dtype=np.int64)
    trains = _training_rows(rows)
    groups = connected_groups(inputs, _codes(rows, "group_id"))
    return LabelledPairs(
        first, second, labels, trains, inputs, groups, tuple(task.labels), _digest(rows, task, trains, groups)
    )


def draw_label_folds(pairs: LabelledPairs, k: int, seed: int) -> np.ndarray:
    """The fold of every row (int64[n]), NO_FOLD for rows that have nothing in common with one that trains.

    Groups stay whole, the largest first, then in an order drawn by `seed`: each goes to the fold that has the
    smallest share of the group's labels, of two such folds to the one with fewer rows, then to the first. So
    the labels of single rows are equally many in every fold, to one row. A row that only evaluates is in
    the fold of the training rows of its group, whose model saw neither. Raises UsageError unless
    2 <= k <= 127 and every fold gets a group.
    """
    if not 2 <= k <= MOST_FOLDS:
        raise UsageError(f"k is {k}; give a number of folds from 2 to {MOST_FOLDS}")
    training = np.flatnonzero(pairs.trains)
    units = Units.of(pairs.groups[training], len(training))
    if len(units) < k:
        raise UsageError(
            f"{len(training)} rows that train are {len(units)} groups, which cannot fill {k} folds; "
            "give fewer folds or more rows"
        )
    counts = _label_counts(units, pairs.labels[training], len(pairs.label_names))
    order = np.random.default_rng(seed).permutation(len(units))
    order = order[np.argsort(-units.sizes[order], kind="stable")]
    fold_of_unit = _balanced(order, counts, units.sizes, k)
    fold_of_group = np.full(int(pairs.groups.max()) + 1, NO_FOLD, dtype=np.int64)
    fold_of_group[pairs.groups[training]] = units.per_row(fold_of_unit)
    return fold_of_group[pairs.groups]


def sample_per_label(
    members: np.ndarray, labels: np.ndarray, most: int | None, order: np.ndarray
) -> np.ndarray:
    """The first `most` rows of every label (None: all) among `members[order]`, in that order (int64).

    >>> sample_per_label(np.arange(4), np.array([0, 0, 1, 0]), 1, np.array([3, 2, 1, 0])).tolist()
    [3, 2]
    """
    ordered = members[order]
    if most is None:
        return ordered
    kept = np.zeros(len(ordered), dtype=bool)
    for label in np.unique(labels[ordered]).tolist():
        kept[np.flatnonzero(labels[ordered] == label)[:most]] = True
    return ordered[kept]


def _balanced(order: np.ndarray, counts: np.ndarray, sizes: np.ndarray, k: int) -> np.ndarray:
    """Fold of each unit (int64[u]); `counts` (int64, shape (u, labels)) are each unit's rows by label."""
    fold_of = np.empty(len(order), dtype=np.int64)
    shares = counts / np.maximum(counts.sum(axis=0), 1)
    # Counted in whole rows, so that folds that are equally full are exactly so.
    filled, rows = np.zeros((k, counts.shape[1]), dtype=np.int64), [0] * k
    for unit in order.tolist():
        load = (filled * shares[unit]).sum(axis=1).tolist()
        fold = min(range(k), key=lambda number: (load[number], rows[number], number))
        fold_of[unit] = fold
        filled[fold] += counts[unit]
        rows[fold] += int(sizes[unit])
    return fold_of


def _label_counts(units: Units, labels: np.ndarray, classes: int) -> np.ndarray:
    """Each unit's rows of every label: int64 of shape (units, classes)."""
    counts = np.zeros((len(units), classes), dtype=np.int64)
    unit_of_row = units.per_row(np.arange(len(units)))
    np.add.at(counts, (unit_of_row, labels), 1)
    return counts


def _texts(rows: pa.Table, name: str) -> list[str]:
    column = rows.column(name)
    if column.null_count:
        row = pc.index(column.is_null(), True).as_py()
        raise SourceError("no text", row=row, field=name, fix="drop the row or give the text")
    return list(column.cast(pa.string()).to_pylist())


def _labels(rows: pa.Table, task: Task) -> np.ndarray:
    assert task.labels is not None
    column = rows.column(task.target).cast(pa.int64())
    labels = pc.fill_null(column, -1).to_numpy().astype(np.int64)
    wrong = np.flatnonzero((labels < 0) | (labels >= len(task.labels)))
    if len(wrong):
        raise SourceError(
            "no label of the task",
            row=int(wrong[0]),
            field=task.target,
            value=column[int(wrong[0])].as_py(),
            fix=f"labels index {show(task.labels)}",
        )
    return labels


def _training_rows(rows: pa.Table) -> np.ndarray:
    trains = np.ones(rows.num_rows, dtype=bool)
    if "source_split" in rows.column_names:
        found = pc.fill_null(pc.equal(rows.column("source_split"), _TRAINING_SPLIT), False)
        trains = found.to_numpy() if pc.any(found).as_py() else trains
    return trains


def _codes(rows: pa.Table, name: str) -> np.ndarray:
    """Equal numbers for equal values of a column (int64[n]); -1 for null, or if there is no such column."""
    if name not in rows.column_names:
        return np.full(rows.num_rows, -1, dtype=np.int64)
    encoded = rows.column(name).combine_chunks().dictionary_encode()
    return pc.fill_null(encoded.indices.cast(pa.int64()), -1).to_numpy()


def _digest(rows: pa.Table, task: Task, trains: np.ndarray, groups: np.ndarray) -> str:
    """`sha256:<hex>` of everything that PVI depends on in the rows, in source order."""
    content = pa.table(
        {
            **{name: rows.column(name).cast(pa.string()) for name in task.inputs},
            "label": rows.column(task.target).cast(pa.int64()),
            "trains": trains.astype(np.int8),
            "group": groups,
        }
    )
    return sha256_text(canonical_json({"columns": columns_hash(content), "inputs": list(task.inputs)}))

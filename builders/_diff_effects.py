"""What a change of rows or scores does to a config: label shares and the boundary between scores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..features import class_names
from ._diff_configs import Side
from ._diff_types import Boundary, ConfigDiff, LabelShift, cut

_LABELS_SHOWN = 20
_BY_SCORE = "score"
_LIKELIHOOD = "likelihood"
Shares = dict[str, dict[str, tuple[float, float]]]


def with_effects(found: ConfigDiff, first: Side, second: Side) -> ConfigDiff:
    """`found` with what its differences do, where its rows, labels or scores differ."""
    if found.kind != "split" or not found.differs:
        return found
    shares = _label_shares(first, second)
    shifts = [
        LabelShift(column, label, split, before, after)
        for column, splits in shares.items()
        for split, labels in splits.items()
        for label, (before, after) in labels.items()
    ]
    largest = max(shifts, key=lambda shift: abs(shift.after - shift.before), default=None)
    boundaries = None
    if all(
        side.entry.get("splitter") == _LIKELIHOOD and "placed_by" in side.features for side in (first, second)
    ):
        before, after = (_boundary(side) for side in (first, second))
        boundaries = (before, after) if before != after else None
    return replace(found, shares=shares, shift=largest, boundaries=boundaries)


def _label_shares(first: Side, second: Side) -> dict[str, Shares]:
    """Column -> split -> label -> its share of the split before and after, where it differs."""
    names = [class_names(side.features) for side in (first, second)]
    found: dict[str, Shares] = {}
    for column in (name for name in names[0] if name in names[1]):
        for split in (name for name in first.splits if name in second.splits):
            if first.facts(split).get("content_hash") == second.facts(split).get("content_hash"):
                continue
            before, after = (
                _shares(side, split, column, labels[column])
                for side, labels in zip((first, second), names, strict=True)
            )
            pairs = {label: (before.get(label, 0.0), after.get(label, 0.0)) for label in {**before, **after}}
            moved = sorted(pairs.items(), key=lambda item: -abs(item[1][1] - item[1][0]))
            kept = {cut(label): pair for label, pair in moved[:_LABELS_SHOWN] if pair[0] != pair[1]}
            if kept:
                found.setdefault(cut(column), {})[split] = kept
    return found


def _shares(side: Side, split: str, column: str, labels: list[str]) -> dict[str, float]:
    """Label -> its share of all rows of a split, those without a label included."""
    values = side.column(split, column)
    codes = pc.fill_null(values, -1).to_numpy()
    known = codes[(codes >= 0) & (codes < len(labels))]
    counts = np.bincount(known, minlength=len(labels))
    return {label: count / len(codes) for label, count in zip(labels, counts.tolist(), strict=True) if count}


def _boundary(side: Side) -> Boundary:
    assigned = side.release.assignment(side.config)
    scores: dict[bool, list[np.ndarray]] = {True: [], False: []}
    for split in side.splits:
        rows = assigned.filter(pc.equal(assigned.column("split"), split))
        placed_by = side.column(split, "placed_by")
        if len(placed_by) != rows.num_rows:
            raise side.damaged(f"has other rows in {split!r} than its assignment")
        by_score = pc.fill_null(pc.equal(placed_by, _BY_SCORE), False)
        values = rows.column("score").filter(by_score).cast(pa.float64()).drop_null().to_numpy()
        scores[split == "train"].append(values[np.isfinite(values)])
    train, evaluation = (_span(scores[side]) for side in (True, False))
    return Boundary(train, evaluation)


def _span(parts: list[np.ndarray]) -> tuple[float, float] | None:
    values = np.concatenate([np.empty(0), *parts])
    return (float(values.min()), float(values.max())) if len(values) else None

"""How often each label stands on each side of a config, counted on the rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from datasets import ClassLabel, Features

from ..release import ReleaseFolder
from .figures import EVALUATION

# Longer tables of a release of parts are folded.
_MOST_LINES = 24


@dataclass(frozen=True)
class LabelShares:
    """Fractions of each label on one side (`train` or `evaluation`) of a config."""

    config: str
    side: str
    shares: tuple[float, ...]
    rows: int


@dataclass(frozen=True)
class LabelTable:
    """The shares of labels of all configs that have the same ones; `folded` where it is long."""

    names: tuple[str, ...]
    lines: tuple[LabelShares, ...]
    folded: bool


def label_tables(release: ReleaseFolder) -> Iterator[LabelTable]:
    """One table for each set of labels that tasks have."""
    entries = release.placed_configs.values()
    for names in dict.fromkeys(tuple((entry.get("task") or {}).get("labels") or ()) for entry in entries):
        lines = tuple(_label_shares(release, names)) if names else ()
        if lines:
            of_parts = any(release.config(line.config).get("part") for line in lines)
            yield LabelTable(names, lines, of_parts and len(lines) > _MOST_LINES)


def _label_shares(release: ReleaseFolder, names: tuple[str, ...]) -> Iterator[LabelShares]:
    for config, entry in release.placed_configs.items():
        task = entry["task"]
        target = task["target"]
        features = release.features(config)
        if tuple(task.get("labels") or ()) != names or target not in features:
            continue
        for side, splits in (("train", ("train",)), ("evaluation", EVALUATION)):
            present = [release.table(config, split, [target]) for split in splits if split in entry["splits"]]
            numbers = _label_counts(pa.concat_tables(present), target, features, names) if present else []
            if sum(numbers):
                shares = tuple(number / sum(numbers) for number in numbers)
                yield LabelShares(config, side, shares, sum(numbers))


def _label_counts(table: pa.Table, target: str, features: Features, names: tuple[str, ...]) -> list[int]:
    """Rows per label, in the task's order; class numbers are read by name, booleans as no and yes."""
    found = {pair["values"]: pair["counts"] for pair in pc.value_counts(table.column(target)).to_pylist()}
    kind = features[target]
    if isinstance(kind, ClassLabel):
        found = {kind.names[value]: rows for value, rows in found.items() if value is not None and value >= 0}
    elif pa.types.is_boolean(table.column(target).type):
        found = {name: found.get(value, 0) for value, name in zip((False, True), names, strict=False)}
    return [found.get(name, 0) for name in names]

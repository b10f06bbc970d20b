"""How the choice of the scoring model, or of k, changes scores and splits (2210.06799, Tables 11, 12)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...hashing import canonical_json
from ...release import ReleaseFolder

EVALUATION_SPLITS = ("validation", "test")


@dataclass(frozen=True)
class ScoreCorrelation:
    """Pearson correlation of the log-likelihoods of two score tables over the rows that both scored.

    `pearson` is None with fewer than two rows or a constant table.
    """

    first: str
    second: str
    rows: int
    pearson: float | None


@dataclass(frozen=True)
class EvaluationOverlap:
    """Rows that two configs both hold out (validation or test); `share` is of the smaller of the two."""

    first: str
    second: str
    first_rows: int
    second_rows: int
    common: int
    share: float


def scorer_variants(configs: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """Groups of at least two configs with equal splitter and parameters whose score tables differ."""
    groups: dict[str, list[str]] = {}
    for name, entry in configs.items():
        if entry.get("scores") is not None:
            groups.setdefault(canonical_json([entry.get("splitter"), entry.get("parameters")]), []).append(
                name
            )
    return [tuple(names) for names in groups.values() if len({configs[name]["scores"] for name in names}) > 1]


def pearson(first: np.ndarray, second: np.ndarray) -> float | None:
    """Pearson correlation of two arrays of shape (n,); None with n < 2 or a constant array."""
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    return float(np.corrcoef(first.astype(np.float64), second.astype(np.float64))[0, 1])


def score_correlations(release: ReleaseFolder) -> list[ScoreCorrelation]:
    """Every pair of score tables of the release."""
    tables = {}
    for name, entry in release.configs.items():
        if entry["kind"] == "scores" and len(entry["splits"]) > 1:
            tables.update(
                {split: release.table(name, split, ["uid", "log_likelihood"]) for split in entry["splits"]}
            )
    return [correlate(*names, *(tables[name] for name in names)) for names in combinations(tables, 2)]


def correlate(first_name: str, second_name: str, first: pa.Table, second: pa.Table) -> ScoreCorrelation:
    """Correlate two tables of uid and log_likelihood (null: no score), matched by uid."""
    positions = pc.index_in(first.column("uid"), value_set=second.column("uid"))
    x = first.column("log_likelihood").to_numpy()
    y = second.column("log_likelihood").take(positions).to_numpy()
    both = ~(np.isnan(x) | np.isnan(y))
    return ScoreCorrelation(first_name, second_name, int(both.sum()), pearson(x[both], y[both]))


def evaluation_overlaps(release: ReleaseFolder, variants: Iterable[Sequence[str]]) -> list[EvaluationOverlap]:
    """Every pair of configs within each group of `variants`."""
    overlaps = []
    for names in variants:
        held_out = {name: _held_out(release, name) for name in names}
        for first, second in combinations(names, 2):
            common = len(held_out[first] & held_out[second])
            sizes = len(held_out[first]), len(held_out[second])
            overlaps.append(EvaluationOverlap(first, second, *sizes, common, common / max(1, min(sizes))))
    return overlaps


def _held_out(release: ReleaseFolder, config: str) -> set[str]:
    splits = [split for split in EVALUATION_SPLITS if split in release.splits(config)]
    return {
        uid for split in splits for uid in release.table(config, split, ["uid"]).column("uid").to_pylist()
    }

"""What results and score tables say about the splits of a release. Pure functions; plain data out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ...release import ReleaseFolder
from ..results import Result
from .comparisons import (
    Drop,
    ForwardAndReverse,
    Run,
    ScorerComparison,
    Spread,
    drops,
    forward_and_reverse,
    group_runs,
    mean_and_deviation,
    random_spread,
    relative_error_increase,
    scorer_comparison,
)
from .scorers import (
    EvaluationOverlap,
    ScoreCorrelation,
    evaluation_overlaps,
    pearson,
    score_correlations,
    scorer_variants,
)

__all__ = [
    "Drop",
    "EvaluationOverlap",
    "ForwardAndReverse",
    "Run",
    "ScoreCorrelation",
    "ScorerComparison",
    "Spread",
    "drops",
    "evaluation_overlaps",
    "forward_and_reverse",
    "group_runs",
    "mean_and_deviation",
    "pearson",
    "random_spread",
    "relative_error_increase",
    "score_correlations",
    "scorer_comparison",
    "scorer_variants",
    "summary",
]


def summary(release: ReleaseFolder, results: Sequence[Result]) -> dict[str, list[dict[str, Any]]]:
    """Every analysis that the data allow, as JSON-able rows; `results` are those that are not stale.

    Keys: `random_spread`, `drops`, `forward_and_reverse`, `score_correlations`, `evaluation_overlaps`,
    `scorer_comparison`. A list is empty where the release has nothing to compare.
    """
    configs = release.placed_configs
    random = [name for name, entry in configs.items() if entry.get("splitter") == "random"]
    reverses = {entry["reverse_of"]: name for name, entry in configs.items() if entry.get("reverse_of")}
    variants = scorer_variants(configs)
    runs = group_runs(results)
    found: dict[str, Sequence[Any]] = {
        "random_spread": [row for run in runs if (row := random_spread(run, random)) is not None],
        "drops": [row for run in runs for row in drops(run, random)],
        "forward_and_reverse": [row for run in runs for row in forward_and_reverse(run, reverses, random)],
        "score_correlations": score_correlations(release),
        "evaluation_overlaps": evaluation_overlaps(release, variants),
        "scorer_comparison": [row for run in runs for row in scorer_comparison(run, variants)],
    }
    return {name: [asdict(row) for row in rows] for name, rows in found.items()}

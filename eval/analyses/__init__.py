"""What results and score tables say about the splits of a release. Pure functions; plain data out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ...release import WITHOUT_TEXT, ReleaseFolder
from ..results import Result
from .breakdowns import (
    Breakdown,
    Group,
    Projection,
    breakdowns,
    mean_groups,
    projected_accuracy,
    projections,
)
from .comparisons import (
    Drop,
    ForwardAndReverse,
    Run,
    ScorerComparison,
    Spread,
    comparable_configs,
    drops,
    forward_and_reverse,
    group_runs,
    mean_and_deviation,
    random_spread,
    relative_error_increase,
    scorer_comparison,
)
from .contamination import CleanAccuracy, Contamination, contamination_analyses
from .errors import ErrorCounts, count_errors, export_errors, sample_errors, store_typed_errors, typed_errors
from .experiments import (
    GeneralisationCell,
    InoculationPoint,
    Outcome,
    PartialInput,
    generalisation,
    inoculation,
    outcomes,
    partial_input,
    stored_answers,
)
from .overlap import (
    RunDifference,
    SubsetAccuracy,
    SubsetDifference,
    TwinConsistency,
    overlap_analyses,
    paired,
    twins,
    unpaired,
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
    "Breakdown",
    "CleanAccuracy",
    "Contamination",
    "Drop",
    "ErrorCounts",
    "EvaluationOverlap",
    "ForwardAndReverse",
    "GeneralisationCell",
    "Group",
    "InoculationPoint",
    "Outcome",
    "PartialInput",
    "Projection",
    "Run",
    "RunDifference",
    "ScoreCorrelation",
    "ScorerComparison",
    "Spread",
    "SubsetAccuracy",
    "SubsetDifference",
    "TwinConsistency",
    "breakdowns",
    "comparable_configs",
    "contamination_analyses",
    "count_errors",
    "drops",
    "evaluation_overlaps",
    "export_errors",
    "forward_and_reverse",
    "generalisation",
    "group_runs",
    "inoculation",
    "mean_and_deviation",
    "mean_groups",
    "outcomes",
    "overlap_analyses",
    "paired",
    "partial_input",
    "pearson",
    "projected_accuracy",
    "projections",
    "random_spread",
    "relative_error_increase",
    "sample_errors",
    "score_correlations",
    "scorer_comparison",
    "scorer_variants",
    "store_typed_errors",
    "summary",
    "twins",
    "typed_errors",
    "unpaired",
    "with_known",
]

_OF_ROWS = ("breakdowns", "projections", "errors", "contamination_accuracy")
"""Analyses that read columns of the corpus, or what was answered to single rows."""


def summary(release: ReleaseFolder, results: Sequence[Result]) -> dict[str, list[dict[str, Any]]]:
    """Every analysis that the data allow, as JSON-able rows; `results` are those that are not stale.

    Keys: `random_spread`, `drops`, `forward_and_reverse`, `score_correlations`, `evaluation_overlaps`,
    `scorer_comparison`, `breakdowns`, `projections`, `errors`, `inoculation`, `generalisation`,
    `partial_input`, `outcomes`, `overlap_subsets`, `overlap_differences`, `overlap_comparisons`,
    `overlap_twins`, `contamination`, `contamination_accuracy`. A list is empty where the release has nothing
    to compare.
    """
    configs = release.placed_configs
    groups = comparable_configs(configs)
    random = groups[0][1]
    reverses = {entry["reverse_of"]: name for name, entry in configs.items() if entry.get("reverse_of")}
    variants = scorer_variants(configs)
    runs = group_runs(results)
    by_class = breakdowns(release, results)
    found: dict[str, Sequence[Any]] = {
        "random_spread": [row for run in runs if (row := random_spread(run, random)) is not None],
        "drops": [row for run in runs for group, drawn in groups for row in drops(run.on(group), drawn)],
        "forward_and_reverse": [row for run in runs for row in forward_and_reverse(run, reverses, random)],
        "score_correlations": score_correlations(release),
        "evaluation_overlaps": evaluation_overlaps(release, variants),
        "scorer_comparison": [row for run in runs for row in scorer_comparison(run, variants)],
        "breakdowns": by_class,
        "projections": [
            row
            for group, drawn in groups
            for row in projections([found for found in by_class if found.config in group], results, drawn)
        ],
        "errors": typed_errors(release, results),
        "inoculation": inoculation(results),
        "generalisation": generalisation(configs, results),
        "partial_input": partial_input(results, stored_answers(release)),
        "outcomes": outcomes(configs, results),
        **overlap_analyses(release, results),
        **contamination_analyses(release, results),
    }
    return {name: [asdict(row) for row in rows] for name, rows in found.items()}


def with_known(
    found: Mapping[str, Sequence[dict[str, Any]]],
    known: Mapping[str, Sequence[dict[str, Any]]],
    release: ReleaseFolder,
    results: Sequence[Result],
) -> dict[str, list[dict[str, Any]]]:
    """A `summary` with lines of an earlier one on results whose rows or answers have no text here.

    `results` are those that are not stale: an earlier line on one of them speaks of the same rows. One of a
    search in corpora counts only as long as that search stands.
    """
    away = {
        (result.baseline, result.model, result.settings_hash, result.config)
        for result in results
        if result.withheld or WITHOUT_TEXT in release.config(result.config)
    }
    lines = {name: list(rows) for name, rows in found.items()}
    searches = {line["search"] for line in lines.get("contamination", ()) if line["stale"] is None}
    for name in _OF_ROWS:
        made = {_run_and_config(line) for line in lines[name]}
        kept = [
            line
            for line in known.get(name, ())
            if _run_and_config(line) in away - made and line.get("search") in {None, *searches}
        ]
        lines[name] = kept + lines[name]
    return lines


def _run_and_config(line: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(line.get(field) for field in ("baseline", "model", "settings_hash", "config"))

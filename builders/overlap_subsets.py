"""The configs of rows that overlap with corpora, and of rows that do not: one set of names and cut-offs.

Source: "An Analysis of Dataset Overlap on Winograd-Style Tasks" (2011.04767).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..errors import UsageError
from ..splitting.overlap import PUBLISHED_CUTOFFS
from .base import BuildOptions


class OverlapSubset(NamedTuple):
    """The name of a config, the parameters of its `OverlapSplitter`, and what it is."""

    name: str
    parameters: dict[str, Any]
    summary: str


def overlap_cutoffs(options: BuildOptions) -> list[float]:
    """The best scores above which rows overlap."""
    return list(PUBLISHED_CUTOFFS if options.overlap_cutoff is None else options.overlap_cutoff)


def overlap_subsets(name: str, options: BuildOptions) -> list[OverlapSubset]:
    """The subsets of the rows `name`: above each cut-off, above each quantile, and those that find nothing.

    Raises UsageError for two of one name: their cut-offs differ beyond the digits that a name has.

    >>> options = BuildOptions(overlap_cutoff=(12.5,), cutoff_quantile=(0.9,))
    >>> [subset.name for subset in overlap_subsets("dpr", options)]
    ['dpr_overlap_gt12_5', 'dpr_overlap_q90', 'dpr_no_overlap']
    """
    made = list(_subsets(name, options))
    names = [subset.name for subset in made]
    for subset in names:
        if names.count(subset) > 1:
            raise UsageError(f"two cut-offs or quantiles would both be called {subset}; leave one out")
    return made


def _subsets(name: str, options: BuildOptions) -> Iterator[OverlapSubset]:
    for cutoff in overlap_cutoffs(options):
        yield OverlapSubset(
            f"{name}_overlap_gt{_in_name(cutoff)}",
            {"subset": "overlap", "cutoff": cutoff},
            f"Rows of {name} whose best hit scores above {cutoff:g}.",
        )
    for quantile in options.cutoff_quantile or ():
        yield OverlapSubset(
            f"{name}_overlap_q{_in_name(100 * quantile)}",
            {"subset": "overlap", "quantile": quantile},
            f"Rows of {name} whose best hit scores above quantile {quantile:.4g} of the overlapping.",
        )
    # The published code looks for copies nowhere but among the hits.
    corrected = options.method == "corrected"
    yield OverlapSubset(
        f"{name}_no_overlap",
        {"subset": "no_overlap", "cutoff": 0.0, **({"without_copies": True} if corrected else {})},
        f"Rows of {name} whose query finds nothing in the corpora"
        f"{', which hold no exact copy of them either' if corrected else ''}.",
    )


def _in_name(number: float) -> str:
    """A number as it stands in names of configs.

    >>> _in_name(25.0), _in_name(12.5), _in_name(-1.0)
    ('25', '12_5', 'minus_1')
    """
    return f"{number:.10g}".replace(".", "_").replace("-", "minus_")

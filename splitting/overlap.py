"""Subsets of a test set by how much of each row stands in a corpus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from ..errors import SplitError, show
from ._division import checked_choice
from .base import SIDES, TEST, UNUSED, Note, Placement, Scores, SplitRows, Splitter
from .published import PublishedSplitter

Subset = Literal["all", "overlap", "no_overlap"]

SUBSETS = ("all", "overlap", "no_overlap")
PUBLISHED_CUTOFFS = (0.0, 25.0, 35.0)
"""Best scores above which rows count as overlapping (2011.04767)."""
_BELOW, _ABOVE, _UNSCORED, _OTHER_SPLIT = "below_cutoff", "above_cutoff", "unscored", "other_split"
_COPY = "exact_copy"


class OverlapSplitter(Splitter):
    """Rows of one subset are the test split, or stand where their source put them; all others are unused.

    A row overlaps where its best score, that of the most similar document of a corpus, is above the cut-off.
    Source: "An Analysis of Dataset Overlap on Winograd-Style Tasks" (2011.04767), with 0, 25 and 35.

    subset
        "all": every row. "overlap": rows whose best score is above the cut-off. "no_overlap": rows whose best
        score is at most the cut-off.
    cutoff
        A BM25 score. What a score means depends on the corpus: its size, and how long its documents are.
    quantile
        Instead of `cutoff`: this share (between 0 and 1) of the rows that overlap at all, which score above
        0, is at or below the cut-off, which is one of their scores. For corpora whose scores are not like
        those of the paper's.
    cutoffs
        For "all": cut-offs whose overlap is counted in the notes, split by split.
    mapping
        For each source split train, validation, test, or None for rows that are left out and count for
        nothing. Without it every row is a test row.

    without_copies
        For "no_overlap": rows of which a corpus holds an exact copy are left out, whatever their best score;
        a query may miss the very text that it was made of.

    `placed_by` is "score" for rows of a subset, "published" for all; of unused rows "below_cutoff",
    "above_cutoff", "other_split" for those that `mapping` leaves out, "exact_copy", or "unscored" where no
    query could be made of them. `score` is the best score. Written order: source order. Raises SplitError for
    a subset without rows.

    >>> import numpy as np, pyarrow as pa
    >>> from benchwright.splitting import Scores, SplitRows
    >>> rows = SplitRows(pa.array(list("abcd")), np.arange(4))
    >>> best = np.array([0.0, 31.5, np.nan, 12.0])
    >>> scores = Scores(np.full(4, np.nan, np.float32), np.zeros(4, np.int32), best_score=best)
    >>> made = OverlapSplitter(subset="overlap", cutoff=25).split(rows, scores)
    >>> made.side.tolist(), made.placed_by.tolist()
    ([-1, 2, -1, -1], ['below_cutoff', 'score', 'unscored', 'below_cutoff'])
    """

    name = "overlap"
    reads_scores = True
    uses_all_rows = False
    sizes = None

    def __init__(
        self,
        *,
        subset: Subset,
        cutoff: float = 0.0,
        quantile: float | None = None,
        cutoffs: Sequence[float] = (),
        mapping: Mapping[str, str | None] | None = None,
        without_copies: bool = False,
    ) -> None:
        checked_choice("subset", subset, SUBSETS)
        self.subset = subset
        self.cutoff = _checked_cutoff(cutoff)
        self.cutoffs = [_checked_cutoff(value) for value in cutoffs]
        if quantile is not None and (isinstance(quantile, bool) or not 0 < quantile < 1):
            raise SplitError(f"quantile is {show(quantile)}; give a share between 0 and 1")
        if quantile is not None and subset == "all":
            raise SplitError("all rows are not cut; leave out quantile, or choose subset='overlap'")
        self.quantile = quantile
        if without_copies and subset != "no_overlap":
            raise SplitError("only rows that do not overlap may be without copies; leave out without_copies")
        self.without_copies = without_copies
        self.mapping = None if mapping is None else dict(mapping)
        self._published = None if mapping is None else PublishedSplitter(mapping=mapping)

    def _groups(self, rows: SplitRows) -> np.ndarray | None:
        # Twins may well differ in what stands in a corpus, and no row trains.
        return None

    def _place(self, rows: SplitRows, scores: Scores | None) -> Placement:
        if scores is None or scores.best_score is None:
            raise SplitError(
                "subsets by overlap need the best score of every row; search the rows in a corpus (scorer "
                "'bm25') first"
            )
        best, side = scores.best_score, self._sides(rows)
        here, known = side != UNUSED, ~np.isnan(best)
        if not here.any():
            raise SplitError("no row is of a source split that mapping names; leave this config out")
        if self.subset == "all":
            chosen = here
            placed_by = np.full(len(rows), "published", dtype=object)
            notes = list(self._counted(best, side))
        else:
            cutoff, notes = self._cutoff(best[here & known])
            above = known & (best > cutoff)
            chosen = here & (above if self.subset == "overlap" else known & ~above)
            placed_by = np.where(above, _ABOVE, _BELOW).astype(object)
            copied = here & known & ~above & self._copied(scores)
            if copied.any():
                notes.append(_copies_note(rows, copied))
                chosen, placed_by[copied] = chosen & ~copied, _COPY
            placed_by[chosen] = "score"
            placed_by[~known] = _UNSCORED
            self._require_rows(chosen, best[here], cutoff)
        placed_by[~here] = _OTHER_SPLIT
        unscored = np.flatnonzero(here & ~known)
        if len(unscored):
            message = f"no query could be made of {len(unscored)} rows: it is not known whether they overlap"
            notes.append(Note("unscored", message, rows.names(unscored)))
        train, validation, test = (np.flatnonzero(chosen & (side == number)) for number in SIDES.values())
        return Placement(
            train=train,
            validation=validation,
            test=test,
            placed_by=placed_by,
            score=best,
            notes=tuple(notes),
            unused=np.flatnonzero(~chosen),
        )

    def _sides(self, rows: SplitRows) -> np.ndarray:
        """Where the rows of each source split stand (int8[n]); UNUSED for those that do not count."""
        if self._published is None:
            return np.full(len(rows), TEST, dtype=np.int8)
        return self._published.published_sides(rows)

    def _copied(self, scores: Scores) -> np.ndarray:
        """Which rows are left out for their copies."""
        copied = scores.exact_copy if self.without_copies else None
        return np.zeros(len(scores.num_tokens), dtype=bool) if copied is None else copied

    def _counted(self, best: np.ndarray, side: np.ndarray) -> Iterator[Note]:
        """How many rows of every split overlap above each cut-off."""
        for name, number in SIDES.items():
            members = best[side == number]
            if len(members):
                of_split = "" if self.mapping is None else f"{name}: "
                yield from _counted(of_split, members, self.cutoffs, subsets=number == TEST)

    def _cutoff(self, best: np.ndarray) -> tuple[float, list[Note]]:
        """The cut-off for these best scores, and what to say of one that depends on them."""
        if self.quantile is None:
            return self.cutoff, []
        overlapping = best[best > 0]
        if not len(overlapping):
            raise SplitError(
                f"no row has a best score above 0, so that there is no quantile {self.quantile:g} to cut at; "
                "leave this config out, or search a larger corpus"
            )
        # One of the scores, so that no arithmetic decides on which side a row stands.
        cutoff = float(np.quantile(overlapping, self.quantile, method="inverted_cdf"))
        message = (
            f"quantile {self.quantile:g} of {len(overlapping)} overlapping rows: the cut-off is {cutoff:.4f}"
        )
        return cutoff, [Note("overlap_cut", message)]

    def _require_rows(self, chosen: np.ndarray, best: np.ndarray, cutoff: float) -> None:
        if chosen.any():
            return
        known = best[~np.isnan(best)]
        if not len(known):
            raise SplitError("no query could be made of any row; there is nothing to divide by overlap")
        which = "above" if self.subset == "overlap" else "at or below"
        raise SplitError(
            f"no row has a best score {which} {cutoff:g} (they run from {known.min():.2f} to "
            f"{known.max():.2f}); give another cut-off, a quantile, or another corpus"
        )


def _copies_note(rows: SplitRows, copied: np.ndarray) -> Note:
    chosen = np.flatnonzero(copied)
    message = (
        f"{len(chosen)} rows are left out: a corpus holds an exact copy, which their query does not find"
    )
    return Note("exact_copies", message, rows.names(chosen))


def _checked_cutoff(value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        raise SplitError(f"cutoff is {show(value)}; give a BM25 score")
    return float(value)


def _counted(of_split: str, best: np.ndarray, cutoffs: Sequence[float], *, subsets: bool) -> Iterator[Note]:
    """Where there are `subsets` of these rows, those that would be empty have a code of their own."""
    for cutoff in cutoffs:
        above = int((best > cutoff).sum())
        if above or not subsets:
            yield Note("overlap", f"{of_split}{above} of {len(best)} rows have a best score above {cutoff:g}")
        else:
            message = f"no row has a best score above {cutoff:g}: a subset of such rows is left out"
            yield Note("empty_subset", of_split + message)
    if subsets and cutoffs and (best > 0).any() and not (best <= 0).any():
        message = "every searched row overlaps: a subset of rows that do not is left out"
        yield Note("empty_subset", of_split + message)

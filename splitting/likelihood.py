"""Likelihood splits: what a language model finds likely trains, what it finds unlikely evaluates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from ..errors import SplitError, show
from ._division import (
    Constraint,
    DividingSplitter,
    Draft,
    EmptyQuota,
    EvaluationLabels,
    checked_choice,
    divide_by_label,
    divide_ranked,
)
from ._lengths import LengthControl, length_buckets, rounded_quotas
from .base import DEFAULT_SEED, Placement, Scores, Sizes, SplitRows

Criterion = Literal["log_likelihood", "perplexity", "length_perplexity"]


class LikelihoodSplitter(DividingSplitter):
    """Train on the likely rows, evaluate on the unlikely ones; equal scores stay in source order.

    Source: 2210.06799, Section 3, and its published code. Rows are sorted by `criterion`: the
    log-likelihood s of the scored text (highest first), or lowest first the perplexity exp(-s / scored
    tokens) or the length perplexity exp(-s / NLTK tokens). The first rows train, the last evaluate. Rows
    without a score train after all others. A group's score is the mean of its members'; one that has a
    member without a score trains.

    length_control
        None, or keep the distribution of lengths: "exact" takes a quota from every distinct length, a number
        from each of that many quantile buckets. Quotas are rounded at random, then the rows nearest to the
        cut are moved ("size_correction") until sizes are exact.
    reverse
        Train on the unlikely rows and evaluate on the likely ones, everything else mirrored.
    evaluation_labels
        With labels: "shares" keeps the shares of labels, exact in total; "equal" (published code) takes the
        same number of every label.
    empty_quota
        With labels and length control: a bucket whose quota is rounded to 0 gives "none" of its rows, or
        "whole_bucket": all of them, as the published code does, which the size correction then mends.
    constraint
        Without labels: "atoms" swaps rows until every atom of an evaluation row has a train row. Rows whose
        program could not be read then train, after all others ("unparsed").

    Written order: least likely first in train, most likely first in validation and test (with labels);
    without labels validation and test are permuted and swapped rows stand last.

    >>> import numpy as np, pyarrow as pa
    >>> from benchwright.splitting import Scores, SplitRows
    >>> rows = SplitRows(pa.array(["a", "b", "c", "d"]), np.arange(4))
    >>> scores = Scores(np.array([-3, -9, -2, -5], dtype=np.float32), np.full(4, 6, dtype=np.int32))
    >>> splitter = LikelihoodSplitter(sizes={"train": 2, "validation": 1, "test": 1})
    >>> [splitter.split(rows, scores).rows(side).tolist() for side in (0, 1, 2)]
    [[0, 2], [1], [3]]
    """

    name = "likelihood"
    reads_scores = True

    def __init__(
        self,
        *,
        sizes: Sizes | Mapping[str, int],
        seed: int | None = DEFAULT_SEED,
        criterion: Criterion = "log_likelihood",
        length_control: LengthControl = None,
        reverse: bool = False,
        evaluation_labels: EvaluationLabels = "shares",
        empty_quota: EmptyQuota = "none",
        constraint: Constraint = None,
    ) -> None:
        super().__init__(sizes=sizes, seed=seed, evaluation_labels=evaluation_labels, constraint=constraint)
        checked_choice("criterion", criterion, ("log_likelihood", "perplexity", "length_perplexity"))
        checked_choice("empty_quota", empty_quota, ("none", "whole_bucket"))
        if not isinstance(reverse, bool):
            raise SplitError(f"reverse is {show(reverse)}; give true or false")
        if length_control not in (None, "exact") and (type(length_control) is not int or length_control < 2):
            raise SplitError(
                f"length_control is {show(length_control)}; give None, 'exact' or a number from 2"
            )
        self.criterion = criterion
        self.length_control = length_control
        self.reverse = reverse
        self.empty_quota = empty_quota

    def _place(self, rows: SplitRows, scores: Scores | None) -> Placement:
        values = self._values(rows, scores)
        draft = self._draft(rows, "score")
        # Lowest keys train.
        key = draft.units.mean(-values if (self.criterion == "log_likelihood") != self.reverse else values)
        draft.set_aside(np.isnan(values), "unscored")
        order = self._ranked(draft, np.argsort(key, kind="stable"))
        rng = np.random.default_rng(self.seed)
        lengths = self._bucketed_lengths(draft)

        def hold_out(part: np.ndarray, room: int) -> tuple[np.ndarray, np.ndarray]:
            if lengths is None:
                return draft.hold_out(part, room, key)
            return self._hold_out_by_length(draft, part, room, key, lengths[part], rng)

        if rows.labels is None:
            train, evaluation = hold_out(order, self.sizes.evaluation)
            sides = divide_ranked(
                draft,
                # By length, the list has this order already.
                train[::-1] if lengths is None else train,
                evaluation,
                self.sizes,
                permuted_by=rng,
                constraint=self.constraint,
            )
        else:
            train, validation, test = divide_by_label(
                draft,
                order,
                self.sizes,
                rng=rng,
                evaluation_labels=self.evaluation_labels,
                hold_out=hold_out,
            )
            sides = (
                train[np.argsort(-key[train], kind="stable")],
                validation[np.argsort(key[validation], kind="stable")],
                test[np.argsort(key[test], kind="stable")],
            )
        return draft.placement(sides, values)

    def _hold_out_by_length(
        self,
        draft: Draft,
        part: np.ndarray,
        room: int,
        key: np.ndarray,
        lengths: np.ndarray,
        rng: np.random.Generator,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Cut every length bucket of `part`, whose units have `lengths`, then make the sizes exact."""
        assert self.length_control is not None
        ranked = draft.rows.labels is None
        buckets = length_buckets(lengths, self.length_control)
        counts = np.bincount(buckets, draft.units.sizes[part]).astype(np.int64)
        # The published code draws for train rows without labels, and for evaluation rows with labels.
        if ranked:
            quotas = counts - rounded_quotas(counts, int(counts.sum()) - room, rng)
        else:
            quotas = rounded_quotas(counts, room, rng)
            if self.empty_quota == "whole_bucket":
                quotas = np.where(quotas == 0, counts, quotas)
        train, evaluation = draft.hold_out_by_bucket(part, buckets, quotas, key)
        return draft.correct_size(train, evaluation, room, returned_to="front" if ranked else "end")

    def _values(self, rows: SplitRows, scores: Scores | None) -> np.ndarray:
        """The criterion of each row; NaN where there is no score. Raises SplitError."""
        if scores is None:
            raise SplitError("a likelihood split needs scores; score the rows with a language model first")
        if self.criterion == "log_likelihood":
            return scores.log_likelihood
        if self.criterion == "perplexity":
            tokens, what = scores.num_tokens, "scored tokens"
        else:
            tokens, what = self._lengths(rows), "NLTK tokens"
        missing = np.isnan(scores.log_likelihood)
        empty = np.flatnonzero((tokens <= 0) & ~missing)
        if len(empty):
            uid = rows.names(empty[:1])[0]
            raise SplitError(
                f"row {uid!r} has {tokens[empty[0]]} {what} ({len(empty)} such rows), so it has no "
                f"{self.criterion}; leave it out, or use criterion='log_likelihood'"
            )
        with np.errstate(over="ignore"):
            values = np.exp(-scores.log_likelihood.astype(np.float64) / np.where(missing, 1, tokens))
            # The published perplexities are float32 files; the other criterion is computed on the fly.
            return values.astype(np.float32) if self.criterion == "perplexity" else values

    def _lengths(self, rows: SplitRows) -> np.ndarray:
        if rows.lengths is None:
            raise SplitError(
                "length_control and length_perplexity need rows with lengths; count the text's tokens first"
            )
        return rows.lengths

    def _bucketed_lengths(self, draft: Draft) -> np.ndarray | None:
        """Length of each unit (a group's mean, rounded), or None without length control."""
        if self.length_control is None:
            return None
        return np.rint(draft.units.mean(self._lengths(draft.rows))).astype(np.int64)

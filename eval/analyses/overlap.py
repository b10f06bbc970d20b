"""What models score on overlapping and other rows of a test set (2011.04767, Tables 5 and 6).

Subsets are configs of a release that an overlap search made; a run on the whole test set is looked at again
on the rows of each. Two tests, never mixed: *unpaired* (Fisher's exact) between the rows of two subsets,
which one run answered; *paired* (exact McNemar) between the answers of two runs to the same rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ...release import ReleaseFolder
from ..metrics.differences import FISHER, MCNEMAR, NEWCOMBE, fisher, mcnemar, newcombe
from ..metrics.intervals import BOOTSTRAP, WILSON, bootstrap_mean, wilson
from ..results import Result, read_examples

ACCURACY = "accuracy"
SPLITTER, ALL, NO_OVERLAP = "overlap", "all", "no_overlap"
REST = "rest"
"""What a subset is compared with where the test set has none without overlap: its other rows with a score."""

_GUESSES = ("majority", "random_option")


@dataclass(frozen=True)
class SubsetAccuracy:
    """Accuracy of one run on the rows of one subset; `subset` is `config` itself for the whole test set.

    `part` is the test set, `settings` the hash of the run's settings.
    """

    config: str
    part: str | None
    subset: str
    baseline: str
    model: str | None
    settings: str
    seed: int
    metric: str
    n: int
    value: float
    low: float
    high: float
    interval: str


@dataclass(frozen=True)
class SubsetDifference:
    """Accuracy of one run on an overlapping subset minus that on `against` (unpaired: other rows).

    `against` is the config without overlap or REST. `p` is that of `test`; `n` and `n_against` count rows.
    """

    config: str
    part: str | None
    subset: str
    against: str
    baseline: str
    model: str | None
    settings: str
    seed: int
    metric: str
    n: int
    n_against: int
    difference: float
    low: float
    high: float
    interval: str
    p: float
    test: str


@dataclass(frozen=True)
class RunDifference:
    """Accuracy of a first run minus that of a second on the n rows of a subset that both answered (paired).

    `first` and `second` hold baseline, model, settings and seed; `only_first` and `only_second` count the
    rows that one alone has right.
    """

    config: str
    part: str | None
    subset: str
    first: dict[str, Any]
    second: dict[str, Any]
    metric: str
    n: int
    only_first: int
    only_second: int
    difference: float
    low: float | None
    high: float | None
    interval: str
    p: float
    test: str


@dataclass(frozen=True)
class TwinConsistency:
    """How often a run has both rows of a pair of twins right.

    `pairs` counts pair_ids with exactly two answered rows in the subset; `both`, `one` and `none` those with
    so many right; `value` is the share of `both`. Guessing gives a quarter.
    """

    config: str
    part: str | None
    subset: str
    baseline: str
    model: str | None
    settings: str
    seed: int
    pairs: int
    both: int
    one: int
    none: int
    value: float
    low: float
    high: float
    interval: str


@dataclass(frozen=True)
class _TestSet:
    """A whole test set: uids in file order, pair ids (None: none), and members of its subsets, bool[rows]."""

    config: str
    part: str | None
    uids: list[str]
    pair_ids: list[Any] | None
    scored: np.ndarray
    subsets: dict[str, np.ndarray]
    without: str | None

    def place(self, subset: str) -> dict[str, Any]:
        """Where a line of the results belongs."""
        return {"config": self.config, "part": self.part, "subset": subset}

    def members(self) -> Iterator[tuple[str, np.ndarray]]:
        yield self.config, np.ones(len(self.uids), dtype=bool)
        yield from self.subsets.items()


def accuracy(correct: np.ndarray) -> dict[str, Any]:
    """n, value and Wilson's interval of `correct`, bool of shape (n,), n > 0."""
    right, n = int(correct.sum()), len(correct)
    low, high = wilson(right, n)
    return {"n": n, "value": right / n, "low": low, "high": high, "interval": WILSON}


def unpaired(first: np.ndarray, second: np.ndarray) -> dict[str, Any]:
    """Accuracy on `first` minus that on `second`, bool arrays over rows that have none in common."""
    rights, sizes = (int(first.sum()), int(second.sum())), (len(first), len(second))
    low, high = newcombe(rights[0], sizes[0], rights[1], sizes[1])
    return {
        "n": sizes[0],
        "n_against": sizes[1],
        "difference": rights[0] / sizes[0] - rights[1] / sizes[1],
        "low": low,
        "high": high,
        "interval": NEWCOMBE,
        "p": fisher(rights[0], sizes[0], rights[1], sizes[1]),
        "test": FISHER,
    }


def paired(first: np.ndarray, second: np.ndarray) -> dict[str, Any]:
    """Accuracy of `first` minus that of `second`, bool arrays of shape (n,) over the same rows, n > 0."""
    only_first, only_second = int((first & ~second).sum()), int((second & ~first).sum())
    low, high = bootstrap_mean(first.astype(np.float64) - second.astype(np.float64))
    return {
        "n": len(first),
        "only_first": only_first,
        "only_second": only_second,
        "difference": (only_first - only_second) / len(first),
        "low": low,
        "high": high,
        "interval": BOOTSTRAP,
        "p": mcnemar(only_first, only_second),
        "test": MCNEMAR,
    }


def twins(correct: np.ndarray, pair_ids: Sequence[Any]) -> dict[str, Any] | None:
    """Consistency over twins of `correct`, bool of shape (n,); None where no pair has two rows.

    Rows without a pair id (null or empty) and pairs of another number of rows do not count.
    """
    rights: dict[Any, list[bool]] = {}
    for right, pair in zip(correct.tolist(), pair_ids, strict=True):
        if pair not in (None, ""):
            rights.setdefault(pair, []).append(right)
    counts = Counter(sum(found) for found in rights.values() if len(found) == 2)
    pairs = counts.total()
    if not pairs:
        return None
    low, high = wilson(counts[2], pairs)
    numbers = {"pairs": pairs, "both": counts[2], "one": counts[1], "none": counts[0]}
    return {**numbers, "value": counts[2] / pairs, "low": low, "high": high, "interval": WILSON}


def overlap_analyses(release: ReleaseFolder, results: Sequence[Result]) -> dict[str, list[Any]]:
    """`overlap_subsets`, `overlap_differences`, `overlap_comparisons` and `overlap_twins` of a release.

    Of results on all rows of a whole test set with an accuracy by row; lists are empty where there is none.
    """
    found: dict[str, list[Any]] = {
        "overlap_subsets": [],
        "overlap_differences": [],
        "overlap_comparisons": [],
        "overlap_twins": [],
    }
    by_place: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        parameters = release.placed_configs.get(result.config, {}).get("parameters") or {}
        whole = _is_overlap(release.placed_configs.get(result.config, {})) and parameters.get("subset") == ALL
        if whole and result.limit is None and ACCURACY in result.metrics:
            by_place.setdefault((result.config, result.evaluated_on), []).append(result)
    for (config, split), runs in by_place.items():
        test_set = _test_set(release, config, split)
        answers = [_correct(release, run, test_set.uids) for run in runs]
        for run, correct in zip(runs, answers, strict=True):
            found["overlap_subsets"] += _subsets(test_set, run, correct)
            found["overlap_differences"] += _differences(test_set, run, correct)
            found["overlap_twins"] += _twins(test_set, run, correct)
        found["overlap_comparisons"] += _comparisons(test_set, list(zip(runs, answers, strict=True)))
    return found


def _is_overlap(entry: Mapping[str, Any]) -> bool:
    return entry.get("splitter") == SPLITTER


def _test_set(release: ReleaseFolder, config: str, split: str) -> _TestSet:
    entry = release.config(config)
    columns = [name for name in ("uid", "pair_id", "best_score") if name in entry["features"]]
    table = release.table(config, split, columns)
    uids = table.column("uid").to_pylist()
    subsets: dict[str, np.ndarray] = {}
    without = None
    for name, other in release.placed_configs.items():
        subset = (other.get("parameters") or {}).get("subset")
        if not _is_overlap(other) or other.get("part") != entry.get("part") or subset in (None, ALL):
            continue
        if split in release.splits(name):
            inside = set(release.table(name, split, ["uid"]).column("uid").to_pylist())
            subsets[name] = np.array([uid in inside for uid in uids], dtype=bool)
            without = name if subset == NO_OVERLAP else without
    scored = np.ones(len(uids), dtype=bool)
    if "best_score" in columns:
        scored = table.column("best_score").combine_chunks().is_valid().to_numpy(zero_copy_only=False)
    pair_ids = table.column("pair_id").to_pylist() if "pair_id" in columns else None
    return _TestSet(config, entry.get("part"), uids, pair_ids, scored, subsets, without)


def _correct(release: ReleaseFolder, result: Result, uids: Sequence[str]) -> np.ndarray:
    """1.0 or 0.0 for every row, NaN where the run has no answer: float64 of shape (rows,)."""
    scores = {line["uid"]: line["scores"].get(ACCURACY) for line in read_examples(release, result)}
    return np.array([np.nan if scores.get(uid) is None else float(scores[uid]) for uid in uids])


def _right(correct: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Which of the answered rows among `members` are right (bool)."""
    return correct[members & ~np.isnan(correct)] == 1.0


def _run(result: Result) -> dict[str, Any]:
    return {
        "baseline": result.baseline,
        "model": result.model,
        "settings": result.settings_hash,
        "seed": result.seed,
    }


def _subsets(test_set: _TestSet, run: Result, correct: np.ndarray) -> Iterator[SubsetAccuracy]:
    for name, members in test_set.members():
        right = _right(correct, members)
        if len(right):
            yield SubsetAccuracy(**test_set.place(name), **_run(run), metric=ACCURACY, **accuracy(right))


def _differences(test_set: _TestSet, run: Result, correct: np.ndarray) -> Iterator[SubsetDifference]:
    for name, members in test_set.subsets.items():
        if name == test_set.without:
            continue
        against, others = REST, test_set.scored & ~members
        if test_set.without is not None:
            against, others = test_set.without, test_set.subsets[test_set.without]
        one, two = _right(correct, members), _right(correct, others)
        if len(one) and len(two):
            yield SubsetDifference(
                **test_set.place(name),
                against=against,
                **_run(run),
                metric=ACCURACY,
                **unpaired(one, two),
            )


def _comparisons(test_set: _TestSet, runs: Sequence[tuple[Result, np.ndarray]]) -> Iterator[RunDifference]:
    models = [(run, correct) for run, correct in runs if run.baseline not in _GUESSES]
    for (one, first), (two, second) in combinations(models, 2):
        if one.seed != two.seed:
            continue
        both = ~np.isnan(first) & ~np.isnan(second)
        for name, members in test_set.members():
            rows = members & both
            if rows.any():
                yield RunDifference(
                    **test_set.place(name),
                    first=_run(one),
                    second=_run(two),
                    metric=ACCURACY,
                    **paired(first[rows] == 1.0, second[rows] == 1.0),
                )


def _twins(test_set: _TestSet, run: Result, correct: np.ndarray) -> Iterator[TwinConsistency]:
    if test_set.pair_ids is None:
        return
    answered = ~np.isnan(correct)
    for name, members in test_set.members():
        rows = np.flatnonzero(members & answered)
        counted = twins(correct[rows] == 1.0, [test_set.pair_ids[row] for row in rows])
        if counted is not None:
            yield TwinConsistency(**test_set.place(name), **_run(run), **counted)

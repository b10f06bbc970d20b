"""What every splitter takes and gives, and the proof that its result is a split.

A splitter is a pure rule: rows and scores in, an assignment out. Subclasses write `_place`; the base class
puts the rows into canonical order, checks them, and proves that the result is complete, disjoint, of the
promised sizes, and that no group is divided.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from numbers import Integral
from typing import Any, ClassVar, TypeVar, final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import SplitError, show
from ..registry import Registry
from .constraints import largest_remainder

T = TypeVar("T")

TRAIN, VALIDATION, TEST, UNUSED = 0, 1, 2, -1
SIDES = {"train": TRAIN, "validation": VALIDATION, "test": TEST}
DEFAULT_SEED = 42
_REPORT = "report this as a fault of the splitter"
_INTEGERS = ("source_index", "lengths", "labels", "groups", "inputs", "targets", "whitespace_lengths")

splitters: Registry[type[Splitter]] = Registry("splitter")
splitters.declare("random", "benchwright.splitting.random:RandomSplitter")
splitters.declare("length", "benchwright.splitting.length:LengthSplitter")
splitters.declare("likelihood", "benchwright.splitting.likelihood:LikelihoodSplitter")
splitters.declare("published", "benchwright.splitting.published:PublishedSplitter")
splitters.declare("template", "benchwright.splitting.template:TemplateSplitter")
splitters.declare("tmcd", "benchwright.splitting.tmcd:TmcdSplitter")
splitters.declare("clean", "benchwright.splitting.clean:CleanSplitter")
splitters.declare("pvi", "benchwright.splitting.pvi:PviSplitter")
splitters.declare("overlap", "benchwright.splitting.overlap:OverlapSplitter")


@dataclass(frozen=True)
class Sizes:
    """Numbers of rows per split. Raises SplitError for anything but non-negative integers."""

    train: int
    validation: int
    test: int

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if isinstance(value, bool) or not isinstance(value, Integral) or value < 0:
                raise SplitError(f"size of {name} is {show(value)}; give a number of rows, 0 or more")
            object.__setattr__(self, name, int(value))

    @property
    def total(self) -> int:
        return self.train + self.validation + self.test

    @property
    def evaluation(self) -> int:
        return self.validation + self.test

    @classmethod
    def of(cls, value: Sizes | Mapping[str, int]) -> Sizes:
        """Sizes from a mapping with the keys train, validation and test. Raises SplitError."""
        if isinstance(value, Sizes):
            return value
        if not isinstance(value, Mapping) or set(value) != set(SIDES):
            raise SplitError(f"sizes are {show(value)}; give rows for train, validation and test")
        return cls(**value)

    @classmethod
    def holding_out(cls, rows: int, *, validation: int, test: int) -> Sizes:
        """The given evaluation sizes; all other rows train. Raises SplitError if they exceed `rows`."""
        if validation + test > rows:
            raise SplitError(
                f"validation {validation} + test {test} are more than the {rows} rows; ask for fewer"
            )
        return cls(rows - validation - test, validation, test)

    @classmethod
    def proportional(cls, published: Sizes, rows: int) -> Sizes:
        """`published` scaled to `rows` by largest remainders (ties: train, validation, test).

        The total is exact, and equal to `published` when `rows` is its total. A split that is published
        stays: it has at least one row. Raises SplitError if there are fewer rows than such splits.
        """
        wanted = np.array([published.train, published.validation, published.test], dtype=np.int64)
        kept = int((wanted > 0).sum())
        if rows < kept:
            raise SplitError(f"{rows} rows cannot fill {kept} splits; give at least {kept} rows")
        scaled = largest_remainder(wanted, rows)
        for split in np.flatnonzero((scaled == 0) & (wanted > 0)):
            scaled[np.argmax(scaled)] -= 1
            scaled[split] += 1
        return cls(*scaled.tolist())


@dataclass(frozen=True, eq=False)
class SplitRows:
    """What splitters may know of n rows, as arrays of length n in one common order (any order).

    `source_index` is unique and gives the canonical order, which breaks all ties. `lengths` counts the
    NLTK tokens of the scored text; `whitespace_lengths` is the length by which semantic-parsing length
    splits sort. `labels` index `label_names`; None stands for a task without classes. Rows of one value of
    `groups` stay on one side; rows of one value of `inputs` have equal input, of one value of `targets`
    equal target (labels or programs). `source_splits` names the split that a row was published in;
    `published_splits` holds further published divisions by name: for each row the name of its split, or None
    for a row that has no place in it. `atoms`, `compounds` and `templates` give, for each row, what its
    program is made of (None for a program that could not be read); they are called only by splitters that use
    them.
    """

    uids: pa.StringArray
    source_index: np.ndarray
    lengths: np.ndarray | None = None
    labels: np.ndarray | None = None
    label_names: tuple[str, ...] = ()
    groups: np.ndarray | None = None
    inputs: np.ndarray | None = None
    targets: np.ndarray | None = None
    source_splits: np.ndarray | None = None
    whitespace_lengths: np.ndarray | None = None
    published_splits: Mapping[str, np.ndarray] = field(default_factory=dict)
    atoms: Callable[[], list[frozenset[str] | None]] | None = None
    compounds: Callable[[], list[Mapping[str, int] | None]] | None = None
    templates: Callable[[], list[str | None]] | None = None

    def __len__(self) -> int:
        return len(self.uids)

    def take(self, order: np.ndarray) -> SplitRows:
        """The rows at `order`, in that order."""
        arrays = {
            name: getattr(self, name)[order]
            for name in (*_INTEGERS, "source_splits")
            if name != "source_index" and getattr(self, name) is not None
        }
        return replace(
            self,
            uids=self.uids.take(pa.array(order)),
            source_index=self.source_index[order],
            published_splits={name: values[order] for name, values in self.published_splits.items()},
            atoms=_reordered(self.atoms, order),
            compounds=_reordered(self.compounds, order),
            templates=_reordered(self.templates, order),
            **arrays,
        )

    def require_usable(self) -> None:
        """Raise SplitError for arrays that do not fit together; the second time costs nothing."""
        _ = self._usable

    @cached_property
    def _usable(self) -> bool:
        _check_rows(self)
        return True

    def names(self, rows: np.ndarray) -> tuple[str, ...]:
        """The uids at `rows`."""
        return tuple(self.uids.take(pa.array(rows, pa.int64())).to_pylist())


def _reordered(listed: Callable[[], list[T]] | None, order: np.ndarray) -> Callable[[], list[T]] | None:
    if listed is None:
        return None

    def reordered() -> list[T]:
        values = listed()
        return [values[row] for row in order.tolist()]

    return reordered


@dataclass(frozen=True, eq=False)
class Scores:
    """One score per row: log-likelihood in nats (float32, NaN = no score) and number of scored tokens.

    `pvi` is the pointwise V-information in bits (float32, NaN = none) where a model was trained to find it.
    `best_score` is the BM25 score of the best document (float64, 0 = none matches, NaN = no query) where rows
    were searched in corpora; `exact_copy` (bool) says of which one a corpus holds a copy.
    """

    log_likelihood: np.ndarray
    num_tokens: np.ndarray
    pvi: np.ndarray | None = None
    best_score: np.ndarray | None = None
    exact_copy: np.ndarray | None = None

    def take(self, order: np.ndarray) -> Scores:
        """The scores of the rows at `order`, in that order."""
        others = (self.pvi, self.best_score, self.exact_copy)
        taken = (None if values is None else values[order] for values in others)
        return Scores(self.log_likelihood[order], self.num_tokens[order], *taken)


@dataclass(frozen=True)
class Note:
    """Something that a reader of the split should know; `uids` are the rows concerned."""

    code: str
    message: str
    uids: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Placement:
    """What `_place` decides: row numbers per side in written order, and by what rule each row got there.

    `placed_by` has a word for every row; `score` (NaN = none) is the row's value of what was sorted by.
    """

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray
    placed_by: np.ndarray
    score: np.ndarray
    notes: tuple[Note, ...] = ()
    unused: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Assignment:
    """The side of every row, in the order of the rows that were given.

    `side` int8 (TRAIN, VALIDATION, TEST, UNUSED); `position` int32, the rank in the written order of the
    side (-1 where unused); `placed_by` words as the column of that name; `score` float32, NaN = none.
    """

    side: np.ndarray
    position: np.ndarray
    placed_by: np.ndarray
    score: np.ndarray
    notes: tuple[Note, ...] = ()

    def rows(self, side: int) -> np.ndarray:
        """Row numbers of one side in its written order (int64)."""
        members = np.flatnonzero(self.side == side)
        return members[np.argsort(self.position[members], kind="stable")]

    def sizes(self) -> Sizes:
        """Numbers of rows per side."""
        return Sizes(*(int((self.side == side).sum()) for side in SIDES.values()))


class Splitter(ABC):
    """A rule that divides rows into train, validation and test.

    `sizes` are exact where rows have no groups. With groups, whole groups are placed: validation and test
    get at most their sizes and train the rest. `seed` starts every random stream of the rule (None stands
    for 42); the result depends on it, the rows and the scores, and on nothing else: not on the order in
    which rows are given, the process or the time. Constructor parameters are JSON-able keywords.
    Subclasses that may leave rows out set `uses_all_rows` to False and list them as `unused`.
    """

    name: ClassVar[str]
    reads_scores: ClassVar[bool] = False
    uses_all_rows: ClassVar[bool] = True
    kept_whole: ClassVar[str] = "group"
    """What is never divided, in a word for messages."""
    sizes: Sizes | None

    def __init__(self, *, sizes: Sizes | Mapping[str, int], seed: int | None = DEFAULT_SEED) -> None:
        self.sizes = Sizes.of(sizes)
        if not self.sizes.train or not self.sizes.evaluation:
            raise SplitError(f"sizes are {show(sizes)}; give at least one row to train and one to evaluate")
        self.seed = checked_seed(seed)

    @abstractmethod
    def _place(self, rows: SplitRows, scores: Scores | None) -> Placement:
        """Divide checked rows that stand in canonical order. Raises SplitError."""

    def _expected(self, rows: SplitRows) -> Sizes | None:
        """The sizes that a result is held to; None for any."""
        return self.sizes

    def _groups(self, rows: SplitRows) -> np.ndarray | None:
        """Numbers of what a result must keep on one side (int[n]); None for single rows."""
        return rows.groups

    def _limited(self) -> tuple[str, ...]:
        """The sides whose sizes are upper limits where groups stay whole; others take what is left."""
        return ("validation", "test")

    def parameters(self) -> dict[str, Any]:
        """Constructor arguments, JSON-able: `type(self)(**parameters())` is the same splitter."""
        names = inspect.signature(type(self).__init__).parameters
        values = {name: getattr(self, name) for name in names if name != "self"}
        return {name: asdict(value) if isinstance(value, Sizes) else value for name, value in values.items()}

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.parameters().items())
        return f"{type(self).__name__}({shown})"

    @final
    def split(self, rows: SplitRows, scores: Scores | None = None) -> Assignment:
        """Divide `rows`. Raises SplitError for rows, scores or sizes that cannot be used.

        A result that is no split (a row twice or nowhere, a wrong size, a divided group, an empty side
        that was not asked for) is never returned: that is a SplitError too.
        """
        rows.require_usable()
        if self.uses_all_rows and self.sizes is not None and self.sizes.total != len(rows):
            raise SplitError(
                f"sizes {self.sizes.train} + {self.sizes.validation} + {self.sizes.test} add up to "
                f"{self.sizes.total}, but there are {len(rows)} rows; give sizes that add up to {len(rows)}"
            )
        if scores is not None:
            scores = _checked_scores(scores, len(rows))
        order = np.argsort(rows.source_index, kind="stable")
        if np.array_equal(order, np.arange(len(rows))):
            canonical, ordered = rows, scores
        else:
            canonical = rows.take(order)
            ordered = scores and scores.take(order)
        placement = self._place(canonical, ordered)
        notes = self._prove(canonical, placement)
        side, position = _sides(placement, len(rows))
        back = np.empty(len(rows), dtype=np.int64)
        back[order] = np.arange(len(rows))
        score = placement.score.astype(np.float32, copy=False)
        return Assignment(side[back], position[back], placement.placed_by[back], score[back], notes)

    def _prove(self, rows: SplitRows, placement: Placement) -> tuple[Note, ...]:
        """Raise SplitError unless `placement` is a split as promised; the notes, with those on sizes."""
        lists = [placement.train, placement.validation, placement.test]
        placed = np.concatenate([*lists, *([] if placement.unused is None else [placement.unused])])
        counts = np.bincount(placed, minlength=len(rows))
        whole = sum(map(len, lists)) == len(rows) or not self.uses_all_rows
        if len(counts) != len(rows) or not (counts == 1).all() or not whole:
            raise SplitError(f"{self!r} placed a row twice or nowhere; {_REPORT}")
        groups = self._groups(rows)
        if groups is not None:
            _prove_groups(groups, placement)
        made = [len(list_) for list_ in lists]
        return (*placement.notes, *self._prove_sizes(made, self._expected(rows), groups is not None))

    def _prove_sizes(self, counts: list[int], expected: Sizes | None, grouped: bool) -> list[Note]:
        wanted = counts if expected is None else [getattr(expected, name) for name in SIDES]
        notes = []
        for name, count, size in zip(SIDES, counts, wanted, strict=True):
            if (count != size) if not grouped else (count > size and name in self._limited()):
                raise SplitError(f"{self!r} gave {name} {count} rows instead of {size}; {_REPORT}")
            if count == 0 and size > 0:
                raise SplitError(
                    f"{name} would be empty: no whole {self.kept_whole} fits its {size} rows; "
                    f"ask for more {name} rows, or use another splitter"
                )
            if count == 0:
                notes.append(Note("empty_split", f"{name} has no rows"))
            elif count < size:
                message = f"{name} has {count} of {size} rows: {self.kept_whole}s stay whole"
                notes.append(Note("below_size", message))
        return notes


def checked_seed(seed: int | None) -> int:
    if seed is None:
        return DEFAULT_SEED
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise SplitError(f"seed is {show(seed)}; give an integer, 0 or more")
    return int(seed)


def _check_rows(rows: SplitRows) -> None:
    n = len(rows)
    if n == 0:
        raise SplitError("there are no rows to split; check the source and its filters")
    for name in (*_INTEGERS, "source_splits"):
        values = getattr(rows, name)
        if values is not None and len(values) != n:
            raise SplitError(f"{name} has {len(values)} values for {n} rows; give one value per row")
    for name, names in rows.published_splits.items():
        if len(names) != n:
            raise SplitError(
                f"published split {name!r} has {len(names)} values for {n} rows; give one value per row"
            )
    for name in _INTEGERS:
        values = getattr(rows, name)
        if values is not None and not np.issubdtype(values.dtype, np.integer):
            raise SplitError(f"{name} has type {values.dtype}; give integers")
    if rows.uids.null_count:
        raise SplitError(f"{rows.uids.null_count} rows have no uid; give every row a uid")
    _check_unique("uid", rows.uids)
    _check_unique("source_index", pa.array(rows.source_index))
    if rows.labels is not None:
        wrong = np.flatnonzero((rows.labels < 0) | (rows.labels >= len(rows.label_names)))
        if len(wrong):
            uid, label = rows.names(wrong[:1])[0], rows.labels[wrong[0]]
            raise SplitError(
                f"row {uid!r} has label {label} ({len(wrong)} such rows), but labels index "
                f"{show(rows.label_names)}; leave out rows without a label"
            )


def _check_unique(what: str, values: pa.Array) -> None:
    if pc.count_distinct(values).as_py() == len(values):
        return
    counts = pc.value_counts(values)
    twice = counts.filter(pc.greater(counts.field("counts"), 1))[0].as_py()
    raise SplitError(
        f"{what} {show(twice['values'])} stands in {twice['counts']} rows; make every {what} unique"
    )


def _checked_scores(scores: Scores, n: int) -> Scores:
    """The scores in the types of `Scores`, in which ties are ties. Raises SplitError."""
    for name in ("log_likelihood", "num_tokens", "pvi", "best_score", "exact_copy"):
        values = getattr(scores, name)
        if values is not None and len(values) != n:
            raise SplitError(f"scores have {len(values)} values of {name} for {n} rows; score every row")
    log_likelihood = _finite_float32("log-likelihood", scores.log_likelihood)
    pvi = None if scores.pvi is None else _finite_float32("PVI", scores.pvi)
    best_score = None if scores.best_score is None else _finite("best score", scores.best_score, np.float64)
    return Scores(log_likelihood, scores.num_tokens, pvi, best_score, scores.exact_copy)


def _finite_float32(what: str, values: np.ndarray) -> np.ndarray:
    return _finite(what, values, np.float32)


def _finite(what: str, values: np.ndarray, kind: type[np.floating]) -> np.ndarray:
    with np.errstate(over="ignore"):
        rounded = np.asarray(values, dtype=kind)
    infinite = np.flatnonzero(np.isinf(rounded))
    if len(infinite):
        raise SplitError(
            f"row {infinite[0]} has {what} {values[infinite[0]]} "
            f"({len(infinite)} such rows); give finite numbers, NaN where there is no score"
        )
    return rounded


def _prove_groups(groups: np.ndarray, placement: Placement) -> None:
    side, _ = _sides(placement, len(groups))
    order = np.lexsort((side, groups))
    same = groups[order][1:] == groups[order][:-1]
    used = (side[order] != UNUSED)[1:] & (side[order] != UNUSED)[:-1]
    divided = np.flatnonzero(same & used & (side[order][1:] != side[order][:-1]))
    if len(divided):
        group = int(groups[order[divided[0]]])
        raise SplitError(f"group {group} stands on two sides; {_REPORT}")


def _sides(placement: Placement, n: int) -> tuple[np.ndarray, np.ndarray]:
    side = np.full(n, UNUSED, dtype=np.int8)
    position = np.full(n, -1, dtype=np.int32)
    for name, number in SIDES.items():
        members = getattr(placement, name)
        side[members] = number
        position[members] = np.arange(len(members), dtype=np.int32)
    return side, position

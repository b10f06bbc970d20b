"""Properties of every registered splitter on generated corpora: permute, duplicate, grow, complete."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchwright.errors import SplitError
from benchwright.splitting import (
    SIDES,
    TEST,
    TRAIN,
    UNUSED,
    VALIDATION,
    Assignment,
    Scores,
    Sizes,
    SplitRows,
    Splitter,
    splitters,
)

Corpus = tuple[SplitRows, Scores]
DIVIDING: list[dict[str, Any]] = [{}, {"seed": 7}, {"evaluation_labels": "equal"}]
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "random": [*DIVIDING, {"constraint": "atoms"}],
    "length": [*DIVIDING, {"constraint": "atoms"}],
    "likelihood": [
        *DIVIDING,
        {"constraint": "atoms", "length_control": 3},
        {"length_control": "exact"},
        {"length_control": "exact", "empty_quota": "whole_bucket", "evaluation_labels": "equal"},
        {"length_control": 3, "reverse": True},
        {"criterion": "perplexity", "reverse": True},
        {"criterion": "length_perplexity", "length_control": 2},
    ],
    "published": [{}, {"split": "others"}],
    "template": [{}, {"seed": 7, "mode": "train_first"}, {"constraint": "atoms"}],
    "tmcd": [{}, {"seed": 7, "mode": "reference"}, {"constraint": None, "max_iterations": 2}],
}
CASES = [(name, variant) for name, variants in VARIANTS.items() for variant in variants]
every_splitter = pytest.mark.parametrize(
    ("name", "variant"), CASES, ids=["-".join([name, *map(str, variant.values())]) for name, variant in CASES]
)
examples = settings(max_examples=30, deadline=None, derandomize=True)


# Placed by the source's border or by cut-offs, not by sizes: their properties are in tests of their own.
OTHERS = {"clean", "overlap", "pvi"}


def test_every_registered_splitter_has_a_case() -> None:
    assert set(VARIANTS) | OTHERS == set(splitters)


def make(name: str, variant: dict[str, Any], n: int) -> Splitter:
    if name == "published":
        return splitters.get(name)(**variant)
    return splitters.get(name)(sizes=Sizes.proportional(Sizes(6, 2, 2), n), **variant)


@st.composite
def corpora(draw: st.DrawFn, *, unscored: bool = True, grouped: bool | None = False) -> Corpus:
    """A small corpus with many ties; shuffled, with gaps in its source order."""
    n = draw(st.integers(8, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    labelled = draw(st.booleans())
    with_groups = draw(st.booleans()) if grouped is None else grouped
    readable = rng.random(n) < (0.9 if draw(st.booleans()) else 1)
    programs = [rng.choice(list("abcdef"), size=3).tolist() for _ in range(n)]
    numbers = [str(number) for number in rng.integers(0, n // 2, n)]
    log_likelihood = np.round(rng.normal(-20, 6, n)).astype(np.float32)
    if unscored and draw(st.booleans()):
        log_likelihood[rng.integers(0, n, 2)] = np.nan
    rows = SplitRows(
        pa.array([f"made:{i}" for i in range(n)]),
        np.sort(rng.choice(10 * n, n, replace=False)),
        lengths=rng.integers(1, 6, n),
        labels=rng.integers(0, 2, n) if labelled else None,
        label_names=("no", "yes") if labelled else (),
        groups=rng.integers(0, n, n) if with_groups else None,
        source_splits=rng.choice(np.array(["train", "dev", "test"]), n),
        published_splits={"others": rng.choice(np.array(["train", "test", None]), n)},
        atoms=None if labelled else lambda: where_readable(frozenset, programs, readable),
        compounds=None if labelled else lambda: where_readable(pairs, programs, readable),
        templates=lambda: where_readable("".join, numbers, readable),
    )
    scores = Scores(log_likelihood, rng.integers(1, 9, n).astype(np.int32))
    return permuted((rows, scores), rng.permutation(n))


def where_readable(made: Callable[[Any], Any], programs: list[Any], readable: np.ndarray) -> list[Any]:
    return [made(program) if can else None for program, can in zip(programs, readable, strict=True)]


def pairs(program: list[str]) -> Counter[str]:
    """Neighbouring symbols, which stand for compounds."""
    return Counter(f"{first} {second}" for first, second in itertools.pairwise(program))


def permuted(corpus: Corpus, order: np.ndarray) -> Corpus:
    rows, scores = corpus
    return rows.take(order), Scores(scores.log_likelihood[order], scores.num_tokens[order])


def outcome(splitter: Splitter, corpus: Corpus) -> dict[str, tuple[Any, ...]] | str:
    """uid -> side, position, rule, score; or the error's message."""
    try:
        result = splitter.split(*corpus)
    except SplitError as error:
        return str(error)
    columns = (result.side, result.position, result.placed_by, np.nan_to_num(result.score, nan=1.0))
    placed = zip(*(column.tolist() for column in columns), strict=True)
    return dict(zip(corpus[0].uids.to_pylist(), placed, strict=True))


def split_or_skip(splitter: Splitter, corpus: Corpus) -> Assignment:
    try:
        return splitter.split(*corpus)
    except SplitError:
        assume(False)
        raise


def fits(name: str, variant: dict[str, Any], corpus: Corpus) -> bool:
    return corpus[0].labels is None or (name != "tmcd" and "constraint" not in variant)


def left_out(splitter: Splitter, rows: SplitRows) -> list[int]:
    """Rows that have no place in a split."""
    values: list[Any] = []
    if splitter.name == "tmcd" and rows.compounds is not None:
        values = rows.compounds()
    elif splitter.parameters().get("split") is not None:
        values = rows.published_splits["others"].tolist()
    return [row for row, value in enumerate(values) if value is None]


def sizes_hold(splitter: Splitter, rows: SplitRows, made: Sizes) -> bool:
    """Exact where single rows are placed and limits where templates are; TMCD trains without unread rows."""
    wanted = splitter.sizes
    if wanted is None:
        return True
    if splitter.name == "tmcd":
        return made == dataclasses.replace(wanted, train=wanted.train - len(left_out(splitter, rows)))
    if splitter.name != "template":
        return made == wanted
    if splitter.parameters()["mode"] == "train_first":
        return made.train <= wanted.train
    return made.validation <= wanted.validation and made.test <= wanted.test


@every_splitter
@examples
@given(corpus=corpora(grouped=None), seed=st.integers(0, 1000))
def test_the_order_of_rows_in_memory_changes_nothing(
    name: str, variant: dict[str, Any], corpus: Corpus, seed: int
) -> None:
    splitter = make(name, variant, len(corpus[0]))
    order = np.random.default_rng(seed).permutation(len(corpus[0]))
    assert outcome(splitter, corpus) == outcome(splitter, permuted(corpus, order))


@every_splitter
@examples
@given(corpus=corpora())
def test_complete_disjoint_and_of_exact_size(name: str, variant: dict[str, Any], corpus: Corpus) -> None:
    assume(fits(name, variant, corpus))
    splitter = make(name, variant, len(corpus[0]))
    assignment = split_or_skip(splitter, corpus)
    lists = [assignment.rows(side).tolist() for side in SIDES.values()]
    unused = left_out(splitter, corpus[0])
    assert np.flatnonzero(assignment.side == UNUSED).tolist() == unused
    assert sorted([*unused, *(row for list_ in lists for row in list_)]) == list(range(len(corpus[0])))
    assert sizes_hold(splitter, corpus[0], assignment.sizes())
    for side, list_ in zip(SIDES.values(), lists, strict=True):
        assert assignment.position[list_].tolist() == list(range(len(list_)))
        assert (assignment.side[list_] == side).all()


@every_splitter
@examples
@given(corpus=corpora(grouped=None))
def test_inputs_are_left_alone_and_splits_repeat(name: str, variant: dict[str, Any], corpus: Corpus) -> None:
    splitter = make(name, variant, len(corpus[0]))
    before = [array.copy() for array in (corpus[1].log_likelihood, corpus[0].lengths, corpus[0].source_index)]
    global_state = np.random.get_state()[1].copy()
    assert outcome(splitter, corpus) == outcome(splitter, corpus)
    after = (corpus[1].log_likelihood, corpus[0].lengths, corpus[0].source_index)
    assert all(np.array_equal(x, y, equal_nan=True) for x, y in zip(before, after, strict=True))
    assert np.array_equal(np.random.get_state()[1], global_state)


@every_splitter
@examples
@given(corpus=corpora(unscored=False), data=st.data())
def test_duplicates_stay_on_one_side(
    name: str, variant: dict[str, Any], corpus: Corpus, data: st.DataObject
) -> None:
    assume(fits(name, variant, corpus))
    rows, scores = corpus
    n = len(rows)
    twins = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n // 2)))
    order = np.concatenate([np.arange(n), twins])
    doubled = dataclasses.replace(
        rows.take(order),
        uids=pa.array([f"made:{i}" for i in range(len(order))]),
        source_index=np.arange(len(order)),
        groups=order,
        source_splits=np.random.default_rng(n).choice(np.array(["train", "dev", "test"]), len(order)),
    )
    splitter = make(name, variant, len(order))
    assignment = split_or_skip(
        splitter, (doubled, Scores(scores.log_likelihood[order], scores.num_tokens[order]))
    )
    assert (assignment.side[n:] == assignment.side[twins]).all()
    counts = assignment.sizes()
    assert counts.total == len(order) - len(left_out(splitter, doubled))
    if splitter.sizes is not None:
        assert counts.validation > 0
        assert counts.test > 0
        if splitter.parameters().get("mode") != "train_first":
            assert counts.validation <= splitter.sizes.validation
            assert counts.test <= splitter.sizes.test


@every_splitter
@examples
@given(corpus=corpora(unscored=False))
def test_one_row_more_keeps_sizes_exact(name: str, variant: dict[str, Any], corpus: Corpus) -> None:
    assume(fits(name, variant, corpus))
    n = len(corpus[0])
    for size in (n - 1, n):
        part = permuted(corpus, np.arange(size))
        splitter = make(name, variant, size)
        assignment = split_or_skip(splitter, part)
        assert assignment.sizes().total == size - len(left_out(splitter, part[0]))
        assert sizes_hold(splitter, part[0], assignment.sizes())
        assert outcome(splitter, part) == outcome(make(name, variant, size), part)


ORDERED: list[tuple[str, dict[str, Any], Callable[[Corpus], np.ndarray], bool]] = [
    ("likelihood", {}, lambda corpus: corpus[1].log_likelihood, True),
    ("likelihood", {"reverse": True}, lambda corpus: corpus[1].log_likelihood, False),
    ("length", {}, lambda corpus: corpus[0].lengths, False),
]


@pytest.mark.parametrize(("name", "variant", "value", "train_is_high"), ORDERED)
@examples
@given(corpus=corpora(unscored=False))
def test_train_and_evaluation_do_not_overlap_in_value(
    name: str,
    variant: dict[str, Any],
    value: Callable[[Corpus], np.ndarray],
    train_is_high: bool,
    corpus: Corpus,
) -> None:
    """Within each label, no evaluation row lies on the train side of a train row."""
    side = make(name, variant, len(corpus[0])).split(*corpus).side
    values = value(corpus) if train_is_high else -value(corpus)
    labels = corpus[0].labels
    for label in [None] if labels is None else np.unique(labels):
        within = np.full(len(side), True) if label is None else labels == label
        train = values[within & (side == TRAIN)]
        evaluation = values[within & ((side == VALIDATION) | (side == TEST))]
        if len(train) and len(evaluation):
            assert train.min() >= evaluation.max()

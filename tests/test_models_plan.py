"""The scoring plan: which prefixes run once and which lengths run together, of least cost."""

from __future__ import annotations

from functools import cache

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.eval.models import TokenPair, plan_scoring
from benchwright.eval.models._pairs import TokenPairs
from benchwright.eval.models._plan import BATCH_COST, SMALLEST_BATCH, length_classes
from benchwright.eval.models._prefixes import REUSE_COST, common_prefix_lengths, group_by_prefix

sequences = st.sets(st.lists(st.integers(0, 2), min_size=2, max_size=7).map(tuple), min_size=1, max_size=12)


def sorted_pairs(rows: set[tuple[int, ...]]) -> TokenPairs:
    return TokenPairs.from_parts((row[:1], row[1:]) for row in sorted(rows))


def cost(rows: list[tuple[int, ...]], length: int) -> int:
    """Tokens run for rows that share their first `length` tokens."""
    return length + sum(len(row) - 1 - length + REUSE_COST for row in rows)


@settings(max_examples=300, deadline=None)
@given(sequences)
def test_no_simpler_grouping_costs_less(rows: set[tuple[int, ...]]) -> None:
    ordered = sorted(rows)
    groups = group_by_prefix(sorted_pairs(rows))
    assert sorted(member for group in groups for member in group.members) == list(range(len(rows)))
    found = 0
    for group in groups:
        members = [ordered[member] for member in group.members]
        assert len({row[: group.length] for row in members}) == 1
        assert all(group.length <= len(row) - 1 for row in members)
        found += cost(members, group.length) if group.length else sum(len(row) - 1 for row in members)
    apart = sum(len(row) - 1 for row in ordered)
    everywhere = min(len(row) - 1 for row in ordered)
    while len({row[:everywhere] for row in ordered}) > 1:
        everywhere -= 1
    by_first_token = [[row for row in ordered if row[0] == first] for first in {row[0] for row in ordered}]
    assert found <= min(apart, cost(ordered, everywhere))
    assert found <= sum(min(cost(rows, 1), sum(len(row) - 1 for row in rows)) for rows in by_first_token)


def test_sequences_that_no_group_wants_share_what_they_have() -> None:
    prompt, common = (1, 2, 3, 4), (5, 6, 7, 8)
    rows = {(*prompt, *common, last, 0) for last in range(10, 20)} | {
        (*prompt, alone, 0) for alone in (20, 30, 40)
    }
    groups = group_by_prefix(sorted_pairs(rows))
    assert [(group.length, len(group.members)) for group in groups] == [(8, 10), (4, 3)]


@given(sequences)
def test_common_prefixes_leave_out_the_last_token(rows: set[tuple[int, ...]]) -> None:
    ordered = sorted(rows)
    for first, second, shared in zip(
        ordered, ordered[1:], common_prefix_lengths(sorted_pairs(rows)), strict=False
    ):
        assert first[:shared] == second[:shared]
        limit = min(len(first), len(second)) - 1
        assert shared == limit or first[shared] != second[shared]


@given(st.lists(st.integers(1, 40), min_size=1, max_size=60))
def test_length_classes_cost_least(lengths: list[int]) -> None:
    classes = length_classes(np.array(lengths))
    assert [end % 2 for _, end in classes] == [0] * len(classes)
    for length in lengths:
        assert sum(shortest <= length <= longest for shortest, longest in classes) == 1

    def padded(rows: list[int], longest: int) -> int:
        return max(len(rows) * longest, SMALLEST_BATCH) + BATCH_COST

    @cache
    def least(longest: int) -> int:
        if not any(length <= longest for length in lengths):
            return 0
        return min(
            padded([length for length in lengths if shortest < length <= longest], longest) + least(shortest)
            for shortest in range(0, longest, 2)
        )

    found = sum(
        padded([length for length in lengths if shortest <= length <= longest], longest)
        for shortest, longest in classes
    )
    assert found == least(max(lengths) + max(lengths) % 2)


def test_a_premise_runs_once_for_its_hypotheses() -> None:
    premise = tuple(range(10, 40))
    pairs = [TokenPair((*premise, label), (50 + label, 60, 0)) for label in (1, 2, 3)]
    plan = plan_scoring(pairs, max_positions=100)
    (chunk,) = plan.chunks
    assert chunk.prefixes == ((0, 30),)
    assert plan.computed_tokens == 30 + 3 * 3
    assert plan.scored_tokens == 9

"""Which prefixes of a set of token sequences are worth running once (pure functions over arrays)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._pairs import TokenPairs

REUSE_COST = 1
"""Cost, in tokens, of fetching a prefix's keys and values for one sequence."""


@dataclass(frozen=True)
class PrefixGroup:
    """Sequences (ascending indices) whose first `length` tokens are equal and run once; 0: nothing shared."""

    length: int
    members: tuple[int, ...]


def common_prefix_lengths(sequences: TokenPairs) -> np.ndarray:
    """Tokens that each sequence shares with the next, int64 of shape (sequences - 1,).

    The last token of a sequence never counts: it is only predicted, never run.
    """
    count = len(sequences)
    if count < 2:
        return np.empty(0, dtype=np.int64)
    limit = np.minimum(sequences.lengths[:-1], sequences.lengths[1:]) - 1
    shared = np.zeros(count - 1, dtype=np.int64)
    alive = np.flatnonzero(limit > 0)
    depth = 0
    while len(alive):
        left = sequences.ids[sequences.offsets[alive] + depth]
        right = sequences.ids[sequences.offsets[alive + 1] + depth]
        alive = alive[left == right]
        depth += 1
        shared[alive] = depth
        alive = alive[limit[alive] > depth]
    return shared


def group_by_prefix(sequences: TokenPairs) -> list[PrefixGroup]:
    """Group distinct sequences in lexicographic order so that few tokens run.

    Cost is the number of tokens that run: a group costs its prefix once, every member's remainder, and
    `REUSE_COST` a member. The tree of common prefixes is cut where that costs least (`_cut_prefix_tree`);
    sequences that stay alone are then grouped among themselves, until nothing more is gained.
    """
    groups: list[PrefixGroup] = []
    alone = np.arange(len(sequences))
    while len(alone):
        found = _cut_prefix_tree(sequences.take(alone))
        shared = [group for group in found if group.length]
        groups.extend(
            PrefixGroup(group.length, tuple(alone[list(group.members)].tolist())) for group in shared
        )
        rest = np.array([group.members[0] for group in found if not group.length], dtype=np.int64)
        alone = alone[rest]
        if not shared:
            groups.extend(PrefixGroup(0, (index,)) for index in alone.tolist())
            break
    return sorted(groups, key=lambda group: group.members)


def _cut_prefix_tree(sequences: TokenPairs) -> list[PrefixGroup]:
    """Whole subtrees of the tree of common prefixes as groups, chosen from the leaves up.

    A subtree becomes one group where that is cheaper than what its children came to.
    """
    count = len(sequences)
    if not count:
        return []
    shared = [*common_prefix_lengths(sequences).tolist(), -1]
    to_run = sequences.lengths - 1
    before = [0, *np.cumsum(to_run).tolist()]
    chosen: list[tuple[int, int]] = []  # (first member, prefix length); a group ends where the next begins
    open_nodes: list[tuple[int, int, int]] = []  # (prefix length, first member, cost of its children so far)
    for leaf in range(count):
        first, cost = leaf, before[leaf + 1] - before[leaf]
        chosen.append((leaf, 0))
        while open_nodes and open_nodes[-1][0] > shared[leaf]:
            length, first, earlier = open_nodes.pop()
            cost += earlier
            members = leaf + 1 - first
            as_group = length + before[leaf + 1] - before[first] + members * (REUSE_COST - length)
            if length and as_group < cost:
                while chosen and chosen[-1][0] >= first:
                    chosen.pop()
                chosen.append((first, length))
                cost = as_group
        if open_nodes and open_nodes[-1][0] == shared[leaf]:
            length, start, earlier = open_nodes.pop()
            open_nodes.append((length, start, earlier + cost))
        else:
            open_nodes.append((shared[leaf], first, cost))
    ends = [*(first for first, _ in chosen[1:]), count]
    return [
        PrefixGroup(length, tuple(range(first, end)))
        for (first, length), end in zip(chosen, ends, strict=True)
    ]

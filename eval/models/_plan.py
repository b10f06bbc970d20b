"""The plan of a scoring run: which sequences run together, fixed by their token ids alone.

What decides the last bits of a score is the shape of the computation. Measured with float32 on CPUs: the
hidden states of a sequence are the same bits in any batch and under any number of threads as long as

- its own shape does not change: a row is padded to a length that the plan fixes for it;
- lengths are even: torch gives each thread a slice of one buffer for attention, an odd length puts the
  second slice off the alignment of the first, and another kernel takes over;
- a batch holds at least a dozen tokens for two threads, below which other matrix kernels are chosen: small
  batches are filled with dummy rows to `SMALLEST_BATCH` tokens.

Prefixes that sequences share run once and their keys and values are reused; where a sequence is cut depends
on the other sequences, therefore the cut is made here, from the set of all sequences, and never from their
order, the memory at hand or the number of threads.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from ._pairs import TokenPair, TokenPairs
from ._prefixes import PrefixGroup, group_by_prefix

ALGORITHM = "causal-plan/1"
"""Part of the identity of every score: a change that can move bits changes this name."""

TOKEN_BUDGET = 512
"""Tokens of a batch; on CPUs larger batches are no faster."""

CHUNK_TOKENS = 16_384
"""Tokens run between two points at which a run can resume: under a minute for a small model on two cores."""

CHUNK_PREFIX_TOKENS = 4_096
"""Tokens whose keys and values are held at once: 190 MB for SmolLM2-135M, 800 MB for GPT-2 medium."""

SMALLEST_BATCH = 64
LENGTH_MULTIPLE = 2
SLOT_MULTIPLE = 32
BATCH_COST = 48
"""Cost of one more batch, in tokens: reading the weights, and the work that does not grow with its size."""


@dataclass(frozen=True)
class Member:
    """One sequence of a chunk: `sequence` indexes `ScoringPlan.sequences`, `group` the chunk's prefixes."""

    sequence: int
    group: int | None


@dataclass(frozen=True)
class Chunk:
    """The unit of work and of resuming: shared prefixes and the sequences that continue them.

    `prefixes` holds (sequence, length): the first `length` tokens of that sequence are run once.
    `members` continue a prefix, or run whole where their `group` is None.
    """

    prefixes: tuple[tuple[int, int], ...]
    members: tuple[Member, ...]


@dataclass(frozen=True)
class Batch:
    """Sequences (or prefixes) of one shape: positions into `Chunk.members` (or `Chunk.prefixes`).

    `slots` is the number of cached positions before each row (0 without a prefix): a multiple of
    `SLOT_MULTIPLE` that depends on the row's own prefix. `length` is the number of new tokens a row, rounded
    up to a multiple of `LENGTH_MULTIPLE`.
    """

    rows: tuple[int, ...]
    length: int
    slots: int = 0


@dataclass(frozen=True)
class ScoringPlan:
    """What to score, in which chunks; made by `plan_scoring`.

    `sequences` are the distinct pairs in lexicographic order; `inputs[i]` are the input rows (int64,
    ascending) that hold distinct pair i. `overlength` and `empty` are the input rows (int64) that are not
    scored because they exceed the model's positions, or because nothing in them is to be scored.
    """

    rows: int
    sequences: TokenPairs
    inputs: tuple[np.ndarray, ...]
    chunks: tuple[Chunk, ...]
    overlength: np.ndarray
    empty: np.ndarray
    token_budget: int
    fingerprint: str = field(compare=False)

    @property
    def scored_tokens(self) -> int:
        """Scored tokens over all input rows that are scored, repeated rows included."""
        continuation = self.sequences.lengths - self.sequences.context_lengths
        return int(sum(len(rows) * int(n) for rows, n in zip(self.inputs, continuation, strict=True)))

    @property
    def computed_tokens(self) -> int:
        """Tokens that go through the model's layers, without padding and dummy rows."""
        total = 0
        for chunk in self.chunks:
            total += sum(length for _, length in chunk.prefixes)
            total += sum(self.new_tokens(chunk, member) for member in chunk.members)
        return total

    def new_tokens(self, chunk: Chunk, member: Member) -> int:
        """Tokens of a member that its prefix does not hold; the last one predicts nothing and never runs."""
        shared = 0 if member.group is None else chunk.prefixes[member.group][1]
        return int(self.sequences.lengths[member.sequence]) - 1 - shared

    def prefix_batches(self, chunk: Chunk) -> list[Batch]:
        """Prefixes of a chunk, those of like length together."""
        return list(self._cut(np.array([length for _, length in chunk.prefixes], dtype=np.int64), 0))

    def member_batches(self, chunk: Chunk) -> list[Batch]:
        """Members of a chunk that have new tokens, those of like shape together."""
        new = np.array([self.new_tokens(chunk, member) for member in chunk.members])
        slots = np.array(
            [
                0 if member.group is None else prefix_slots(chunk.prefixes[member.group][1])
                for member in chunk.members
            ]
        )
        return [
            batch
            for size in np.unique(slots[new > 0]).tolist()
            for batch in self._cut(np.where(slots == size, new, 0), size)
        ]

    def _cut(self, lengths: np.ndarray, slots: int) -> Iterator[Batch]:
        """Batches of the rows whose length is not 0."""
        for shortest, longest in length_classes(lengths[lengths > 0]):
            rows = np.flatnonzero((lengths >= shortest) & (lengths <= longest)).tolist()
            padded = -(-longest // LENGTH_MULTIPLE) * LENGTH_MULTIPLE
            size = max(1, self.token_budget // padded)
            for start in range(0, len(rows), size):
                yield Batch(tuple(rows[start : start + size]), padded, slots)


def length_classes(lengths: np.ndarray) -> list[tuple[int, int]]:
    """Ranges of lengths, (shortest, longest), whose rows are padded to one length; of least total cost.

    A class costs the tokens of its rows after padding, at least `SMALLEST_BATCH`, and `BATCH_COST`. Many rows
    thus get classes of one length, without padding, and few rows share one. Depends on the lengths alone.
    """
    values, counts = np.unique(-(-lengths // LENGTH_MULTIPLE) * LENGTH_MULTIPLE, return_counts=True)
    before = np.concatenate([[0], np.cumsum(counts)])
    best = np.zeros(len(values) + 1)
    first = np.zeros(len(values), dtype=np.int64)
    for last, longest in enumerate(values.tolist()):
        rows = before[last + 1] - before[: last + 1]
        costs = best[: last + 1] + np.maximum(rows * longest, SMALLEST_BATCH) + BATCH_COST
        first[last] = int(costs.argmin())
        best[last + 1] = costs[first[last]]
    classes, last = [], len(values) - 1
    while last >= 0:
        shortest = int(values[first[last]]) - LENGTH_MULTIPLE + 1
        classes.append((shortest, int(values[last])))
        last = int(first[last]) - 1
    return classes[::-1]


def prefix_slots(length: int) -> int:
    """Cached positions that a prefix takes: the next larger multiple of `SLOT_MULTIPLE`.

    Always more than the prefix, so that every batch has a masked position: attention code drops a mask
    that masks nothing, and the path taken would depend on the other rows.
    """
    return (length // SLOT_MULTIPLE + 1) * SLOT_MULTIPLE


def plan_scoring(
    pairs: Iterable[TokenPair],
    *,
    max_positions: int,
    token_budget: int = TOKEN_BUDGET,
    share_prefixes: bool = True,
) -> ScoringPlan:
    """Plan the scoring of `pairs`, a pure function of their token ids.

    Equal pairs are scored once. A pair of more than `max_positions` tokens is listed as overlength, never
    cut. `token_budget` bounds the tokens of a batch (one row always runs); `share_prefixes` runs common
    prefixes once. Both belong to the plan's fingerprint. Raises ValueError for a budget below 1.
    """
    if token_budget < 1:
        raise ValueError(f"token_budget must be at least 1, got {token_budget}")
    table = TokenPairs.of(pairs)
    scored = table.lengths - table.context_lengths
    overlength = table.lengths > max_positions
    usable = np.flatnonzero((scored > 0) & ~overlength)
    sequences, inputs = _distinct(table, usable)
    lengths = sequences.lengths
    if share_prefixes:
        groups = group_by_prefix(sequences)
    else:
        groups = [PrefixGroup(0, (index,)) for index in range(len(sequences))]
    chunks = tuple(_chunks(groups, lengths))
    return ScoringPlan(
        rows=len(table),
        sequences=sequences,
        inputs=inputs,
        chunks=chunks,
        overlength=np.flatnonzero(overlength),
        empty=np.flatnonzero((scored == 0) & ~overlength),
        token_budget=token_budget,
        fingerprint=_fingerprint(sequences, token_budget, share_prefixes, max_positions),
    )


def _distinct(table: TokenPairs, usable: np.ndarray) -> tuple[TokenPairs, tuple[np.ndarray, ...]]:
    """Distinct pairs in lexicographic order of (ids, context length) and the input rows of each."""
    big_endian = table.ids.astype(">u4")
    rows_by_key: dict[tuple[bytes, int], list[int]] = defaultdict(list)
    for row in usable.tolist():
        key = big_endian[table.offsets[row] : table.offsets[row + 1]].tobytes()
        rows_by_key[key, int(table.context_lengths[row])].append(row)
    keys = sorted(rows_by_key)
    ids = np.frombuffer(b"".join(key for key, _ in keys), dtype=">u4").astype(np.int32)
    offsets = np.concatenate([[0], np.cumsum([len(key) // 4 for key, _ in keys], dtype=np.int64)])
    borders = np.array([border for _, border in keys], dtype=np.int32)
    inputs = tuple(np.array(rows_by_key[key], dtype=np.int64) for key in keys)
    return TokenPairs(ids, offsets.astype(np.int64), borders), inputs


def _chunks(groups: list[PrefixGroup], lengths: np.ndarray) -> Iterator[Chunk]:
    """Cut groups, shortest prefix first, into chunks; a group larger than a chunk is cut as well.

    Within a group the shorter sequences come first, so that a chunk holds few different lengths.
    """
    prefixes: list[tuple[int, int]] = []
    members: list[Member] = []
    tokens = prefix_tokens = 0
    order = sorted(
        groups, key=lambda group: (group.length, int(lengths[list(group.members)].max()), group.members)
    )
    for group in order:
        index: int | None = None
        for sequence in sorted(group.members, key=lambda member: (int(lengths[member]), member)):
            new = int(lengths[sequence]) - 1 - group.length
            needed = group.length if index is None else 0
            full = tokens + new + needed > CHUNK_TOKENS or prefix_tokens + needed > CHUNK_PREFIX_TOKENS
            if members and full:
                yield Chunk(tuple(prefixes), tuple(members))
                prefixes, members, tokens, prefix_tokens, index = [], [], 0, 0, None
            if group.length and index is None:
                index = len(prefixes)
                prefixes.append((sequence, group.length))
                prefix_tokens += group.length
                tokens += group.length
            members.append(Member(sequence, index))
            tokens += new
    if members:
        yield Chunk(tuple(prefixes), tuple(members))


def _fingerprint(sequences: TokenPairs, token_budget: int, share_prefixes: bool, max_positions: int) -> str:
    digest = hashlib.sha256(f"{ALGORITHM} {token_budget} {share_prefixes} {max_positions}\n".encode())
    for values in (sequences.ids, sequences.offsets, sequences.context_lengths):
        digest.update(np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<")).tobytes())
    return "sha256:" + digest.hexdigest()

"""Token pairs: what a causal language model scores (a continuation) after what it sees (a context)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np


@dataclass(frozen=True)
class TokenPair:
    """A context, which is not scored, and the continuation, every token of which is.

    The context holds at least one token: without one the first token of a text would go unscored, or be
    predicted from padding (the fault of the published no-prefix scores). Raises ValueError otherwise.
    """

    context: tuple[int, ...]
    continuation: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.context:
            raise ValueError("a pair needs at least one context token to predict its first scored token from")


class TokenPairs(Sequence[TokenPair]):
    """Many pairs in three arrays, a tenth of the memory of as many `TokenPair` objects.

    `ids` (int32) holds every pair's context and continuation, one after the other; pair i stands at
    `offsets[i]:offsets[i + 1]` (int64) and its first `context_lengths[i]` (int32) tokens are the context.
    """

    def __init__(self, ids: np.ndarray, offsets: np.ndarray, context_lengths: np.ndarray) -> None:
        if len(context_lengths) and context_lengths.min() < 1:
            row = int(context_lengths.argmin())
            raise ValueError(f"pair {row} has no context token to predict its first scored token from")
        self.ids = np.ascontiguousarray(ids, dtype=np.int32)
        self.offsets = np.ascontiguousarray(offsets, dtype=np.int64)
        self.context_lengths = np.ascontiguousarray(context_lengths, dtype=np.int32)

    @classmethod
    def of(cls, pairs: Iterable[TokenPair]) -> TokenPairs:
        """The same pairs in compact form."""
        if isinstance(pairs, TokenPairs):
            return pairs
        return cls.from_parts((pair.context, pair.continuation) for pair in pairs)

    @classmethod
    def from_parts(cls, parts: Iterable[tuple[Sequence[int], Sequence[int]]]) -> TokenPairs:
        """From (context ids, continuation ids)."""
        blocks, ends, context_lengths = [], [0], []
        for context, continuation in parts:
            blocks.append(np.array([*context, *continuation], dtype=np.int32))
            ends.append(ends[-1] + len(blocks[-1]))
            context_lengths.append(len(context))
        ids = np.concatenate(blocks) if blocks else np.empty(0, dtype=np.int32)
        return cls(ids, np.array(ends, dtype=np.int64), np.array(context_lengths, dtype=np.int32))

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of context and continuation together, int64 of shape (pairs,)."""
        return np.diff(self.offsets)

    def sequence(self, index: int) -> np.ndarray:
        """Context and continuation of one pair, int32."""
        return self.ids[self.offsets[index] : self.offsets[index + 1]]

    def take(self, indices: np.ndarray) -> TokenPairs:
        """The pairs at `indices`, in that order."""
        blocks = [self.sequence(index) for index in indices.tolist()]
        offsets = np.concatenate([[0], np.cumsum(self.lengths[indices])])
        ids = np.concatenate(blocks) if blocks else self.ids[:0]
        return TokenPairs(ids, offsets, self.context_lengths[indices])

    def __len__(self) -> int:
        return len(self.context_lengths)

    @overload
    def __getitem__(self, index: int) -> TokenPair: ...
    @overload
    def __getitem__(self, index: slice) -> list[TokenPair]: ...
    def __getitem__(self, index: int | slice) -> TokenPair | list[TokenPair]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        position = range(len(self))[index]
        ids, border = self.sequence(position).tolist(), int(self.context_lengths[position])
        return TokenPair(tuple(ids[:border]), tuple(ids[border:]))

    def __iter__(self) -> Iterator[TokenPair]:
        return (self[i] for i in range(len(self)))

"""Pairs of texts as token ids: encoded once, kept in flat arrays, padded batch by batch."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import torch

TRUNCATION = "longest_first"

_MASK = "attention_mask"
_PAIRS_PER_CALL = 10_000


@dataclass(frozen=True)
class EncodedPairs:
    """n encoded pairs.

    `columns` holds each of the model's inputs but the mask, int32, all pairs one after the other: pair i
    stands at `offsets[i]:offsets[i + 1]` (int64). `truncated` is bool of shape (n,). `padding` gives the
    value that fills a column, `left` tells on which side.
    """

    columns: dict[str, np.ndarray]
    offsets: np.ndarray
    truncated: np.ndarray
    padding: dict[str, int]
    left: bool

    def __len__(self) -> int:
        return len(self.truncated)

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of every pair as the model reads it, special tokens included: int64 of shape (n,)."""
        return np.diff(self.offsets)

    def digest(self) -> str:
        """`sha256:<hex>` over all token ids and where they are divided into pairs."""
        digest = hashlib.sha256()
        for values in (self.offsets, *(self.columns[name] for name in sorted(self.columns))):
            digest.update(values.astype(values.dtype.newbyteorder("<")).tobytes())
        return "sha256:" + digest.hexdigest()

    def batch(self, rows: np.ndarray) -> dict[str, torch.Tensor]:
        """The inputs of the pairs at `rows`, padded to the longest of them: int64 of shape (rows, width)."""
        import torch

        lengths = self.lengths[rows]
        width = int(lengths.max())
        places = np.arange(width)
        first = (width - lengths if self.left else np.zeros_like(lengths))[:, None]
        mask = (places >= first) & (places < first + lengths[:, None])
        # row by row, so that the order is that of the true cells of the mask
        positions = np.concatenate([np.arange(self.offsets[row], self.offsets[row + 1]) for row in rows])
        inputs = {_MASK: torch.from_numpy(mask.astype(np.int64))}
        for name, values in self.columns.items():
            padded = np.full(mask.shape, self.padding[name], dtype=np.int64)
            padded[mask] = values[positions]
            inputs[name] = torch.from_numpy(padded)
        return inputs


def encode_pairs(tokenizer: Any, first: Sequence[str], second: Sequence[str], limit: int) -> EncodedPairs:
    """Encode pairs of a first and a second text as `tokenizer` puts them together.

    A pair of more than `limit` tokens loses tokens from the end of whichever text is longer at the moment
    (`longest_first`, the rule that published classifiers are fine-tuned and evaluated with). Raises
    ValueError where the two sequences differ in length.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} first texts for {len(second)} second texts")
    blocks: dict[str, list[np.ndarray]] = {}
    lengths: list[int] = []
    truncated = np.zeros(len(first), dtype=bool)
    for begin in range(0, max(len(first), 1), _PAIRS_PER_CALL):
        part = slice(begin, begin + _PAIRS_PER_CALL)
        texts = list(first[part]), list(second[part])
        encoded = _encode(tokenizer, *texts, truncation=False)
        long = [row for row, ids in enumerate(encoded["input_ids"]) if len(ids) > limit]
        if long:
            cut = _encode(
                tokenizer,
                [texts[0][row] for row in long],
                [texts[1][row] for row in long],
                truncation=TRUNCATION,
                max_length=limit,
            )
            for name, values in encoded.items():
                for row, shorter in zip(long, cut[name], strict=True):
                    values[row] = shorter
            truncated[np.array(long) + begin] = True
        lengths.extend(map(len, encoded["input_ids"]))
        for name, values in encoded.items():
            flat = [number for ids in values for number in ids]
            blocks.setdefault(name, []).append(np.array(flat, dtype=np.int32))
    return EncodedPairs(
        columns={name: np.concatenate(parts) for name, parts in blocks.items()},
        offsets=np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64),
        truncated=truncated,
        padding={
            name: tokenizer.pad_token_id if name == "input_ids" else tokenizer.pad_token_type_id
            for name in blocks
        },
        left=tokenizer.padding_side == "left",
    )


def _encode(
    tokenizer: Any, first: list[str], second: list[str], **options: Any
) -> dict[str, list[list[int]]]:
    if not first:
        return {"input_ids": []}
    encoded = tokenizer(first, second, padding=False, return_attention_mask=False, verbose=False, **options)
    return {name: list(values) for name, values in encoded.items()}

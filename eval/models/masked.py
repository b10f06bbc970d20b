"""Masked language models: texts with a span to be guessed in, mean log-probabilities of its pieces out.

The span's pieces are all masked at once and each is predicted on its own (Kocijan et al. 2019, 1905.06290):
the score of a span is the mean of log p(piece | text with the span masked) over its pieces, natural
logarithm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from benchwright.errors import UsageError, show
from benchwright.progress import Progress, silent

from ._identity import environment, tokenizer_sha256, weights_sha256
from ._pretrained import MASKED_LM, load_pretrained, pick_device, recorded_name
from .classifier import longest_pair
from .embedded import embedded_model, get_model, require_models_extra

if TYPE_CHECKING:
    import torch

BATCH_SIZE = 32
# Rows are padded by their own length alone: other rows move the last bits of a score, no more.
_LENGTH_MULTIPLE = 8
_TEXTS_PER_CALL = 10_000


@dataclass(frozen=True)
class MaskedSpan:
    """A text and the characters `start` to `end` of it that are masked and scored."""

    text: str
    start: int
    end: int


class MaskedLanguageModel:
    """A masked language model with its tokenizer, as `load_masked` makes it.

    `name` and `revision` are recorded; a local folder is recorded by its last part, never by its path.
    `max_positions` is the longest text, in tokens, special ones included.
    """

    def __init__(
        self, module: Any, tokenizer: Any, *, name: str, revision: str | None, max_positions: int
    ) -> None:
        self.module, self.tokenizer = module, tokenizer
        self.name, self.revision = name, revision
        self.max_positions = max_positions

    def __repr__(self) -> str:
        return f"MaskedLanguageModel({self.name!r}, device={str(self.device)!r})"

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        device: torch.device = self.module.device
        return device

    def span_scores(
        self, spans: Sequence[MaskedSpan], *, batch_size: int = BATCH_SIZE, progress: Progress = silent
    ) -> np.ndarray:
        """Mean log-probability of the pieces of every span, float64 of shape (spans,), in their order.

        A piece belongs to a span if it shares a character with it. NaN where the text does not fit the model
        or no piece is left of the span. `progress` counts spans. Raises ValueError for a span that holds no
        character of its text.
        """
        import torch

        ids, masked = self._encode(spans)
        # Equal inputs are scored once, so that equal candidates tie; in an order that the texts decide.
        rows_of: dict[tuple[tuple[int, ...], tuple[int, ...]], list[int]] = {}
        for row in range(len(spans)):
            if masked[row] and len(ids[row]) <= self.max_positions:
                rows_of.setdefault((tuple(ids[row]), tuple(masked[row])), []).append(row)
        scores = np.full(len(spans), np.nan)
        progress(len(spans) - sum(map(len, rows_of.values())))
        inputs = sorted(rows_of)
        widths = np.array([-(-len(tokens) // _LENGTH_MULTIPLE) for tokens, _ in inputs], dtype=np.int64)
        with torch.inference_mode():
            for width in np.unique(widths)[::-1].tolist():
                members = [inputs[place] for place in np.flatnonzero(widths == width).tolist()]
                for begin in range(0, len(members), batch_size):
                    batch = members[begin : begin + batch_size]
                    for member, score in zip(batch, self._batch(batch, width).tolist(), strict=True):
                        scores[rows_of[member]] = score
                    progress(sum(len(rows_of[member]) for member in batch))
        return scores

    def identity(self) -> dict[str, Any]:
        """What decides a score besides the text: JSON-able, no paths, no machine."""
        return {
            "model": self.name,
            "revision": self.revision,
            "weights_sha256": self._weights_sha256,
            "tokenizer_sha256": tokenizer_sha256(self.tokenizer),
            "max_positions": self.max_positions,
            "dtype": str(self.module.dtype).removeprefix("torch."),
            "attention": self.module.config._attn_implementation,
        }

    def environment(self) -> dict[str, Any]:
        """What may move the last bits of a score: library versions, device, instruction set, threads."""
        return environment(self.device)

    def _encode(self, spans: Sequence[MaskedSpan]) -> tuple[list[list[int]], list[list[int]]]:
        """Token ids of every text, and the positions of the pieces of its span."""
        ids: list[list[int]] = []
        masked: list[list[int]] = []
        for begin in range(0, len(spans), _TEXTS_PER_CALL):
            part = spans[begin : begin + _TEXTS_PER_CALL]
            encoded = self.tokenizer(
                [span.text for span in part],
                return_offsets_mapping=True,
                return_special_tokens_mask=True,
                return_attention_mask=False,
                verbose=False,
            )
            for row, span in enumerate(part):
                if not 0 <= span.start < span.end <= len(span.text):
                    raise ValueError(f"no characters {span.start} to {span.end} in {show(span.text)}")
                first, last = np.array(encoded["offset_mapping"][row], dtype=np.int64).reshape(-1, 2).T
                special = np.array(encoded["special_tokens_mask"][row], dtype=bool)
                inside = (first < span.end) & (last > span.start) & (last > first) & ~special
                ids.append(list(encoded["input_ids"][row]))
                masked.append(np.flatnonzero(inside).tolist())
        return ids, masked

    def _batch(self, inputs: Sequence[tuple[Sequence[int], Sequence[int]]], width: int) -> np.ndarray:
        """Scores of inputs, (token ids, masked places), of at most `width` x `_LENGTH_MULTIPLE` tokens."""
        import torch

        shape = len(inputs), width * _LENGTH_MULTIPLE
        tokens = np.full(shape, self.tokenizer.pad_token_id, dtype=np.int64)
        attention = np.zeros(shape, dtype=np.int64)
        for row, (sequence, masked) in enumerate(inputs):
            tokens[row, : len(sequence)] = sequence
            tokens[row, list(masked)] = self.tokenizer.mask_token_id
            attention[row, : len(sequence)] = 1
        logits = self.module(
            input_ids=torch.from_numpy(tokens).to(self.device),
            attention_mask=torch.from_numpy(attention).to(self.device),
        ).logits
        rows = np.repeat(np.arange(len(inputs)), [len(masked) for _, masked in inputs])
        places = np.array([place for _, masked in inputs for place in masked])
        targets = np.array([sequence[place] for sequence, masked in inputs for place in masked])
        chosen = torch.log_softmax(logits[torch.from_numpy(rows), torch.from_numpy(places)].double(), dim=-1)
        values = chosen[torch.arange(len(targets)), torch.from_numpy(targets)].cpu().numpy()
        counts = np.bincount(rows, minlength=len(inputs))
        return np.bincount(rows, weights=values, minlength=len(inputs)) / counts

    @cached_property
    def _weights_sha256(self) -> str:
        return weights_sha256(self.module)


def load_masked(model: str, *, revision: str | None = None, device: str = "auto") -> MaskedLanguageModel:
    """Load a masked language model, in float32.

    `model` is a Hub id (at `revision`) or a local folder. Weights are read from safetensors only and no code
    of the model's repository is run.

    Raises PrerequisiteError where torch is missing, UsageError where there is no such model, where it has no
    masked-language-model head (as the encoders that come in packages), or where its tokenizer has no mask
    token or does not say which characters a token stands for.
    """
    require_models_extra()
    location, name = model, recorded_name(model)
    packaged = embedded_model(model)
    if packaged is not None:
        location, name = str(get_model(model, fetch=False)), packaged.name
    module, tokenizer, commit = load_pretrained(MASKED_LM, location, model, revision, "float32")
    if tokenizer.mask_token_id is None or tokenizer.pad_token_id is None:
        raise UsageError(f"the tokenizer of model {show(name)} has no mask token or no padding token")
    if not tokenizer.is_fast:
        raise UsageError(f"the tokenizer of model {show(name)} does not give the characters of its tokens")
    module.to(pick_device(device)).eval()
    module.requires_grad_(False)
    return MaskedLanguageModel(
        module,
        tokenizer,
        name=name,
        revision=commit,
        max_positions=longest_pair(module, tokenizer, name),
    )

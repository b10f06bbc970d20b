"""Beam search in batches that change no answer, and the recipe of parsers that are trained to generate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchwright.progress import Progress, silent

from ._recipes import changed, require_counts
from .fine_tuning import FineTuneRecipe

BATCH_SIZE = 16
_PADDED_TO = 8


@dataclass(frozen=True)
class ParserRecipe(FineTuneRecipe):
    """How a parser is trained and how it answers.

    From the published code of 2210.06799: early stopping after 10 evaluations, an input of at most 1,024 and
    an output of at most 128 tokens, five beams. Steps, batch size and the constant rate are our choice; the
    paper's own (Table 8) can be given as a recipe. The checkpoint of the lowest perplexity on the
    validation split is kept; `validation_share` is held out from the train split, drawn by the seed, where
    a config has no validation split.

    max_source_length: tokens of the input; what is longer is truncated at the end of the row's own text.
    max_target_length: tokens of the answer. A training row with a longer one is left out and counted; an
        answer that is not over by then ends there and is flagged.
    beams: hypotheses of the beam search; 1 is greedy.

    `max_length` (input and answer together) leaves longer training rows out. Raises UsageError for values
    out of range.
    """

    max_steps: int = 10_000
    learning_rate: float = 1e-4
    max_source_length: int = 1024
    max_target_length: int = 128
    beams: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        require_counts(self, "max_source_length", "max_target_length", "beams")

    def changed(self, changes: Mapping[str, Any]) -> ParserRecipe:
        """The recipe with other values for some fields. Raises UsageError for one that is unknown or bad."""
        return changed(self, changes)


@dataclass(frozen=True)
class Answers:
    """Generated texts in the order of the inputs, and which of them do not stand for whole rows.

    `truncated` and `unfinished` are bool of shape (inputs,): the input was longer than it may be; the answer
    had not ended after the greatest number of tokens.
    """

    texts: list[str]
    truncated: np.ndarray
    unfinished: np.ndarray


@dataclass(frozen=True)
class BeamSearch:
    """Settings of generation. Nothing is taken from the model's own generation settings."""

    beams: int
    max_new_tokens: int
    padding: int
    end: int
    start: int | None = None
    """The decoder's first token; None for a decoder-only model, whose inputs are padded on the left."""


def generate(
    module: Any,
    inputs: Sequence[Sequence[int]],
    search: BeamSearch,
    *,
    batch_size: int = BATCH_SIZE,
    progress: Progress = silent,
) -> list[list[int]]:
    """The new token ids of the best hypothesis for every input, the end token last where it was reached.

    Inputs are token ids and not empty. An input is padded to the next multiple of 8 of its own length and
    runs with inputs of that length only, so that the other rows of a batch and its size change no answer.
    `progress` counts inputs.
    """
    import torch
    from transformers import GenerationConfig

    widths = np.array([-(-len(ids) // _PADDED_TO) * _PADDED_TO for ids in inputs], dtype=np.int64)
    settings = GenerationConfig(
        do_sample=False,
        num_beams=search.beams,
        max_new_tokens=search.max_new_tokens,
        pad_token_id=search.padding,
        eos_token_id=search.end,
        decoder_start_token_id=search.start,
    )
    before, module.generation_config = module.generation_config, settings
    outputs: list[list[int]] = [[] for _ in inputs]
    try:
        # the longest first: what does not fit into memory fails at once
        for width in np.unique(widths)[::-1].tolist():
            rows = np.flatnonzero(widths == width)
            for begin in range(0, len(rows), batch_size):
                members = rows[begin : begin + batch_size].tolist()
                ids, mask = _batch([inputs[row] for row in members], width, search)
                with torch.inference_mode():
                    found = module.generate(
                        input_ids=ids.to(module.device), attention_mask=mask.to(module.device)
                    )
                skipped = width if search.start is None else 1
                for row, sequence in zip(members, found[:, skipped:].tolist(), strict=True):
                    outputs[row] = _up_to_end(sequence, search.end)
                progress(len(members))
    finally:
        module.generation_config = before
    return outputs


def _batch(inputs: Sequence[Sequence[int]], width: int, search: BeamSearch) -> tuple[Any, Any]:
    import torch

    ids = torch.full((len(inputs), width), search.padding)
    mask = torch.zeros((len(inputs), width), dtype=torch.long)
    for row, sequence in enumerate(inputs):
        place = slice(width - len(sequence), width) if search.start is None else slice(0, len(sequence))
        ids[row, place] = torch.tensor(list(sequence))
        mask[row, place] = 1
    return ids, mask


def _up_to_end(ids: list[int], end: int) -> list[int]:
    return ids[: ids.index(end) + 1] if end in ids else ids

"""How likely a sequence-to-sequence model finds each of a few answers to an input."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchwright.progress import Progress, silent

from .generation import BATCH_SIZE
from .sequence_to_sequence import SequenceToSequenceModel


def answer_log_likelihoods(
    model: SequenceToSequenceModel,
    inputs: Sequence[str],
    answers: Sequence[str],
    *,
    max_input_length: int,
    batch_size: int = BATCH_SIZE,
    progress: Progress = silent,
) -> tuple[np.ndarray, np.ndarray]:
    """Log-likelihoods of every answer after every input, in nats, and which inputs were cut at their end.

    The first is float64 of shape (inputs, answers): the sum over the answer's tokens, its end token included,
    so that an answer that begins another is no likelier for being shorter. The second is bool of shape
    (inputs,). Inputs run in batches of like length; `progress` counts them.
    """
    encoded, truncated = model.encode_inputs(inputs, max_input_length)
    targets = model.encode_targets(answers)
    found = np.empty((len(inputs), len(answers)), dtype=np.float64)
    order = sorted(range(len(encoded)), key=lambda row: (-len(encoded[row]), row))
    for begin in range(0, len(order), batch_size):
        rows = order[begin : begin + batch_size]
        found[rows] = _batch(model, [encoded[row] for row in rows], targets)
        progress(len(rows))
    return found, truncated


def _batch(model: SequenceToSequenceModel, inputs: list[list[int]], targets: list[list[int]]) -> np.ndarray:
    import torch

    width = max(map(len, inputs))
    ids = torch.full((len(inputs), width), model.padding)
    mask = torch.zeros((len(inputs), width), dtype=torch.long)
    for row, values in enumerate(inputs):
        ids[row, : len(values)] = torch.tensor(values)
        mask[row, : len(values)] = 1
    ids, mask = ids.to(model.device), mask.to(model.device)
    found = np.empty((len(inputs), len(targets)), dtype=np.float64)
    with torch.inference_mode():
        encoder = model.module.get_encoder()(input_ids=ids, attention_mask=mask)
        for column, target in enumerate(targets):
            read = torch.tensor([model.start, *target[:-1]], device=model.device)
            output = model.module(
                encoder_outputs=encoder,
                attention_mask=mask,
                decoder_input_ids=read.expand(len(inputs), -1),
                use_cache=False,
            )
            likelihoods = output.logits.double().log_softmax(dim=-1)
            wanted = torch.tensor(target, device=model.device).expand(len(inputs), -1)
            chosen = likelihoods.gather(2, wanted.unsqueeze(2)).squeeze(2)
            found[:, column] = chosen.sum(dim=1).cpu().numpy()
    return found

"""Left- and right-padded batches of the model itself give our scores; a pad token never counts."""

from pathlib import Path

import numpy as np
import pytest
import tiny_models
import torch

from benchwright.eval.models import CausalModel, TokenPair, load_causal

PAIRS = [
    TokenPair((0, 5, 9), (7, 11, 30, 44, 8)),
    TokenPair((0,), (21, 6)),
    TokenPair((0, 3, 3, 3, 17, 80, 12), (9,)),
    # the pad id itself, as an ordinary token of the text
    TokenPair((0, 5), (0, 0, 7)),
]


def padded(model: CausalModel, side: str) -> np.ndarray:
    width = max(len(pair.context) + len(pair.continuation) for pair in PAIRS)
    ids, mask = (
        torch.zeros(len(PAIRS), width, dtype=torch.long),
        torch.zeros(len(PAIRS), width, dtype=torch.long),
    )
    starts = []
    for row, pair in enumerate(PAIRS):
        values = [*pair.context, *pair.continuation]
        starts.append(width - len(values) if side == "left" else 0)
        ids[row, starts[-1] : starts[-1] + len(values)] = torch.tensor(values)
        mask[row, starts[-1] : starts[-1] + len(values)] = 1
    positions = (mask.cumsum(-1) - 1).clamp(min=0)
    with torch.inference_mode():
        logits = model.module(input_ids=ids, attention_mask=mask, position_ids=positions).logits
    table = torch.log_softmax(logits.double(), dim=-1)
    return np.array(
        [
            sum(
                table[row, start + len(pair.context) - 1 + index, token].item()
                for index, token in enumerate(pair.continuation)
            )
            for row, (pair, start) in enumerate(zip(PAIRS, starts, strict=True))
        ]
    )


@pytest.mark.parametrize("family", tiny_models.FAMILIES)
def test_both_sides_give_our_scores(tmp_path: Path, family: str) -> None:
    model = load_causal(str(tiny_models.save(family, tmp_path / family)))
    scores = model.log_likelihoods(PAIRS)
    np.testing.assert_allclose(padded(model, "left"), scores, atol=1e-4, rtol=0)
    np.testing.assert_allclose(padded(model, "right"), scores, atol=1e-4, rtol=0)


@pytest.mark.parametrize("family", tiny_models.FAMILIES)
def test_every_scored_token_counts_and_no_other(tmp_path: Path, family: str) -> None:
    model = load_causal(str(tiny_models.save(family, tmp_path / family)))
    (chunk,) = model.score(model.plan(PAIRS))
    counted = dict(zip(chunk.rows.tolist(), chunk.num_tokens.tolist(), strict=True))
    assert counted == {row: len(pair.continuation) for row, pair in enumerate(PAIRS)}

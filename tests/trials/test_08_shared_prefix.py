"""Prompts that share a prefix, in both orders: equal to scoring without the shared prefix."""

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
import tiny_models

from benchwright.eval.models import load_causal, plan_scoring

PROMPTS = [
    ("Premise: two dogs run after a red ball near the river. This hypothesis is entailed:", " two dogs run"),
    ("Premise: two dogs run after a red ball near the river. This hypothesis is neutral:", " two dogs sleep"),
    ("Premise: two dogs run after a red ball near the river. This hypothesis is neutral:", " two"),
]


@pytest.mark.parametrize("family", tiny_models.FAMILIES)
def test_both_orders_equal_scoring_apart(tmp_path: Path, family: str) -> None:
    model = load_causal(str(tiny_models.save(family, tmp_path / family)))
    pairs = list(model.encode_pairs(*zip(*PROMPTS, strict=True), start="always", end=True))
    plan = model.plan(pairs)
    assert plan.chunks[0].prefixes, "the prompts share a prefix, and it is used"
    apart = plan_scoring(pairs, max_positions=model.max_positions, share_prefixes=False)
    expected = np.full(len(pairs), np.nan)
    for scores in model.score(apart):
        expected[scores.rows] = scores.log_likelihood
    shared = model.log_likelihoods(pairs)
    np.testing.assert_allclose(shared, expected, atol=1e-4, rtol=0)
    for order in permutations(range(len(pairs))):
        assert np.array_equal(model.log_likelihoods([pairs[row] for row in order]), shared[list(order)])

"""The log-sum-exp of 16-bit logits over fifty thousand types, against float64."""

import numpy as np
import torch

from benchwright.eval.models._forward import target_log_probabilities

STATES, TYPES = 100, 50_257


def test_log_probabilities_equal_float64() -> None:
    generator = torch.Generator().manual_seed(0)
    logits = (torch.randn(STATES, TYPES, generator=generator) * 3).to(torch.bfloat16)
    targets = torch.randint(TYPES, (STATES,), generator=generator)

    def head(rows: torch.Tensor) -> torch.Tensor:
        return logits[rows[:, 0].long()]

    states = torch.arange(STATES, dtype=torch.float32)[:, None]
    found = target_log_probabilities(head, states, np.arange(STATES), targets.numpy())
    exact = logits.double().numpy()
    peak = exact.max(axis=1, keepdims=True)
    sums = np.log(np.exp(exact - peak).sum(axis=1)) + peak[:, 0]
    expected = exact[np.arange(STATES), targets.numpy()] - sums
    np.testing.assert_allclose(found, expected, atol=1e-6, rtol=0)
    naive = torch.log_softmax(logits, dim=-1)[torch.arange(STATES), targets].double().numpy()
    assert np.abs(naive - expected).max() > 1e-2

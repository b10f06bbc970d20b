"""A classifier that says the same of every input: PVI is finite, and a warning says what it is worth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pvi_helpers import SMALL, pair_rows, tiny_encoder

from benchwright.errors import BenchwrightWarning
from benchwright.splitting.scores import score_with_pvi
from benchwright.splitting.scores.v_information import MOST_BITS, pointwise_v_information
from benchwright.tasks import BINARY_NLI


def test_a_model_that_did_not_learn_is_said(tmp_path: Path) -> None:
    deaf = tiny_encoder(tmp_path / "model", spread=0.0)
    with pytest.warns(
        BenchwrightWarning, match="no usable information: 2 of 2 models give every input the same"
    ):
        scores = score_with_pvi(pair_rows(), BINARY_NLI, deaf, k=2, recipe=SMALL, cache=tmp_path)
    pvi = scores.scores().pvi
    assert pvi is not None
    assert np.isfinite(pvi).all()
    assert np.abs(pvi).max() < 0.2
    facts = scores.provenance["v_information"]
    assert facts["no_usable_information"]
    assert facts["constant_models"] == 2


def test_probability_zero_is_clipped() -> None:
    sure = np.array([[0.0, -np.inf], [0.0, -5e4]])
    found = pointwise_v_information(sure, np.array([0.0, 0.0]), np.array([1, 1]))
    assert found.entropy_input.tolist() == [MOST_BITS, MOST_BITS]
    assert found.pvi.tolist() == [1 - MOST_BITS, 1 - MOST_BITS]

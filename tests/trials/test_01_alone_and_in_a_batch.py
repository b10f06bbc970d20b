"""The same pair alone, in a batch of 4 and of 5: one score, one rank."""

from pathlib import Path

import numpy as np
import pytest
import tiny_models

from benchwright.eval.models import load_causal

PAIRS = [
    ("Premise: rain. This hypothesis is neutral:", " a cat is warm"),
    ("Premise: two dogs run after a ball. This hypothesis is entailed:", " dogs run"),
    (
        "write a database question:",
        " list the names of all captains by age and show how many boats they have",
    ),
    ("write a database question:", " how many boats"),
    ("a", " b"),
]


@pytest.mark.parametrize("family", tiny_models.FAMILIES)
def test_alone_and_in_a_batch(tmp_path: Path, family: str) -> None:
    model = load_causal(str(tiny_models.save(family, tmp_path / family)))
    pairs = list(model.encode_pairs(*zip(*PAIRS, strict=True), start="always", end=False))
    alone = np.concatenate([model.log_likelihoods([pair]) for pair in pairs])
    for size in (4, 5):
        together = model.log_likelihoods(pairs[:size])
        np.testing.assert_allclose(together, alone[:size], atol=1e-4, rtol=0)
        assert np.argsort(together).tolist() == np.argsort(alone[:size]).tolist()

"""Three context tokens and three continuation tokens: the sum is the one worked out by hand."""

from pathlib import Path

import pytest
import tiny_models
import torch

from benchwright.eval.models import CausalModel, TokenPair, load_causal


@pytest.fixture
def bigram(tmp_path: Path) -> CausalModel:
    """A GPT-2 without layers, whose embeddings name the token: the next one depends on the last alone."""
    model = load_causal(str(tiny_models.save("gpt2", tmp_path / "gpt2")))
    body = model.module.transformer
    body.h = torch.nn.ModuleList()
    body.ln_f = torch.nn.Identity()
    body.wpe.weight.data.zero_()
    body.wte.weight.data.zero_()
    for token in range(4):
        body.wte.weight.data[token, token] = 1.0 + token
    return model


def test_three_and_three(bigram: CausalModel) -> None:
    # After token t the logit of t is (1 + t)^2 and that of every other token 0, over the whole vocabulary.
    others = bigram.module.config.vocab_size - 1
    e = 2.718281828459045
    after_2 = torch.log(torch.tensor(others + e**9)).item()
    after_3 = torch.log(torch.tensor(others + e**16)).item()
    after_1 = torch.log(torch.tensor(others + e**4)).item()
    # continuation 3, 3, 1 after context 0, 1, 2: p(3|2) p(3|3) p(1|3)
    by_hand = (0 - after_2) + (16 - after_3) + (0 - after_3)
    scored = bigram.log_likelihoods([TokenPair((0, 1, 2), (3, 3, 1)), TokenPair((0, 1, 2), (3, 3, 1, 1))])
    assert scored[0] == pytest.approx(by_hand, abs=1e-4)
    assert scored[1] == pytest.approx(by_hand + 4 - after_1, abs=1e-4)

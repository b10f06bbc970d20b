"""Scores of causal models: equal to a plain forward pass, and the same bits however the work is cut."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_models
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.eval.models import CausalModel, TokenPair, TokenPairs, load_causal, plan_scoring

CONTEXTS = [
    "Premise: a cat sleeps on the stone. This hypothesis is entailed:",
    "Premise: a cat sleeps on the stone. This hypothesis is neutral:",
    "Premise: two dogs run after a red ball near the river. This hypothesis is a contradiction:",
    "Premise: rain. This hypothesis is entailed:",
    "write a database question:",
]
CONTINUATIONS = [
    " nobody plays in 1987.",
    " a cat is warm",
    " list the names of all captains by age",
    " x",
    " a cat is red",
]


@pytest.fixture(scope="module", params=tiny_models.FAMILIES)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> CausalModel:
    folder = tiny_models.save(request.param, tmp_path_factory.mktemp("models") / request.param)
    return load_causal(str(folder), device="cpu")


@pytest.fixture(scope="module")
def pairs(model: CausalModel) -> TokenPairs:
    contexts = [context for context in CONTEXTS for _ in CONTINUATIONS]
    return model.encode_pairs(contexts, CONTINUATIONS * len(CONTEXTS), start="always", end=True)


def plain(model: CausalModel, pair: TokenPair) -> float:
    """One row, no cache, the whole vocabulary in float64."""
    ids = torch.tensor([pair.context + pair.continuation])
    with torch.inference_mode():
        table = torch.log_softmax(model.module(ids).logits[0].double(), dim=-1)
    return sum(table[i - 1, ids[0, i]].item() for i in range(len(pair.context), ids.shape[1]))


def run(model: CausalModel, pairs: Any, **options: Any) -> np.ndarray:
    plan = plan_scoring(pairs, max_positions=model.max_positions, **options)
    values = np.full(plan.rows, np.nan)
    for scores in model.score(plan):
        values[scores.rows] = scores.log_likelihood
    return values


def test_scores_equal_a_plain_forward_pass(model: CausalModel, pairs: TokenPairs) -> None:
    expected = np.array([plain(model, pair) for pair in pairs])
    assert model.supports_shared_prefixes
    np.testing.assert_allclose(run(model, pairs), expected, atol=1e-4, rtol=0)
    np.testing.assert_allclose(run(model, pairs, share_prefixes=False), expected, atol=1e-4, rtol=0)


def test_row_order_moves_no_bit(model: CausalModel, pairs: TokenPairs) -> None:
    expected = run(model, pairs)
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(pairs))
        assert np.array_equal(run(model, [pairs[row] for row in order.tolist()]), expected[order])


@pytest.mark.parametrize("budget", [1, 64, 100, 4096])
def test_batch_size_moves_no_bit(model: CausalModel, pairs: TokenPairs, budget: int) -> None:
    assert np.array_equal(run(model, pairs, token_budget=budget), run(model, pairs))


def test_threads_move_no_bit(model: CausalModel, pairs: TokenPairs) -> None:
    threads = torch.get_num_threads()
    try:
        values = []
        for count in (1, 2):
            torch.set_num_threads(count)
            values.append(run(model, pairs))
    finally:
        torch.set_num_threads(threads)
    assert np.array_equal(*values)


def test_a_resumed_run_equals_an_uninterrupted_one(
    model: CausalModel, pairs: TokenPairs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchwright.eval.models._plan.CHUNK_TOKENS", 60)
    plan = plan_scoring(pairs, max_positions=model.max_positions)
    assert len(plan.chunks) > 3
    whole = list(model.score(plan))
    again = [next(model.score(plan, [chunk])) for chunk in reversed(range(len(plan.chunks)))]
    for first, second in zip(whole, reversed(again), strict=True):
        assert first.chunk == second.chunk
        assert np.array_equal(first.rows, second.rows)
        assert np.array_equal(first.log_likelihood, second.log_likelihood)
    rows = np.concatenate([scores.rows for scores in whole])
    assert sorted(rows.tolist()) == list(range(len(pairs)))


def test_equal_pairs_get_equal_scores_and_run_once(model: CausalModel, pairs: TokenPairs) -> None:
    doubled = [*pairs, *pairs]
    plan = plan_scoring(doubled, max_positions=model.max_positions)
    assert plan.computed_tokens == plan_scoring(pairs, max_positions=model.max_positions).computed_tokens
    values = run(model, doubled)
    assert np.array_equal(values[: len(pairs)], values[len(pairs) :])
    assert np.array_equal(values[: len(pairs)], run(model, pairs))


def test_probabilities_of_all_single_tokens_sum_to_one(model: CausalModel) -> None:
    context = model.encode_pair("a cat", " x", start="always", end=False).context
    vocabulary = model.module.get_input_embeddings().num_embeddings
    values = model.log_likelihoods([TokenPair(context, (token,)) for token in range(vocabulary)])
    assert math.isclose(np.exp(values).sum(), 1.0, abs_tol=1e-5)


def test_choices_are_scored_after_each_context(model: CausalModel) -> None:
    choices = [" yes", " no", " a cat is red"]
    table = model.choice_log_likelihoods(CONTEXTS, choices)
    assert table.shape == (5, 3)
    pair = model.encode_pair(CONTEXTS[2], choices[1], start="always", end=False)
    assert table[2, 1] == pytest.approx(plain(model, pair), abs=1e-4)


def test_overlength_and_empty_rows_are_listed_and_not_scored(model: CausalModel) -> None:
    long = TokenPair((0, 1), (5,) * model.max_positions)
    fits = TokenPair((0, 1), (5,) * (model.max_positions - 2))
    plan = model.plan([long, fits, TokenPair((0, 1), ())])
    assert plan.overlength.tolist() == [0]
    assert plan.empty.tolist() == [2]
    assert [scores.rows.tolist() for scores in model.score(plan)] == [[1]]


def test_a_pair_without_context_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="context token"):
        TokenPair((), (1, 2))
    with pytest.raises(ValueError, match="pair 1 has no context token"):
        TokenPairs.from_parts([([1], [2]), ([], [2])])


def test_identity_names_no_path_and_follows_the_weights(tmp_path: Path) -> None:
    first = load_causal(str(tiny_models.save("gpt2", tmp_path / "first"))).identity()
    again = load_causal(str(tmp_path / "first")).identity()
    other = load_causal(str(tiny_models.save("gpt2", tmp_path / "other", seed=1))).identity()
    assert first == again
    assert str(tmp_path) not in json.dumps(first)
    assert first["weights_sha256"] != other["weights_sha256"]
    assert first["tokenizer_sha256"] == other["tokenizer_sha256"]
    assert first["start_token"]["text"] == "<|endoftext|>"


tokens = st.integers(0, 3)
pair_lists = st.lists(
    st.builds(
        TokenPair,
        st.lists(tokens, min_size=1, max_size=6).map(tuple),
        st.lists(tokens, max_size=6).map(tuple),
    ),
    max_size=30,
)


@settings(max_examples=200, deadline=None)
@given(pair_lists, st.randoms(use_true_random=False))
def test_a_plan_is_a_function_of_the_set_of_pairs(pairs: list[TokenPair], random: Any) -> None:
    plan = plan_scoring(pairs, max_positions=9, token_budget=8)
    shuffled = random.sample(pairs, len(pairs))
    other = plan_scoring(shuffled, max_positions=9, token_budget=8)
    assert (plan.chunks, plan.fingerprint) == (other.chunks, other.fingerprint)
    assert plan.computed_tokens <= plan_scoring(pairs, max_positions=9, share_prefixes=False).computed_tokens
    scored = [
        row
        for chunk in plan.chunks
        for member in chunk.members
        for row in plan.inputs[member.sequence].tolist()
    ]
    assert sorted([*scored, *plan.overlength.tolist(), *plan.empty.tolist()]) == list(range(len(pairs)))
    for chunk in plan.chunks:
        for member in chunk.members:
            if member.group is not None:
                owner, length = chunk.prefixes[member.group]
                shared = plan.sequences.sequence(owner)[:length].tolist()
                assert plan.sequences.sequence(member.sequence)[:length].tolist() == shared
                assert plan.new_tokens(chunk, member) >= 0

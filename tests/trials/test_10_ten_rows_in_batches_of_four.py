"""Ten rows in batches of four, the work divided between two workers: ten scores, in order, none twice."""

from pathlib import Path

import numpy as np
import pytest
import tiny_models

from benchwright.eval.models import CausalModel, TokenPair, load_causal, plan_scoring


@pytest.fixture
def model(tmp_path: Path) -> CausalModel:
    return load_causal(str(tiny_models.save("gpt2", tmp_path / "gpt2")))


@pytest.mark.parametrize("repeated", [False, True])
def test_ten_rows(model: CausalModel, monkeypatch: pytest.MonkeyPatch, repeated: bool) -> None:
    monkeypatch.setattr("benchwright.eval.models._plan.CHUNK_TOKENS", 4 * 8)
    pairs = [TokenPair((0, 5, 3 if repeated else row), (7, 11, 30, 44, 8, 9)) for row in range(10)]
    plan = plan_scoring(pairs, max_positions=96, token_budget=4 * 8, share_prefixes=False)
    assert max(len(batch.rows) for chunk in plan.chunks for batch in plan.member_batches(chunk)) <= 4
    workers = [range(0, len(plan.chunks), 2), range(1, len(plan.chunks), 2)]
    results = [scores for chunks in workers for scores in model.score(plan, chunks)]
    rows = np.concatenate([scores.rows for scores in results])
    assert sorted(rows.tolist()) == list(range(10))
    values = np.full(10, np.nan)
    for scores in results:
        values[scores.rows] = scores.log_likelihood
    one_by_one = [model.log_likelihoods([pair])[0] for pair in pairs]
    np.testing.assert_allclose(values, one_by_one, atol=1e-4, rtol=0)


def test_ten_predictions_in_order(model: CausalModel) -> None:
    contexts = [
        f"how many {word} have sails?"
        for word in ["boats", "dogs", "cats", "balls", "rivers", "stones", "names", "lists", "wood", "rain"]
    ]
    table = model.choice_log_likelihoods(contexts, [" yes", " no"])
    assert table.shape == (10, 2)
    for row, context in enumerate(contexts):
        np.testing.assert_allclose(
            model.choice_log_likelihoods([context], [" yes", " no"])[0], table[row], atol=1e-4
        )

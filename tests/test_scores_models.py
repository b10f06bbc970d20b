"""Score tables of real models: the reference's numbers, and bits that nothing outside the rows can move."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scores_helpers import QUESTIONS, question_rows, save_gpt2, tiny_gpt2

from benchwright.errors import SourceError, UsageError
from benchwright.splitting.scores import (
    BOOLQ,
    SNLI_WITH_LABEL,
    SNLI_WITHOUT_LABEL,
    SPIDER_FINE_TUNED,
    SPIDER_PROMPT,
    SPIDER_PROMPT_DATABASE_ID,
    SPIDER_TRAINING,
    PromptTemplate,
    ScoringOptions,
    kfold,
    score_with_folds,
    score_with_prompt,
    user_template,
)

REFERENCE: list[tuple[str, PromptTemplate]] = [
    ("spider_prompt", SPIDER_PROMPT),
    ("spider_prompt_dbid", SPIDER_PROMPT_DATABASE_ID),
    ("spider_ft_bos_nospace", SPIDER_FINE_TUNED),
    ("spider_ft_bos_space", replace(SPIDER_FINE_TUNED, continuation=" {question}")),
    ("snli_label", SNLI_WITH_LABEL),
    ("snli_nolabel", SNLI_WITHOUT_LABEL),
    ("boolq", BOOLQ),
]


def with_ids(columns: dict[str, list[str]]) -> pa.Table:
    count = len(next(iter(columns.values())))
    return pa.table(
        {
            "uid": [f"oracle:all:{i}" for i in range(count)],
            "content_id": [f"{i:032x}" for i in range(count)],
            "length": pa.array([1] * count, pa.int32()),
            "source_index": pa.array(range(count), pa.int32()),
            **columns,
        }
    )


def oracle_rows(inputs: dict[str, Any], name: str) -> pa.Table:
    if name.startswith("spider"):
        queries = [line.split(" | ")[0].split(":", 1) for line in inputs["spider_queries"]]
        return with_ids(
            {"db_id": [query[0] for query in queries], "question": [query[1] for query in queries]}
        )
    names = ("premise", "hypothesis", "label") if name.startswith("snli") else ("passage", "question")
    rows = inputs["snli" if name.startswith("snli") else "boolq"]
    return with_ids({column: [row[i] for row in rows] for i, column in enumerate(names)})


@pytest.mark.corpora
@pytest.mark.parametrize(("name", "template"), REFERENCE, ids=[name for name, _ in REFERENCE])
def test_reference_scores(name: str, template: PromptTemplate, oracle_folder: Path, tmp_path: Path) -> None:
    folder = oracle_folder / "gpt2_scoring"
    expected = json.loads((folder / "expected.json").read_text())
    weights = dict(np.load(folder / "weights.npz"))
    model = save_gpt2(tmp_path / "gpt2", expected["config"], weights, (folder / "tokenizer.json").read_text())
    scores = score_with_prompt(
        oracle_rows(expected["inputs"], name), template, str(model), cache=tmp_path / "cache"
    )
    (wanted,) = (result for result in expected["results"] if result["name"] == name)
    log_likelihood = scores.table.column("log_likelihood").to_numpy()
    np.testing.assert_allclose(log_likelihood, wanted["ll"], atol=1e-3, rtol=0)
    perplexity = np.exp(-log_likelihood.astype(np.float64) / scores.table.column("lm_num_tokens").to_numpy())
    np.testing.assert_allclose(perplexity, wanted["ppl"], rtol=1e-4)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny_gpt2(tmp_path_factory.mktemp("models") / "tiny", positions=96))


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchwright.eval.models._plan.CHUNK_TOKENS", 100)


def test_order_and_batch_size_move_no_bit(tmp_path: Path, model: str, small_chunks: None) -> None:
    texts = [f"{question} {i % 5}" for i, question in enumerate(QUESTIONS * 5)]
    rows = question_rows(texts)
    scores = score_with_prompt(rows, SPIDER_PROMPT, model, cache=tmp_path / "a")
    order = np.random.default_rng(3).permutation(len(texts))
    for number, budget in enumerate((1, 33, 4096)):
        options = ScoringOptions(token_budget=budget)
        other = score_with_prompt(
            rows.take(order), SPIDER_PROMPT, model, cache=tmp_path / str(number), options=options
        )
        assert other.table.equals(scores.table.take(order).combine_chunks())
        assert other.identity == scores.identity


def test_interrupted_scoring_goes_on_to_the_same_bytes(
    tmp_path: Path, model: str, small_chunks: None
) -> None:
    from benchwright.eval.models import CausalModel, load_causal

    rows = question_rows([f"{question} {i}" for i, question in enumerate(QUESTIONS)])
    expected = score_with_prompt(rows, SPIDER_PROMPT, model, cache=tmp_path / "whole")
    loaded = load_causal(model)
    scored: list[int] = []

    class Interrupted(CausalModel):
        def score(self, plan: Any, chunks: Any = None) -> Any:
            for chunk in loaded.score(plan, chunks):
                scored.append(chunk.chunk)
                if len(scored) in (2, 3, 5):
                    raise KeyboardInterrupt
                yield chunk

    interrupted = Interrupted.__new__(Interrupted)
    interrupted.__dict__.update(loaded.__dict__)
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            score_with_prompt(rows, SPIDER_PROMPT, interrupted, cache=tmp_path / "cache")
    resumed = score_with_prompt(rows, SPIDER_PROMPT, interrupted, cache=tmp_path / "cache")
    assert len(set(scored)) == len(scored) - 3
    resumed.save(tmp_path / "resumed")
    expected.save(tmp_path / "expected")
    for name in ("scores.parquet", "provenance.json"):
        assert (tmp_path / "resumed" / name).read_bytes() == (tmp_path / "expected" / name).read_bytes()


def test_equal_inputs_have_equal_scores(tmp_path: Path, model: str) -> None:
    scores = score_with_prompt(question_rows(QUESTIONS), SPIDER_PROMPT, model, cache=tmp_path)
    values = scores.table.column("log_likelihood").to_pylist()
    assert values[0] == values[2]
    assert values[3] == values[8]
    assert len(set(values)) == len(QUESTIONS) - 2


def test_rows_without_text_have_no_score(tmp_path: Path, model: str) -> None:
    rows = question_rows(["Where?", "", "  ", "None"])
    rows = rows.set_column(4, "question", pa.array(["Where?", None, "  ", "None"]))
    scores = score_with_prompt(rows, SPIDER_PROMPT, model, cache=tmp_path)
    assert scores.table.column("status").to_pylist() == ["ok", "empty", "empty", "ok"]
    assert scores.entry()["empty"] == 2
    assert scores.entry()["scored_tokens"] == len(" where?") + len(" none")
    ended = score_with_prompt(rows, user_template("question"), model, cache=tmp_path)
    assert ended.table.column("status").to_pylist() == ["ok", "empty", "ok", "ok"]
    assert ended.table.column("lm_num_tokens").to_pylist() == [len("Where?") + 1, None, 3, len("None") + 1]


def test_rows_of_which_none_has_text(tmp_path: Path, model: str) -> None:
    rows = question_rows(["", ""])
    scores = score_with_prompt(rows, SPIDER_PROMPT, model, cache=tmp_path)
    assert scores.table.column("status").to_pylist() == ["empty", "empty"]
    assert score_with_prompt(rows, SPIDER_PROMPT, model, cache=tmp_path).table.equals(scores.table)


def test_a_wrong_label_is_named_by_its_row(tmp_path: Path, model: str) -> None:
    rows = with_ids({"premise": ["p"] * 3, "hypothesis": ["h"] * 3, "label": ["neutral", "neutral", "-"]})
    rows = rows.set_column(4, "premise", pa.array([None, "p", "p"]))
    with pytest.raises(SourceError, match="row 2, field 'label'"):
        score_with_prompt(rows, SNLI_WITH_LABEL, model, cache=tmp_path)


def test_provenance_names_the_model_and_no_path(tmp_path: Path, model: str) -> None:
    scores = score_with_prompt(question_rows(QUESTIONS), SPIDER_PROMPT, model, cache=tmp_path)
    text = json.dumps(scores.entry())
    assert scores.provenance["model"] == {"model": "tiny", "revision": None}
    assert str(Path(model).parent) not in text
    assert str(tmp_path) not in text
    assert set(scores.provenance["environment"]) >= {"versions", "device", "threads", "instruction_set"}


def test_a_start_token_of_the_users_choice_is_another_identity(tmp_path: Path, model: str) -> None:
    rows = question_rows(QUESTIONS)
    plain = score_with_prompt(rows, SPIDER_FINE_TUNED, model, cache=tmp_path)
    chosen = score_with_prompt(
        rows, SPIDER_FINE_TUNED, model, cache=tmp_path, options=ScoringOptions(start_token="A")
    )
    assert chosen.identity != plain.identity
    assert not chosen.table.column("log_likelihood").equals(plain.table.column("log_likelihood"))
    assert all(not math.isnan(value) for value in chosen.table.column("log_likelihood").to_pylist())


@pytest.fixture(scope="module")
def recipe() -> Any:
    from benchwright.eval.models import FineTuneRecipe

    return FineTuneRecipe(max_steps=4, learning_rate=0.01, batch_size=4, eval_every=2)


def test_folds_are_scored_by_models_that_learned_from_the_others(
    tmp_path: Path, model: str, recipe: Any
) -> None:
    from benchwright.eval.models import load_causal

    rows = question_rows(QUESTIONS)
    base = load_causal(model)
    before = base.identity()
    scores = score_with_folds(
        rows, SPIDER_FINE_TUNED, SPIDER_TRAINING, base, recipe=recipe, cache=tmp_path / "a", keep_models=True
    )
    assert base.identity() == before
    kept = {path.parent.parent.name: path.parent for path in (tmp_path / "a").rglob("training.json")}
    for fold in range(3):
        alone = score_with_prompt(rows, SPIDER_FINE_TUNED, str(kept[f"fold-{fold}"]), cache=tmp_path / "b")
        members = np.flatnonzero(scores.table.column("fold").to_numpy() == fold)
        np.testing.assert_allclose(
            scores.table.column("log_likelihood").to_numpy()[members],
            alone.table.column("log_likelihood").to_numpy()[members],
            atol=1e-4,
        )
    hashes = {fact["weights_sha256"] for fact in scores.provenance["folds"]}
    assert len(hashes | {before["weights_sha256"]}) == 4
    untrained = score_with_prompt(rows, SPIDER_FINE_TUNED, base, cache=tmp_path / "c")
    gain = (
        scores.table.column("log_likelihood").to_numpy() - untrained.table.column("log_likelihood").to_numpy()
    )
    assert gain.mean() > 10


def test_folds_are_repeatable_and_resume_with_the_saved_model(
    tmp_path: Path, model: str, recipe: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = question_rows(QUESTIONS)
    arguments: Any = (rows, SPIDER_FINE_TUNED, SPIDER_TRAINING, model)
    expected = score_with_folds(*arguments, recipe=recipe, cache=tmp_path / "a")
    with monkeypatch.context() as patch:
        patch.setattr(kfold, "run_plan", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            score_with_folds(*arguments, recipe=recipe, cache=tmp_path / "b")
    order = np.random.default_rng(5).permutation(len(QUESTIONS))
    resumed = score_with_folds(rows.take(order), *arguments[1:], recipe=recipe, cache=tmp_path / "b")
    assert resumed.table.equals(expected.table.take(order).combine_chunks())
    assert resumed.provenance == expected.provenance


def test_training_that_diverges_is_no_score(
    tmp_path: Path, model: str, recipe: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchwright.eval.models.fine_tuning._perplexity_of", lambda *_: lambda: float("nan"))
    with pytest.raises(UsageError, match=r"training diverged.*lower learning_rate"):
        score_with_folds(
            question_rows(QUESTIONS),
            SPIDER_FINE_TUNED,
            SPIDER_TRAINING,
            model,
            k=2,
            recipe=recipe,
            cache=tmp_path,
        )

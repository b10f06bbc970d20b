"""Sequence-to-sequence models and generation: what is learnt, what batches and padding cannot change."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tiny_classifiers
import tiny_models
import tiny_seq2seq
import torch

from benchwright.errors import UsageError
from benchwright.eval.models import (
    BeamSearch,
    ParserRecipe,
    SequenceToSequenceModel,
    fine_tune_sequence_to_sequence,
    generate,
    load_causal,
    load_sequence_to_sequence,
)

SOURCES = [f"question {letter} of the farm" for letter in "abcdef"]
TARGETS = ["select a", "select b < 3", "select c , d", "select <= 4", "select e", "select f , f , f"]
RECIPE = ParserRecipe(
    max_steps=80, learning_rate=5e-3, batch_size=6, eval_every=20, max_target_length=12, beams=3, threads=1
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> SequenceToSequenceModel:
    folder = tiny_seq2seq.save(tmp_path_factory.mktemp("models") / "tiny-t5", SOURCES + TARGETS)
    return load_sequence_to_sequence(str(folder), device="cpu")


def tuned(
    model: SequenceToSequenceModel, recipe: ParserRecipe = RECIPE, seed: int = 0, **options: Any
) -> Any:
    pairs = SOURCES, TARGETS
    return fine_tune_sequence_to_sequence(model, pairs, pairs, recipe, seed, added_token="<", **options)


def test_a_toy_mapping_is_learnt_whole_and_the_model_stays_as_it_was(model: SequenceToSequenceModel) -> None:
    before = model.identity()
    parser, log = tuned(model)
    answers = parser.answer(SOURCES, RECIPE)
    # a decoder puts blanks around added tokens
    assert answers.texts == [target.replace("<=", "< =") for target in TARGETS]
    assert not answers.truncated.any()
    assert not answers.unfinished.any()
    assert (
        log.validation_perplexities[log.steps.index(log.best_step)] == min(log.validation_perplexities) < 1.1
    )
    assert (log.training_rows, log.validation_rows, log.overlength_rows) == (6, 6, 0)
    assert model.identity() == before != parser.identity()
    assert "<" in parser.tokenizer.get_vocab()
    assert "<" not in model.tokenizer.get_vocab()


def test_the_same_seed_gives_the_same_weights_and_another_one_others(model: SequenceToSequenceModel) -> None:
    recipe = replace(RECIPE, max_steps=4, batch_size=2, eval_every=2)
    found = [tuned(model, recipe, seed)[0].identity()["weights_sha256"] for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]


def test_small_batches_in_memory_change_rounding_only(model: SequenceToSequenceModel) -> None:
    recipe = replace(RECIPE, max_steps=4, eval_every=4)
    (_, whole), (_, parts) = tuned(model, recipe), tuned(model, replace(recipe, micro_batch_size=2))
    assert parts.validation_perplexities == pytest.approx(whole.validation_perplexities, rel=1e-4)


def test_batch_size_and_neighbours_change_no_answer(model: SequenceToSequenceModel) -> None:
    parser, _ = tuned(model)
    texts = [*SOURCES, " ".join(SOURCES[:2]), "farm", SOURCES[0]]
    alone = [parser.answer([text], RECIPE).texts[0] for text in texts]
    for batch_size in (1, 2, 16):
        assert parser.answer(texts, RECIPE, batch_size=batch_size).texts == alone
    assert parser.answer(texts[::-1], RECIPE).texts == alone[::-1]


def test_progress_counts_every_text(model: SequenceToSequenceModel) -> None:
    counted: list[int] = []
    model.answer([*SOURCES, "farm"], RECIPE, batch_size=4, progress=counted.append)
    assert sum(counted) == 7


def test_long_inputs_are_cut_and_long_answers_end_and_both_are_told(model: SequenceToSequenceModel) -> None:
    parser, log = tuned(model, replace(RECIPE, max_target_length=4))
    assert log.overlength_rows == 8  # all but "select a" and "select e", in training and in validation
    recipe = replace(RECIPE, max_source_length=6, max_target_length=1)
    answers = parser.answer([SOURCES[0], SOURCES[0] + " farm farm"], recipe)
    assert answers.truncated.tolist() == [False, True]
    assert answers.unfinished.all()
    assert parser.encode_inputs([SOURCES[0] + " farm"], 6)[0] == parser.encode_inputs([SOURCES[0]], 6)[0]


def test_nothing_that_fits_is_an_error(model: SequenceToSequenceModel) -> None:
    with pytest.raises(UsageError, match="answers of at most 1 tokens, got 0 of 6 for training and 0 of 6"):
        tuned(model, replace(RECIPE, max_target_length=1))


def test_only_the_last_layers_learn(tmp_path: Path) -> None:
    folder = tiny_seq2seq.save(tmp_path / "two", SOURCES + TARGETS, layers=2)
    model = load_sequence_to_sequence(str(folder), device="cpu")
    parser, _ = tuned(model, replace(RECIPE, max_steps=2, eval_every=2, trainable_layers=1))
    before, after = dict(model.module.named_parameters()), dict(parser.module.named_parameters())
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    assert {name.split(".")[0] for name in moved} == {"encoder", "decoder"}
    assert not any(".block.0." in name or "shared" in name for name in moved)
    assert any(name.startswith("encoder.block.1.") for name in moved)


def test_an_added_token_beyond_the_embeddings_makes_room(tmp_path: Path) -> None:
    folder = tiny_seq2seq.save(tmp_path / "tight", SOURCES + TARGETS, spare=0)
    model = load_sequence_to_sequence(str(folder), device="cpu")
    parsers = [tuned(model, seed=3)[0] for _ in range(2)]
    rows = [parser.module.get_input_embeddings().num_embeddings for parser in parsers]
    assert rows == [model.module.get_input_embeddings().num_embeddings + 1] * 2
    assert parsers[0].identity() == parsers[1].identity()
    assert parsers[0].answer(SOURCES[1:2], RECIPE).texts == ["select b < 3"]


def test_settings_of_the_checkpoint_do_not_steer_the_search(model: SequenceToSequenceModel) -> None:
    parser, _ = tuned(model)
    expected = parser.answer(SOURCES, RECIPE).texts
    parser.module.generation_config.update(
        num_beams=1, min_new_tokens=9, do_sample=True, no_repeat_ngram_size=1
    )
    settings = parser.module.generation_config
    assert parser.answer(SOURCES, RECIPE).texts == expected
    assert parser.module.generation_config is settings


@pytest.mark.parametrize(
    ("field", "value"),
    [("beams", 0), ("max_source_length", 1.5), ("max_target_length", "x"), ("max_steps", 0)],
)
def test_recipes_out_of_range_are_refused(field: str, value: object) -> None:
    with pytest.raises(UsageError, match=f"{field} must be a whole number from 1"):
        ParserRecipe().changed({field: value})


def test_an_unknown_field_of_a_recipe_is_named() -> None:
    with pytest.raises(UsageError, match="no recipe field 'beam'; did you mean beams"):
        ParserRecipe().changed({"beam": 4})
    assert ParserRecipe().patience == 10


def test_models_of_other_kinds_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no sequence-to-sequence model but a GPT2LMHeadModel"):
        load_sequence_to_sequence(str(tiny_models.save("gpt2", tmp_path / "gpt2")))
    with pytest.raises(UsageError, match="is no sequence-to-sequence model but a Bert"):
        load_sequence_to_sequence(str(tiny_classifiers.save(tmp_path / "bert", ["a", "b", "c"])))
    t5 = tiny_seq2seq.save(tmp_path / "t5", TARGETS)
    with pytest.raises(UsageError, match="is no causal language model but a T5"):
        load_causal(str(t5))


@pytest.mark.parametrize("family", tiny_models.FAMILIES)
@pytest.mark.parametrize("beams", [1, 4])
def test_left_padding_changes_no_continuation(family: str, beams: int, tmp_path: Path) -> None:
    model = load_causal(str(tiny_models.save(family, tmp_path / family)), device="cpu")
    texts = ["A", "A cat", "How many boats", "List the names of all", "Ask a question about the bridge"]
    inputs = [model.encode_text(text, start=True, end=False) for text in texts]
    assert len({len(ids) for ids in inputs}) == len(texts)
    end = model.end_token.id
    search = BeamSearch(beams=beams, max_new_tokens=8, padding=end, end=end)
    together = generate(model.module, inputs, search)
    assert together == [generate(model.module, [ids], search, batch_size=1)[0] for ids in inputs]
    # no padding at all: what the model says by itself, one token after the other
    if beams == 1:
        for ids, found in zip(inputs, together, strict=True):
            sequence = list(ids)
            for token in found:
                with torch.inference_mode():
                    logits = model.module(input_ids=torch.tensor([sequence])).logits[0, -1]
                assert token == int(logits.argmax())
                sequence.append(token)


def test_an_interrupted_run_gives_the_same_bits(model: SequenceToSequenceModel, tmp_path: Path) -> None:
    recipe = replace(RECIPE, max_steps=6, eval_every=2)
    expected, expected_log = tuned(model, recipe)

    def interrupt(steps: int) -> None:
        done.append(steps)
        if sum(done) == 3:
            raise KeyboardInterrupt

    done: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        tuned(model, recipe, checkpoints=tmp_path, checkpoint_seconds=0.0, progress=interrupt)
    counted: list[int] = []
    found, log = tuned(model, recipe, checkpoints=tmp_path, checkpoint_seconds=0.0, progress=counted.append)
    assert (found.identity(), log) == (expected.identity(), expected_log)
    assert counted == [3, 1, 1, 1]

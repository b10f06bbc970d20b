"""Parsers that are fine-tuned on a config: both kinds of model, the recipe, and what does not fit."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tiny_models
import tiny_seq2seq
from eval_helpers import FARM_SCHEMA, nli_rows, sql_rows, write_release

from benchwright.builders.sources.spider import DatabaseSchema
from benchwright.errors import BenchwrightWarning, UsageError
from benchwright.eval import evaluate
from benchwright.eval.baselines._schema_linking import Column, DatabaseNames, database_names
from benchwright.eval.baselines.causal_parser import PREFIX, SUFFIX, CausalParser, _inputs
from benchwright.eval.baselines.parser import sources
from benchwright.eval.baselines.seq2seq_parser import SequenceToSequenceParser
from benchwright.eval.data import load_data
from benchwright.eval.models import (
    CausalModel,
    SequenceToSequenceModel,
    load_causal,
    load_sequence_to_sequence,
)
from benchwright.eval.run import why_not_applicable
from benchwright.progress import silent
from benchwright.release import ReleaseFolder
from benchwright.tasks import TEXT_TO_SQL

QUERIES = [
    "SELECT name FROM cow",
    "SELECT age FROM cow",
    "SELECT id FROM cow",
    "SELECT count(*) FROM cow",
    "SELECT name FROM cow WHERE age <= 3",
    "SELECT max(age) FROM cow",
]
RECIPE = {"batch_size": 6, "eval_every": 20, "max_target_length": 16, "beams": 2, "threads": 1}
T5 = {**RECIPE, "max_steps": 100, "learning_rate": 5e-3}
GPT = {**RECIPE, "max_steps": 240, "learning_rate": 3e-3, "eval_every": 40, "max_target_length": 28}


@pytest.fixture
def release(tmp_path: Path) -> ReleaseFolder:
    """Six questions to copy the answers of: the same rows in all splits."""
    rows = sql_rows(QUERIES)
    splits = {"train": rows, "validation": rows, "test": rows}
    return write_release(
        tmp_path / "r",
        {"random": splits, "length": splits},
        task=TEXT_TO_SQL,
        entries={"length": {"splitter": "length"}},
        schemas=[FARM_SCHEMA],
    )


@pytest.fixture(scope="module")
def t5(tmp_path_factory: pytest.TempPathFactory) -> SequenceToSequenceModel:
    texts = ["semanticparse: farm: question 0 1 2 3 4 5 | cow : id , name , age", *map(str.lower, QUERIES)]
    folder = tiny_seq2seq.save(tmp_path_factory.mktemp("t5") / "tiny-t5", texts)
    return load_sequence_to_sequence(str(folder), device="cpu")


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> CausalModel:
    folder = tiny_models.save("gpt2", tmp_path_factory.mktemp("gpt2") / "tiny-gpt2")
    return load_causal(str(folder), device="cpu")


def test_a_sequence_to_sequence_parser_learns_a_toy_mapping(
    release: ReleaseFolder, t5: SequenceToSequenceModel
) -> None:
    results = evaluate(release, baselines=["seq2seq_parser"], model=t5, recipe=T5)
    for result in results:
        assert result.metrics["exact_set_match"]["value"] == result.metrics["string_match"]["value"] == 1.0
        assert (result.model, result.left_out, result.flagged) == ("tiny-t5", {}, {})
        assert result.settings["recipe"]["max_steps"] == 100
        assert result.settings["prefix"] == "semanticparse: "
        assert set(result.splits) == {"train", "validation", "test"}
        assert result.tables["schemas"] is not None
        assert result.training["training_rows"] == result.training["validation_rows"] == 6
        assert result.training["best_step"] in result.training["steps"]
    assert results[0].settings_hash == results[1].settings_hash
    stored = (release.path / results[0].predictions_file).read_text(encoding="utf-8").splitlines()
    assert json.loads(stored[4])["prediction"] == "select name from cow where age <= 3"
    index = json.loads((release.path / "results/index.json").read_text(encoding="utf-8"))
    assert [drop["config"] for drop in index["analyses"]["drops"] if drop["metric"] == "exact_set_match"] == [
        "length"
    ]
    assert evaluate(release, baselines=["seq2seq_parser"], model=t5, recipe=T5) == results


def test_a_decoder_only_parser_learns_a_toy_mapping(release: ReleaseFolder, gpt2: CausalModel) -> None:
    data = load_data(release, "random", "test", model=gpt2)
    parser = CausalParser(recipe=CausalParser().recipe.changed(GPT))
    answers = parser.run(data, 0, silent)
    assert dict(zip(answers.uids, answers.values, strict=True)) == {
        f"toy:all:{row}": query.lower() for row, query in enumerate(QUERIES)
    }


def test_the_prompt_of_the_decoder_only_parser(release: ReleaseFolder, gpt2: CausalModel) -> None:
    recipe = CausalParser().recipe.changed({"max_target_length": 8})
    (ids, long), truncated = _inputs(gpt2, ["farm: q", "farm: q " + "many words " * 30], recipe)
    text = gpt2.tokenizer.decode(ids)
    assert text == "<|endoftext|>database question for table farm: q generate the sql parse: "
    assert truncated.tolist() == [False, True]
    assert len(long) == gpt2.max_positions - 8
    cut = gpt2.tokenizer.decode(long)
    assert cut.startswith("<|endoftext|>" + PREFIX + "farm: q many words")
    assert cut.endswith(SUFFIX)


def test_answers_that_leave_no_room_for_the_question_are_an_error(
    release: ReleaseFolder, gpt2: CausalModel
) -> None:
    with pytest.raises(
        UsageError, match=r"leave 0 for the input.*tiny-gpt2 takes 96 in all; lower max_target"
    ):
        evaluate(
            release, configs=["random"], baselines=["causal_parser"], model=gpt2, recipe={"max_steps": 1}
        )


def test_the_input_is_what_the_corpus_publishes(release: ReleaseFolder) -> None:
    schema = DatabaseSchema("farm", ("Cow", "Milk"), ((-1, "*"), (0, "Name"), (1, "Litres")), (), (), ())
    columns = (Column(table, name, "", False, False) for table, name in schema.columns)
    assert DatabaseNames(schema.tables, tuple(columns), ()).serialised == schema.suffix()
    data = load_data(release, "random", "test")
    table = data.side_table("schemas")
    assert table is not None
    expected = "farm: question 0 | cow : id , name , age"
    assert sources(data.evaluation, database_names(table))[0] == expected
    assert sources(data.evaluation, {})[0] == "farm: question 0"


def test_without_a_validation_split_rows_of_the_train_split_choose_the_checkpoint(
    tmp_path: Path, t5: SequenceToSequenceModel
) -> None:
    rows = sql_rows(QUERIES * 4)
    splits = {"train": rows, "test": rows[:3]}
    release = write_release(tmp_path / "r", {"random": splits}, task=TEXT_TO_SQL)
    recipe = {**T5, "max_steps": 2, "validation_share": 0.25}
    with pytest.warns(BenchwrightWarning):
        (result,) = evaluate(release, baselines=["seq2seq_parser"], model=t5, recipe=recipe)
    assert (result.training["training_rows"], result.training["validation_rows"]) == (18, 6)
    assert set(result.splits) == {"train", "test"}


def test_file_order_changes_no_answer(tmp_path: Path, t5: SequenceToSequenceModel) -> None:
    hashes = set()
    for name, step in (("forward", 1), ("backward", -1)):
        rows = sql_rows(QUERIES)[::step]
        splits = {"train": rows, "validation": rows, "test": rows}
        release = write_release(tmp_path / name, {"random": splits}, task=TEXT_TO_SQL)
        parser = SequenceToSequenceParser(
            recipe=SequenceToSequenceParser().recipe.changed({**T5, "max_steps": 30, "batch_size": 2})
        )
        hashes.add(parser.run(load_data(release, "random", "test", model=t5), 0, silent).hash)
    assert len(hashes) == 1


def test_answers_that_do_not_end_are_flagged(release: ReleaseFolder, t5: SequenceToSequenceModel) -> None:
    recipe = {**T5, "max_steps": 1, "max_target_length": 8, "max_source_length": 5}
    with pytest.warns(BenchwrightWarning, match=r"6 of 6 rows truncated, .*training rows too long"):
        (result,) = evaluate(
            release, configs=["random"], baselines=["seq2seq_parser"], model=t5, recipe=recipe
        )
    assert result.flagged["truncated"] == 6
    assert result.metrics["exact_set_match"]["n"] == 6
    assert result.training["overlength_rows"] == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"baselines": ["majority"], "recipe": {"max_steps": 1}}, "a recipe is for causal_parser or seq2seq"),
        ({"baselines": ["seq2seq_parser"], "model": "x", "recipe": {"steps": 1}}, "no recipe field 'steps'"),
        (
            {"baselines": ["causal_parser"], "model": "x", "recipe": {"beams": 0}},
            "beams must be a whole number",
        ),
        ({"baselines": ["seq2seq_parser"]}, "baseline seq2seq_parser needs a model"),
        ({"baselines": ["seq2seq_parser", "causal_parser"], "model": "x"}, "models of different kinds"),
    ],
)
def test_mistakes_are_told_before_a_model_is_loaded(
    release: ReleaseFolder, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        evaluate(release, **options)


def test_a_model_of_the_other_kind_is_refused(
    release: ReleaseFolder, t5: SequenceToSequenceModel, gpt2: CausalModel
) -> None:
    with pytest.raises(UsageError, match="seq2seq_parser needs a sequence-to-sequence model"):
        evaluate(release, baselines=["seq2seq_parser"], model=gpt2)
    with pytest.raises(UsageError, match="causal_parser needs a causal language model"):
        evaluate(release, baselines=["causal_parser"], model=t5)


def test_parsers_are_for_free_text(tmp_path: Path) -> None:
    release = write_release(tmp_path / "r", {"random": {"train": nli_rows(0, 6), "test": nli_rows(6, 3)}})
    for name in ("seq2seq_parser", "causal_parser"):
        assert why_not_applicable(release, "random", name) == (
            "it needs a task with free text as its target, which nli is not"
        )


def test_recipes_stand_in_the_settings(t5: SequenceToSequenceModel, release: ReleaseFolder) -> None:
    data = load_data(release, "random", "test", model=t5)
    first = SequenceToSequenceParser()
    other = replace(first, recipe=first.recipe.changed({"beams": 1}))
    assert first.settings(data)["recipe"]["beams"] == 5
    assert first.settings(data) != other.settings(data)
    assert first.settings(data)["model"] == t5.identity()

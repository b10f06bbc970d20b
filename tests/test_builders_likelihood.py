"""Configs of the likelihood-split benchmarks: names, parameters, the default, reverse splits."""

from __future__ import annotations

import json

import numpy as np
import pytest

from benchwright.builders.base import Builder, BuildOptions, ConfigSpec, Origin, builders
from benchwright.builders.likelihood import LikelihoodBenchmark
from benchwright.errors import UsageError
from benchwright.faults import FaultLog
from benchwright.features import payload_columns
from benchwright.splitting.base import Scores, Sizes, splitters

ALL_SCORES = {"prompt": ["lm_prompt"], "kfold": ["lm_kfold"]}
PUBLISHED = {"spider": 8_034, "snli": 569_018, "boolq": 12_697}


def _builder(name: str) -> Builder:
    return builders.get(name)()


QUERIES = LikelihoodBenchmark(
    texts="questions",
    sizes=Sizes(440, 220, 220),
    labelled=False,
    random_seeds=(1, 2, 3),
    constraint="atoms",
    programs=True,
    tmcd_iterations=1_000,
)


def _by_name(specs: list[ConfigSpec]) -> dict[str, ConfigSpec]:
    return {spec.name: spec for spec in specs}


@pytest.mark.parametrize("name", PUBLISHED)
def test_names_sizes_and_order(name: str) -> None:
    builder = _builder(name)
    specs = builder.configs(BuildOptions(), ALL_SCORES)
    assert [spec.name for spec in specs] == [
        *(["standard"] if name == "snli" else []),
        *["random", "random_2", "random_3", "length"],
        *(["template", "tmcd"] if name == "spider" else []),
        *["ll_split", "ll_split_len", "ll_split_pt", "ll_split_pt_len"],
        *["ll_split_reverse", "ll_split_len_reverse", "ll_split_pt_reverse", "ll_split_pt_len_reverse"],
        *(["nqg_random_1", "nqg_length_1", "nqg_template_1", "nqg_tmcd_1"] if name == "spider" else []),
    ]
    assert [spec.name for spec in specs if spec.extra] == [spec.name for spec in specs if spec.reverse_of]
    assert builder.published_rows == builder.published_sizes.total == PUBLISHED[name]
    sizes = {json.dumps(spec.parameters["sizes"]) for spec in specs if spec.splitter != "published"}
    assert {tuple(json.loads(text).values()) for text in sizes} == {
        (builder.published_sizes.train, builder.published_sizes.validation, builder.published_sizes.test)
    }


@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize("method", ["published", "corrected"])
def test_every_config_is_a_splitter_of_json_parameters_with_a_summary(name: str, method: str) -> None:
    for spec in _builder(name).configs(BuildOptions(method=method), ALL_SCORES):  # type: ignore[arg-type]
        splitter = splitters.get(spec.splitter)(**json.loads(json.dumps(spec.parameters)))
        assert splitter.reads_scores == (spec.scores is not None)
        assert spec.summary.endswith(".")
        assert spec.summary.count(". ") == 0


@pytest.mark.parametrize(
    ("score_names", "default"),
    [
        (ALL_SCORES, "ll_split"),
        ({"kfold": ["lm_kfold"]}, "ll_split"),
        ({"prompt": ["lm_prompt", "lm_prompt_gpt2_large"]}, "ll_split_pt"),
        ({}, "random"),
    ],
)
@pytest.mark.parametrize("name", PUBLISHED)
def test_exactly_one_default(name: str, score_names: dict[str, list[str]], default: str) -> None:
    specs = _builder(name).configs(BuildOptions(), score_names)
    assert [spec.name for spec in specs if spec.default] == [default]


def test_a_second_score_table_adds_its_slug() -> None:
    names = {"prompt": ["lm_prompt", "lm_prompt_gpt2_large"], "kfold": ["lm_kfold", "lm_kfold_k5"]}
    specs = _by_name(_builder("boolq").configs(BuildOptions(), names))
    assert specs["ll_split_pt_gpt2_large"].scores == "lm_prompt_gpt2_large"
    assert specs["ll_split_pt_len_gpt2_large"].scores == "lm_prompt_gpt2_large"
    assert specs["ll_split_k5"].scores == specs["ll_split_len_k5"].scores == "lm_kfold_k5"
    assert specs["ll_split_k5_reverse"].reverse_of == "ll_split_k5"
    assert len({spec.summary for spec in specs.values()}) == len(specs)


def test_slugs_that_would_give_one_name_twice_are_refused() -> None:
    with pytest.raises(UsageError, match="two configs would be called 'll_split_len'"):
        _builder("boolq").configs(BuildOptions(), {"kfold": ["lm_kfold", "lm_kfold_len"]})


def test_published_and_corrected_choices_of_classification() -> None:
    published = _by_name(_builder("snli").configs(BuildOptions(method="published"), ALL_SCORES))
    corrected = _by_name(_builder("snli").configs(BuildOptions(), ALL_SCORES))
    for specs, labels, quota in ((published, "equal", "whole_bucket"), (corrected, "shares", "none")):
        assert {
            spec.parameters["evaluation_labels"] for spec in specs.values() if spec.name != "standard"
        } == {labels}
        assert specs["ll_split_len"].parameters["empty_quota"] == quota
        assert "empty_quota" not in specs["ll_split"].parameters


def test_spider_constrains_atoms_in_likelihood_and_tmcd_splits_alone() -> None:
    specs = _builder("spider").configs(BuildOptions(), ALL_SCORES)
    constrained = {spec.name for spec in specs if spec.parameters.get("constraint") == "atoms"}
    assert constrained == {spec.name for spec in specs if spec.name.startswith(("ll_split", "tmcd"))}
    assert not any("evaluation_labels" in spec.parameters for spec in specs)


def test_options_reach_the_splitters() -> None:
    options = BuildOptions(criterion="perplexity", length_buckets=10, seed=7)
    specs = _by_name(_builder("spider").configs(options, ALL_SCORES))
    assert [specs[name].parameters["seed"] for name in ("random", "random_2", "random_3", "length")] == [
        7,
        8,
        9,
        7,
    ]
    assert specs["ll_split_len"].parameters["length_control"] == 10
    assert {specs[name].parameters["criterion"] for name in ("ll_split", "ll_split_pt_len")} == {"perplexity"}
    assert specs["ll_split_reverse"].parameters == specs["ll_split"].parameters | {"reverse": True}


@pytest.mark.parametrize(
    ("name", "seeds"), [("spider", [1, 2, 3]), ("snli", [42, 43, 44]), ("boolq", [42, 43, 44])]
)
def test_random_splits_have_the_published_seeds(name: str, seeds: list[int]) -> None:
    specs = _by_name(_builder(name).configs(BuildOptions(), {}))
    assert [specs[config].parameters["seed"] for config in ("random", "random_2", "random_3")] == seeds


def test_a_corpus_of_another_size_is_divided_in_the_published_proportions() -> None:
    specs = _builder("boolq").configs(BuildOptions(), {}, rows=100)
    assert Sizes.of(specs[0].parameters["sizes"]) == Sizes(60, 20, 20)


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_sample_is_read_and_every_config_can_be_made(name: str) -> None:
    builder = _builder(name)
    data = builder.read(builder.sample_folder(), FaultLog(), Origin("sample", "sample"))
    assert data.table.column_names == payload_columns(builder.features)
    assert data.read == data.table.num_rows + sum(data.filtered.values()) + sum(data.dropped.values())
    # The samples have no published placements of others.
    assert [note for note in data.notes if "nqg_splits" not in note] == []
    rows = builder.split_rows(data)
    unread = 0 if rows.compounds is None else rows.compounds().count(None)
    drawn = np.random.default_rng(1).normal(-30, 9, len(rows)).astype(np.float32)
    scores = Scores(drawn, np.full(len(rows), 9, dtype=np.int32))
    for spec in builder.configs(BuildOptions(), ALL_SCORES, data.table.num_rows):
        if spec.parameters.get("split") is not None:
            continue
        assignment = splitters.get(spec.splitter)(**spec.parameters).split(
            rows, scores if spec.scores else None
        )
        left_out = unread if spec.splitter == "tmcd" else 0
        assert assignment.sizes().total == data.table.num_rows - left_out


@pytest.mark.parametrize("name", PUBLISHED)
def test_what_the_card_says_is_there(name: str) -> None:
    builder = _builder(name)
    assert builder.info.citation.count("@inproceedings{") == 2
    assert builder.info.licence_link.startswith("https://creativecommons.org/licenses/by-sa/")
    assert builder.default_prompt in builder.templates
    assert builder.kfold_template in builder.templates
    assert builder.training_template is None or builder.training_template in builder.templates


def test_spider_lengths_and_atoms_for_splitters() -> None:
    builder = _builder("spider")
    data = builder.read(builder.sample_folder(), FaultLog(), Origin("sample", "sample"))
    rows = builder.split_rows(data)
    first = data.table.slice(0, 1).to_pylist()[0]
    assert rows.whitespace_lengths is not None
    assert rows.whitespace_lengths[0] == len(f"{first['db_id']}: {first['question']}".split(" "))
    assert rows.atoms is not None
    assert rows.atoms()[0] >= {"select", "from"}
    assert rows.labels is None


def test_corpora_of_programs_have_template_and_tmcd_splits() -> None:
    specs = QUERIES.configs(BuildOptions(), ALL_SCORES, 880)
    assert [spec.name for spec in specs][:7] == [
        *("random", "random_2", "random_3", "length", "template", "tmcd", "ll_split"),
    ]
    sizes = {"train": 440, "validation": 220, "test": 220}
    by_name = _by_name(specs)
    template, tmcd = by_name["template"], by_name["tmcd"]
    assert (template.splitter, template.parameters) == (
        "template",
        {"sizes": sizes, "seed": 1, "mode": "evaluation"},
    )
    assert (tmcd.splitter, tmcd.parameters) == (
        "tmcd",
        {"sizes": sizes, "seed": 1, "mode": "best", "constraint": "atoms", "max_iterations": None},
    )
    assert not any(by_name[name].extra or by_name[name].default for name in ("template", "tmcd"))
    assert "template" not in _by_name(_builder("snli").configs(BuildOptions(), ALL_SCORES))


def test_options_of_program_splits() -> None:
    options = BuildOptions(method="published", seed=7, constraint="atoms", tmcd_mode="reference")
    by_name = _by_name(QUERIES.configs(options, ALL_SCORES, 880))
    template, tmcd = by_name["template"].parameters, by_name["tmcd"].parameters
    assert (template["seed"], template["mode"], template["constraint"]) == (7, "train_first", "atoms")
    assert (tmcd["seed"], tmcd["mode"], tmcd["max_iterations"]) == (7, "reference", 1_000)
    free = _by_name(QUERIES.configs(BuildOptions(constraint="none"), ALL_SCORES, 880))
    assert free["tmcd"].parameters["constraint"] is None
    assert not any(spec.parameters.get("constraint") for spec in free.values())

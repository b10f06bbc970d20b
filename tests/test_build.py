"""The main job on the built-in samples, from corpus to a release that readers load, with a tiny model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scores_helpers import tiny_gpt2

from benchwright.builders.build import build, split
from benchwright.builders.rebuild import rebuild
from benchwright.builders.rescore import rescore
from benchwright.builders.scoring import TableMaker, model_slug, plan_tables
from benchwright.builders.verify import verify
from benchwright.errors import BenchwrightError, ReleaseError, SourceError, UsageError
from benchwright.eval import evaluate
from benchwright.eval.models import CausalModel
from benchwright.release import ReleaseFolder

DATABASE_ID = "spider_prompt_database_id"
RECIPE = {"max_steps": 2, "batch_size": 8, "eval_every": 1}


@pytest.fixture(scope="session")
def model(tmp_path_factory) -> str:
    return str(tiny_gpt2(tmp_path_factory.mktemp("models") / "tiny", positions=1024))


@pytest.fixture(scope="session")
def spider(model, tmp_path_factory) -> ReleaseFolder:
    """Every default config of the Spider sample and one reversed split."""
    folder = tmp_path_factory.mktemp("spider")
    names = [
        "random",
        "random_2",
        "random_3",
        "length",
        "ll_split",
        "ll_split_len",
        "ll_split_pt",
        "ll_split_pt_len",
    ]
    return build(
        "spider", source="sample", out=folder / "spider-splits", lm=[model], k=[2], recipe=RECIPE,
        configs=[*names, "ll_split_pt_len_reverse"], cache=folder / "cache",
    )  # fmt: skip


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_every_split_loads_with_datasets_as_declared_streaming_too(spider, tmp_path, monkeypatch):
    script = """
import sys
from datasets import load_dataset
from benchwright.release import ReleaseFolder
folder = sys.argv[1]
release = ReleaseFolder(folder)
for config in release.configs:
    loaded = load_dataset(folder, config)
    assert list(loaded) == release.splits(config), config
    for split, rows in loaded.items():
        assert rows.features == release.features(config), (config, split)
        assert rows.num_rows == release.config(config)["splits"][split]["rows"]
    first = next(iter(load_dataset(folder, config, split=release.splits(config)[0], streaming=True)))
    assert first == loaded[release.splits(config)[0]][0]
assert load_dataset(folder)["train"].num_rows
"""
    environment = {**os.environ, "HF_HOME": str(tmp_path / "hf")}
    done = subprocess.run(
        [sys.executable, "-c", script, str(spider.path)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_sizes_are_the_published_proportions_and_every_row_is_placed_once(spider):
    for name in spider.placed_configs:
        sizes = {split: facts["rows"] for split, facts in spider.config(name)["splits"].items()}
        assert sizes == {"train": 151, "validation": 26, "test": 26}, name
        uids = [uid for split in sizes for uid in spider.table(name, split).column("uid").to_pylist()]
        assert len(uids) == len(set(uids)) == 203


def test_the_likelihood_split_evaluates_on_the_least_likely_rows_and_its_reverse_on_the_most_likely(spider):
    def mean(config: str, split: str) -> float:
        return float(np.mean(spider.table(config, split).column("log_likelihood").to_numpy()))

    for config in ("ll_split", "ll_split_pt"):
        assert mean(config, "train") > mean(config, "validation")
        assert mean(config, "train") > mean(config, "test")
    assert mean("ll_split_pt_len_reverse", "train") < mean("ll_split_pt_len_reverse", "test")
    # Length control: both sides have nearly the same mean length, which the plain split does not.
    lengths = {
        (config, split): float(np.mean(spider.table(config, split).column("length").to_numpy()))
        for config in ("ll_split_pt", "ll_split_pt_len")
        for split in ("train", "test")
    }
    controlled = abs(lengths["ll_split_pt_len", "train"] - lengths["ll_split_pt_len", "test"])
    assert controlled < abs(lengths["ll_split_pt", "train"] - lengths["ll_split_pt", "test"])


def test_every_sql_token_of_evaluation_rows_is_known_from_train(spider):
    from benchwright.text.sql import sql_atoms

    for config in ("ll_split", "ll_split_len", "ll_split_pt", "ll_split_pt_len"):
        known = {
            atom
            for target in spider.table(config, "train").column("target").to_pylist()
            for atom in sql_atoms(target)
        }
        for side in ("validation", "test"):
            for target in spider.table(config, side).column("target").to_pylist():
                assert sql_atoms(target) <= known


def test_exactly_one_default_and_scores_are_published(spider):
    defaults = [name for name, entry in spider.configs.items() if entry["default"]]
    assert defaults == ["ll_split"]
    assert spider.splits("scores") == ["lm_kfold", "lm_prompt"]
    assert set(spider.table("scores", "lm_kfold").column("fold").to_pylist()) == {0, 1}


def test_the_manifest_names_the_model_by_hash_and_never_by_path(spider, model):
    text = (spider.path / "manifest.json").read_text(encoding="utf-8")
    assert str(Path(model).parent) not in text
    assert '"weights_sha256"' in text


def test_the_release_agrees_with_its_manifest_and_rebuilds_from_it(spider, tmp_path):
    assert verify(spider.path) == []
    assert rebuild(spider.path, source="sample", out=tmp_path / "again") == []
    again, first = files(tmp_path / "again"), files(spider.path)
    inside = [name for name in first if name.endswith(".parquet")]
    assert [again[name] for name in inside] == [first[name] for name in inside]


def test_a_rebuild_from_other_sources_names_what_differs(spider, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    from benchwright.builders.spider import SpiderBuilder

    for path in SpiderBuilder.sample_folder().iterdir():
        (source / path.name).write_bytes(path.read_bytes())
    dev = source / "dev.json"
    dev.write_text(
        dev.read_text(encoding="utf-8").replace("SELECT count(*)", "SELECT  COUNT(*)", 1), encoding="utf-8"
    )
    differences = rebuild(spider.path, source=source)
    assert differences
    assert any("spider:dev:" in str(difference) for difference in differences)


def test_rescoring_runs_the_model_and_gives_the_same_bits_on_one_machine(spider, model, monkeypatch):
    scored = []
    score = CausalModel.score
    monkeypatch.setattr(CausalModel, "score", lambda self, *given: scored.append(1) or score(self, *given))
    # The cache that the release was built with is at hand, and is left aside.
    monkeypatch.setenv("BENCHWRIGHT_CACHE", str(spider.path.parent / "cache"))
    reports = rescore(spider.path, source="sample", lm=model)
    assert len(scored) >= 3
    for report in reports:
        assert report.same_identity
        assert (report.compared, report.largest_difference, report.changed_ranks) == (203, 0.0, 0)
        assert {effect.flipped for effect in report.configs} == {0}
        assert all(effect.margin >= 0 for effect in report.configs)


def test_rescoring_with_another_model_says_what_would_change(spider, tmp_path):
    other = str(tiny_gpt2(tmp_path / "other", positions=1024, seed=5))
    reports = {r.table: r for r in rescore(spider.path, source="sample", lm=other)}
    report = reports["lm_prompt"]
    assert not report.same_identity
    assert not report.within(1e-3)
    assert report.largest_difference > 1
    effects = {effect.config: effect for effect in report.configs}
    assert set(effects) == {"ll_split_pt", "ll_split_pt_len", "ll_split_pt_len_reverse"}
    # Sizes are exact, so that for every row that leaves train another one enters it.
    assert effects["ll_split_pt"].flipped > 0
    assert effects["ll_split_pt"].flipped % 2 == 0


@pytest.mark.parametrize("seed", ["0", "1", "random"])
def test_the_same_bytes_under_any_hash_seed(spider, model, seed, tmp_path):
    script = (
        "import sys\nfrom benchwright.builders.build import build\n"
        "build("
        "'spider', source='sample', out=sys.argv[1], scores=sys.argv[2], configs=sys.argv[3].split(','))"
    )
    configs = ",".join(spider.placed_configs)
    subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "spider-splits"), str(spider.path), configs],
        env={**os.environ, "PYTHONHASHSEED": seed}, check=True,
    )  # fmt: skip
    assert files(tmp_path / "spider-splits") == files(spider.path)


def test_published_scores_give_the_same_bytes_without_a_model(spider, tmp_path):
    build(
        "spider",
        source="sample",
        out=tmp_path / "spider-splits",
        scores=spider.path,
        configs=list(spider.placed_configs),
    )
    assert files(tmp_path / "spider-splits") == files(spider.path)


def test_labelled_corpora_keep_label_shares_unless_published(model, tmp_path):
    shares = {}
    for method in ("corrected", "published"):
        release = build(
            "boolq",
            source="sample",
            out=tmp_path / method,
            lm=[model],
            configs=["ll_split_pt"],
            method=method,
        )
        shares[method] = float(
            np.mean(release.table("ll_split_pt", "test").column("answer").to_numpy(zero_copy_only=False))
        )
    assert shares["published"] == 0.5
    assert shares["corrected"] == pytest.approx(0.6, abs=0.02)


def test_snli_filters_are_counted_in_the_manifest(tmp_path):
    release = build("snli", source="sample", out=tmp_path / "snli", configs=["standard", "random"])
    source = release.manifest["source"]
    assert sum(source["filtered"].values()) == 8
    assert source["read"] == source["rows"] + 8 == 306
    standard = release.table("standard", "test")
    assert set(standard.column("source_split").to_pylist()) == {"test"}
    assert set(standard.column("placed_by").to_pylist()) == {"published"}


def test_a_second_model_and_k_add_their_slug(model, tmp_path):
    other = str(tiny_gpt2(tmp_path / "Other-Model 2", positions=1024, seed=1))
    release = build(
        "spider", source="sample", out=tmp_path / "out", lm=[model, other], k=[2, 3], recipe=RECIPE,
        configs=["ll_split_pt", "ll_split_pt_other_model_2", "ll_split_k3"],
    )  # fmt: skip
    assert list(release.manifest["scores"]) == ["lm_kfold_k3", "lm_prompt", "lm_prompt_other_model_2"]
    with pytest.raises(UsageError, match="did you mean ll_split_pt_other_model_2"):
        build(
            "spider",
            source="sample",
            out=tmp_path / "no",
            lm=[model, other],
            configs=["ll_split_pt_other_model"],
        )


def test_score_table_names():
    assert list(plan_tables(["gpt2"], [3])) == ["lm_prompt", "lm_kfold"]
    assert list(plan_tables(["gpt2", "openai/GPT2-large"], [3, 5])) == [
        "lm_prompt", "lm_kfold", "lm_kfold_k5",
        "lm_prompt_gpt2_large", "lm_kfold_gpt2_large", "lm_kfold_gpt2_large_k5",
    ]  # fmt: skip
    assert model_slug("./my model/") == "my_model"
    with pytest.raises(UsageError, match="share a score-table name"):
        plan_tables(["a", "x/gpt2", "y/gpt2"], [3])


def test_a_users_table_is_split_without_leaks(model, tmp_path):
    rows = [f"text {n} of the table,{'yes' if n % 3 else 'no'}" for n in range(60)]
    path = tmp_path / "reviews.csv"
    path.write_text("body,grade\n" + "\n".join([*rows, *rows[:20]]) + "\n", encoding="utf-8")
    release = split(
        path, text="body", label="grade", by=["likelihood", "random"], lm=[model], out=tmp_path / "reviews",
        validation=10, test=0.1,
    )  # fmt: skip
    assert release.manifest["audit"]["counts"]["error"] == 0
    assert verify(release.path) == []
    assert rebuild(release.path, source=path) == []
    for config in release.placed_configs:
        sides = [set(release.table(config, s).column("body").to_pylist()) for s in release.splits(config)]
        assert sum(map(len, sides)) == 60


@pytest.mark.parametrize(
    ("builder", "config", "options", "recorded"),
    [
        ("snli", "ll_split_pt", {"prompt": "snli_without_label"}, ("prompt", "snli_without_label")),
        ("spider", "ll_split_pt", {"prompt": DATABASE_ID}, ("prompt", DATABASE_ID)),
        ("boolq", "ll_split_pt", {"criterion": "perplexity"}, ("criterion", "perplexity")),
        ("boolq", "ll_split_pt", {"criterion": "length_perplexity"}, ("criterion", "length_perplexity")),
        ("boolq", "ll_split_pt_len", {"length_buckets": 3}, ("length_buckets", 3)),
    ],
)  # fmt: skip
def test_recorded_options_change_the_split_and_survive_a_rebuild(
    model, builder, config, options, recorded, tmp_path
):
    plain = build(
        builder, source="sample", out=tmp_path / "plain", lm=[model], configs=[config], validation=30, test=30
    )
    release = build(
        builder,
        source="sample",
        out=tmp_path / "other",
        lm=[model],
        configs=[config],
        validation=30,
        test=30,
        **options,
    )
    assert release.manifest["choices"][recorded[0]] == recorded[1]
    test_rows = [set(r.table(config, "test").column("uid").to_pylist()) for r in (plain, release)]
    assert test_rows[0] != test_rows[1]
    assert f"`{recorded[1]}`" in (release.path / "README.md").read_text(encoding="utf-8")
    assert rebuild(release.path, source="sample") == []


def test_single_choices_override_the_method(model, tmp_path):
    release = build(
        "boolq", source="sample", out=tmp_path / "out", lm=[model], configs=["ll_split_pt_len", "random"],
        evaluation_labels="equal", empty_quota="whole_bucket",
    )  # fmt: skip
    assert release.manifest["method"] == "corrected"
    parameters = release.config("ll_split_pt_len")["parameters"]
    assert (parameters["evaluation_labels"], parameters["empty_quota"]) == ("equal", "whole_bucket")
    assert (
        float(np.mean(release.table("random", "test").column("answer").to_numpy(zero_copy_only=False))) == 0.5
    )
    assert rebuild(release.path, source="sample") == []
    atoms = build("spider", source="sample", out=tmp_path / "atoms", configs=["random"], constraint="atoms")
    assert atoms.config("random")["parameters"]["constraint"] == "atoms"
    assert "atom_swap" in set(atoms.table("random", "train").column("placed_by").to_pylist())


def test_accepted_findings_are_known_in_manifest_and_card(tmp_path):
    first = build("spider", source="sample", out=tmp_path / "first", configs=["random"])
    finding = first.manifest["audit"]["findings"][0]
    accepted = tmp_path / "accepted.yaml"
    accepted.write_text(f"accepted: [{{id: {finding['id']}, reason: as published}}]\n", encoding="utf-8")
    second = build("spider", source="sample", out=tmp_path / "second", configs=["random"], accepted=accepted)
    assert second.manifest["audit"]["accepted"] == [finding["id"]]
    assert "known (accepted)" in (second.path / "README.md").read_text(encoding="utf-8")


def test_options_that_no_splitter_takes_are_refused_before_a_model_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(TableMaker, "make", lambda *_a, **_k: pytest.fail("scored"))
    for options, message in (
        ({"criterion": "perplexty"}, "criterion"),
        ({"length_buckets": 0}, "length_control"),
        ({"seed": -1}, "seed is -1"),
        ({"evaluation_labels": "same"}, "evaluation_labels"),
        ({"constraint": "bonds"}, "atoms or none"),
    ):
        with pytest.raises(BenchwrightError, match=message):
            build("boolq", source="sample", out=tmp_path / "out", configs=["ll_split_pt_len"], **options)
    assert not (tmp_path / "out").exists()
    with pytest.raises(pytest.fail.Exception, match="scored"):
        build("boolq", source="sample", out=tmp_path / "out", configs=["ll_split_pt_len"])


def test_published_scores_and_options_of_scoring_exclude_each_other(spider, tmp_path):
    for options, message in (
        ({"prompt": DATABASE_ID}, "made with prompt spider_prompt, not"),
        ({"recipe": RECIPE}, "no model is run"),
        ({"start_token": 0}, "no model is run"),
    ):
        with pytest.raises(UsageError, match=message):
            build(
                "spider", source="sample", out=tmp_path / "out", scores=spider.path, configs=["ll_split_pt"],
                **options,
            )  # fmt: skip


def test_a_broken_card_is_found_before_any_work_and_named_by_its_place(tmp_path):
    out = tmp_path / "boolq-splits"
    build("boolq", source="sample", out=out, configs=["random"])
    (out / "README.md").write_bytes(b"\xff\xfe")
    with pytest.raises(ReleaseError, match=r"boolq-splits/README\.md is not UTF-8"):
        build("boolq", source="sample", out=out, configs=["random"], overwrite=True)


def test_a_mistyped_file_is_no_hub_data_set(tmp_path):
    with pytest.raises(SourceError, match="no such file"):
        split("data/reviews.csv", text="body", by=["random"], out=tmp_path / "out")


def test_unknown_prompts_and_half_given_sizes_are_refused(model, tmp_path):
    with pytest.raises(UsageError, match="snli_with_label, snli_without_label"):
        build("snli", source="sample", out=tmp_path / "a", lm=[model], configs=["ll_split_pt"], prompt="mine")
    with pytest.raises(UsageError, match="both --validation and --test"):
        build("snli", source="sample", out=tmp_path / "b", configs=["random"], validation=30)
    assert not (tmp_path / "a").exists()


def test_results_and_hand_written_sections_outlive_an_overwrite(tmp_path):
    out = tmp_path / "boolq-splits"
    build("boolq", source="sample", out=out, configs=["random", "length"])
    evaluate(out, baselines=["majority"])
    card = out / "README.md"
    begin = "<!-- user:begin notes -->"
    card.write_text(
        card.read_text(encoding="utf-8").replace(begin, f"{begin}\nKept by hand."), encoding="utf-8"
    )
    build(
        "boolq",
        source="sample",
        out=out,
        configs=["random", "length"],
        validation=20,
        test=20,
        overwrite=True,
    )
    assert "Kept by hand." in card.read_text(encoding="utf-8")
    index = json.loads((out / "results" / "index.json").read_text(encoding="utf-8"))
    assert sorted(entry["stale"] for entry in index["results"]) == [
        "the rows of length/train have changed", "the rows of random/train have changed",
    ]  # fmt: skip
    assert verify(out) == []


def test_a_failed_build_leaves_nothing_behind(model, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    (source / "train.jsonl").write_text(
        '{"question": "is it", "passage": "p", "answer": true}\n{"question": 3}\n'
    )
    with pytest.raises(SourceError):
        build("boolq", source=source, out=tmp_path / "out", configs=["random"])
    assert (
        sorted(path.name for path in tmp_path.iterdir()) == ["cache", "source"]
        or not (tmp_path / "out").exists()
    )

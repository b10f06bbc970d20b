"""Facts found in a score table's provenance, whatever its depth, and the sentences made from them."""

from __future__ import annotations

from pathlib import Path

import pytest
from cards_release import make_release

from benchwright.cards import render_card
from benchwright.cards.provenance import find, prompt_of, score_reports, scorer_sentence
from benchwright.release import ReleaseFolder

PROVENANCE = {
    "key": {
        "scorer": "kfold",
        "model": {"weights_sha256": "ab", "dtype": "float32"},
        "template": {"context": "Premise: {premise}", "continuation": " {hypothesis}"},
        "training_template": {"context": "other", "continuation": "other"},
        "k": 3,
    },
    "model": {"model": "gpt2-medium", "revision": None},
    "folds": [{"fold": 0, "training": {"losses": list(range(500))}}, {"fold": 1, "training": {}}],
}


def test_outer_facts_win_and_mappings_are_no_facts() -> None:
    assert find(PROVENANCE, "model") == "gpt2-medium"
    assert find(PROVENANCE, "dtype") == "float32"
    assert find(PROVENANCE, "revision", "k") == 3
    assert find(PROVENANCE, "nothing") is None
    assert find(None, "model") is None
    assert prompt_of({"provenance": PROVENANCE}) == ("Premise: {premise}", " {hypothesis}")


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        (
            {"scorer": "kfold", "provenance": PROVENANCE},
            "Every row was scored by a copy of `gpt2-medium` that was fine-tuned without it, in 3 folds.",
        ),
        (
            {"scorer": "prompt", "provenance": {"model": {"model": "gpt2", "revision": "607a30d"}}},
            "Every row was scored by `gpt2` at revision `607a30d`, prompted and not fine-tuned.",
        ),
        ({"scorer": "prompt"}, "Every row was scored by a language model, prompted and not fine-tuned."),
    ],
)
def test_the_scorer_in_one_sentence(entry: dict[str, object], sentence: str) -> None:
    assert scorer_sentence(entry) == sentence


@pytest.fixture
def release(tmp_path: Path) -> ReleaseFolder:
    made = make_release(tmp_path / "toy")
    made.manifest["scores"]["lm_prompt"]["provenance"] = PROVENANCE
    return made


def test_every_fact_is_listed_once_and_long_ones_are_cut(release: ReleaseFolder) -> None:
    facts = dict(score_reports(release)[0].facts)
    assert facts["key.model.weights_sha256"] == "ab"
    assert facts["folds.0.fold"] == "0"
    assert len(facts["folds.0.training.losses"]) <= 200
    assert facts["folds.0.training.losses"].endswith("…")
    assert "model.revision" not in facts, "what is not known is not listed"


def test_rebuild_commands_follow_the_origin(release: ReleaseFolder) -> None:
    source = release.manifest["source"]
    assert "--source PATH_OF_THE_CORPUS" in render_card(release)
    source |= {"kind": "hub", "location": "stanfordnlp/snli", "revision": "cdb5c3d"}
    text = render_card(release)
    assert "the Hub dataset `stanfordnlp/snli` at revision `cdb5c3d`" in text
    assert "--source hub:stanfordnlp/snli@cdb5c3d" in text
    assert "so that it needs no language model" in text
    source["kind"] = "sample"
    assert "--source sample" in render_card(release)

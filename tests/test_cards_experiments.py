"""The card of a release of phenomena: difficulty, matrices, curves, outcomes; and that it stays readable."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from cards_analyses import properties, write_properties
from cards_curriculum import CELLS, experiments, information, make_curriculum, write_analyses
from cards_release import make_release, split_config
from markdown_it import MarkdownIt
from pytest_regressions.file_regression import FileRegressionFixture

from benchwright.cards import render_card, write_card
from benchwright.errors import ReleaseError
from benchwright.release import ReleaseFolder

READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
HOSTILE = "| ` <script>alert(1)</script> {{ 7*7 }}\n---\n# Heading\n```\n</details>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    release = make_curriculum(tmp_path_factory.mktemp("curriculum") / "toy-phenomena")
    write_analyses(release, experiments())
    return release.path


@pytest.fixture
def release(folder: Path) -> ReleaseFolder:
    return ReleaseFolder(folder)


@pytest.fixture(scope="module")
def text(folder: Path) -> str:
    return render_card(ReleaseFolder(folder))


def section(text: str, title: str) -> str:
    return text.split(f"\n## {title}\n")[1].split("\n## ")[0]


def add_result(
    release: ReleaseFolder,
    config: str,
    baseline: str,
    model: str | None,
    value: float,
    *,
    stale: bool = False,
) -> None:
    rows = release.config(config)["splits"]["validation"]["content_hash"]
    summary = {"value": value, "n": 2, "low": None, "high": None, "interval": "none"}
    result = {
        "config": config,
        "baseline": baseline,
        "model": model,
        "settings": {"version": 1},
        "settings_hash": "sha256:" + "b" * 64,
        "seed": 0,
        "limit": None,
        "splits": {"validation": "sha256:" + "0" * 64 if stale else rows},
        "evaluated_on": "validation",
        "metrics": {"accuracy": summary},
        "left_out": {},
    }
    path = release.path / "results" / config / f"{baseline}.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(result), encoding="utf-8")


def test_golden_of_two_phenomena(folder: Path, file_regression: FileRegressionFixture) -> None:
    card = write_card(folder)
    drawn = [path.name for path in card.figures]
    assert drawn == ["v_information.png", "simple_and_hard.png", "inoculation.png"]
    text = re.sub(r"download_size: \d+", "download_size: BYTES", card.path.read_text(encoding="utf-8"))
    text = re.sub("(text|manifest)=sha256:[0-9a-f]{64}", r"\1=sha256:HASH", text)
    file_regression.check(text, encoding="utf-8", extension=".md")


def test_figures_are_the_same_each_time(folder: Path) -> None:
    first = {path.name: path.read_bytes() for path in write_card(folder).figures}
    assert {path.name: path.read_bytes() for path in write_card(folder).figures} == first


def test_difficulty_is_sorted_and_warns_where_there_is_no_information(text: str) -> None:
    difficulty = section(text, "Difficulty")
    rows = [line for line in difficulty.splitlines() if line.startswith(("| syntactic", "| logical"))]
    # 4 of 16 rows in train and 2 of 8 in validation are hard.
    assert rows == [
        "| syntactic | `verbs` | `pvi_verbs` | 0.400 | 0.350 to 0.450 | 0.400 | 24 | 25.0 | "
        "inputs that were cut: 1,234 |",
        "| logical | `logic` | `pvi_logic` | −0.020 | −0.070 to 0.030 | −0.020 | 24 | 25.0 | "
        "**no usable information**: simple and hard mean nothing here |",
    ]
    assert "cross-fitted in 2 folds" in difficulty
    assert "at most 200 rows of every label, **labels in equal numbers**" in difficulty
    assert "depends on the model" in difficulty


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"fit": "in_sample"}, "**in-sample**"),
        ({"zero_label": True}, "**PVI 0**"),
        ({"recipe": {"rows_per_label": None}}, "all rows of every label"),
    ],
    ids=["in_sample", "zero_label", "all_rows"],
)
def test_how_scores_were_made_is_told(release: ReleaseFolder, changes: dict[str, Any], words: str) -> None:
    release.manifest["scores"]["pvi_verbs"]["provenance"]["key"] |= changes
    told = section(render_card(release), "Difficulty")
    # The two tables were made in different ways now, and each is named with its own.
    assert re.search(rf"^`pvi_verbs`: .*{re.escape(words)}", told, re.MULTILINE)
    assert re.search(r"^`pvi_logic`: Models: `minilm-l6`", told, re.MULTILINE)


def test_unequal_training_sets_are_told(release: ReleaseFolder) -> None:
    for entry in release.manifest["scores"].values():
        entry["provenance"]["models"][1]["rows_by_label"]["entailed"] = 7
    assert "labels in **unequal** numbers" in section(render_card(release), "Difficulty")


def test_an_interval_around_zero_is_remarked(release: ReleaseFolder) -> None:
    release.manifest["scores"]["pvi_verbs"]["provenance"]["v_information"] = information(0.01)
    assert "| 25.0 | the interval includes 0 |" in section(render_card(release), "Difficulty")


def test_a_table_without_its_numbers_is_named(release: ReleaseFolder) -> None:
    release.manifest["scores"]["pvi_verbs"]["provenance"]["v_information"]["overall"]["n"] = "many"
    with pytest.raises(ReleaseError, match=r"pvi_verbs\.provenance\.v_information\.overall\.n .* 'many'"):
        render_card(release)


def test_matrices(text: str) -> None:
    found = section(text, "Simple and hard rows")
    assert "`fine_tuned_full_input` with `minilm-l6`, accuracy:" in found
    assert "| `verbs` | simple | 90.0 (80.0 to 100.0) | 30.0 (20.0 to 40.0) | – | – |" in found
    assert "|  | hard | 70.0 (60.0 to 80.0) | 50.0 (40.0 to 60.0) | – | – |" in found
    assert (
        "| `logic` | simple | 60.0 (50.0 to 70.0) | 40.0 (30.0 to 50.0) | – | – |\n|  | hard | – | – |"
        in found
    )


def test_matrices_beside_the_majority_label_of_the_same_split(tmp_path: Path) -> None:
    """A result of the majority label on other rows has no say, whichever of them was stored last."""
    release = make_curriculum(tmp_path / "toy")
    (cell,) = (c for c in experiments()["generalisation"] if c["config"] == "verbs_pvi_hard_test")
    tested = cell | {"evaluated_on": "test", "majority": 0.25}
    held_out = cell | {"evaluated_on": "validation", "majority": 0.6, "settings": "sha256:" + "d" * 64}
    write_analyses(release, {"generalisation": [tested, held_out]})
    add_result(release, "verbs_pvi_hard_test", "majority", None, 0.6)
    found = section(render_card(release), "Simple and hard rows")
    first, second = found.split("accuracy on ")[1:]
    assert first.startswith("`test`:")
    assert "| `verbs` | simple | – | 30.0 (20.0 to 40.0) | – | 25.0 |" in first
    assert second.startswith("`validation`:")
    assert "| `verbs` | simple | – | 30.0 (20.0 to 40.0) | – | 60.0 |" in second


def test_values_of_stale_results_are_marked(tmp_path: Path) -> None:
    release = make_curriculum(tmp_path / "toy")
    write_analyses(release, experiments())
    for config in ("verbs_simple", "verbs"):
        add_result(release, config, "fine_tuned_full_input", "minilm-l6", 0.9, stale=True)
    text = render_card(release)
    assert "| `verbs` | simple | 90.0 (80.0 to 100.0) † | 30.0 (20.0 to 40.0) |" in text
    assert "| `verbs` | 0.0 (−10.0 to 10.0) † | 20.0 (10.0 to 30.0) † |" in text


def test_a_result_that_was_stale_before_the_analyses_marks_none_of_their_values(tmp_path: Path) -> None:
    """They were made without it: another recipe, or an earlier version, of the same baseline."""
    release = make_curriculum(tmp_path / "toy")
    write_analyses(release, experiments())
    add_result(release, "verbs_simple", "fine_tuned_full_input", "minilm-l6", 0.9, stale=True)
    index = release.path / "results" / "index.json"
    (result,) = (path for path in index.parent.rglob("*.json") if path != index)
    entry = json.loads(result.read_text(encoding="utf-8")) | {"stale": "the rows have changed"}
    index.write_text(
        json.dumps(json.loads(index.read_text(encoding="utf-8")) | {"results": [entry]}), encoding="utf-8"
    )
    text = render_card(release)
    assert "| `verbs` | simple | 90.0 (80.0 to 100.0) | 30.0 (20.0 to 40.0) |" in text


def test_curves_of_more_than_one_point(text: str) -> None:
    found = section(text, "Inoculation")
    assert "| config | 0 | 10 | 100 |" in found
    assert "| `verbs` | 0.0 (−10.0 to 10.0) | 20.0 (10.0 to 30.0) | 60.0 (50.0 to 70.0) |" in found
    assert "`logic`" not in found, "a single point is no curve; its value stands under Baselines"
    assert found.index("Matthews correlation:") < found.index("<details>") < found.index("accuracy</summary>")


def test_partial_input_beside_full_input_and_majority(text: str) -> None:
    found = section(text, "Partial input")
    assert (
        "| `verbs` | 80.0 (70.0 to 90.0) | 65.0 (60.0 to 70.0) | 50.0 | +15.0 | +15.0 (+5.0 to +25.0) |"
    ) in found
    assert "| `logic` | 60.0 | 40.0 | – | – | +20.0 |" in found


def test_outcomes_are_counted_and_thresholds_stated(text: str) -> None:
    found = section(text, "Phenomena by outcome")
    assert "correlation of at least 0.50" in found
    assert "accuracy of at least 10 points above the majority label" in found
    assert "| known | `logic` | 1 of 2 | 50 |" in found
    assert "| learned | `verbs` | 1 of 2 | 50 |" in found
    assert "| not learned | – | 0 of 2 | 0 |" in found
    assert "| given away by the partial input | `verbs` | 1 of 1 | 100 |" in found
    assert "| generalises from simple to hard | – | 0 of 1 | 0 |" in found
    assert "| syntactic | `verbs` | learned | 0.10 | 0.60 | 65.0 | 50.0 | yes | 30.0 | no |" in found
    assert "| logical | `logic` | known | 0.70 | – | – | – | – | 40.0 | – |" in found


def test_outcomes_without_thresholds_say_so(folder: Path, release: ReleaseFolder, tmp_path: Path) -> None:
    analyses = experiments()
    for entry in analyses["outcomes"]:
        del entry["known_from"], entry["given_away_from"]
    other = make_curriculum(tmp_path / "other")
    write_analyses(other, analyses)
    assert "a threshold that was not recorded" in section(render_card(other), "Phenomena by outcome")


def test_analyses_are_checked_and_those_of_configs_that_are_gone_left_out(tmp_path: Path) -> None:
    release = make_curriculum(tmp_path / "toy")
    analyses = experiments()
    analyses["generalisation"][0]["config"] = "gone"
    write_analyses(release, analyses)
    assert "| `verbs` | simple | – | 30.0 (20.0 to 40.0) |" in render_card(release)
    analyses["outcomes"][0]["given_away"] = "perhaps"
    write_analyses(release, analyses)
    with pytest.raises(ReleaseError, match=r"outcomes\[0\]\.given_away must be true or false, got 'perhaps'"):
        render_card(release)


def test_configs_stand_in_their_categories(text: str) -> None:
    configs = section(text, "Configs")
    assert configs.index("**syntactic**") < configs.index("`verbs_hard`") < configs.index("**logical**")
    assert configs.index("**logical**") < configs.index("| `logic` |")
    assert "2 phenomena in 2 categories, 48 rows, in 10 configs, divided into train and validation." in text


def test_labels_of_every_task_are_counted(text: str) -> None:
    chosen = section(text, "How rows were chosen")
    assert "| config | side | `entailed` | `not-entailed` | rows |" in chosen
    assert "| config | side | `entailment` | `neutral` | `contradiction` | rows |" in chosen
    assert "| `verbs` | train | 50.0 | 50.0 | 16 |" in chosen
    assert "- `verbs`" not in chosen, "nothing is to be said of it alone"
    assert "| `logic` | evaluation | 37.5 | 37.5 | 25.0 | 8 |" in chosen


def test_words_of_pvi_splits(text: str) -> None:
    chosen = section(text, "How rows were chosen")
    assert "those below it are **hard**, the others **simple**. The threshold is the middle" in chosen
    assert "- `verbs_pvi_hard_test`: Simple rows train, hard rows evaluate." in chosen
    assert chosen.count("threshold 0.5000 bits") == 2, "once for each score table, not for each config"
    assert "paper on likelihood splits" not in text
    assert "Likely" not in section(text, "Limitations")


def test_words_of_cleaned_splits(tmp_path: Path) -> None:
    release = make_curriculum(tmp_path / "toy")
    entry = release.manifest["configs"]["verbs"]
    entry["parameters"] = {"of": {"splitter": "published", "parameters": entry["parameters"]}}
    entry |= {"splitter": "clean", "placed_by": {"train": {"published": 15, "leak": 1}}}
    chosen = section(render_card(release), "How rows were chosen")
    assert "### Cleaned splits: `verbs`" in chosen
    assert "The split that the source itself was **published** with." in chosen
    assert "(*conflicts*), later copies of an input on one side (*duplicates*)" in chosen
    assert "in `train` 15 as published, 1 left out as leaks" in chosen


def test_audit_is_told_by_phenomenon(text: str) -> None:
    audit = section(text, "Audit")
    assert "| known | `duplicate_input` | 2 | 2 | 5 (`logic`) |" in audit
    assert "<summary>verbs: 1 known</summary>" in audit
    assert "<summary>logic: 1 known, 1 info</summary>" in audit
    assert "| info | `label_order` | all rows of `logic`: train | 16 |" in audit


def test_licences_of_the_phenomena(text: str) -> None:
    licence = section(text, "Licence")
    assert "| `verbs` | syntactic | `MIT` | Toy Verbs |" in licence
    assert "| `logic` | logical | `unknown` | Toy Logic, Toy Sets |" in licence
    assert "- verbs.zip: field 'frame' of 24 rows is not used" in section(text, "Provenance")


def test_limitations(release: ReleaseFolder, text: str) -> None:
    told = section(text, "Limitations")
    assert "`minilm-l6` had seen inference data before: SNLI and MultiNLI" in told
    assert (
        "Long premises were cut for the models of 1 score table at their greatest length (1,234 inputs"
        in told
    )
    assert "`validation` is what the benchmark evaluates on" in told
    assert "look random" not in told
    for entry in release.manifest["configs"].values():
        entry["part"] = entry["part"].replace("logic", "hyponymy")
    assert "look random" not in section(render_card(release), "Limitations"), "not the published files"
    release.manifest["source"]["files"][0]["name"] = "hyponymy.zip/hyponymy/train.jsonl"
    assert "The published labels of `hyponymy` look random" in section(render_card(release), "Limitations")


def test_no_model_of_the_note_no_note(release: ReleaseFolder) -> None:
    for entry in release.manifest["scores"].values():
        entry["provenance"]["model"]["model"] = "roberta-base"
    assert "MultiNLI" not in render_card(release)


def test_hostile_data_stays_in_its_place(tmp_path: Path) -> None:
    release = make_curriculum(tmp_path / "toy")
    write_analyses(release, experiments())
    calm = [(token.type, token.tag) for token in READER.parse(_body(render_card(release)))]
    analyses = experiments()
    for entry in (entry for entries in analyses.values() for entry in entries):
        entry["model"] = f"{entry.get('model')} {HOSTILE}"
        for name in ("interval", "baseline", "metric"):
            if name in entry:
                entry[name] += HOSTILE
    write_analyses(release, analyses)
    for entry in release.manifest["scores"].values():
        entry["provenance"]["model"]["model"] = HOSTILE
        entry["provenance"]["key"]["null"] = [HOSTILE, HOSTILE]
        found = entry["provenance"]["v_information"]
        found["by_label"] = {HOSTILE: found["overall"]}
    release.manifest["source"]["notes"] = [
        f"licence of {part}: a{HOSTILE} ({HOSTILE})" for part in ("verbs",)
    ]
    release.manifest["source"]["notes"] += [f"note {HOSTILE}"]
    wild = READER.parse(_body(render_card(release)))
    html = {child.content for token in wild for child in token.children or [] if child.type == "html_inline"}
    assert html <= {"<code>", "</code>"}
    blocks = {token.content.strip().split("\n")[0] for token in wild if token.type == "html_block"}
    assert not any("script" in block for block in blocks)
    headings = [kind for kind in calm if kind == ("heading_open", "h2")]
    assert [(t.type, t.tag) for t in wild if (t.type, t.tag) == ("heading_open", "h2")] == headings
    write_card(release.path)


def _body(text: str) -> str:
    return re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)


def test_the_card_of_many_phenomena_stays_readable(tmp_path: Path) -> None:
    release = make_curriculum(tmp_path / "toy")
    configs, scores = release.manifest["configs"], release.manifest["scores"]
    for number in range(34):
        part = f"task_{number:02}"
        for name in ("verbs", *(f"verbs_{cell}" for cell in CELLS)):
            entry = json.loads(json.dumps(configs[name])) | {"part": part, "default": False}
            if entry["scores"]:
                entry["scores"] = f"pvi_{part}"
            if entry["reverse_of"]:
                entry["reverse_of"] = entry["reverse_of"].replace("verbs", part)
            configs[name.replace("verbs", part)] = entry
        scores[f"pvi_{part}"] = json.loads(json.dumps(scores["pvi_verbs"])) | {"part": part}
    # Pairs of sentences have no compounds to diverge.
    analyses = {kind: found for kind, found in properties(release).items() if kind != "divergence"}
    write_properties(release, analyses)
    text = _body(render_card(release))
    assert text.count("<summary>Columns of") == 2
    assert text.count("```json") == 2, "one example for each category"
    opened = re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL)
    assert "per config. Medians" not in text
    # 180 configs and 36 rows of difficulty have a line each; little else is open.
    assert len(opened.splitlines()) < 500
    assert len(text.encode()) < 250_000


def test_a_release_without_parts_has_none_of_it(tmp_path: Path) -> None:
    configs = {"random": split_config("random", default=True)}
    text = render_card(make_release(tmp_path / "tiny", configs=configs))
    for title in (
        "Difficulty",
        "Simple and hard rows",
        "Inoculation",
        "Partial input",
        "Phenomena by outcome",
    ):
        assert f"## {title}\n" not in text

"""The card of a release of overlap subsets: counts, curves, examples, accuracies, mining; hostile text."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from markdown_it import MarkdownIt
from pronoun_release import make_release, source_rows, write_analyses
from pytest_regressions.file_regression import FileRegressionFixture

from benchwright.cards import render_card, write_card
from benchwright.cards.harness.questions import questions
from benchwright.cards.overlap_data import CorpusOverlap, searched_test_sets, subset_sentences
from benchwright.errors import ReleaseError
from benchwright.release import ReleaseFolder

READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
HOSTILE = "| ` <script>alert(1)</script> {{ 7*7 }}\n---\n# Heading\n```\n</details> [x](javascript:1) **b**"
FISHER, MCNEMAR = "Fisher's exact test, two-sided", "exact McNemar test, two-sided"


def _run(model: str | None, baseline: str = "pronoun_lm") -> dict[str, Any]:
    return {"baseline": baseline, "model": model, "settings": "sha256:" + "a" * 64, "seed": 0}


def analyses() -> dict[str, Any]:
    """Two runs on the whole test set and one subset; numbers are invented."""
    small, large = _run("small"), _run("large", "pronoun_lm_partial")
    whole = {"config": "toy", "part": "toy", "metric": "accuracy"}
    interval = {"low": 0.3, "high": 0.9, "interval": "Wilson 95%"}
    subsets = [
        {**whole, **run, **interval, "subset": subset, "n": n, "value": value}
        for run, values in ((small, (0.5, 0.75)), (large, (0.625, 1.0)))
        for (subset, n), value in zip((("toy", 8), ("toy_overlap_gt0", 4)), values, strict=True)
    ]
    subsets[1]["n"] = 3
    test = {"difference": 0.25, "low": -0.1, "high": 0.5, "interval": "some 95%"}
    return {
        "overlap_subsets": subsets,
        "overlap_differences": [
            {
                **whole,
                **small,
                **test,
                "subset": "toy_overlap_gt0",
                "against": against,
                "n": 4,
                "n_against": 3,
                "p": p,
                "test": FISHER,
            }
            for against, p in (("toy_no_overlap", 0.4857), ("rest", 0.00001))
        ],
        "overlap_comparisons": [
            {
                **whole,
                **test,
                "subset": "toy",
                "first": small,
                "second": large,
                "n": 8,
                "only_first": 1,
                "only_second": 2,
                "p": 1.0,
                "test": MCNEMAR,
            }
        ],
        "overlap_twins": [
            {
                **whole,
                **small,
                **interval,
                "subset": "toy",
                "pairs": 4,
                "both": 1,
                "one": 2,
                "none": 1,
                "value": 0.25,
            }
        ],
    }


@pytest.fixture
def release(tmp_path: Path) -> ReleaseFolder:
    return make_release(tmp_path / "toy-overlap")


def section(text: str, title: str) -> str:
    return text.split(f"\n## {title}\n")[1].split("\n## ")[0]


def change_manifest(release: ReleaseFolder, change: Any) -> ReleaseFolder:
    path = release.path / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    change(manifest)
    path.write_text(json.dumps(manifest), encoding="utf-8")
    return ReleaseFolder(release.path)


def test_golden(release: ReleaseFolder, file_regression: FileRegressionFixture) -> None:
    write_analyses(release, analyses())
    card = write_card(release)
    assert [path.name for path in card.figures] == ["overlap_curves.png"]
    text = card.path.read_text(encoding="utf-8")
    body = text.split("\n---\n", 1)[1]
    body = re.sub("(text|manifest)=sha256:[0-9a-f]{64}", r"\1=sha256:HASH", body)
    file_regression.check(body, encoding="utf-8", extension=".md")


def test_the_same_release_gives_the_same_card_and_picture(release: ReleaseFolder) -> None:
    write_analyses(release, analyses())
    first = write_card(release)
    text, picture = first.path.read_bytes(), first.figures[0].read_bytes()
    second = write_card(ReleaseFolder(release.path))
    assert (second.path.read_bytes(), second.figures[0].read_bytes()) == (text, picture)
    assert picture.startswith(b"\x89PNG")


def test_counts_are_those_of_the_rows(release: ReleaseFolder) -> None:
    (found,) = searched_test_sets(release)
    whole, brown, wiki = found.overlaps
    assert [one.corpus for one in found.overlaps] == [None, "brown", "wiki"]
    assert np.isnan(whole.best).tolist() == [False] * 7 + [True]
    assert whole.best[:7].tolist() == [40.25, 12.0, 27.0, 0.0, 0.0, 3.5, 0.0]
    assert brown.best[:7].tolist() == [31.5, 0.0, 27.0, 0.0, 0.0, 0.0, 0.0]
    assert wiki.best[:7].tolist() == [40.25, 12.0, 0.0, 0.0, 0.0, 3.5, 0.0]
    assert [one.searched for one in found.overlaps] == [7, 7, 7]
    assert [[one.above(cutoff) for cutoff in (0, 25, 35)] for one in found.overlaps] == [
        [4, 2, 1],
        [2, 2, 0],
        [3, 1, 1],
    ]
    assert [int(one.exact.sum()) for one in found.overlaps] == [1, 0, 1]


def test_a_curve_is_the_share_above_each_cutoff() -> None:
    overlap = CorpusOverlap(None, np.array([0.0, 2.0, 2.0, 5.5, np.nan]), np.zeros(5, dtype=bool))
    cutoffs = np.array([0.0, 1.0, 2.0, 5.0, 5.5, 9.0])
    assert overlap.curve(cutoffs).tolist() == [0.75, 0.75, 0.25, 0.25, 0.0, 0.0]
    empty = CorpusOverlap(None, np.array([np.nan]), np.zeros(1, dtype=bool))
    assert np.isnan(empty.curve(cutoffs)).all()
    assert empty.searched == 0


def test_examples_come_from_every_band(release: ReleaseFolder) -> None:
    (found,) = searched_test_sets(release)
    assert [example.score for example in found.examples] == [40.25, 27.0, 12.0, 3.5]
    assert [example.exact_copy for example in found.examples] == [True, False, False, False]
    assert found.examples[1].found == "A sentence like number 2."
    assert [example.corpus for example in found.examples] == ["wiki", "brown", "wiki", "wiki"]


def test_hostile_text_is_quoted(tmp_path: Path) -> None:
    rows = source_rows()
    rows[0]["text"] = f"she {HOSTILE}"
    rows[0]["pronoun_loc"] = 0
    for hit in rows[0]["hits"]:
        hit["text"] = HOSTILE * 3
    release = make_release(tmp_path / "r", rows=rows)

    def rename(manifest: dict[str, Any]) -> None:
        manifest["scores"]["bm25_toy"]["provenance"]["corpora"][0]["name"] = HOSTILE

    release = change_manifest(release, rename)
    found = analyses()
    found["overlap_subsets"][0]["model"] = HOSTILE
    write_analyses(release, found)
    shown = render_card(release)
    for title in ("Overlap with corpora", "Accuracy and overlap"):
        html = READER.render(section(shown, title))
        assert "<script" not in html
        assert "javascript:" not in re.findall(r'href="([^"]*)"', html)
        assert "<h1>" not in html
        assert html.count("<details>") == html.count("</details>")
        assert "<b>" not in html
    # Every line of a table has as many cells as its header.
    assert all(
        len(re.findall("<td[ >]", row)) in (0, len(re.findall("<th[ >]", table)))
        for table in re.findall(r"<table>.*?</table>", READER.render(shown), re.DOTALL)
        for row in re.findall(r"<tr>.*?</tr>", table, re.DOTALL)
    )


def test_parameters_of_another_kind_do_not_stop_the_card(release: ReleaseFolder) -> None:
    def spoil(manifest: dict[str, Any]) -> None:
        manifest["configs"]["toy"]["parameters"]["cutoffs"] = ["many", None, True]
        manifest["configs"]["toy_overlap_gt25"]["parameters"] |= {"cutoff": "high", "quantile": [0.5]}

    text = render_card(change_manifest(release, spoil))
    assert "above 25 (%)" in text
    assert "**above** the 0.5 quantile of the overlapping rows" in text


def test_a_corpus_without_a_match_has_a_line_and_one_alone_its_name(release: ReleaseFolder) -> None:
    def corpora(names: list[str]) -> Any:
        listed = [{"name": name, "documents": 10, "terms": 95} for name in names]
        return lambda manifest: manifest["scores"]["bm25_toy"]["provenance"].update(corpora=listed)

    text = section(
        render_card(change_manifest(release, corpora(["brown", "wiki", "void"]))), "Overlap with corpora"
    )
    assert "| `toy` | `void` | 8 | 7 | 0 (0.0) | 0 (0.0) | 0 (0.0) | 0 |" in text
    assert "| `void` | `toy` | 10 | 95 | 9.5 |" in text
    text = section(render_card(change_manifest(release, corpora(["both"]))), "Overlap with corpora")
    assert "| `toy` | `both` | 8 | 7 | 4 (57.1) | 2 (28.6) | 1 (14.3) | 1 |" in text
    assert "all corpora" not in text


def test_other_releases_have_no_such_sections(tmp_path: Path) -> None:
    release = make_release(tmp_path / "r")

    def published(manifest: dict[str, Any]) -> None:
        for entry in manifest["configs"].values():
            entry["splitter"] = "published"

    text = render_card(change_manifest(release, published))
    assert "\n## Overlap with corpora\n" not in text
    assert "\n## Accuracy and overlap\n" not in text


def test_rows_without_hits_give_counts_and_no_examples(tmp_path: Path) -> None:
    rows = source_rows()
    for row in rows:
        row["hits"], row["best_score"] = [], None
    release = make_release(tmp_path / "r", rows=rows)
    (found,) = searched_test_sets(release)
    assert found.examples == ()
    text = section(render_card(release), "Overlap with corpora")
    assert "| `toy` | all corpora | 8 | 0 | – | – | – | 1 |" in text


def test_the_funnel_of_mining(release: ReleaseFolder) -> None:
    stages = [
        {
            "stage": "sentences | cut",
            "unit": "sentences",
            "kept": 250,
            "dropped": {"too long": 700, "<b>": 50},
        },
        {"stage": "parsed", "unit": "sentences", "kept": 250, "dropped": {}},
        {"stage": "labelled", "unit": "problems", "kept": 0, "dropped": {"no agreement": 250}},
        {"stage": "nothing left", "unit": "problems", "kept": 0},
    ]

    def add(manifest: dict[str, Any]) -> None:
        manifest["source"]["funnel"] = stages

    text = section(render_card(change_manifest(release, add)), "Mining")
    lines = [line for line in text.splitlines() if line.startswith("|")][2:]
    assert lines == [
        "| sentences &#124; cut | too long: 700; &lt;b&gt;: 50 | sentences | 1,000 | 250 | 25.0 |",
        "| parsed | – | sentences | 250 | 250 | 100.0 |",
        "| labelled | no agreement: 250 | problems | 250 | 0 | 0.0 |",
        "| nothing left | – | problems | 0 | 0 | – |",
    ]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda manifest: manifest["source"].update(funnel=[{"stage": "a", "unit": "b", "kept": "many"}]),
            "source.funnel[0].kept must be a whole number",
        ),
        (
            lambda manifest: manifest["scores"]["bm25_toy"]["provenance"].update(corpora=[{"documents": 1}]),
            "scores.bm25_toy.provenance.corpora[0].name must be text",
        ),
    ],
)
def test_a_manifest_that_cannot_be_shown_is_refused(release: ReleaseFolder, change: Any, words: str) -> None:
    changed = change_manifest(release, change)
    with pytest.raises(ReleaseError) as caught:
        render_card(changed)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("overlap_subsets", "value"),
        ("overlap_differences", "p"),
        ("overlap_comparisons", "only_first"),
        ("overlap_twins", "pairs"),
    ],
)
def test_an_index_that_cannot_be_shown_is_refused(release: ReleaseFolder, kind: str, field: str) -> None:
    found = analyses()
    found[kind][0][field] = "much"
    write_analyses(release, found)
    with pytest.raises(ReleaseError, match=rf"analyses\.{kind}\[0\]\.{field} must be a .*; evaluate"):
        render_card(release)


def test_harnesses_ask_for_a_candidate_by_its_number(release: ReleaseFolder) -> None:
    asked = questions(release, "toy")
    assert [question.config for question in asked] == list(release.placed_configs)
    assert {question.answers for question in asked} == {(" 0", " 1")}
    row = source_rows()[0]
    shown = asked[0].prompt.format(**row)
    assert shown.startswith(f"{row['text']}\nQuestion: which of ['The baker', 'The diver']")
    assert shown.endswith("the word at character 36 of the text, she, stand for?\nAnswer:")


def test_lines_on_configs_that_are_gone_are_left_out(release: ReleaseFolder) -> None:
    found = analyses()
    found["overlap_subsets"].append({**found["overlap_subsets"][0], "subset": "toy_overlap_gt99"})
    write_analyses(release, found)
    assert "gt99" not in render_card(release)


@pytest.mark.parametrize(
    ("more", "copies"), [({}, ""), ({"without_copies": True}, " and of which no corpus")]
)
def test_rows_that_are_left_out_for_a_copy_are_spoken_of(more: dict[str, Any], copies: str) -> None:
    (sentence,) = subset_sentences({"subset": "no_overlap", "cutoff": 0.0, **more})
    copies += " holds an exact copy" if copies else ""
    assert sentence == f"Rows whose best score is **at most** 0{copies}; all others are in no split."

"""Results by classes of rows, projections, types of errors and flawed answers in the card."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cards_analyses import add_breakdowns, add_results
from cards_release import make_release
from markdown_it import MarkdownIt

from benchwright.cards import render_card
from benchwright.errors import ReleaseError
from benchwright.release import ReleaseFolder

READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


@pytest.fixture
def release(tmp_path: Path) -> ReleaseFolder:
    made = make_release(tmp_path / "toy-splits")
    add_results(made, stale=("random_2",))
    add_breakdowns(made)
    return made


def subsection(text: str, title: str) -> str:
    return text.split(f"\n### {title}\n")[1].split("\n## ")[0].split("\n### ")[0]


def rewrite(release: ReleaseFolder, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the analyses of the index."""
    path = release.path / "results" / "index.json"
    index = json.loads(path.read_text(encoding="utf-8"))
    change(index["analyses"])
    path.write_text(json.dumps(index), encoding="utf-8")


def test_values_by_class_stand_in_the_order_of_the_run(release: ReleaseFolder) -> None:
    text = subsection(render_card(release), "Results by classes of rows")
    assert "`majority`, accuracy, by `hardness`:\n\n| config | `easy` | `hard` | `extra` |" in text
    assert "| `ll_split_pt` | 50.0 (6) | 25.0 (4) | – |" in text
    names = re.findall(r"^\| `(\w+)`", text.split("*Projected*")[0], re.MULTILINE)
    assert names == ["random", "random_2", "ll_split_pt", "ll_split_pt_reverse", "ll_split_len_pt"]


def test_stale_results_are_marked_here_too(release: ReleaseFolder) -> None:
    assert "| `random_2` † | 50.0 (6) |" in subsection(render_card(release), "Results by classes of rows")


def test_projections_stand_between_random_and_observed(release: ReleaseFolder) -> None:
    text = subsection(render_card(release), "Results by classes of rows")
    assert "| `majority`, accuracy | `hardness` | `ll_split_pt` | 50.0 | 45.0 | 30.0 |" in text
    rewrite(release, lambda analyses: analyses.pop("breakdowns"))
    alone = subsection(render_card(release), "Results by classes of rows")
    assert "| `majority`, accuracy | `hardness` | `ll_split_pt` | 50.0 | 45.0 | 30.0 |" in alone
    assert "In percent; in brackets" not in alone


def test_only_the_headline_metric_is_broken_down(release: ReleaseFolder) -> None:
    def add(analyses: dict[str, Any]) -> None:
        analyses["breakdowns"].append(
            analyses["breakdowns"][0] | {"metric": "other", "groups": {"easy": {"n": 1, "value": 0.123}}}
        )

    rewrite(release, add)
    assert "12.3 (1)" not in render_card(release)


def test_types_of_errors_are_counted_by_config(release: ReleaseFolder) -> None:
    text = subsection(render_card(release), "Types of errors")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert rows == [
        "| type | `random` | `ll_split_pt` |",
        "| --- | ---: | ---: |",
        "| no join | 3 | 3 |",
        "| wrong column | 2 | 4 |",
        "| *answers with a type* | 6 of 7 | 6 of 7 |",
    ]


def test_answers_that_were_left_out_or_flagged_are_told(release: ReleaseFolder) -> None:
    assert "left out or flagged" not in render_card(release)
    path = next((release.path / "results" / "random").glob("majority*.json"))
    result = json.loads(path.read_text(encoding="utf-8"))
    result["left_out"] = {"too long": 2}
    result["flagged"] = {"unparsed_prediction": 3}
    result["metrics"]["accuracy"] |= {"left_out": {"no gold": 1}, "flagged": {"unparsed_prediction": 3}}
    path.write_text(json.dumps(result), encoding="utf-8")
    text = render_card(release)
    assert "| `majority` | `random` | left out: too long | 2 |" in text
    assert "| `majority` | `random` | left out of accuracy: no gold | 1 |" in text
    assert text.count("| `majority` | `random` | unparsed prediction | 3 |") == 1


def test_a_value_that_does_not_exist_is_a_dash(release: ReleaseFolder) -> None:
    path = next((release.path / "results" / "random").glob("majority*.json"))
    result = json.loads(path.read_text(encoding="utf-8"))
    result["metrics"]["accuracy"] |= {"value": None, "low": None, "high": None, "n": 0}
    path.write_text(json.dumps(result), encoding="utf-8")
    assert "| `random` | – | – | 0 |" in render_card(release)


@pytest.mark.parametrize(
    ("kind", "field", "value", "problem"),
    [
        ("breakdowns", "groups", [], "analyses.breakdowns[0].groups must be an object, got []"),
        ("projections", "projected", "x", "analyses.projections[0].projected must be a number, got 'x'"),
        ("errors", "typed", -1, "analyses.errors[0].typed must be a whole number, 0 or more, got -1"),
    ],
)
def test_a_malformed_index_is_refused(
    release: ReleaseFolder, kind: str, field: str, value: Any, problem: str
) -> None:
    rewrite(release, lambda analyses: analyses[kind][0].update({field: value}))
    with pytest.raises(ReleaseError, match=re.escape(problem)):
        render_card(release)


def test_hostile_names_cannot_leave_their_place(release: ReleaseFolder) -> None:
    calm = READER.parse(subsection(render_card(release), "Types of errors"))
    hostile = "| ` ``` <script>x</script> {{ 7*7 }}\n---\n\n# Heading\n*a*"

    def change(analyses: dict[str, Any]) -> None:
        for entry in analyses["errors"]:
            entry["counts"] = {f"{name} {hostile}": rows for name, rows in entry["counts"].items()}
        for entry in [*analyses["breakdowns"], *analyses["projections"]]:
            entry["column"] = hostile
        for entry in analyses["breakdowns"]:
            entry["groups"] = {f"{name} {hostile}": found for name, found in entry["groups"].items()}

    rewrite(release, change)
    text = render_card(release)
    wild = READER.parse(subsection(text, "Types of errors"))
    assert [(token.type, token.tag) for token in wild] == [(token.type, token.tag) for token in calm]
    html = {
        child.content
        for token in READER.parse(text)
        for child in token.children or []
        if child.type == "html_inline"
    }
    assert html <= {"<code>", "</code>"}

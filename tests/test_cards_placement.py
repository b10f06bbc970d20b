"""How rows of program splits were chosen, in words: templates, compound divergence, published divisions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cards_analyses import properties, write_properties
from cards_release import SIZES, make_release, split_config

from benchwright.cards import render_card
from benchwright.release import ReleaseFolder
from benchwright.text.programs import structures, template_rules


def config(splitter: str, parameters: dict[str, Any], **others: Any) -> dict[str, Any]:
    return split_config(splitter, default=True) | {"splitter": splitter, "parameters": parameters} | others


def placement(folder: Path, entry: dict[str, Any], choices: dict[str, Any] | None = None) -> str:
    release = make_release(folder / "toy", configs={"mine": entry}, sides=False)
    return section(release, choices)


def section(release: ReleaseFolder, choices: dict[str, Any] | None = None) -> str:
    release.manifest["choices"] = choices or {}
    return render_card(release).split("\n## How rows were chosen\n")[1].split("\n## ")[0]


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("evaluation", "Templates drawn at random (seed 7) evaluate, as many as fit as a whole"),
        ("train_first", "Templates drawn at random (seed 7) train until one would exceed the size of train"),
    ],
)
def test_template_splits(tmp_path: Path, mode: str, words: str) -> None:
    rule = template_rules.get("canonical")
    text = placement(
        tmp_path,
        config("template", {"sizes": SIZES, "seed": 7, "mode": mode}),
        {"template_rule": "canonical", "structure": "spider"},
    )
    assert "### Template splits: `mine`" in text
    assert "Programs of one **template** stay on one side." in text
    assert words in text
    assert f"**Template rule `canonical`.** {rule.summary}" in text
    assert "**Structure" not in text, "no rule of this config looks at atoms or compounds"
    assert "`structure` = `spider`" in text, "a choice that needs no words is listed"
    assert "`template_rule` =" not in text


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        (
            "best",
            "each pair only if that raises it. Where no swap does, swaps that raise a smoothed divergence",
        ),
        (
            "reference",
            "The first swap that raises it is made each time, until none does or the most swaps are",
        ),
    ],
)
def test_tmcd_splits(tmp_path: Path, mode: str, words: str) -> None:
    entry = config("tmcd", {"sizes": SIZES, "seed": 1, "mode": mode}, unused=6)
    entry["notes"] = [
        {
            "code": "unparsed",
            "message": "programs without a parse are in no split",
            "uids": ["u1"],
            "count": 6,
        }
    ]
    text = placement(tmp_path, entry, {"structure": "spider"})
    assert "### Splits by compound divergence (TMCD): `mine`" in text
    assert "From a random division (seed 1) on, rows of train and evaluation are swapped to raise" in text
    assert words in text
    assert "6 rows are in no split." not in text, "the note says it, and why"
    assert "Validation and test divide the evaluation rows at random (seed 1)." in text
    assert "Every atom (symbol of the target) of an evaluation row also occurs in a training row" in text
    assert "Programs without a parse are in no split (`u1` and 5 more)." in text
    assert f"**Structure `spider`.** {structures.get('spider').summary}" in text


def test_a_structure_of_a_missing_plugin_is_named_alone(tmp_path: Path) -> None:
    text = placement(tmp_path, config("tmcd", {"sizes": SIZES}), {"structure": "of_a_plugin"})
    assert "`structure` = `of_a_plugin`" in text
    assert "**Structure" not in text


def test_the_atom_rule_says_by_which_structure(tmp_path: Path) -> None:
    entry = config("random", {"sizes": SIZES, "seed": 1, "constraint": "atoms"})
    text = placement(tmp_path, entry, {"structure": "spider"})
    assert "**Structure `spider`.**" in text
    assert "Every atom (symbol of the target) of an evaluation row also occurs in a training row" in text


def test_rows_that_changed_sides_for_the_atoms_are_counted_once(tmp_path: Path) -> None:
    """By the note: compound divergence may have placed some of its rows anew."""
    entry = config("tmcd", {"sizes": SIZES, "seed": 1, "mode": "best"})
    release = make_release(tmp_path / "toy", configs={"mine": entry}, sides=False)
    release.configs["mine"]["placed_by"] = {"train": {"random": 36, "atom_swap": 4}}
    assert "For the atoms 4 rows changed sides." in section(release)
    message = "20 swaps gave every atom of the evaluation rows a train row"
    release.configs["mine"]["notes"] = [
        {"code": "atom_swaps", "message": message, "uids": ["u1"], "count": 40}
    ]
    text = section(release)
    assert f"{message} (`u1` and 39 more)." in text
    assert "For the atoms" not in text


def test_the_structure_is_explained_once(tmp_path: Path) -> None:
    entry = config("random", {"sizes": SIZES, "seed": 1, "constraint": "atoms"})
    release = make_release(tmp_path / "toy", configs={"mine": entry})
    found = properties(release)
    found["divergence"]["structure"] = "spider"
    write_properties(release, found)
    assert "The structure is `spider`: Atoms are words;" in render_card(release)
    release.manifest["choices"] = {"structure": "spider"}
    text = render_card(release)
    assert "**Structure `spider`.**" in text
    assert "The structure is `spider`. Every occurrence" in text


def test_published_divisions_of_others_are_told_from_the_sources_own(tmp_path: Path) -> None:
    mine = config("published", {"mapping": {}, "split": "tmcd_1"}, unused=3658)
    mine["notes"] = [{"code": "empty_split", "message": "validation has no rows"}]
    mine["left_out"] = [{"split": "validation", "reason": "no row was placed in it"}]
    text = placement(tmp_path, mine)
    assert "There is no `validation` split: no row was placed in it." in text
    assert "Validation has no rows" not in text, "said once"
    assert "The **published** split `tmcd_1` of this source, unaltered." in text
    assert "3,658 rows are in no split." in text
    own = placement(tmp_path / "own", config("published", {"mapping": {}, "split": None}))
    assert "The split that the source itself was **published** with." in own


def test_new_words_of_placed_by_are_written_out(tmp_path: Path) -> None:
    release = make_release(
        tmp_path / "toy", configs={"mine": config("template", {"sizes": SIZES, "seed": 1})}
    )
    release.configs["mine"]["placed_by"] = {
        "train": {"template": 30, "unparsed": 2, "atom_swap": 8},
        "test": {"divergence": 10},
    }
    text = section(release)
    assert (
        "in `train` 30 with their template, 8 swapped for the atom constraint, 2 for want of a parse; in "
        "`test` 10 swapped for the sake of divergence." in text
    )


def test_a_licence_that_is_not_stated_is_a_limit(tmp_path: Path) -> None:
    configs = {"mine": config("random", {"sizes": SIZES, "seed": 1})}
    release = make_release(tmp_path / "toy", configs=configs, dataset={"licence": "unknown"})
    assert "The source states no licence" in render_card(release).split("\n## Limitations\n")[1]


def test_limits_of_programs_are_told_where_they_hold(tmp_path: Path) -> None:
    release = make_release(tmp_path / "toy", configs={"mine": config("random", {"sizes": SIZES, "seed": 1})})
    limits = render_card(release).split("\n## Limitations\n")[1]
    assert "Exact set match" not in limits
    assert "sqlglot" not in limits
    release.manifest["choices"] = {"structure": "sqlglot"}
    release.configs["mine"]["task"]["metrics"] = ["exact_set_match", "string_match"]
    limits = render_card(release).split("\n## Limitations\n")[1]
    assert "Exact set match ignores literal values" in limits
    assert "Atoms and compounds are those of sqlglot's trees" in limits

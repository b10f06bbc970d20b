"""Analyses of the rows in the card: what is shown, what is refused, what is stale; and the pictures."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

import matplotlib
import pytest
from cards_analyses import add_results, properties, write_properties
from cards_release import make_release, split_config
from datasets.data_files import DEFAULT_PATTERNS_SPLIT_IN_FILENAME
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from pytest_regressions.file_regression import FileRegressionFixture

from benchwright.cards import render_card, write_card
from benchwright.cards.figures import Picture, draw_figures, picture_name
from benchwright.cards.properties import property_sections
from benchwright.cards.property_data import Properties, by_config, read_properties
from benchwright.cards.property_figures import Bar, BarFigure, Dot, DotFigure, DotPanel
from benchwright.errors import ReleaseError
from benchwright.release import ReleaseFolder

READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
HEADER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
TITLE = "Properties of the splits"
PARTS = (
    "divergence",
    "composition",
    "novel_compounds",
    "lengths",
    "rare_words",
    "trees",
    "readability",
)
HEADINGS = {
    "divergence": "Divergence of train and evaluation",
    "composition": "Rows by `hardness`",
    "novel_compounds": "Novel compounds",
    "lengths": "Lengths",
    "rare_words": "Rare words",
    "trees": "Parse trees",
    "readability": "Readability",
}


@pytest.fixture
def release(tmp_path: Path) -> ReleaseFolder:
    return make_release(tmp_path / "toy-splits")


@pytest.fixture(scope="module")
def shared_release(tmp_path_factory: pytest.TempPathFactory) -> ReleaseFolder:
    """For tests that rewrite the analyses and nothing else."""
    return make_release(tmp_path_factory.mktemp("shared") / "toy-splits")


def section(text: str, title: str = TITLE) -> str:
    return text.split(f"\n## {title}\n")[1].split("\n## ")[0]


def subsection(text: str, part: str) -> str:
    return section(text).split(f"\n### {HEADINGS[part]}\n")[1].split("\n### ")[0]


def planned(release: ReleaseFolder) -> list[Picture]:
    """The pictures of the analyses."""
    return [
        figure for part in property_sections(release, read_properties(release)) for figure in part.figures
    ]


def check_structure(text: str) -> None:
    """Every table is read as one, nothing that looks like a row of a table or a template is left over."""
    body = HEADER.sub("", text)
    tokens = READER.parse(body)
    rules = sum(bool(re.fullmatch(r"\|( -+:? \|)+", line)) for line in body.splitlines())
    assert sum(token.type == "table_open" for token in tokens) == rules
    assert not any("|" in token.content for token in tokens if token.type == "inline")
    assert body.count("<details") == body.count("</details>")
    assert not re.search(r"\{%|%\}|\{\{|\}\}|None\b|nan\b|Undefined", body)
    assert "\n\n\n" not in body


def test_golden_with_analyses(shared_release: ReleaseFolder, file_regression: FileRegressionFixture) -> None:
    write_properties(shared_release, properties(shared_release))
    text = render_card(shared_release, figures=planned(shared_release))
    file_regression.check(section(text), encoding="utf-8", extension=".md")
    check_structure(text)


def test_a_card_without_analyses_has_no_section(shared_release: ReleaseFolder) -> None:
    (shared_release.path / "analyses" / "properties.json").unlink(missing_ok=True)
    assert read_properties(shared_release) == Properties()
    assert TITLE not in render_card(shared_release)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    parts=st.sets(st.sampled_from(PARTS)),
    splits=st.sets(st.sampled_from(["train", "validation", "test"]), min_size=1),
    configs=st.integers(1, 5),
)
def test_any_part_of_the_analyses_is_shown(
    shared_release: ReleaseFolder, parts: set[str], splits: set[str], configs: int
) -> None:
    found = properties(shared_release)
    kept = set(list(found["rows"])[:configs])
    found = {name: part for name, part in found.items() if name not in PARTS or name in parts}
    write_properties(
        shared_release, _only(found, lambda line: line["config"] in kept and _split(line) in splits)
    )
    text = render_card(shared_release)
    check_structure(text)
    evaluated = splits - {"train"}
    for part in PARTS:
        expected = part in parts and (part not in ("divergence", "novel_compounds") or bool(evaluated))
        assert (f"\n### {HEADINGS[part]}\n" in text) == expected


def _split(line: dict[str, Any]) -> str:
    return line.get("split") or line["evaluation"]


def _only(found: Any, wanted: Callable[[dict[str, Any]], bool]) -> Any:
    """The same analyses without the lines that are not wanted."""
    if isinstance(found, dict):
        return {name: _only(part, wanted) for name, part in found.items()}
    if isinstance(found, list) and found and isinstance(found[0], dict) and "config" in found[0]:
        return [line for line in found if wanted(line)]
    return found


def test_numbers_stand_where_they_belong(shared_release: ReleaseFolder) -> None:
    write_properties(shared_release, properties(shared_release))
    text = render_card(shared_release)
    assert "| `ll_split_pt` | 0.075 | 0.100 | 0.081 | 0.092 |" in subsection(text, "divergence")
    assert "| `ll_split_pt` | validation | 0.051 | 0.041 | 40 (2) | 10 |" in subsection(text, "divergence")
    assert "Atoms are words; a compound is two words in a row." in subsection(text, "divergence")
    assert "| `random` | train | 47.5 | 25.0 | 27.5 | 40 |" in subsection(text, "composition")
    assert "| `random` | test | 10 | 3 | 30.0 | 9 |" in subsection(text, "novel_compounds")
    assert "| `random` | 7 (6 to 9) | 7.5 (7 to 9.5) | 8.5 (8 to 10.5) |" in subsection(text, "lengths")
    assert "| `random` | test | 1,000 | 30 | 3.00 | 2.00 to 4.10 | 99.8 |" in subsection(text, "rare_words")
    assert "| `random` | test | 6.30 (6.00) | 4.80 (4.50) | 1.50 (1.20) | 10 |" in subsection(text, "trees")
    assert "| `random` | 3.10 (3.20) | 3.20 (3.20) | 3.30 (3.20) |" in subsection(text, "readability")
    assert "| `frequencies.entries` | `12345` |" in section(text)


def test_texts_without_a_grade_are_counted(shared_release: ReleaseFolder) -> None:
    found = properties(shared_release)
    write_properties(shared_release, found)
    assert "have no grade" not in render_card(shared_release)
    graded = found["readability"]["hypothesis"]
    rows = sum(line["rows"] for line in graded)
    graded[0]["rows"] -= 3
    write_properties(shared_release, found)
    said = f"3 of {rows} texts of `hypothesis`, over all configs, have no grade"
    assert said in subsection(render_card(shared_release), "readability")


def test_where_trees_come_from_and_which_rows_have_none(shared_release: ReleaseFolder) -> None:
    found = properties(shared_release)
    found["trees"]["hypothesis"][0]["of"] = 44
    found["resources"]["parses"] = {"parser": "toy_parser", "version": "1"}
    write_properties(shared_release, found)
    text = subsection(render_card(shared_release), "trees")
    assert "| 40 of 44 |" in text
    assert "The parser `toy_parser` made the trees, errors included." in text
    found["resources"]["parses"] = {"source": "SNLI"}
    write_properties(shared_release, found)
    assert "The trees come from `SNLI`." in subsection(render_card(shared_release), "trees")


def test_the_target_is_not_shown_twice(shared_release: ReleaseFolder) -> None:
    found = properties(shared_release)
    assert "label" in found["composition"]
    write_properties(shared_release, found)
    text = render_card(shared_release)
    assert "Rows by `label`" not in text
    assert "Shares of the labels" in text


def test_lengths_of_every_text_replace_those_of_the_scored_one(shared_release: ReleaseFolder) -> None:
    found = properties(shared_release)
    write_properties(shared_release, found)
    text = render_card(shared_release)
    assert "\n## Scores\n" in text
    assert "Medians, length" not in text
    del found["lengths"]
    write_properties(shared_release, found)
    text = render_card(shared_release)
    assert "\n## Scores and lengths\n" in text
    assert "Medians, length" in text


def test_without_scores_the_lengths_leave_no_empty_section(tmp_path: Path) -> None:
    release = make_release(tmp_path / "toy", configs={"random": split_config("random", default=True)})
    write_properties(release, properties(release))
    text = render_card(release)
    assert "\n## Scores" not in text
    assert "### Lengths" in text


def test_what_was_computed_on_other_rows_is_stale_and_left_out(shared_release: ReleaseFolder) -> None:
    found = properties(shared_release)
    found["rows"]["random"]["test"] = "sha256:" + "0" * 64
    del found["rows"]["random_2"]
    found = _only(found, lambda line: line["config"] != "random_2")
    write_properties(shared_release, found)
    text = section(render_card(shared_release))
    assert (
        "**Stale**: `random` is left out, because the rows of test have changed since it was analysed."
        in text
    )
    assert "Not analysed: `random_2`." in text
    assert "| `random`" not in text
    assert "| `ll_split_pt` |" in text


def test_a_config_that_is_gone_is_told(shared_release: ReleaseFolder) -> None:
    found = properties(shared_release)
    found["rows"]["gone"] = found["rows"]["random"]
    found["novel_compounds"].append({**found["novel_compounds"][0], "config": "gone"})
    write_properties(shared_release, found)
    text = section(render_card(shared_release))
    assert "**Stale**: `gone` is left out, because the config is gone" in text
    assert "| `gone`" not in text


def test_configs_stand_in_the_order_of_the_release(shared_release: ReleaseFolder) -> None:
    found = properties(shared_release)
    found["novel_compounds"].reverse()
    write_properties(shared_release, found)
    lines = by_config(read_properties(shared_release).novel_compounds)
    assert list(lines) == list(shared_release.placed_configs)
    assert list(lines["random"]) == ["validation", "test"]


@pytest.mark.parametrize(
    ("place", "value", "problem"),
    [
        ((), [], "has an unknown format"),
        (("format",), 2, "has an unknown format; this version reads format 1"),
        (("rows",), None, "rows must be an object, got None"),
        (("rows", "random", "test"), 3, "rows.random.test must be text, got 3"),
        (("divergence", "rows"), {}, "divergence.rows must be a list, got {}"),
        (("divergence", "rows", 0, "compound"), "high", "divergence.rows[0].compound must be a number"),
        (("divergence", "rows", 0, "compound"), float("nan"), "must be a number, got nan"),
        (("divergence", "rows", 0, "evaluation"), "dev", "must be one of train, validation, test, got 'dev'"),
        (("composition", "hardness", 1, "counts"), [1], "composition.hardness[1].counts must be an object"),
        (("novel_compounds", 0, "with_novel"), -1, "must be a whole number, 0 or more, got -1"),
        (("novel_compounds", 0, "config"), "other", "names config 'other', which rows does not have"),
        (("lengths", "premise", 0, "quartiles"), [1], "quartiles must be a list of 2 values, got [1]"),
        (
            ("lengths", "premise", 0, "histogram"),
            [[3, 10**12]],
            "counts 1000000000000 rows in ll_split_pt/train",
        ),
        (("rare_words", "hypothesis", 0, "null", "draws"), True, "null.draws must be a whole number"),
        (("trees", "hypothesis", 0, "yngve"), None, "yngve must be an object, got None"),
        (("readability", "hypothesis", 0, "mean"), 10**400, "mean must be a number"),
    ],
)
def test_a_malformed_file_is_refused_in_one_line(
    shared_release: ReleaseFolder, place: tuple[Any, ...], value: Any, problem: str
) -> None:
    found: Any = properties(shared_release)
    inner = found
    for key in place[:-1]:
        inner = inner[key]
    if place:
        inner[place[-1]] = value
    else:
        found = value
    write_properties(shared_release, found)
    with pytest.raises(ReleaseError, match=re.escape(problem)) as caught:
        render_card(shared_release)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith("analyse the release again")


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b"[" * 100_000])
def test_a_file_that_is_no_json_is_refused(shared_release: ReleaseFolder, content: bytes) -> None:
    write_properties(shared_release, {})
    (shared_release.path / "analyses" / "properties.json").write_bytes(content)
    with pytest.raises(ReleaseError, match="is not JSON"):
        render_card(shared_release)


HOSTILE = (
    "| ` ``` <script>alert(1)</script> --- {{ 7*7 }} {% x %}\n---\n\n# Heading\n</details>\n*[x](y)* ../../z"
)


def test_hostile_names_cannot_leave_their_place(shared_release: ReleaseFolder) -> None:
    found = properties(shared_release)
    write_properties(shared_release, found)
    calm = READER.parse(section(render_card(shared_release, figures=planned(shared_release))))
    for part in ("composition", "lengths", "rare_words", "trees", "readability"):
        found[part] = {
            name if name == "label" else f"{name} {HOSTILE}": lines for name, lines in found[part].items()
        }
    for line in found["composition"][f"hardness {HOSTILE}"]:
        line["counts"] = {f"{name} {HOSTILE}": rows for name, rows in line["counts"].items()}
    found["divergence"] |= {"structure": HOSTILE, "summary": HOSTILE}
    found["resources"] = {
        "frequencies": {f"{name} {HOSTILE}": HOSTILE for name in ("name", "sha256", "entries")}
    }
    write_properties(shared_release, found)
    pictures = planned(shared_release)
    wild = READER.parse(section(render_card(shared_release, figures=pictures)))
    assert [(token.type, token.tag) for token in wild] == [(token.type, token.tag) for token in calm]
    html = {child.content for token in wild for child in token.children or [] if child.type == "html_inline"}
    assert html <= {"<code>", "</code>"}
    files = [picture.file for picture in pictures]
    assert all(re.fullmatch(r"figures/\w+\.png", file, re.ASCII) for file in files)
    assert len(set(files)) == len(files) == 6


def test_long_tables_are_folded_and_short_ones_are_not(tmp_path: Path) -> None:
    configs = {f"config_{n}": split_config(f"config_{n}", default=n == 0) for n in range(7)}
    release = make_release(tmp_path / "many", configs=configs, sides=False)
    write_properties(release, properties(release))
    text = render_card(release)
    assert "<summary>The table for hypothesis</summary>" in subsection(text, "rare_words")
    assert "<summary>The table" not in subsection(text, "readability")
    check_structure(text)


def test_pictures_come_and_go_with_the_analyses(release: ReleaseFolder) -> None:
    write_properties(release, properties(release))
    card = write_card(release.path)
    text = card.path.read_text(encoding="utf-8")
    assert [path.name for path in card.figures] == [
        "scores.png",
        "composition_of_hardness.png",
        "lengths_of_premise.png",
        "lengths_of_hypothesis.png",
        "rare_words.png",
        "trees.png",
        "readability.png",
    ]
    assert all(f"](figures/{path.name})" in text for path in card.figures)
    (release.path / "figures" / "lengths of mine.png").write_bytes(b"mine")
    draw_figures([], release.path)
    assert [path.name for path in (release.path / "figures").iterdir()] == ["lengths of mine.png"]


@pytest.mark.parametrize(
    "column", ["test", "train", "dev.question", "eval-1", "a val", "validation_", "training2"]
)
def test_no_picture_is_named_like_a_split(shared_release: ReleaseFolder, column: str) -> None:
    """`datasets` takes such files for rows of the split where it is not told which files to read."""
    found = properties(shared_release)
    found["lengths"] = {column: found["lengths"]["premise"]}
    write_properties(shared_release, found)
    files = [figure.file for figure in planned(shared_release)]
    patterns = [pattern for some in DEFAULT_PATTERNS_SPLIT_IN_FILENAME.values() for pattern in some]
    assert not any(PurePosixPath("/", file).match(pattern) for file in files for pattern in patterns)
    assert any(re.fullmatch(r"figures/lengths_of_\w+\.png", file) for file in files)


def test_every_picture_has_an_alternative_text(shared_release: ReleaseFolder) -> None:
    write_properties(shared_release, properties(shared_release))
    tokens = READER.parse(render_card(shared_release, figures=planned(shared_release)))
    images = [child for token in tokens for child in token.children or [] if child.type == "image"]
    assert len(images) == len(planned(shared_release)) > 3
    assert all(len(image.content) > 20 for image in images)


def test_columns_of_one_file_name_have_two_files(shared_release: ReleaseFolder) -> None:
    found = properties(shared_release)
    found["lengths"] = {"a b": found["lengths"]["premise"], "a/b": found["lengths"]["premise"]}
    write_properties(shared_release, found)
    files = [
        figure.file
        for part in property_sections(shared_release, read_properties(shared_release))
        for figure in part.figures
    ]
    assert "figures/lengths_of_a_b.png" in files
    assert "figures/lengths_of_a_b_1.png" in files


def test_classes_stand_in_the_order_of_the_feature(tmp_path: Path) -> None:
    release = make_release(tmp_path / "toy", configs={"random": split_config("random", default=True)})
    for entry in release.placed_configs.values():
        entry["task"]["target"] = "hypothesis"
    found = properties(release)
    found["composition"] = {
        "label": [
            {"config": "random", "split": "test", "rows": 10, "counts": {"contradiction": 4, "entailment": 6}}
        ]
    }
    write_properties(release, found)
    assert "| `random` | test | 60.0 | 0.0 | 40.0 | 10 |" in section(render_card(release))


def test_many_classes_are_a_table_without_a_picture(shared_release: ReleaseFolder) -> None:
    found = properties(shared_release)
    for line in found["composition"]["hardness"]:
        line["counts"] = {f"class {n}": 1 for n in range(9)}
    write_properties(shared_release, found)
    parts = property_sections(shared_release, read_properties(shared_release))
    composition = next(part for part in parts if part.title == HEADINGS["composition"])
    assert composition.figures == ()
    assert "`class 8`" in composition.tables[0]


def drawn(tmp_path: Path, name: str) -> list[bytes]:
    bars = BarFigure(
        "figures/bars.png",
        "Bars",
        ("easy", "hard"),
        (Bar("a", "train", (0.25, 0.75)), Bar("a", "evaluation", (1.0, 0.0)), Bar("b", "train", (0.5, 0.5))),
    )
    dots = DotFigure(
        "figures/dots.png",
        "Dots",
        (
            DotPanel("text", "x", {"a": (Dot("train", 1.0, (0.5, 1.5)), Dot("test", 2.0)), "b": ()}),
            DotPanel("$other$", "y", {"b": (Dot("validation", 3.0),)}),
        ),
    )
    return [path.read_bytes() for path in draw_figures([bars, dots], tmp_path / name)]


def test_pictures_are_equal_whatever_the_users_settings(tmp_path: Path) -> None:
    first = drawn(tmp_path, "a")
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "black", "figure.dpi": 10}):
        assert drawn(tmp_path, "b") == first
    for picture in first:
        assert picture.startswith(b"\x89PNG")
        assert b"tEXt" not in picture


def test_names_that_matplotlib_would_hide_or_stumble_over(tmp_path: Path) -> None:
    names = ("_hidden", "漢字", "$x$ {", "a\nb" * 40)
    bars = BarFigure("figures/bars.png", "Bars", names, (Bar("a", "train", (0.25,) * 4),))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (path,) = draw_figures([bars], tmp_path)
    without = BarFigure("figures/other.png", "Bars", ("", *names[1:]), bars.bars)
    assert draw_figures([without], tmp_path)[0].stat().st_size != path.stat().st_size
    assert picture_name("_hidden") == " _hidden"


def test_halves_of_characters_do_not_stop_the_card(release: ReleaseFolder) -> None:
    found = properties(release)
    found["divergence"]["summary"] = "\ud800 x"
    found["readability"] = {"\udfff": found["readability"]["hypothesis"]}
    for part in ("composition", "lengths", "rare_words", "trees"):
        del found[part]
    write_properties(release, found)
    assert "### Readability" in write_card(release.path).path.read_text(encoding="utf-8")


def test_analyses_and_results_stand_side_by_side(release: ReleaseFolder) -> None:
    write_properties(release, properties(release))
    add_results(release)
    text = render_card(release)
    assert text.index(f"## {TITLE}") < text.index("## Baselines")
    assert json.loads((release.path / "analyses" / "properties.json").read_text()) == properties(release)

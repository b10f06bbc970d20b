"""The whole card: goldens, hand-written sections, results, and hostile data."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from cards_analyses import add_results, properties, write_properties
from cards_release import SIZES, default_configs, make_release, source_rows, split_config
from jinja2 import UndefinedError
from markdown_it import MarkdownIt
from pytest_regressions.file_regression import FileRegressionFixture

from benchwright.cards import render_card, write_card
from benchwright.cards.user_sections import read_user_sections, user_section
from benchwright.errors import ReleaseError
from benchwright.publication import ChangelogEntry, Publication, Withdrawal
from benchwright.release import ReleaseFolder

PUBLISHED = Publication(
    repo="acme/toy-splits",
    version="2.0.0",
    changelog=(
        ChangelogEntry(
            "2.0.0",
            "major",
            (
                "config `by_length` withdrawn",
                "2 rows of `random` and `random_2` withdrawn",
                "config `by_chance` renamed to `random`; the former name is kept",
            ),
            "Two people asked to be left out.",
        ),
        ChangelogEntry("1.1.1", "patch", ("results of `majority` added",)),
        ChangelogEntry("1.1.0", "minor", ("config `random_2` added: 40 train, 10 validation, 10 test rows",)),
        ChangelogEntry("1.0.0", "first", ("First version: by_chance, by_length, databases, scores.",)),
    ),
    aliases={"by_chance": "random", "databases": "schemas"},
    withdrawn=(
        Withdrawal("names of private people", ("toy:train:60", "toy:train:61"), version="2.0.0"),
        Withdrawal("test rows stood in train, too", config="by_length", version="2.0.0"),
    ),
    yanked={"1.1.0": "`random_2` was drawn with the seed of `random`"},
    foreign={
        "configs": [
            {
                "config_name": "answers",
                "data_files": [{"split": "train", "path": "answers/*.csv"}],
                "default": True,
            }
        ],
        "dataset_info": [{"config_name": "answers", "features": [{"name": "answer", "dtype": "string"}]}],
    },
)
READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
HEADER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


@pytest.fixture
def release(tmp_path: Path) -> ReleaseFolder:
    return make_release(tmp_path / "toy-splits")


def body(text: str) -> str:
    return HEADER.sub("", text)


def section(text: str, title: str) -> str:
    """The text below a heading of level 2, up to the next one."""
    return text.split(f"\n## {title}\n")[1].split("\n## ")[0]


def check_golden(text: str, golden: FileRegressionFixture) -> None:
    # Sizes of parquet files belong to the version of the writer.
    text = re.sub(r"download_size: \d+", "download_size: BYTES", text)
    text, seals = re.subn("(text|manifest)=sha256:[0-9a-f]{64}", r"\1=sha256:HASH", text)
    assert seals == 2
    golden.check(text, encoding="utf-8", extension=".md")


def test_golden_with_results(release: ReleaseFolder, file_regression: FileRegressionFixture) -> None:
    add_results(release, stale=("random_2",))
    check_golden(write_card(release.path).path.read_text(encoding="utf-8"), file_regression)


def test_golden_of_the_smallest_release(tmp_path: Path, file_regression: FileRegressionFixture) -> None:
    configs = {"random": split_config("random", default=True)}
    release = make_release(tmp_path / "tiny", configs=configs, sides=False)
    check_golden(render_card(release), file_regression)


def test_golden_of_a_published_release(tmp_path: Path, file_regression: FileRegressionFixture) -> None:
    """All that can become of a release on the Hub, and everything else as small as possible."""
    configs = {"random": split_config("random", default=True), "random_2": split_config("random_2")}
    release = make_release(tmp_path / "tiny", configs=configs)
    manifest = PUBLISHED.put_into(release.manifest)
    check_golden(render_card(ReleaseFolder(release.path, manifest)), file_regression)


def test_the_same_release_gives_the_same_card(release: ReleaseFolder) -> None:
    add_results(release)
    first = write_card(release.path).path.read_bytes()
    assert write_card(ReleaseFolder(release.path)).path.read_bytes() == first
    assert render_card(ReleaseFolder(release.path)).encode() == first


def test_no_template_leaves_traces(release: ReleaseFolder) -> None:
    add_results(release)
    text = body(render_card(release))
    assert not re.search(r"\{%|%\}|\{\{|\}\}|None\b|nan\b|Undefined", text)
    assert "\n\n\n" not in text
    assert text.endswith("-->\n")


def test_every_table_is_read_as_a_table(release: ReleaseFolder) -> None:
    add_results(release)
    text = body(render_card(release))
    lines = text.splitlines()
    written = sum(bool(re.fullmatch(r"\|( -+:? \|)+", line)) for line in lines)
    tables = READER.parse(text)
    assert sum(token.type == "table_open" for token in tables) == written >= 10
    # Nothing that looks like a row of a table is shown as text.
    assert not any("|" in token.content for token in tables if token.type == "inline")


@pytest.mark.parametrize(
    "title", ["Load", "Configs", "How rows were chosen", "Scores and lengths", "Examples"]
)
def test_sections_are_there_without_results(release: ReleaseFolder, title: str) -> None:
    assert section(render_card(release), title).strip()


def test_without_results_the_card_says_how_to_get_them(release: ReleaseFolder) -> None:
    assert "benchwright eval toy-splits" in section(render_card(release), "Baselines")


def test_the_load_snippet_names_the_folder_the_hub_id_or_a_given_name(release: ReleaseFolder) -> None:
    assert 'load_dataset("./toy-splits", "ll_split_pt")' in render_card(release)
    assert 'load_dataset("acme/toy", "ll_split_pt")' in render_card(release, repo="acme/toy")
    named = render_card(release, name="two words")
    assert 'load_dataset("./two words", "ll_split_pt")' in named
    assert "benchwright verify 'two words'" in named


def test_a_release_in_the_making_never_shows_its_hidden_folder(tmp_path: Path) -> None:
    made = make_release(tmp_path / ".toy.making")
    text = render_card(ReleaseFolder(made.path, made.manifest))
    assert ".toy.making" not in text
    assert 'load_dataset("./snli-splits"' in text


def test_sizes_of_every_config_are_in_the_table(release: ReleaseFolder) -> None:
    table = section(render_card(release), "Configs")
    for name in release.placed_configs:
        row = next(line for line in table.splitlines() if f"`{name}`" in line)
        assert "| 40 | 10 | 10 |" in row
    assert table.count("(default)") == 1


def test_twelve_configs(tmp_path: Path) -> None:
    configs = {f"config_{n}": split_config(f"config_{n}", default=n == 3) for n in range(12)}
    text = render_card(make_release(tmp_path / "many", configs=configs))
    assert text.count("<summary>config_") == 12
    assert text.count("<details open>") == 1
    assert 'load_dataset("./many", "config_3")' in text


def test_values_intervals_drops_and_random_splits(release: ReleaseFolder) -> None:
    add_results(release)
    results = section(render_card(release), "Baselines")
    assert "| `ll_split_pt` | 50.0 | 30.0 to 70.0 | 10 | 20.0 | +67 % |" in results
    assert "| *mean ± standard deviation of 2 random splits* | 70.0 ± 1.0 |" in results
    assert "| `lm_prompt` and `lm_kfold` | 59 | 0.912 |" in results
    names = re.findall(r"^\| `(\w+)`", results.split("**`linear_full_input`**")[1], re.MULTILINE)
    assert names[:5] == ["random", "random_2", "ll_split_pt", "ll_split_pt_reverse", "ll_split_len_pt"]


def test_stale_results_are_marked_with_the_reason(release: ReleaseFolder) -> None:
    add_results(release, stale=("random_2",))
    results = section(render_card(release), "Baselines")
    assert "`random_2` †" in results
    assert "- † `random_2`: the rows of test have changed" in results
    assert "`random` †" not in results


def test_staleness_that_the_index_knows_is_shown(release: ReleaseFolder) -> None:
    add_results(release)
    path = release.path / "results" / "index.json"
    index = json.loads(path.read_text())
    entry = {"config": "random", "baseline": "majority", "model": None, "settings_hash": f"sha256:{0:064x}"}
    index["results"] = [entry | {"stale": "the metric accuracy has changed"}]
    path.write_text(json.dumps(index))
    assert "- † `random`: the metric accuracy has changed" in render_card(release)


def test_results_of_a_config_that_is_gone_are_stale(release: ReleaseFolder) -> None:
    add_results(release)
    del release.configs["random_2"]
    assert "- † `random_2`: the config is gone" in render_card(release)


def test_a_result_without_a_field_is_named(release: ReleaseFolder) -> None:
    add_results(release)
    path = next((release.path / "results" / "random").glob("*.json"))
    path.write_text(json.dumps({"config": "random"}))
    with pytest.raises(ReleaseError, match="lacks 'baseline'; delete it and evaluate again"):
        render_card(release)
    path.write_text("{")
    with pytest.raises(ReleaseError, match="is not JSON"):
        render_card(release)


def test_audit_findings_are_listed(release: ReleaseFolder) -> None:
    audit = section(render_card(release), "Audit")
    assert audit.strip().startswith("1 warning, 1 known.")
    row = next(line for line in audit.splitlines() if "`leak_exact`" in line)
    assert "| `random`: train, test | 5 |" in row
    assert "`toy:train:0`, `toy:train:1`, `toy:train:2` and 2 more" in row
    release.manifest["audit"]["findings"] = []
    assert "No leak between splits" in render_card(release)


def test_provenance_shows_sources_filters_and_model(release: ReleaseFolder) -> None:
    provenance = section(render_card(release), "Provenance")
    for fact in (
        "60 rows of 63 read",
        "`sha256:" + "4" * 64 + "`",
        "| by the rules of the corpus: no gold label | 2 |",
        "| unusable: not JSON | 1 |",
        "scored by `smollm2-135m` at revision `0.1.2`",
        "59 of 60 rows have a score; 1 too long for the model",
        "| `key.model.weights_sha256` |",
        "benchwright rebuild toy-splits --source PATH_OF_THE_CORPUS",
    ):
        assert fact in provenance


def test_placement_tells_configs_apart(release: ReleaseFolder) -> None:
    text = section(render_card(release), "How rows were chosen")
    assert "- `ll_split_pt`: The **least likely** rows are held out" in text
    assert "- `ll_split_pt_reverse`, the reverse of `ll_split_pt`: The **most likely** rows" in text
    assert re.search(r"- `ll_split_len_pt`:.*Length \*\*is\*\* controlled: among rows of equal length", text)
    assert text.count("Rows are ranked by the log-likelihood") == 1, "what holds for all is said once"


def test_label_shares_are_those_of_the_rows(release: ReleaseFolder) -> None:
    labels = release.table("random", "train").column("label").to_pylist()
    shares = " | ".join(f"{100 * labels.count(number) / 40:.1f}" for number in range(3))
    assert f"| `random` | train | {shares} | 40 |" in render_card(release)


def test_notes_and_splits_left_out_are_told(tmp_path: Path) -> None:
    configs = default_configs()
    configs["random"]["notes"] = [
        {"code": "tied", "message": "rows share a value", "uids": ["u1", "u2", "u3", "u4"], "count": 9}
    ]
    configs["random"]["left_out"] = [{"split": "validation", "reason": "its size is 0"}]
    text = render_card(make_release(tmp_path / "toy", configs=configs))
    assert "Rows share a value (`u1`, `u2`, `u3` and 6 more)." in text
    assert "There is no `validation` split: its size is 0." in text


@pytest.mark.parametrize(
    ("redistribute", "words"), [("ids_only", "benchwright hydrate"), ("no", "Do not publish")]
)
def test_licences_that_forbid_text_are_explained(tmp_path: Path, redistribute: str, words: str) -> None:
    release = make_release(tmp_path / "toy", dataset={"redistribute": redistribute})
    assert words in section(render_card(release), "Licence")


def test_limitations_speak_of_this_release(release: ReleaseFolder, tmp_path: Path) -> None:
    text = section(render_card(release), "Limitations")
    assert "10 evaluation splits have fewer than 385 rows" in text
    assert "±31 points" in text
    assert "`smollm2-135m`" in text
    assert "demonstration" not in text
    release.manifest["source"]["kind"] = "sample"
    assert "This is a demonstration" in section(render_card(release), "Limitations")


def test_the_paper_is_cited_once_and_linked(release: ReleaseFolder, tmp_path: Path) -> None:
    text = render_card(release)
    assert "[arXiv:2210.06799](https://arxiv.org/abs/2210.06799)" in text
    assert "@misc{toy," in text
    assert text.count("Benchmarking Long-tail Generalization with Likelihood Splits") == 1
    cited = {"citation": "@misc{both, url = {https://arxiv.org/abs/2210.06799}}"}
    assert "godbole" not in render_card(make_release(tmp_path / "other", dataset=cited))


def test_a_hundred_configs_make_a_card_of_a_sane_size(tmp_path: Path) -> None:
    configs = {f"config_{n}": split_config(f"config_{n}", default=n == 3) for n in range(100)}
    release = make_release(tmp_path / "many", configs=configs)
    add_results(release)
    write_properties(release, properties(release))
    assert len(render_card(release).encode()) < 1_000_000


def test_figures_are_shown_where_they_stand(release: ReleaseFolder) -> None:
    assert "![" not in render_card(release)
    card = write_card(release.path)
    text = card.path.read_text(encoding="utf-8")
    assert [path.name for path in card.figures] == ["scores.png", "lengths.png"]
    for path in card.figures:
        assert f"](figures/{path.name})" in text
    assert card.notes == ()


def test_without_matplotlib_the_card_is_written_and_the_note_says_how(
    release: ReleaseFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    card = write_card(release.path)
    assert card.figures == ()
    assert card.notes == ("figures left out: figures need matplotlib; run: pip install 'benchwright[cards]'",)
    text = card.path.read_text(encoding="utf-8")
    assert "![" not in text
    assert "| `ll_split_pt` |" in section(text, "Scores and lengths"), "the medians need no matplotlib"
    assert str(card).splitlines() == [str(card.path), *card.notes]


def test_hand_written_sections_survive(release: ReleaseFolder) -> None:
    path = write_card(release.path).path
    mine = "## Mine\n\n```\n--- {{ x }} <b>\n```\n\n  trailing"
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"(?s)(<!-- user:begin notes -->\n).*?(<!-- user:end notes -->)", rf"\1{mine}\n\2", text)
    path.write_text(
        text + "\n<!-- user:begin own-section -->\nkept, too\n<!-- user:end own-section -->\n",
        encoding="utf-8",
    )
    add_results(release)
    again = write_card(release.path).path.read_text(encoding="utf-8")
    sections = read_user_sections(again)
    assert sections["notes"] == mine
    assert sections["own-section"] == "kept, too"
    assert list(sections) == ["about", "notes", "own-section"]
    assert "linear_full_input" in again
    assert write_card(release.path).path.read_text(encoding="utf-8") == again


def test_sections_read_back_as_they_were_written() -> None:
    for text in ("", "one", "\n\nblank lines\n\n", "<!-- a comment -->\n# heading"):
        assert read_user_sections(user_section("name", text)) == {"name": text}
    assert read_user_sections("<!-- user:begin a -->\r\nx\r\n<!-- user:end a -->\r\n") == {"a": "x"}
    assert read_user_sections("text <!-- user:begin a --> inline is no marker") == {}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("<!-- user:begin a -->\nx", "line 2: section 'a' has no end"),
        ("<!-- user:end a -->", "line 1: section 'a' ends but did not begin"),
        ("<!-- user:begin a -->\n<!-- user:begin b -->", "line 2: section 'b' begins inside section 'a'"),
        ("<!-- user:begin a -->\n<!-- user:end b -->", "line 2: section 'b' ends but did not begin"),
        (
            "<!-- user:begin a -->\n<!-- user:end a -->\n<!-- user:begin a -->\n<!-- user:end a -->",
            "line 3: a second section 'a'",
        ),
    ],
)
def test_broken_markers_stop_before_anything_is_written(
    release: ReleaseFolder, text: str, problem: str
) -> None:
    path = release.path / "README.md"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ReleaseError, match=re.escape(problem)):
        write_card(release.path)
    assert path.read_text(encoding="utf-8") == text
    assert not (release.path / "figures").exists()


def test_a_readme_that_is_no_utf8_is_left_alone(release: ReleaseFolder) -> None:
    path = release.path / "README.md"
    path.write_bytes(b"caf\xe9")
    with pytest.raises(ReleaseError, match="is not UTF-8"):
        write_card(release.path)
    assert path.read_bytes() == b"caf\xe9"


HOSTILE = (
    "| ` ``` <script>alert(1)</script> --- {{ 7*7 }} {% x %}\n---\n\n# Heading\n"
    "<!-- user:begin evil -->\n```\n</details>"
)


def hostile_everywhere(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: item if name in KEPT else hostile_everywhere(item) for name, item in value.items()}
    if isinstance(value, list):
        return [hostile_everywhere(item) for item in value]
    return f"{value} {HOSTILE}" if isinstance(value, str) else value


KEPT = {
    "kind",
    "splits",
    "features",
    "task",
    "assignment",
    "redistribute",
    "languages",
    "splitter",
    "file",
    "placed_by",
    "severity",
    "config",
    "benchwright",
    "reverse_of",
    "scores",
    "files",
    "scorer",
    "evaluation_labels",
    "constraint",
}


def test_hostile_data_cannot_leave_its_place(release: ReleaseFolder) -> None:
    calm = READER.parse(body(render_card(release)))
    manifest = hostile_everywhere(release.manifest)
    manifest["scores"] = {"lm_prompt": hostile_everywhere(release.manifest["scores"]["lm_prompt"])}
    manifest["scores"]["lm_prompt"]["scorer"] = "prompt"
    wild_text = render_card(ReleaseFolder(release.path, manifest))
    wild = READER.parse(body(wild_text))
    structure = [(token.type, token.tag) for token in calm]
    assert [(token.type, token.tag) for token in wild] == structure
    assert read_user_sections(wild_text).keys() == {"about", "notes"}
    html = [child.content for token in wild for child in token.children or [] if child.type == "html_inline"]
    assert set(html) <= {"<code>", "</code>"}
    assert sum(token.type == "html_block" for token in wild) == sum(
        token.type == "html_block" for token in calm
    )


def test_hostile_rows_stay_inside_their_example(tmp_path: Path) -> None:
    rows = source_rows()
    position = rows.column_names.index("hypothesis")
    rows = rows.set_column(position, "hypothesis", [[HOSTILE] * rows.num_rows])
    configs = {"random": split_config("random", default=True)}
    tokens = READER.parse(body(render_card(make_release(tmp_path / "toy", configs=configs, rows=rows))))
    shown = [json.loads(token.content) for token in tokens if token.type == "fence" and token.info == "json"]
    assert [example["hypothesis"] for example in shown] == [HOSTILE]


def test_a_missing_fact_is_an_error_and_no_blank(release: ReleaseFolder) -> None:
    del release.dataset["summary"]
    with pytest.raises(UndefinedError, match="summary"):
        render_card(release)


def test_sizes_of_the_helper_release_agree() -> None:
    assert sum(SIZES.values()) == source_rows().num_rows

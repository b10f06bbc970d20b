"""A published card: version, changelog, errata, former names of configs, configs that others made."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import datasets
import pytest
import yaml
from cards_release import make_release, split_config
from markdown_it import MarkdownIt

from benchwright.cards import card_metadata, render_card, write_card
from benchwright.cards.harness import export_texts
from benchwright.cards.user_sections import read_user_sections
from benchwright.errors import ReleaseError
from benchwright.publication import ChangelogEntry, Publication, Withdrawal
from benchwright.release import ReleaseFolder, configs_hash

READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
PUBLISHED = Publication(
    repo="acme/toy",
    version="2.0.0",
    changelog=(
        ChangelogEntry("2.0.0", "major", ("2 rows withdrawn", "config random_2 went"), "Corrections."),
        ChangelogEntry("1.0.0", "first", ()),
    ),
)
OTHERS = {
    "configs": [{"config_name": "theirs", "data_files": [{"split": "train", "path": "theirs/*.parquet"}]}],
    "dataset_info": [
        {
            "config_name": "theirs",
            "features": [{"name": "text", "dtype": "string"}],
            "splits": [{"name": "train", "num_bytes": 10, "num_examples": 2}],
            "download_size": 10,
            "dataset_size": 10,
        }
    ],
}


@pytest.fixture
def release(tmp_path: Path) -> ReleaseFolder:
    configs = {"one": split_config("one", default=True), "two": split_config("two")}
    return make_release(tmp_path / "toy-splits", configs=configs)


def published(release: ReleaseFolder, **changes: object) -> ReleaseFolder:
    """`release` as it stands on the Hub."""
    manifest = replace(PUBLISHED, **changes).put_into(release.manifest)
    (release.path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return ReleaseFolder(release.path)


def section(text: str, title: str) -> str:
    return text.split(f"\n## {title}\n")[1].split("\n## ")[0].split("<!-- user:begin")[0]


def test_a_release_that_was_never_published_says_nothing_of_versions(release: ReleaseFolder) -> None:
    text = render_card(release)
    assert "**Version" not in text
    assert "## Changelog" not in text
    assert "## Errata" not in text


def test_the_version_stands_below_the_title(release: ReleaseFolder) -> None:
    lines = render_card(published(release)).split("\n# ")[1].splitlines()
    assert lines[:3] == [
        "Toy inference splits",
        "",
        "**Version 2.0.0** of `acme/toy` ([changelog](#changelog)).",
    ]


def test_readers_are_shown_the_pinned_version(release: ReleaseFolder) -> None:
    text = render_card(published(release))
    assert 'load_dataset("acme/toy", "one", revision="2.0.0")' in section(text, "Load")
    assert "without `revision` you get the newest version" in section(text, "Load")
    assert "./toy-splits" not in text
    for command in (
        "benchwright verify acme/toy@2.0.0",
        "benchwright rebuild acme/toy@2.0.0 --source PATH_OF_THE_CORPUS",
        "benchwright eval acme/toy@2.0.0",
    ):
        assert f"\n{command}" in text


def test_changes_that_are_not_published_are_never_shown_as_a_version(release: ReleaseFolder) -> None:
    same = published(release, configs_hash=configs_hash(release.configs))
    assert "**Version 2.0.0** of `acme/toy`" in render_card(same)
    changed = published(release, configs_hash="sha256:00")
    text = render_card(changed)
    line = text.split("\n# ")[1].splitlines()[2]
    assert line == (
        "Made from **version 2.0.0** of `acme/toy` ([changelog](#changelog)), with changes that "
        "are not published."
    )
    assert 'load_dataset("./toy-splits", "one")' in text
    assert "never change; without" not in text
    assert "is this folder." in section(text, "Load")
    for command in ("verify", "rebuild", "eval"):
        assert f"\nbenchwright {command} toy-splits" in text
    assert "in a copy of the release" not in text
    # Whoever publishes it says where.
    assert 'load_dataset("acme/toy", "one")' in render_card(changed, repo="acme/toy")


def test_tasks_of_harnesses_are_pointed_at_where_they_stand(release: ReleaseFolder) -> None:
    assert "lm-evaluation-harness" not in render_card(release)
    for path, text in export_texts(release).items():
        (release.path / path).parent.mkdir(parents=True, exist_ok=True)
        (release.path / path).write_text(text, encoding="utf-8")
    assert "are described in [`harness/README.md`](harness/README.md).\n" in section(
        render_card(release), "Load"
    )


def test_another_repository_has_no_such_version(release: ReleaseFolder) -> None:
    text = render_card(published(release), repo="acme/copy")
    assert 'load_dataset("acme/copy", "one")' in text
    assert "benchwright verify acme/copy\n" in text


def test_the_changelog_has_every_version_newest_first(release: ReleaseFolder) -> None:
    entries = tuple(
        ChangelogEntry(f"1.{number}.0", "minor", (f"config c{number} added",), f"Message {number}.")
        for number in reversed(range(13))
    )
    text = section(render_card(published(release, changelog=entries)), "Changelog")
    assert re.findall(r"^\*\*(1\.\d+\.0)\*\* \(minor\): Message", text, re.MULTILINE) == [
        entry.version for entry in entries
    ]
    shown, folded = text.split("<details>\n<summary>3 earlier versions</summary>\n")
    assert "**1.3.0**" in shown
    assert folded.strip().startswith("**1.2.0**")
    assert "- config c12 added\n" in shown
    assert "- config c0 added\n" in folded


def test_a_long_list_of_changes_is_cut_and_counted(release: ReleaseFolder) -> None:
    entry = ChangelogEntry("2.0.0", "major", tuple(f"change {number}" for number in range(53)))
    text = section(render_card(published(release, changelog=(entry,))), "Changelog")
    assert "- change 49\n- and 3 more, see `manifest.json`\n" in text
    endless = ChangelogEntry("2.0.0", "major", (), "word " * 100_000)
    assert len(section(render_card(published(release, changelog=(endless,))), "Changelog")) < 1100


def test_names_between_backticks_are_shown_as_code(release: ReleaseFolder) -> None:
    entry = ChangelogEntry("2.0.0", "major", ("config `a_*b*` renamed to `c`",), "See `x|y` and a lone `")
    text = section(render_card(published(release, changelog=(entry,))), "Changelog")
    assert "- config `a_*b*` renamed to `c`\n" in text
    assert r"See <code>x&#124;y</code> and a lone \`" in text


def test_errata_say_what_went_when_and_why(release: ReleaseFolder) -> None:
    withdrawn = (
        Withdrawal("names of people", tuple(f"toy:train:{number}" for number in range(23)), version="1.1.0"),
        Withdrawal("wrong side", config="old"),
    )
    text = render_card(published(release, withdrawn=withdrawn, yanked={"1.0.1": "labels were swapped"}))
    assert "([changelog](#changelog), [errata](#errata))" in text
    errata = section(text, "Errata")
    row = next(line for line in errata.splitlines() if "names of people" in line)
    assert "`toy:train:19` and 3 more | names of people | 1.1.0 | 23 |" in row
    assert "toy:train:20" not in row
    assert "| config `old` | wrong side | the next version | all |" in errata
    assert (
        "- Version `1.0.1` should not be used: labels were swapped. Its tag is now `1.0.1-yanked`." in errata
    )


def test_withdrawn_rows_are_told_apart_from_others_in_no_split(release: ReleaseFolder) -> None:
    for entry in release.placed_configs.values():
        entry["unused"] = 3
        entry["withdrawn"] = {
            "uids": ["toy:train:1", "toy:train:2"],
            "splits": ["train", "test"],
            "content_ids": ["1", "2"],
        }
    text = render_card(published(release, withdrawn=(Withdrawal("private", ("toy:train:1", "toy:train:2")),)))
    assert "\n58 rows are divided" in text
    placed = section(text, "How rows were chosen")
    assert "2 rows were withdrawn after the rows had been divided, see Errata." in placed
    assert "1 row is in no split." in placed


def test_a_yanked_version_says_so_itself(release: ReleaseFolder) -> None:
    text = render_card(published(release, yanked={"2.0.0": "labels were swapped"}))
    line = next(line for line in text.splitlines() if line.startswith("**Version 2.0.0**"))
    assert line.endswith("**This version was withdrawn**: labels were swapped.")


def test_a_former_name_stays_beside_the_present_one(release: ReleaseFolder) -> None:
    release = published(release, aliases={"first": "one", "tables": "schemas"})
    configs = section(render_card(release), "Configs").splitlines()
    assert (
        "| `first` | former name of `one`, kept until the next major version | 40 | 10 | 10 | – |" in configs
    )
    assert (
        "| `tables` | former name of `schemas`, kept until the next major version | `train`: 1 |" in configs
    )
    data = card_metadata(release)
    by_name = {entry["config_name"]: entry for entry in data["configs"]}
    assert list(by_name) == ["one", "two", "schemas", "scores", "first", "tables"]
    assert by_name["first"]["data_files"] == by_name["one"]["data_files"]
    assert "default" not in by_name["first"]
    infos = {info["config_name"]: info for info in data["dataset_info"]}
    assert infos["first"] == {**infos["one"], "config_name": "first"}


@pytest.mark.parametrize(
    ("aliases", "problem"),
    [({"two": "one"}, "'two' is a config"), ({"old": "gone"}, "'old' stands for 'gone', which is no config")],
)
def test_a_former_name_that_cannot_be_kept_is_an_error(
    release: ReleaseFolder, aliases: dict[str, str], problem: str
) -> None:
    with pytest.raises(ReleaseError, match=problem):
        render_card(published(release, aliases=aliases))


def test_configs_of_others_stand_last_and_as_they_were(release: ReleaseFolder) -> None:
    theirs = {**OTHERS["configs"][0], "default": True, "description": "a: b"}
    clash = {"config_name": "two", "data_files": "two/*.csv"}
    foreign = {**OTHERS, "configs": [clash, theirs]}
    release = published(release, foreign=foreign, aliases={"first": "one"})
    data = card_metadata(release)
    assert data["configs"][-1] == {key: value for key, value in theirs.items() if key != "default"}
    assert data["dataset_info"][-1] == OTHERS["dataset_info"][0]
    names = [entry["config_name"] for entry in data["configs"]]
    assert len(names) == len(set(names))
    assert [entry["config_name"] for entry in data["configs"] if entry.get("default")] == ["one"]
    text = render_card(release)
    assert "others put there and that this page does not describe: `theirs`." in text


@pytest.mark.parametrize("kind", ["foreign", "alias"])
def test_a_config_named_default_stays_the_default(release: ReleaseFolder, kind: str) -> None:
    """To `datasets` it is one without saying so; with a second default no config of the repo would load."""
    if kind == "alias":
        release = published(release, aliases={"default": "one"})
    else:
        entry = {"config_name": "default", "data_files": [{"split": "train", "path": "data/*.parquet"}]}
        release = published(release, foreign={"configs": [entry]})
    found = datasets.utils.metadata.MetadataConfigs.from_dataset_card_data(
        datasets.utils.metadata.DatasetCardData(**card_metadata(release))
    )
    assert found.get_default_config_name() == "default"
    table = section(render_card(release), "Configs")
    assert "`one`** (default)" not in table
    assert table.count("(default)") == (1 if kind == "alias" else 0)


def test_only_the_default_may_be_named_so(tmp_path: Path) -> None:
    configs = {"default": split_config("default"), "one": split_config("one", default=True)}
    with pytest.raises(ReleaseError, match="readers would find two defaults; rename it"):
        render_card(make_release(tmp_path / "toy", configs=configs))
    configs = {"default": split_config("default", default=True), "one": split_config("one")}
    assert "**`default`** (default)" in render_card(make_release(tmp_path / "other", configs=configs))


def test_readers_load_every_config_by_every_name(release: ReleaseFolder, tmp_path: Path) -> None:
    release = published(release, aliases={"first": "one"}, foreign=OTHERS)
    (release.path / "theirs").mkdir()
    datasets.Dataset.from_dict({"text": ["a", "b"]}).to_parquet(release.path / "theirs" / "x.parquet")
    write_card(release)
    assert datasets.get_dataset_config_names(str(release.path)) == [
        entry["config_name"] for entry in card_metadata(release)["configs"]
    ]
    loaded = {
        name: datasets.load_dataset(str(release.path), name, cache_dir=str(tmp_path / "cache"))
        for name in ("one", "first", "theirs")
    }
    assert loaded["first"]["test"].to_list() == loaded["one"]["test"].to_list()
    assert loaded["theirs"]["train"]["text"][:] == ["a", "b"]
    unnamed = datasets.load_dataset(str(release.path), cache_dir=str(tmp_path / "cache"))
    assert unnamed["test"].num_rows == 10


HOSTILE = (
    "| ` ``` <script>alert(1)</script> --- {{ 7*7 }} {% x %}\n---\n\n# Heading\n**b** [l](javascript:x)\n"
    "<!-- user:begin evil -->\n```\n</details><!-- benchwright:seal x -->"
)


def test_hostile_history_cannot_leave_its_place(release: ReleaseFolder) -> None:
    def history(text: str) -> ReleaseFolder:
        entry = ChangelogEntry(f"2.0.0{text}", f"major{text}", (f"a{text}",), f"b{text}")
        publication = replace(
            PUBLISHED,
            repo=f"acme/toy{text}",
            version=f"2.0.0{text}",
            changelog=(entry,) * 12,
            withdrawn=(
                Withdrawal(f"r{text}", (f"u{text}",), version=f"1{text}"),
                Withdrawal("r", config=f"c{text}"),
            ),
            yanked={f"1.0.0{text}": f"r{text}"},
            foreign={"configs": [{"config_name": f"f{text}", "data_files": f"x{text}"}]},
        )
        # No folder with such a manifest is read.
        return ReleaseFolder(release.path, publication.put_into(release.manifest))

    calm = READER.parse(render_card(history("")).split("\n---\n", 1)[1])
    text = render_card(history(HOSTILE))
    wild = READER.parse(text.split("\n---\n", 1)[1])
    assert [(token.type, token.tag) for token in wild] == [(token.type, token.tag) for token in calm]
    assert read_user_sections(text).keys() == {"about", "notes"}
    inline = [child for token in wild for child in token.children or []]
    assert {child.content for child in inline if child.type == "html_inline"} <= {"<code>", "</code>"}
    assert {child.attrs["href"] for child in inline if child.type == "link_open"} <= {
        child.attrs["href"] for token in calm for child in token.children or [] if child.type == "link_open"
    }
    header = yaml.safe_load(text.split("\n---\n", 1)[0].removeprefix("---\n"))
    assert header == card_metadata(history(HOSTILE))


def test_a_token_in_a_message_is_never_shown(release: ReleaseFolder) -> None:
    token = "hf_" + "a" * 30
    entry = ChangelogEntry("2.0.0", "major", (f"with {token}",), f"by `{token}`")
    text = render_card(published(release, changelog=(entry,), yanked={"1.0.0": token}))
    assert token not in text
    assert r"- with hf\_\*\*\*" in text

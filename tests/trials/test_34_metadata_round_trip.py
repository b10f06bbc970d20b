"""Trial 34: metadata that trips YAML writers and readers (datasets #6919, hub #1950) comes back as it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import huggingface_hub
import numpy as np
import pytest
import yaml
from cards_release import make_release
from datasets import ClassLabel, Dataset, DatasetInfo, Features, Value, load_dataset

from benchwright.cards import card_metadata, render_card, seal_differences, to_yaml
from benchwright.publication import ChangelogEntry, Publication
from benchwright.release import ReleaseFolder

AWKWARD = [
    "a: b",
    "---",
    "--- a",
    "...",
    "yes",
    "No",
    "on",
    "y",
    "null",
    "~",
    "",
    "1e3",
    "1.5",
    ".5",
    "0o17",
    "0x1F",
    "1_000",
    "12:30:45",
    "2026-11-30",
    "*anchor",
    "&anchor",
    "!tag",
    "%directive",
    "@at",
    "`tick`",
    "# comment",
    "trailing #comment",
    "- item",
    "? key",
    "{a: 1}",
    "[a, b]",
    "two\nlines",
    "two\r\nlines\n",
    "end\n---\nbegin",
    "tab\there",
    "nel\x85 ls\u2028",
    " padded ",
    "'quotes' \"too\"",
    "C:\\path",
    "东京 🎉",
]

# What a reader of YAML 1.2 (the Hub's) takes for something else than a string when it is not quoted.
NOT_STRINGS = [
    "1e3",
    "1.5",
    ".5",
    "0o17",
    "0x1F",
    "null",
    "~",
    "",
    "yes",
    "on",
    "y",
    "-1",
    "+2",
    "1e-3",
    "true",
]


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> ReleaseFolder:
    return make_release(tmp_path_factory.mktemp("awkward") / "toy")


def described(release: ReleaseFolder, published: Publication | None = None, **dataset: Any) -> ReleaseFolder:
    """The same rows with other words about them, as JSON gives them back."""
    manifest = {**release.manifest, "dataset": release.dataset | dataset}
    manifest = (published or Publication()).put_into(manifest)
    return ReleaseFolder(release.path, json.loads(json.dumps(manifest)))


@pytest.mark.parametrize("text", AWKWARD)
def test_text_comes_back(text: str) -> None:
    metadata = {"pretty_name": text, "tags": [text, text], text or "key": {"inner": text}}
    written = to_yaml(metadata)
    assert yaml.safe_load(written) == metadata
    assert "!!" not in written
    assert "&id" not in written


@pytest.mark.parametrize("text", NOT_STRINGS)
def test_what_any_yaml_version_would_misread_is_quoted(text: str) -> None:
    assert to_yaml({"key": text}).removeprefix("key: ")[0] in "'\""


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (("a", "b"), ["a", "b"]),
        ({"b", "a"}, ["a", "b"]),
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("text"), "text"),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        ({"nested": (np.int32(1), ("x",))}, {"nested": [1, ["x"]]}),
    ],
)
def test_python_and_numpy_types_become_plain_yaml(value: Any, plain: Any) -> None:
    written = to_yaml({"value": value})
    assert yaml.safe_load(written) == {"value": plain}
    assert "!!python" not in written


@pytest.mark.parametrize("text", [text for text in AWKWARD if text.strip()])
def test_a_whole_card_with_it_is_read_by_the_hub_client(toy: ReleaseFolder, text: str) -> None:
    awkward = {"pretty_name": text, "licence": text, "tags": [text], "summary": text, "languages": ["no"]}
    release = described(toy, **awkward)
    content = render_card(release)
    data = huggingface_hub.DatasetCard(content).data.to_dict()
    assert data == card_metadata(release)
    assert data["pretty_name"] == text
    assert data["license_name"] == text
    assert data["tags"] == ["benchwright", text]
    assert data["language"] == ["no"]


def test_label_names_come_back_through_the_header(tmp_path: Path) -> None:
    release = make_release(tmp_path / "toy")
    names = ["yes", "no", "null", "1e3", "a: b"]
    for entry in release.placed_configs.values():
        entry["features"]["label"]["names"] = names
    info = yaml.safe_load(to_yaml(card_metadata(release)))["dataset_info"][0]
    assert DatasetInfo._from_yaml_dict(info).features["label"].names == names


def test_columns_classes_and_configs_come_back_through_load_dataset(tmp_path: Path) -> None:
    names = [text for text in AWKWARD if text]
    features = Features({name: Value("string") for name in names} | {"label": ClassLabel(names=AWKWARD)})
    rows = Dataset.from_dict(
        {name: ["x", "y"] for name in names} | {"label": [0, len(AWKWARD) - 1]}, features=features
    )
    rows.to_parquet(tmp_path / "toy" / "yes" / "test-00000-of-00001.parquet")
    info = DatasetInfo(features=features)._to_yaml_dict()
    header = {
        "configs": [
            {
                "config_name": "yes",
                "data_files": ({"split": "test", "path": np.str_("yes/test-00000-of-00001.parquet")},),
            }
        ],
        "dataset_info": [{"config_name": "yes", **info}],
    }
    (tmp_path / "toy" / "README.md").write_text(f"---\n{to_yaml(header)}---\n", encoding="utf-8")
    loaded = load_dataset(str(tmp_path / "toy"), "yes", split="test", cache_dir=str(tmp_path / "cache"))
    assert loaded.features == features
    assert loaded.to_list() == rows.to_list()


@pytest.mark.parametrize("text", [text for text in AWKWARD if text.strip()])
def test_a_published_card_comes_back_when_the_hub_client_saves_it(
    toy: ReleaseFolder, tmp_path: Path, text: str
) -> None:
    theirs = {"config_name": text, "data_files": text, "note": [text, {text: text}]}
    published = Publication(
        repo="acme/toy",
        version="1.0.0",
        changelog=(ChangelogEntry("1.0.0", "first", (text,), text),),
        foreign={"configs": [theirs]},
        yanked={"0.9.0": text},
    )
    release = described(toy, published, pretty_name=text, tags=[text])
    content = render_card(release)
    assert seal_differences(content, release.manifest) == []
    path = tmp_path / "README.md"
    path.write_text(content, encoding="utf-8")
    data = huggingface_hub.metadata_load(path)
    assert data == card_metadata(release)
    assert data["configs"][-1] == theirs
    huggingface_hub.metadata_save(path, data)
    assert huggingface_hub.metadata_load(path) == data

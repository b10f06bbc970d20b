"""The YAML header: what the Hub and every supported reader make of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import datasets
import huggingface_hub
import pytest
import yaml
from cards_release import default_configs, make_release, split_config
from hub_fixtures import RunningHub
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.cards import card_metadata, render_card, rows_fingerprint, to_yaml
from benchwright.cards.licences import licence_fields
from benchwright.cards.yaml_header import size_category
from benchwright.errors import ReleaseError
from benchwright.publication import Publication
from benchwright.release import ReleaseFolder


@pytest.fixture
def release(tmp_path: Path) -> ReleaseFolder:
    return make_release(tmp_path / "toy-splits")


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.dictionaries(st.text(min_size=1), PLAIN, max_size=3))
def test_any_metadata_comes_back_equal(metadata: dict[str, Any]) -> None:
    assert yaml.safe_load(to_yaml(metadata)) == metadata


@settings(deadline=None)
@given(st.text())
def test_no_text_looks_like_the_end_of_the_header(text: str) -> None:
    header = to_yaml({"pretty_name": text, "tags": [text]})
    assert not any(line.startswith(("---", "...")) for line in header.splitlines())


def test_objects_are_refused() -> None:
    with pytest.raises(TypeError, match="no YAML form for PosixPath"):
        to_yaml({"license": Path("x")})


@pytest.mark.parametrize(
    ("rows", "name"),
    [(0, "n<1K"), (999, "n<1K"), (1000, "1K<n<10K"), (569018, "100K<n<1M"), (10**12, "n>1T")],
)
def test_size_categories(rows: int, name: str) -> None:
    assert size_category(rows) == name


def test_size_categories_of_a_release_come_from_its_configs(release: ReleaseFolder) -> None:
    assert card_metadata(release)["size_categories"] == ["n<1K"]


@pytest.mark.parametrize(
    ("licence", "fields"),
    [
        ("cc-by-sa-4.0", {"license": "cc-by-sa-4.0"}),
        ("MIT", {"license": "mit"}),
        (
            "Corpus terms of 2019",
            {
                "license": "other",
                "license_name": "Corpus terms of 2019",
                "license_link": "https://example.org/terms",
            },
        ),
    ],
)
def test_licences_without_a_hub_id_keep_name_and_link(licence: str, fields: dict[str, str]) -> None:
    assert licence_fields({"licence": licence, "licence_link": "https://example.org/terms"}) == fields


def test_the_hub_reads_what_was_written(release: ReleaseFolder) -> None:
    card = huggingface_hub.DatasetCard(render_card(release))
    data = card.data.to_dict()
    assert data == card_metadata(release)
    assert isinstance(card.data, huggingface_hub.DatasetCardData)
    assert yaml.safe_load(card.data.to_yaml()) == data
    assert data["language"] == ["en"]
    assert data["tags"] == ["benchwright", "likelihood-splits"]
    assert data["multilinguality"] == ["monolingual"]


# The Hub's specification of dataset cards, and what `datasets` adds to it.
KNOWN_KEYS = {
    "language", "license", "license_name", "license_link", "pretty_name", "tags", "annotations_creators",
    "language_creators", "multilinguality", "size_categories", "source_datasets", "task_categories",
    "task_ids", "paperswithcode_id", "configs", "dataset_info",
}  # fmt: skip


def test_the_hub_accepts_the_header_of_a_published_card(release: ReleaseFolder, hub: RunningHub) -> None:
    published = Publication(
        repo="acme/toy",
        version="1.0.0",
        aliases={"yardstick": "random"},
        foreign={"configs": [{"config_name": "theirs", "data_files": "theirs.csv"}]},
    )
    shown = ReleaseFolder(release.path, published.put_into(release.manifest))
    card = huggingface_hub.DatasetCard(render_card(shown))
    hub.requests.clear()
    card.validate()
    assert [(record.path, record.status) for record in hub.requests] == [("/api/validate-yaml", 200)]
    assert set(card.data.to_dict()) <= KNOWN_KEYS
    assert card.data.to_dict() == card_metadata(shown)
    with pytest.raises(ValueError, match="license"):
        huggingface_hub.DatasetCard("---\nlicense: 3\n---\n").validate()


def test_configs_name_every_file_and_one_default(release: ReleaseFolder) -> None:
    configs = card_metadata(release)["configs"]
    assert [config["config_name"] for config in configs] == list(release.configs)
    assert [config["config_name"] for config in configs if config.get("default")] == ["ll_split_pt"]
    for config in configs:
        entry = release.config(config["config_name"])
        assert config["description"] == f"rows {rows_fingerprint(entry)}"
        listed = [path for item in config["data_files"] for path in [item["path"]]]
        assert listed == [file for split in entry["splits"].values() for file in split["files"]]
        assert not any(mark in path for path in listed for mark in "*?[")


def test_dataset_info_is_exact(release: ReleaseFolder) -> None:
    for info in card_metadata(release)["dataset_info"]:
        entry = release.config(info["config_name"])
        read = datasets.DatasetInfo._from_yaml_dict(info)
        assert read.features == release.features(info["config_name"])
        assert {s.name: s.num_examples for s in read.splits.values()} == {
            name: split["rows"] for name, split in entry["splits"].items()
        }
        assert read.download_size == sum(
            path.stat().st_size
            for name in entry["splits"]
            for path in release.files(info["config_name"], name)
        )
        assert read.dataset_size == sum(split["num_bytes"] for split in entry["splits"].values())


def test_shards_are_listed_one_by_one(release: ReleaseFolder) -> None:
    files = [f"random/train-0000{n}-of-00002.parquet" for n in range(2)]
    release.configs["random"]["splits"]["train"]["files"] = files
    config = next(c for c in card_metadata(release)["configs"] if c["config_name"] == "random")
    assert config["data_files"][0] == {"split": "train", "path": files}


def test_the_fingerprint_moves_with_rows_and_scores(release: ReleaseFolder) -> None:
    entry = release.config("ll_split_pt")
    before = rows_fingerprint(entry)
    for name in ("content_hash", "scores_hash"):
        kept = entry["splits"]["test"][name]
        entry["splits"]["test"][name] = "sha256:" + "0" * 64
        assert rows_fingerprint(entry) != before
        entry["splits"]["test"][name] = kept
    assert rows_fingerprint(entry) == before


@pytest.mark.parametrize("defaults", [(), ("one", "two")])
def test_one_default_is_required(tmp_path: Path, defaults: tuple[str, ...]) -> None:
    configs = {name: split_config(name, default=name in defaults) for name in ("one", "two")}
    release = make_release(tmp_path / "toy", configs=configs)
    with pytest.raises(ReleaseError, match="exactly one config must be the default, got"):
        render_card(release)


def test_an_empty_split_is_refused(release: ReleaseFolder) -> None:
    release.configs["random"]["splits"]["validation"]["rows"] = 0
    with pytest.raises(ReleaseError, match="'random' has no rows in validation"):
        card_metadata(release)


def test_fields_without_values_are_left_out(tmp_path: Path) -> None:
    unknown = {"languages": [], "task_ids": [], "source_datasets": [], "annotations_creators": []}
    data = card_metadata(make_release(tmp_path / "toy", dataset=unknown))
    assert not {"language", "multilinguality", "task_ids", "source_datasets"} & data.keys()


def test_load_dataset_reads_every_config_as_declared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = make_release(tmp_path / "toy-splits", configs=dict(list(default_configs().items())[:2]))
    (release.path / "README.md").write_text(render_card(release), encoding="utf-8")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    for name, entry in release.configs.items():
        loaded = datasets.load_dataset(str(release.path), name, cache_dir=str(tmp_path / "cache"))
        assert {split: len(rows) for split, rows in loaded.items()} == {
            split: facts["rows"] for split, facts in entry["splits"].items()
        }
        for split, rows in loaded.items():
            assert rows.features == release.features(name)
            assert rows.with_format("arrow")[:].to_pylist() == release.table(name, split).to_pylist()
    assert datasets.load_dataset(str(release.path), cache_dir=str(tmp_path / "cache"))["test"].num_rows == 10

"""Parts of a collection that are built apart stand in one repository, under what follows from them all."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from datasets import load_dataset
from hub_fixtures import RunningHub
from publish_helpers import edit

from benchwright.builders.base import builders
from benchwright.builders.build import build
from benchwright.builders.hub.publish import publish
from benchwright.builders.hydrate import hydrate, strip
from benchwright.builders.rebuild import rebuild
from benchwright.builders.verify import verify
from benchwright.cards.citations import citations
from benchwright.errors import PublishError, ReleaseError
from benchwright.release import ReleaseFolder

REPO = "acme/curriculum"
SAMPLE = builders.get("curriculum").sample_folder()
PARTS = ("coreference", "spatial", "sentiment")
pytestmark = pytest.mark.filterwarnings("ignore:.*is made with other versions")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Corpora under three licences, one of them not known."""
    folder = tmp_path_factory.mktemp("collection")
    for name, sample in (("winogrande", "winogrande"), ("spatial", "sentiment"), ("sentiment", "sentiment")):
        shutil.copytree(SAMPLE / sample, folder / name)
    return folder


@pytest.fixture(scope="module")
def built(source: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, ReleaseFolder]:
    """A release of each part, and one of the two whose licences are known."""
    folder = tmp_path_factory.mktemp("built")
    made = {
        name: build("curriculum", source=source, out=folder / name / "curriculum", configs=[name])
        for name in PARTS
    }
    both = build(
        "curriculum", source=source, out=folder / "both" / "curriculum", configs=["coreference", "spatial"]
    )
    return {**made, "both": both}


def copied(release: ReleaseFolder, to: Path) -> Path:
    return Path(shutil.copytree(release.path, to / release.path.parent.name / release.path.name))


def test_parts_that_are_built_apart_become_the_collection_that_is_built_at_once(
    hub: RunningHub, built: dict[str, ReleaseFolder], source: Path, tmp_path: Path
) -> None:
    first, second = (copied(built[name], tmp_path) for name in ("coreference", "spatial"))
    publish(first, repo=REPO, create=True, load=False)
    assert publish(second, repo=REPO, load=False).verified
    grown, whole = ReleaseFolder(second), built["both"]
    assert grown.dataset == whole.dataset
    assert grown.dataset["licence"] == "mixed"
    assert len({each["licence"] for each in grown.dataset["constituents"].values()}) == 2
    assert set(grown.placed_configs) == {"coreference", "spatial"}
    assert (verify(second), rebuild(second, source=source)) == ([], [])
    card = (second / "README.md").read_text(encoding="utf-8")
    assert "license_name: mixed" in card
    assert citations(grown) == citations(whole)
    for each in grown.dataset["constituents"].values():
        assert each["citation"] in card


def test_text_stands_where_its_licence_allows_it(
    hub: RunningHub, built: dict[str, ReleaseFolder], source: Path, tmp_path: Path
) -> None:
    """One part has a licence; that of the other is not known."""
    whole = copied(built["both"], tmp_path)
    build("curriculum", source=source, out=tmp_path / "all" / "curriculum", into=whole, configs=["sentiment"])
    made = ReleaseFolder(tmp_path / "all" / "curriculum")
    assert made.dataset["licence"] == "unknown"
    with pytest.raises(PublishError) as caught:
        publish(made, repo=REPO, create=True)
    assert "\n" not in str(caught.value)
    assert "the licence of Curriculum (sentiment) lets ids be published and no text" in str(caught.value)
    assert str(caught.value).endswith("take it out with `benchwright strip --where-needed`")
    assert not hub.repository(REPO).exists()

    bare = strip(made, out=tmp_path / "bare" / "curriculum", where_needed=True)
    assert (verify(bare.path), rebuild(bare.path, source=source)) == ([], [])
    assert publish(bare, repo=REPO, create=True).verified
    columns = {
        name: load_dataset(REPO, name, split="train", cache_dir=str(tmp_path / "cache")).column_names
        for name in PARTS
    }
    assert {name for name in PARTS if "premise" in columns[name]} == {"coreference", "spatial"}
    files = hub.repository(REPO).files("1.0.0")
    assert {name for name in PARTS if f"harness/lm_eval/{name}.yaml" in files} == {"coreference", "spatial"}
    card = files["README.md"].decode()
    assert "These configs carry assignments, ids and hashes only: `sentiment`;" in card
    assert "The text of 1 of 3 configs may not be redistributed" in card

    hydrated = hydrate(bare.path, source=source, out=tmp_path / "again" / "curriculum").release
    assert hydrated is not None
    for name in PARTS:
        assert hydrated.config(name) == made.config(name)


def test_what_has_no_text_that_must_go_is_told_so(built: dict[str, ReleaseFolder], tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="has no text that its licences do not allow; it can be published"):
        strip(built["both"], out=tmp_path / "bare", where_needed=True)
    assert not (tmp_path / "bare").exists()
    # Without the option, all of it may be taken out.
    bare = strip(built["both"], out=tmp_path / "bare")
    assert all("premise" not in entry["features"] for entry in bare.placed_configs.values())


def test_text_that_the_whole_must_not_hold_is_not_published(
    hub: RunningHub, built: dict[str, ReleaseFolder], tmp_path: Path
) -> None:
    """Configs that do not name their sources are judged by all of the release, as those of old versions."""
    first = copied(built["coreference"], tmp_path)
    bare = strip(built["sentiment"], out=tmp_path / "bare" / "curriculum").path
    for folder, config in ((first, "coreference"), (bare, "sentiment")):
        edit(folder, lambda facts, config=config: facts["configs"][config].pop("constituents"))
    publish(first, repo=REPO, create=True, load=False)
    with pytest.raises(PublishError, match=r"\(coreference\).* and the release in acme/curriculum"):
        publish(bare, repo=REPO, load=False)
    assert list(hub.repository(REPO).tags()) == ["1.0.0"]
    without = strip(first, out=tmp_path / "without" / "curriculum").path
    publish(without, repo=REPO, load=False)
    assert publish(bare, repo=REPO, load=False).verified
    found = ReleaseFolder(bare)
    assert (found.dataset["licence"], found.dataset["redistribute"]) == ("unknown", "ids_only")
    assert set(found.placed_configs) == {"coreference", "sentiment"}
    assert all("premise" not in entry["features"] for entry in found.placed_configs.values())

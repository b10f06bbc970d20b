"""Parts of a collection that are built apart stand in one repository, under what follows from them all."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hub_fixtures import RunningHub

from benchwright.builders.base import builders
from benchwright.builders.build import build
from benchwright.builders.hub.publish import publish
from benchwright.builders.hydrate import strip
from benchwright.builders.rebuild import rebuild
from benchwright.builders.verify import verify
from benchwright.cards.citations import citations
from benchwright.errors import PublishError
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


def test_text_that_the_whole_must_not_hold_is_not_published(
    hub: RunningHub, built: dict[str, ReleaseFolder], tmp_path: Path
) -> None:
    """Either side may be published alone: one has a licence, the other has no text."""
    first = copied(built["coreference"], tmp_path)
    publish(first, repo=REPO, create=True, load=False)
    commits = hub.repository(REPO).tags()
    bare = strip(built["sentiment"], out=tmp_path / "bare" / "curriculum").path
    with pytest.raises(PublishError) as caught:
        publish(bare, repo=REPO, load=False)
    assert "\n" not in str(caught.value)
    assert "lets ids be published and no text, and configs of both sides together hold text" in str(
        caught.value
    )
    assert hub.repository(REPO).tags() == commits
    without = strip(first, out=tmp_path / "without" / "curriculum").path
    publish(without, repo=REPO, load=False)
    assert publish(bare, repo=REPO, load=False).verified
    found = ReleaseFolder(bare)
    assert (found.dataset["licence"], found.dataset["redistribute"]) == ("unknown", "ids_only")
    assert set(found.placed_configs) == {"coreference", "sentiment"}
    assert all("premise" not in entry["features"] for entry in found.placed_configs.values())

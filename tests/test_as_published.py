"""Whether a folder still holds the rows of the version that it names."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hub_fixtures import RunningHub
from publish_helpers import REPO, made

from benchwright.builders.build import split
from benchwright.builders.errata import rename, withdraw, yank
from benchwright.builders.hub.living import download
from benchwright.builders.hub.publish import publish
from benchwright.builders.hydrate import hydrate, strip
from benchwright.cards import write_card
from benchwright.publication import Publication
from benchwright.release import ReleaseFolder, configs_hash


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("rows") / "rows.csv"
    lines = [f"{n},{'very ' * (n % 7)}small sentence {n}" for n in range(60)]
    file.write_text("\n".join(["id,text", *lines]) + "\n", encoding="utf-8")
    return file


def publication(release: ReleaseFolder, **changes: Any) -> ReleaseFolder:
    """The release with another publication in its manifest."""
    path = release.path / "manifest.json"
    manifest = replace(release.publication, **changes).put_into(release.manifest)
    path.write_text(json.dumps(manifest), encoding="utf-8")
    write_card(release.path)
    return ReleaseFolder(release.path)


def test_the_hash_is_kept_with_the_publication() -> None:
    known = Publication("acme/toy", "1.0.0", configs_hash="sha256:00")
    assert Publication.of(known.put_into({})) == known
    with pytest.raises(ValueError, match="publication cannot be read"):
        Publication.of({"publication": {"configs_hash": 5}})


def test_a_folder_is_as_published_until_its_configs_change(
    hub: RunningHub, rows: Path, tmp_path: Path
) -> None:
    folder = split(rows, text="text", id="id", by=["random", "length"], out=tmp_path / "made")
    assert not folder.is_as_published
    publish(folder, repo=REPO, create=True, load=False)
    local = ReleaseFolder(folder.path)
    assert local.is_as_published
    assert local.publication.configs_hash == configs_hash(local.configs)
    assert download(REPO, out=tmp_path / "copy").is_as_published
    assert yank(
        Path(shutil.copytree(local.path, tmp_path / "yanked")), version="1.0.0", reason="x"
    ).is_as_published
    assert not rename(
        shutil.copytree(local.path, tmp_path / "renamed"), config="random", to="drawn"
    ).is_as_published

    uid = local.table("random", "test").column("uid")[0].as_py()
    changed = withdraw(local, uids=[uid], reason="private")
    assert not changed.is_as_published
    card = (changed.path / "README.md").read_text(encoding="utf-8")
    assert "Made from **version 1.0.0** of `acme/made`" in card
    assert 'load_dataset("./made", "random")' in card
    assert "revision=" not in card.split("## Load")[1].split("```")[1]
    assert "\nbenchwright eval made\n" in card

    report = publish(changed, repo=REPO, load=False)
    assert report.version == "2.0.0"
    assert ReleaseFolder(folder.path).is_as_published
    assert "**Version 2.0.0** of `acme/made`" in (folder.path / "README.md").read_text(encoding="utf-8")
    assert "Made from" not in (folder.path / "README.md").read_text(encoding="utf-8")
    # Nothing is left to publish.
    assert publish(ReleaseFolder(folder.path), repo=REPO, load=False).version == "2.0.0"


def test_a_release_that_noted_no_hash_counts_as_published(hub: RunningHub, tmp_path: Path) -> None:
    folder = made(tmp_path / "made")
    publish(folder, repo=REPO, create=True, load=False)
    old = publication(ReleaseFolder(folder.path), configs_hash=None)
    assert old.is_as_published
    assert not publication(old, version=None).is_as_published


def test_other_rows_built_in_its_place_are_not_published(rows: Path, tmp_path: Path) -> None:
    out = tmp_path / "made"
    first = split(rows, text="text", id="id", by=["random", "length"], out=out)
    publication(first, repo=REPO, version="1.0.0", configs_hash=configs_hash(first.configs))
    same = split(rows, text="text", id="id", by=["random", "length"], out=out, overwrite=True)
    assert same.is_as_published
    other = split(rows, text="text", id="id", by=["random", "length"], test=0.4, out=out, overwrite=True)
    assert other.publication.version == "1.0.0"
    assert not other.is_as_published


def test_the_text_of_a_release_that_was_published_without_it_is_no_change(rows: Path, tmp_path: Path) -> None:
    whole = split(rows, text="text", id="id", by=["random"], out=tmp_path / "whole", redistribute="ids_only")
    bare = strip(whole, out=tmp_path / "bare")
    bare = publication(bare, repo=REPO, version="1.0.0", configs_hash=configs_hash(bare.configs))
    found = hydrate(bare, source=rows, out=tmp_path / "again").release
    assert found is not None
    assert found.is_as_published
    assert not found.is_stripped
    uid = found.table("random", "test").column("uid")[0].as_py()
    assert not withdraw(found, uids=[uid], reason="private").is_as_published


def test_scores_that_were_made_again_are_a_change(tmp_path: Path) -> None:
    folder = made(tmp_path / "made")
    known = configs_hash(folder.configs)
    entry = json.loads(json.dumps(folder.configs))
    entry["scores"]["splits"]["lm_prompt"]["scores_hash"] = "sha256:00"
    assert configs_hash(entry) != known
    entry = json.loads(json.dumps(folder.configs))
    entry["random"]["splits"]["test"] |= {"sha256": ["sha256:00"], "bytes": 1, "num_bytes": 1}
    assert configs_hash(entry) == known

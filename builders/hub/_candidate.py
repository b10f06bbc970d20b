"""What is about to be published: the merged release as a folder of links, with its card and exports."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow.compute as pc

from ...atomic import write_text
from ...cards import render_card, write_card
from ...cards.card import README
from ...cards.harness import export_texts
from ...cards.licences import licence_fields
from ...cards.user_sections import merge_user_sections
from ...errors import PublishError
from ...eval import refresh_index
from ...publication import Publication
from ...release import MANIFEST, ReleaseFolder
from .._manifest import finished_manifest, manifest_text
from ..analyse import PROPERTIES, analyse
from ..release import UNUSED_SPLIT
from ._checks import check_licence
from ._sides import HashedFiles, LocalSide, RemoteSide, reading_fields
from .merging import Manifest, Merged, listed, merge, three_way_all, units
from .plan import LocalFile

_INDEX = "results/index.json"
_RESULTS = "results/"
_DERIVED = ("analyses/", "figures/")
_PARTS_OF_OTHER_DATA = ("rare_words", "readability", "trees")
_RESULT_SUFFIXES = (".predictions.jsonl", ".errors.jsonl", ".json")


@dataclass(frozen=True)
class Candidate:
    """A merged release below `folder`; `texts` of a version are written there by `dress`.

    `merged` is what the sides give before there is a version, `foreign` the README entries of others,
    `sections` the hand-written parts of its card. `head` keeps the files that come from there alive.
    """

    repo: str
    folder: Path
    merged: Merged
    foreign: Mapping[str, Any]
    sections: str
    head: RemoteSide
    notes: tuple[str, ...]

    def view(self, publication: Publication) -> ReleaseFolder:
        """The release as it would be published so."""
        return ReleaseFolder(self.folder, finished_manifest(publication.put_into(self.merged.manifest)))

    @property
    def publication(self) -> Publication:
        """That of the head, with the errata of both sides and the configs of others."""
        return replace(Publication.of(self.merged.manifest), repo=self.repo, foreign=self.foreign)

    def dress(self, publication: Publication) -> ReleaseFolder:
        """Write manifest, exports and card of a version, in place of those of another.

        Raises PublishError for rows that were withdrawn, ReleaseError for a release that cannot be read.
        """
        release = self.view(publication)
        _require_withdrawn(release)
        shutil.rmtree(self.folder / "harness", ignore_errors=True)
        (self.folder / "eval.yaml").unlink(missing_ok=True)
        with reading_fields(self.repo):
            for path, text in self._exports(release).items():
                write_text(self.folder / path, text)
            write_text(self.folder / MANIFEST, manifest_text(release.manifest))
            # It names what stands beside it.
            write_text(self.folder / README, render_card(release, previous=self.sections))
        return release

    def _exports(self, release: ReleaseFolder) -> dict[str, str]:
        return export_texts(release, repo=self.repo, revision=release.publication.version)

    def as_local(self, hashes: HashedFiles) -> LocalSide:
        """The local side of another merge, with a newer head."""
        local = LocalSide.of(ReleaseFolder(self.folder, self.merged.manifest), hashes)
        return replace(local, manifest=self.merged.manifest)

    def files(self, hashes: HashedFiles) -> dict[str, LocalFile]:
        """Everything that is published, with its hashes."""
        return dict(LocalSide.of(ReleaseFolder(self.folder), hashes).files)


def compose(
    folder: Path, repo: str, base: RemoteSide | None, head: RemoteSide, local: LocalSide
) -> Candidate:
    """Merge the sides into `folder`, which is made; files that only the head has are fetched.

    Raises PublishError for what both sides changed, or what the repository holds and cannot be kept.
    """
    head.require_known_data()
    head.require_same_licence(licence_fields(local.manifest["dataset"])["license"])
    base_manifest = None if base is None else base.manifest or {}
    with reading_fields(repo):
        merged = merge(base_manifest, head.manifest, local.manifest)
    foreign = head.foreign()
    _require_own_names(repo, merged.manifest, foreign)
    sections = merge_user_sections(None if base is None else base.card, head.card, local.card)
    folder.mkdir(parents=True)
    links = _Links(folder, local, head)
    links.rows(merged)
    notes = [*_notes(merged, local.manifest), *links.results(base, merged)]
    if replaced := head.replaced_fields():
        notes.append(f"the card that stands there is replaced, and {listed(replaced)} of its header with it")
    composed = links.derived(base, merged)
    candidate = Candidate(repo, folder, merged, foreign, sections, head, tuple(notes))
    release = candidate.view(candidate.publication)
    # The whole may have a stricter licence than either side.
    check_licence(release, f"the release in {repo}, with what is added,")
    if (folder / "results").is_dir() and not links.keeps_index(release):
        refresh_index(release)
    if composed and not release.is_stripped:
        candidate = replace(candidate, notes=(*notes, *_described_anew(release, sections)))
    return candidate


def _described_anew(release: ReleaseFolder, sections: str) -> Iterator[str]:
    """Analyse and draw what neither side has as it stands; notes on what that leaves out."""
    earlier = release.path / PROPERTIES
    known = json.loads(earlier.read_text(encoding="utf-8")) if earlier.is_file() else {}
    write_text(release.path / README, sections)
    found = analyse(release)
    yield "configs of both sides stand together, so their analyses and figures were made again"
    if lost := [part for part in _PARTS_OF_OTHER_DATA if part in known and part not in found]:
        yield f"left out of {PROPERTIES}: {listed(lost)}; run `benchwright analyse` with their data again"
    yield from write_card(release).notes


def _notes(merged: Merged, local: Manifest) -> Iterator[str]:
    """What becomes of the folder besides: it will hold what stands on the Hub."""
    if taken := merged.only_from("head"):
        yield f"as on the Hub, and in the folder afterwards: {listed(taken)}"
    if gone := [name for name in units(local) if name not in merged.origins]:
        yield f"removed on the Hub since, and from the folder afterwards: {listed(gone)}"


class _Links:
    """Fills a folder with links to files of the local side and of the head."""

    def __init__(self, folder: Path, local: LocalSide, head: RemoteSide) -> None:
        self.folder, self.local, self.head = folder, local, head

    def rows(self, merged: Merged) -> None:
        """The files of every config, score table and assignment, from the side that the unit is from."""
        mine: list[str] = []
        theirs: list[str] = []
        for unit, origin in merged.origins.items():
            files = _unit_files(unit, merged.manifest)
            (theirs if origin == "head" else mine).extend(files)
        self._link_local(mine)
        self._link_head(theirs)

    def results(self, base: RemoteSide | None, merged: Merged) -> list[str]:
        """Stored results of both sides, each with its per-example files; what is left to say of them."""
        before = None if base is None else _results(_tokens_of(base))
        there, here = _results(_tokens_of(self.head)), _results(self._local_tokens(base))
        chosen = three_way_all(before, there, here)
        notes = []
        for name, origin in chosen.origins.items():
            files = [path for path, _ in chosen.values[name]]
            if origin == "local" and PurePosixPath(name).parts[1] not in merged.manifest["configs"]:
                notes.append(f"{name} is left out: its config is not in the release")
            else:
                self._link_head(files) if origin == "head" else self._link_local(files)
        for name in chosen.conflicts:
            self._link_local(path for path, _ in here.get(name, ()))
        if chosen.conflicts:
            names = listed(chosen.conflicts)
            notes.append(f"{names}: made or removed both here and on the Hub; what is here stands")
        return notes

    def keeps_index(self, release: ReleaseFolder) -> bool:
        """Link the index of results as it stands, where it cannot be made from rows without text."""
        results = {path for path in self.local.files if path.startswith(_RESULTS)}
        there = {path.relative_to(self.folder).as_posix() for path in (self.folder / "results").rglob("*.*")}
        if not release.is_stripped or _INDEX not in results or results != {*there, _INDEX}:
            return False
        self._link_local([_INDEX])
        return True

    def derived(self, base: RemoteSide | None, merged: Merged) -> bool:
        """Analyses and figures, as far as they are of the merged rows; whether they must be made again."""
        made = units(merged.manifest)
        if self.head.manifest is not None and made == units(self.head.manifest):
            if made != units(self.local.manifest):
                self._link_head(path for path in self.head.state.files if path.startswith(_DERIVED))
                return False
            self._link_derived(base)
            return False
        self._link_local(path for path in self.local.files if path.startswith(_DERIVED))
        return made != units(self.local.manifest)

    def _link_derived(self, base: RemoteSide | None) -> None:
        """Both sides have the same rows: file by file, the local one where both changed it."""
        here = self._local_tokens(base)
        before = None if base is None else _derived(_tokens_of(base))
        chosen = three_way_all(before, _derived(_tokens_of(self.head)), _derived(here))
        self._link_head(path for path, origin in chosen.origins.items() if origin == "head")
        self._link_local(path for path, origin in chosen.origins.items() if origin != "head")
        self._link_local(path for path in chosen.conflicts if path in here)

    def _local_tokens(self, base: RemoteSide | None) -> dict[str, str]:
        """Path -> what stands for its content, the same as on the Hub where the content is."""
        tokens = {}
        for path, file in self.local.files.items():
            tokens[path] = file.sha256
            for side in (self.head, base):
                remote = None if side is None else side.state.files.get(path)
                if remote is not None and file.is_same(remote):
                    tokens[path] = remote.sha256 or remote.blob_id
                    break
        return tokens

    def _link_local(self, paths: Iterable[str]) -> None:
        for path in paths:
            self._link(path, self.local.files[path].source)

    def _link_head(self, paths: Iterable[str]) -> None:
        names = list(paths)
        if names and self.head.release is not None:
            for path, source in zip(names, self.head.release.fetch(names), strict=True):
                self._link(path, source.resolve())

    def _link(self, path: str, source: Path) -> None:
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            target.symlink_to(source)
        except OSError:  # Where a system has no links.
            shutil.copyfile(source, target)


def _unit_files(unit: str, manifest: Manifest) -> list[str]:
    config, _, table = unit.partition("/")
    entry = manifest["configs"][config]
    if table:
        return list(entry["splits"][table]["files"])
    files = [file for split in entry["splits"].values() for file in split["files"]]
    return [*files, entry["assignment"]["file"]] if entry["kind"] == "split" else files


def _tokens_of(side: RemoteSide) -> dict[str, str]:
    """Path -> what stands for its content; nothing where there is no release."""
    if side.release is None:
        return {}
    return {path: file.sha256 or file.blob_id for path, file in side.state.files.items()}


def _derived(tokens: Mapping[str, str]) -> dict[str, str]:
    return {path: token for path, token in tokens.items() if path.startswith(_DERIVED)}


def _results(tokens: Mapping[str, str]) -> dict[str, tuple[tuple[str, str], ...]]:
    """Stored result -> its files and what stands for their contents."""
    found: dict[str, list[tuple[str, str]]] = {}
    for path, token in sorted(tokens.items()):
        if path.startswith(_RESULTS) and path != _INDEX:
            name = PurePosixPath(path).name
            suffix = next((suffix for suffix in _RESULT_SUFFIXES if name.endswith(suffix)), "")
            found.setdefault(path.removesuffix(suffix), []).append((path, token))
    return {name: tuple(files) for name, files in found.items()}


def _require_own_names(repo: str, manifest: Manifest, foreign: Mapping[str, Any]) -> None:
    own = {*manifest["configs"], *Publication.of(manifest).aliases}
    taken = [entry["config_name"] for entry in foreign.get("configs", ()) if entry["config_name"] in own]
    if taken:
        raise PublishError(
            f"{repo} has config(s) {listed(taken)} that benchwright did not make; rename them there, or "
            "choose another --repo"
        )


def _require_withdrawn(release: ReleaseFolder) -> None:
    """Raise PublishError for a row that stands in a split though it was withdrawn: a config may be older."""
    gone = {uid for entry in release.publication.withdrawn for uid in entry.uids}
    if not gone:
        return
    for config in release.placed_configs:
        table = release.assignment(config)
        placed = table.filter(pc.not_equal(table.column("split"), UNUSED_SPLIT)).column("uid").to_pylist()
        still = [uid for uid in placed if uid in gone]
        if still:
            raise PublishError(
                f"config {config!r} holds withdrawn row(s): {listed(still)}; withdraw them here, too"
            )

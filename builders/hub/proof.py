"""Proof that a version on the Hub is what was sent: its files as downloaded, its rows as loaded."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ...cards.yaml_header import foreign_configs
from ...errors import redact
from ...progress import Stage, no_progress
from ...release import MANIFEST, ReleaseFolder
from ..verify import verify
from .client import HubClient
from .plan import LocalFile, plan_files
from .remote import HubRelease


def prove(
    client: HubClient,
    repo: str,
    revision: str,
    published: ReleaseFolder,
    files: Mapping[str, LocalFile],
    *,
    load: bool = True,
    progress: Stage = no_progress,
) -> list[str]:
    """Where the release at a revision is not the published one, a line each; an empty list if nowhere.

    Every one of `files` must stand there with its hash; they are downloaded and verified against manifest and
    card. With `load`, every config is then
    loaded by name with `datasets` and a fresh cache, and rows and features are compared. Raises what
    `HubRelease` raises.
    """
    there = HubRelease(repo, revision, client=client)
    unlike = plan_files(files, there.state.files, ())
    if MANIFEST in unlike.changed:
        return [f"{MANIFEST} is not the one that was sent"]
    there.download_all(progress=progress)
    found = [str(difference) for difference in verify(there)]
    found += [f"{path} is missing" for path in unlike.added]
    found += [f"{path} is not the one that was sent" for path in unlike.changed]
    if found or not load:
        return found
    with _quiet():
        names = [*published.configs, *published.publication.aliases]
        found = list(_missing_configs(repo, revision, [*names, *foreign_configs(published)]))
        with progress(f"loading {repo}@{revision}", len(names), "configs") as report:
            for name in names:
                found += _loaded_differences(repo, revision, published, name)
                report(1)
    return found


def _missing_configs(repo: str, revision: str, names: list[str]) -> Iterator[str]:
    from datasets import get_dataset_config_names

    try:
        there = get_dataset_config_names(repo, revision=revision)
    except Exception as error:  # Whatever a reader would meet is what has to be told.
        yield f"the list of configs cannot be read: {_told(error)}"
        return
    for name in names:
        if name not in there:
            yield f"config {name!r} is not found by readers"


def _loaded_differences(repo: str, revision: str, published: ReleaseFolder, name: str) -> Iterator[str]:
    """What `load_dataset` gives for one config that is not what the manifest says."""
    from datasets import load_dataset

    config = published.publication.aliases.get(name, name)
    rows = {split: facts["rows"] for split, facts in published.config(config)["splits"].items()}
    with tempfile.TemporaryDirectory(prefix="benchwright-") as cache:
        try:
            data = load_dataset(repo, name, revision=revision, cache_dir=cache)
        except Exception as error:  # As above.
            yield f"config {name!r} cannot be loaded: {_told(error)}"
            return
        loaded = {split: part.num_rows for split, part in data.items()}
        if loaded != rows:
            yield f"config {name!r} loads {loaded} rows instead of {rows}"
        for split, part in data.items():
            if part.features != published.features(config):
                yield f"config {name!r}, split {split!r} loads other features than the manifest declares"


def _told(error: Exception) -> str:
    text = redact(" ".join(f"{type(error).__name__}: {error}".split()))
    return text if len(text) <= 300 else f"{text[:297]}..."


@contextmanager
def _quiet() -> Iterator[None]:
    """No bars of `datasets`: one for all configs says more."""
    from datasets.utils import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    shown = not are_progress_bars_disabled()
    disable_progress_bars()
    try:
        yield
    finally:
        if shown:
            enable_progress_bars()

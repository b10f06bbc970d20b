"""Building a release again from its manifest: the proof that its rows come from where they say."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from ..progress import Stage, no_progress
from ..release import ReleaseFolder
from .base import Builder, BuildOptions, builders
from .build import build
from .custom import custom_builder
from .verify import Difference, compare


def rebuild(
    release: str | Path | ReleaseFolder,
    *,
    source: str | Path,
    out: str | Path | None = None,
    overwrite: bool = False,
    progress: Stage = no_progress,
) -> list[Difference]:
    """Build every config of `release` again from `source` and its own published scores; what differs.

    The sources are compared first: other files cannot give the same rows, and the difference says so. The
    new release is kept if `out` is given. Raises ReleaseError for a release that is no whole one.
    """
    old = release if isinstance(release, ReleaseFolder) else ReleaseFolder(release)
    manifest = old.manifest
    scratch = Path(tempfile.mkdtemp(prefix="benchwright-rebuild-")) if out is None else None
    try:
        new = build(
            builder_of(manifest),
            source=source,
            out=scratch / old.path.resolve().name if scratch is not None else Path(str(out)),
            configs=list(old.placed_configs),
            **asdict(options_of(manifest)),
            scores=old.path if "scores" in old.configs else None,
            on_bad_row=manifest["source"]["on_bad_row"],
            overwrite=overwrite,
            progress=progress,
        )
        return compare(old, new)
    finally:
        if scratch is not None:
            shutil.rmtree(scratch, ignore_errors=True)


def options_of(manifest: dict[str, Any]) -> BuildOptions:
    """The choices that a release was made with; those that its version did not know are left open."""
    known = {field.name for field in fields(BuildOptions)}
    choices = {name: value for name, value in manifest["choices"].items() if name in known}
    return BuildOptions(method=manifest["method"], **choices)


def builder_of(manifest: dict[str, Any]) -> Builder:
    """The builder that made a release, with its choices. Raises UsageError if it is not installed."""
    dataset = manifest["dataset"]
    if dataset["published"]:
        return builders.get(dataset["builder"])()
    info = {name: dataset[name] for name in ("licence", "redistribute", "languages")}
    return custom_builder(dataset["pretty_name"], **manifest["choices"]["builder"], **info)

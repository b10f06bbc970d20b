"""Building a release again from its manifest: the proof that its rows come from where they say."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from ..progress import Stage, no_progress
from ..release import WITHOUT_TEXT, ReleaseFolder
from ._errata import MADE_AS, Errata
from .build import make_release
from .comparison import Difference, compare
from .hub.location import open_release
from .hydrate import strip_configs
from .recorded import builder_of, options_of
from .scoring import TableMaker


def rebuild(
    release: str | Path | ReleaseFolder,
    *,
    source: str | Path,
    out: str | Path | None = None,
    overwrite: bool = False,
    progress: Stage = no_progress,
) -> list[Difference]:
    """Build every config of `release` again from `source` and its own published scores; what differs.

    `release` is a folder or a Hub release (`ORG/NAME@REVISION`). What was withdrawn from it is withdrawn
    again, after the rows are divided. The sources are compared first: other files cannot give the same rows,
    and the difference says so. The new release is kept if `out` is given.
    Raises ReleaseError for a release that is no whole one.
    """
    old = open_release(release)
    manifest = old.manifest
    scratch = Path(tempfile.mkdtemp(prefix="benchwright-rebuild-"))
    try:
        new = make_release(
            builder_of(manifest),
            source=source,
            out=scratch / old.path.resolve().name if out is None else out,
            configs=[entry.get(MADE_AS, name) for name, entry in old.placed_configs.items()],
            options=options_of(manifest),
            maker=TableMaker(progress=progress),
            scores=old if "scores" in old.configs else None,
            on_bad_row=manifest["source"]["on_bad_row"],
            overwrite=overwrite,
            errata=Errata.of(manifest),
        )
        if old.is_stripped:
            kept = {name for name, entry in old.configs.items() if WITHOUT_TEXT not in entry}
            new = strip_configs(new, set(new.configs) - kept, out=scratch / "without-text")
        return compare(old, new)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)

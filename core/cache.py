"""Where scores and models are kept between runs."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder(folder: str | Path | None = None) -> Path:
    """The given folder, else `BENCHWRIGHT_CACHE`, else `benchwright` in the user's cache folder."""
    if folder is not None:
        return Path(folder)
    if os.environ.get("BENCHWRIGHT_CACHE"):
        return Path(os.environ["BENCHWRIGHT_CACHE"])
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "benchwright"

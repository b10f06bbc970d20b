"""Where the files of configs stand that benchwright did not make, as far as README entries say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def foreign_patterns(foreign: Mapping[str, Any]) -> list[str]:
    """Paths and globs of the data files that `configs` entries of a README name.

    >>> foreign_patterns({"configs": [{"data_dir": "more"}, {"data_files": {"train": ["a.csv", "b/*"]}}]})
    ['more/*', 'a.csv', 'b/*']
    """
    patterns = []
    for entry in foreign.get("configs", ()):
        folder = str(entry.get("data_dir") or "").strip("/")
        inside = f"{folder}/" if folder else ""
        files = _texts(entry.get("data_files"))
        patterns += [inside + file for file in files] if files or not inside else [f"{inside}*"]
    return patterns


def _texts(data_files: Any) -> list[str]:
    """Paths of `data_files`: a text, a list of them, by split, or with `split` and `path`."""
    if isinstance(data_files, str):
        return [data_files]
    if isinstance(data_files, list):
        return [text for item in data_files for text in _texts(item)]
    if isinstance(data_files, Mapping):
        parts = [data_files["path"]] if "path" in data_files else list(data_files.values())
        return [text for part in parts for text in _texts(part)]
    return []

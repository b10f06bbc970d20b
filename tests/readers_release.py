"""A release of the built-in Spider sample, with nested columns, a side table and several configs."""

from __future__ import annotations

from pathlib import Path

from benchwright.builders.build import build


def build_release(out: Path, configs: list[str] | None = None, overwrite: bool = False) -> Path:
    """No model is needed: rows are placed at random and by length."""
    return build(
        "spider", source="sample", out=out, configs=configs or ["random", "length"], overwrite=overwrite
    ).path

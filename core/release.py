"""Reading a release folder: the one view of it that audit, cards, eval, verify and rebuild share."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from .errors import ReleaseError
from .tasks import Task

if TYPE_CHECKING:
    from datasets import Features

MANIFEST = "manifest.json"
SPLITS = ("train", "validation", "test")


class ReleaseFolder:
    """A finished release. Raises ReleaseError if `path` is none: its manifest, written last, means whole."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not (self.path / MANIFEST).is_file():
            raise ReleaseError(f"{self.path} is not a release: it has no {MANIFEST}; make one with `benchwright build`")

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """Build facts; see DESIGN.md, Release folder."""
        try:
            data = json.loads((self.path / MANIFEST).read_text(encoding="utf-8"))
        except ValueError as error:
            raise ReleaseError(f"{self.path / MANIFEST} is not JSON ({error}); build the release again") from None
        if not isinstance(data, dict) or data.get("format") != 1:
            raise ReleaseError(f"{self.path / MANIFEST} has an unknown format; this version reads format 1")
        return data

    @property
    def dataset(self) -> dict[str, Any]:
        """Name, licence, citation and Hub metadata of the data set."""
        return self.manifest["dataset"]

    @property
    def configs(self) -> dict[str, dict[str, Any]]:
        """Config name -> its entry in the manifest, in the builder's order."""
        return self.manifest["configs"]

    @property
    def placed_configs(self) -> dict[str, dict[str, Any]]:
        """The configs that a splitter made (neither `scores` nor side tables)."""
        return {name: entry for name, entry in self.configs.items() if entry["kind"] == "split"}

    def config(self, name: str) -> dict[str, Any]:
        """One config's entry. Raises ReleaseError for an unknown name."""
        if name not in self.configs:
            raise ReleaseError(f"{self.path} has no config {name!r}; it has {', '.join(self.configs)}")
        return self.configs[name]

    def task(self, config: str) -> Task:
        """The task of a placed config."""
        return Task.from_json(self.config(config)["task"])

    def splits(self, config: str) -> list[str]:
        """Names of the splits of a config."""
        return list(self.config(config)["splits"])

    def features(self, config: str) -> Features:
        """The declared `datasets.Features`."""
        from datasets import Features

        return Features.from_dict(self.config(config)["features"])

    def files(self, config: str, split: str) -> list[Path]:
        """Parquet files of one split, in order."""
        return [self._inside(name) for name in self.config(config)["splits"][split]["files"]]

    def table(self, config: str, split: str, columns: list[str] | None = None) -> pa.Table:
        """Rows of one split, in file order (source order)."""
        return pa.concat_tables([pq.read_table(file, columns=columns) for file in self.files(config, split)])

    def assignment(self, config: str) -> pa.Table:
        """uid, split, position, score, row_digest of every row of a placed config."""
        return pq.read_table(self._inside(self.config(config)["assignment"]["file"]))

    def results(self) -> Iterator[dict[str, Any]]:
        """Every stored result, ordered by path."""
        for path in sorted((self.path / "results").glob("*/*.json")):
            yield json.loads(path.read_text(encoding="utf-8"))

    def _inside(self, name: str) -> Path:
        parts = PurePosixPath(name)
        if parts.is_absolute() or ".." in parts.parts or "\\" in name:
            raise ReleaseError(f"{self.path / MANIFEST} names a file outside the release: {name!r}")
        return self.path / parts

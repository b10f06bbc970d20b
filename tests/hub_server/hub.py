"""The state behind the server: one folder with repositories and large files, and how it is to behave."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from .objects import ObjectStore
from .repositories import RepositoryStore


@dataclass
class Settings:
    """How the server behaves; may be changed while it runs.

    `page` is the longest list in one answer. `lfs_chunk` is the size in bytes of the parts of a multipart
    upload (0: never multipart). With `cdn` large files are redirected to another host name.
    """

    xet: bool = False
    cdn: bool = False
    page: int = 1000
    lfs_chunk: int = 0


class Hub:
    """Repositories and objects under `root`, served at `url`."""

    def __init__(self, root: Path, url: str, settings: Settings) -> None:
        self.root = root
        self.url = url
        self.settings = settings
        self.lock = threading.RLock()
        self.objects = ObjectStore(root)
        self.repositories = RepositoryStore(root, self.lock)

    @property
    def object_url(self) -> str:
        """Where large files are fetched from: with a CDN, the same server under another host name."""
        if self.settings.cdn:
            return f"http://localhost:{urlsplit(self.url).port}/lfs/objects"
        return f"{self.url}/lfs/objects"

    def page_url(self, kind: str, name: str) -> str:
        """The address of a repository's page."""
        return f"{self.url}/{name}" if kind == "models" else f"{self.url}/{kind}/{name}"

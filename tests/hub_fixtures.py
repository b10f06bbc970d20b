"""Fixtures with a running Hub: the clients of this process and of its subprocesses talk to it alone."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hub_environment import ENDPOINT, PORT
from hub_server import Fault, Hook, HubServer, Record, RepositoryView, Settings, token_of

if TYPE_CHECKING:
    from huggingface_hub import HfApi


class RunningHub:
    """A Hub of one test. People: `alice` (of the organisation `acme`), `bob`, `reader` (of acme, reads only).

    Clients in this process are signed in as alice.
    """

    def __init__(self, server: HubServer) -> None:
        self._server = server
        self.endpoint = server.url
        self.token = token_of("alice")

    @property
    def requests(self) -> list[Record]:
        """Every request answered so far; may be cleared."""
        return self._server.requests

    def api(self, user: str | None = "alice") -> HfApi:
        """A client signed in as `user` (None: anonymous)."""
        from huggingface_hub import HfApi

        return HfApi(endpoint=self.endpoint, token=token_of(user) if user else False)

    def environment(self, user: str | None = "alice") -> dict[str, str]:
        """The environment for a subprocess whose Hub clients are signed in as `user` (None: anonymous)."""
        environment = {**os.environ, "HF_TOKEN": token_of(user) if user else ""}
        environment["HF_HUB_DISABLE_XET"] = "0" if self._server.hub.settings.xet else "1"
        return environment

    def repository(self, name: str) -> RepositoryView:
        """What a data set holds, without asking the server for it."""
        return RepositoryView(self._server.hub, name)

    def fail(
        self,
        request: int = 1,
        status: int = 500,
        *,
        after: bool = False,
        headers: Mapping[str, str] | None = None,
        times: int = 1,
        method: str = "*",
        path: str = ".*",
        message: str = "A fault made by the test",
    ) -> None:
        """Answer the matching requests number `request` to `request + times - 1` from now on with an error.

        `path` is a regular expression that is searched for in the path. With `after` the work is done first.
        """
        self._server.faults.add(
            Fault(
                request=request,
                times=times,
                method=method,
                path=path,
                status=status,
                after=after,
                headers=headers or {},
                message=message,
            )
        )

    def drop(
        self, request: int = 1, *, after: bool = False, times: int = 1, method: str = "*", path: str = ".*"
    ) -> None:
        """Like `fail`, but the connection is closed without any answer."""
        self._server.faults.add(
            Fault(request=request, times=times, method=method, path=path, status=None, after=after)
        )

    def hook(
        self, request: int, callback: Callable[[], object], *, method: str = "*", path: str = ".*"
    ) -> None:
        """Call back before the k-th matching request from now on is handled; errors in it fail the test."""
        self._server.faults.add(Hook(request=request, method=method, path=path, callback=callback))

    def heal(self) -> None:
        """Forget all faults, hooks and the latency."""
        self._server.faults.clear()

    def latency(self, seconds: float) -> None:
        """Wait before every answer."""
        self._server.faults.latency = seconds

    def page(self, entries: int) -> None:
        """The longest list in one answer."""
        self._server.hub.settings.page = entries

    def cdn(self, on: bool = True) -> None:
        """Redirect large files to another host name."""
        self._server.hub.settings.cdn = on

    def multipart(self, chunk: int) -> None:
        """Let large files above `chunk` bytes be uploaded in parts of that size."""
        self._server.hub.settings.lfs_chunk = chunk


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningHub]:
    """A Hub without repositories; large files go by the classic protocol."""
    with _running(tmp_path, monkeypatch, Settings()) as running:
        yield running


@pytest.fixture
def hub_xet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningHub]:
    """A Hub without repositories; clients upload large files by xet."""
    with _running(tmp_path, monkeypatch, Settings(xet=True)) as running:
        yield running


@pytest.fixture(params=["classic", "xet"])
def hub_modes(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[RunningHub]:
    """Each of `hub` and `hub_xet` in turn."""
    with _running(tmp_path, monkeypatch, Settings(xet=request.param == "xet")) as running:
        yield running


@contextmanager
def _running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[RunningHub]:
    home = tmp_path / "hf_home"
    _point_clients_at(home, monkeypatch, settings)
    _hasten_clients(monkeypatch)
    server = HubServer(tmp_path / "hub", PORT, settings)
    with server:
        assert server.url == ENDPOINT
        yield RunningHub(server)
    _forget_clients()
    assert not server.crashes, "\n".join(server.crashes)


def _point_clients_at(home: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    """Fresh caches and alice's token for the clients of this process and its subprocesses."""
    import datasets
    from huggingface_hub import constants

    _forget_clients()
    monkeypatch.setenv("HF_HOME", str(home))
    monkeypatch.setenv("HF_TOKEN", token_of("alice"))
    monkeypatch.setenv("HF_HUB_DISABLE_XET", "0" if settings.xet else "1")
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", not settings.xet)
    # The variables above were read when the clients were imported.
    for name, folder in {
        "HF_HOME": home,
        "HF_HUB_CACHE": home / "hub",
        "HUGGINGFACE_HUB_CACHE": home / "hub",
        "HF_ASSETS_CACHE": home / "assets",
        "HF_XET_CACHE": home / "xet",
        "HF_TOKEN_PATH": home / "token",
        "HF_STORED_TOKENS_PATH": home / "stored_tokens",
    }.items():
        monkeypatch.setattr(constants, name, str(folder))
    monkeypatch.setattr(datasets.config, "HF_CACHE_HOME", str(home))
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", home / "datasets")
    monkeypatch.setattr(datasets.config, "HF_MODULES_CACHE", home / "modules")
    monkeypatch.setattr(
        datasets.config,
        "DOWNLOADED_DATASETS_PATH",
        home / "datasets" / datasets.config.DOWNLOADED_DATASETS_DIR,
    )


def _hasten_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients that are given no clock try as often as ever, and wait a hundredth of the time in between."""
    from benchwright.builders.hub.client import HubClient

    monkeypatch.setitem(HubClient.__init__.__kwdefaults__, "wait", lambda seconds: time.sleep(seconds / 100))


def _forget_clients() -> None:
    """Clients remember connections, listings and xet tokens of a server that is gone."""
    from huggingface_hub import HfFileSystem
    from huggingface_hub.utils import _xet, close_session

    close_session()
    HfFileSystem.clear_instance_cache()
    _xet.XET_CONNECTION_INFO_CACHE.clear()

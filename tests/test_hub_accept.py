"""The acceptance run of Hub servers, with the real clients in a process of their own, against ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hub_server import HubServer, Settings, token_of

CHECKS = 79

pytestmark = [pytest.mark.corpora, pytest.mark.slow]


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param(Settings(), id="classic"),
        pytest.param(Settings(xet=True), id="xet"),
        pytest.param(Settings(cdn=True), id="cdn"),
        pytest.param(Settings(page=7, lfs_chunk=100_000), id="small pages and parts"),
    ],
)
def test_every_check_passes(settings: Settings, hub_folder: Path, tmp_path: Path) -> None:
    with HubServer(tmp_path / "hub", settings=settings) as server:
        environment = {
            **os.environ,
            "HF_ENDPOINT": server.url,
            "HF_HOME": str(tmp_path / "home"),
            "HF_HUB_DISABLE_XET": "0" if settings.xet else "1",
            "TOKEN": token_of("alice"),
            "TOKEN_OTHER": token_of("bob"),
            "NS": "acme",
        }
        done = subprocess.run(
            [sys.executable, hub_folder / "accept.py"],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAIL")]
    assert failed == [], done.stderr[-2000:]
    assert f"SUMMARY {CHECKS} passed, 0 failed" in done.stdout, done.stdout[-500:] + done.stderr[-2000:]
    assert server.crashes == []
    asked = {record.path.rsplit("/", 2)[-2] for record in server.requests}
    assert ("xet-write-token" in asked) == settings.xet

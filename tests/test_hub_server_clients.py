"""The Hub's test server and programs other than our own: readers, the `hf` command, git and git-lfs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from datasets import load_dataset
from hub_fixtures import RunningHub
from hub_helpers import CARD, NAME, TEST_FILE, add, create, parquet_bytes, publish
from hub_server import token_of


class Git:
    """git with git-lfs in a folder, without the user's settings and without a way to ask for passwords."""

    def __init__(self, folder: Path, home: Path, environment: dict[str, str]) -> None:
        home.mkdir()
        self._folder = folder
        self._environment = {
            **environment,
            "HOME": str(home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "true",
        }
        self.run("lfs", "install", "--skip-repo")
        self.run("config", "--global", "user.name", "alice")
        self.run("config", "--global", "user.email", "alice@users.noreply.invalid")

    def try_run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run git."""
        return subprocess.run(
            ["git", *arguments],
            cwd=self._folder,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def run(self, *arguments: str) -> None:
        """Run git, which must not fail."""
        done = self.try_run(*arguments)
        assert done.returncode == 0, done.stderr


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    """git with git-lfs, working in the test's folder."""
    for program in ("git", "git-lfs"):
        if shutil.which(program) is None:
            pytest.fail(f"{program} is missing; install it: apt-get install {program}")
    return Git(tmp_path, tmp_path / "git_home", dict(os.environ))


def _hf(hub: RunningHub, *arguments: str) -> None:
    done = subprocess.run(
        [str(Path(sys.executable).parent / "hf"), *arguments],
        env=hub.environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("rows", [5, 7])
def test_a_tag_is_loaded_as_it_was(hub_modes: RunningHub, rows: int) -> None:
    # Twice with other rows: neither client nor server remembers the Hub of the test before.
    publish(hub_modes, rows)
    hub_modes.api().create_tag(NAME, tag="1.0.0", repo_type="dataset")
    publish(hub_modes, rows + 1)
    found = load_dataset(NAME, "plain", revision="1.0.0", split="test")
    assert found["number"][:] == list(range(rows))
    streamed = load_dataset(NAME, "plain", revision="1.0.0", split="test", streaming=True)
    assert [row["number"] for row in streamed] == list(range(rows))
    assert len(load_dataset(NAME, "plain", split="test")) == rows + 1


def test_streaming_asks_for_ranges(hub: RunningHub) -> None:
    publish(hub, 200_000)
    hub.requests.clear()
    first = next(iter(load_dataset(NAME, "plain", split="test", streaming=True)))
    assert first["number"] == 0
    assert any(record.status == 206 and record.range for record in hub.requests)


def test_the_hf_command_uploads_and_downloads(hub_modes: RunningHub, tmp_path: Path) -> None:
    create(hub_modes)
    (tmp_path / "up" / "plain").mkdir(parents=True)
    (tmp_path / "up" / TEST_FILE).write_bytes(parquet_bytes(9))
    (tmp_path / "up" / "README.md").write_bytes(CARD)
    _hf(hub_modes, "upload", NAME, str(tmp_path / "up"), ".", "--repo-type", "dataset")
    assert hub_modes.repository(NAME).files()[TEST_FILE] == parquet_bytes(9)
    assert TEST_FILE in hub_modes.repository(NAME).pointers()
    down = tmp_path / "down"
    _hf(hub_modes, "download", NAME, "--repo-type", "dataset", "--local-dir", str(down))
    assert (down / TEST_FILE).read_bytes() == parquet_bytes(9)
    assert (down / "README.md").read_bytes() == CARD


def test_git_clone_at_a_tag_gives_the_bytes_of_large_files(
    hub_modes: RunningHub, git: Git, tmp_path: Path
) -> None:
    publish(hub_modes, 50)
    hub_modes.api().create_tag(NAME, tag="1.0.0", repo_type="dataset")
    publish(hub_modes, 60)
    git.run("clone", "-q", "-b", "1.0.0", f"{hub_modes.endpoint}/datasets/{NAME}", "clone")
    assert (tmp_path / "clone" / TEST_FILE).read_bytes() == parquet_bytes(50)
    assert (tmp_path / "clone" / "README.md").read_bytes() == CARD


def test_git_push_sends_large_files_and_has_them_verified(hub: RunningHub, git: Git, tmp_path: Path) -> None:
    publish(hub, 50)
    signed_in = hub.endpoint.replace("://", f"://alice:{hub.token}@")
    git.run("clone", "-q", f"{signed_in}/datasets/{NAME}", "clone")
    (tmp_path / "clone" / TEST_FILE).write_bytes(parquet_bytes(70))
    git.run("-C", "clone", "commit", "-q", "-a", "-m", "seventy rows")
    hub.requests.clear()
    git.run("-C", "clone", "push", "-q")
    repository = hub.repository(NAME)
    assert repository.files()[TEST_FILE] == parquet_bytes(70)
    assert TEST_FILE in repository.pointers()
    assert repository.commits()[0].title == "seventy rows"
    assert any(record.path == "/lfs/verify" and record.status == 200 for record in hub.requests)


def test_a_pushed_pointer_without_its_object_is_refused(hub: RunningHub, git: Git, tmp_path: Path) -> None:
    head = publish(hub, 50)
    signed_in = hub.endpoint.replace("://", f"://alice:{hub.token}@")
    git.run("clone", "-q", f"{signed_in}/datasets/{NAME}", "clone")
    (tmp_path / "clone" / TEST_FILE).write_bytes(parquet_bytes(70))
    git.run("-C", "clone", "commit", "-q", "-a", "-m", "seventy rows")
    # --no-verify leaves out the hook of git-lfs that uploads.
    refused = git.try_run("-C", "clone", "push", "--no-verify", "origin", "main", "main:other")
    assert refused.returncode != 0
    assert "400" in refused.stderr
    assert hub.repository(NAME).branches() == {"main": head}


def test_git_push_needs_the_right_to_write(hub: RunningHub, git: Git, tmp_path: Path) -> None:
    head = publish(hub, 50)
    git.run("clone", "-q", f"{hub.endpoint}/datasets/{NAME}", "clone")
    (tmp_path / "clone" / "note.txt").write_text("note")
    git.run("-C", "clone", "add", "note.txt")
    git.run("-C", "clone", "commit", "-q", "-m", "a note")
    for user in ("bob", "reader"):
        address = hub.endpoint.replace("://", f"://{user}:{token_of(user)}@")
        refused = git.try_run("-C", "clone", "push", f"{address}/datasets/{NAME}", "main")
        assert refused.returncode != 0
        assert "403" in refused.stderr
    assert hub.repository(NAME).head() == head


def test_git_sees_private_repositories_only_with_a_token(hub: RunningHub, git: Git, tmp_path: Path) -> None:
    create(hub, private=True)
    add(hub, {TEST_FILE: parquet_bytes(3)})
    assert git.try_run("clone", f"{hub.endpoint}/datasets/{NAME}", "anonymous").returncode != 0
    signed_in = hub.endpoint.replace("://", f"://alice:{hub.token}@")
    git.run("clone", "-q", f"{signed_in}/datasets/{NAME}", "signed_in")
    assert (tmp_path / "signed_in" / TEST_FILE).read_bytes() == parquet_bytes(3)

"""Sources on the Hub: data files of one commit, downloaded by the real client from a real server."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hub_fixtures import RunningHub

from benchwright.builders.base import SourcePin
from benchwright.builders.boolq import BoolQBuilder
from benchwright.builders.hub.client import HubClient
from benchwright.builders.sources.hub import download
from benchwright.builders.sources.origin import is_hub_id, open_source
from benchwright.errors import BenchwrightError, PrerequisiteError, SourceError, UsageError
from benchwright.faults import FaultLog
from benchwright.hashing import sha256_file

REPO = "acme/boolq"
TRAIN = "data/train-00000-of-00001.parquet"


@pytest.fixture
def train(tmp_path: Path) -> Path:
    """One question in BoolQ's columns."""
    path = tmp_path / "train.parquet"
    pq.write_table(pa.table({"question": ["is it so"], "answer": [True], "passage": ["It is so."]}), path)
    return path


@pytest.fixture
def boolq(hub: RunningHub, train: Path) -> RunningHub:
    """A Hub with one corpus."""
    plant(hub, {TRAIN: train.read_bytes(), "README.md": b"words", "boolq.py": b"raise SystemExit"})
    return hub


def plant(hub: RunningHub, files: Mapping[str, bytes]) -> str:
    hub.api().create_repo(REPO, repo_type="dataset", exist_ok=True)
    return hub.repository(REPO).plant(files)


def impatient() -> HubClient:
    return HubClient(wait=lambda seconds: None, report=lambda line: None, longest_wait=10)


def test_a_branch_is_resolved_and_only_its_commit_is_read_and_recorded(boolq: RunningHub) -> None:
    found = download(REPO, "main")
    head = boolq.repository(REPO).head()
    assert (found.origin.kind, found.origin.location, found.origin.revision) == ("hub", REPO, head)
    asked = {record.path for record in boolq.requests if "/resolve/" in record.path}
    assert asked == {f"/datasets/{REPO}/resolve/{head}/{TRAIN}"}
    data = BoolQBuilder().read(found.root, FaultLog(), found.origin)
    assert data.table.column("uid").to_pylist() == ["boolq:train:0"]
    assert data.files[0].name == TRAIN


def test_without_a_revision_the_pinned_commit_is_asked_for_and_its_files_verified(
    boolq: RunningHub, train: Path
) -> None:
    pinned = boolq.repository(REPO).head()
    plant(boolq, {TRAIN: b"changed"})
    found = download(REPO, pin=SourcePin(REPO, pinned, {TRAIN: sha256_file(train)}))
    assert found.origin.revision == pinned
    with pytest.raises(SourceError, match=f"sha256 differs from the pinned one of {TRAIN}"):
        download(REPO, pin=SourcePin(REPO, pinned, {TRAIN: "sha256:00"}))
    with pytest.raises(SourceError, match=r"a pinned file is missing, got 'gone\.jsonl'"):
        download(REPO, pin=SourcePin(REPO, pinned, {"gone.jsonl": "sha256:00"}))


def test_another_revision_than_the_pinned_one_is_not_held_against_the_pin(boolq: RunningHub) -> None:
    pin = SourcePin(REPO, "f" * 40, {"gone.jsonl": "sha256:00"})
    assert download(REPO, "main", pin=pin).origin.revision == boolq.repository(REPO).head()


def test_a_source_by_name(boolq: RunningHub) -> None:
    root, origin = open_source(BoolQBuilder(), f"hub:{REPO}@main")
    assert origin.location == REPO
    assert (root / TRAIN).is_file()
    assert is_hub_id(f"{REPO}@main")
    assert not is_hub_id("data/reviews.csv")


def test_a_data_set_without_data_files(hub: RunningHub) -> None:
    plant(hub, {"README.md": b"words"})
    with pytest.raises(SourceError, match="acme/boolq: the data set has no data files"):
        download(REPO)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("acme/none", "acme/none: no such data set on the Hub, or it is private; check the name, or run: hf"),
        (f"{REPO}@2.0", "acme/boolq@2.0: no such revision on the Hub; it has no tags"),
        (f"{REPO}@{'f' * 40}", f"acme/boolq@{'f' * 40}: no such revision on the Hub; give a commit, tag"),
        ("boolq", "boolq: not a Hub id; write it as ORG/NAME or ORG/NAME@REVISION"),
        ("acme/../x", "acme/../x: not a Hub id"),
    ],
)
def test_what_does_not_exist(boolq: RunningHub, place: str, message: str) -> None:
    repo, _, revision = place.partition("@")
    with pytest.raises(SourceError) as caught:
        download(repo, revision or None)
    assert str(caught.value).startswith(message)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("status", "headers", "kind", "message"),
    [
        (401, {}, PrerequisiteError, "acme/boolq@main: the Hub refuses access (401: "),
        (403, {"X-Error-Code": "GatedRepo"}, PrerequisiteError, "acme/boolq@main is gated: ask for access"),
        (403, {}, PrerequisiteError, "acme/boolq@main: the Hub refuses access (403: "),
        (418, {}, SourceError, "acme/boolq@main: the Hub answered 418: "),
        (429, {"Retry-After": "99"}, SourceError, "acme/boolq@main: the Hub answered 429: "),
        (503, {}, SourceError, "acme/boolq@main: the Hub answered 503: "),
    ],
)
@pytest.mark.parametrize("path", ["/refs", "/tree/", "/resolve/"])
def test_refusals_are_one_line_without_tokens(
    boolq: RunningHub,
    status: int,
    headers: dict[str, str],
    kind: type[BenchwrightError],
    message: str,
    path: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The Hub client pauses by itself between its own attempts.
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    boolq.fail(status=status, headers=headers, path=path, times=10_000, message=f"who is {boolq.token}?")
    with pytest.raises(kind) as caught:
        download(REPO, "main", client=impatient())
    text = str(caught.value)
    assert text.startswith(message)
    assert "\n" not in text
    assert boolq.token not in text
    assert caught.value.__suppress_context__


def test_no_server_at_all() -> None:
    with pytest.raises(SourceError, match=r"acme/boolq@main: the Hub does not answer \(ConnectError\)"):
        download(REPO, "main", client=impatient())


def test_hostile_names_are_refused(boolq: RunningHub) -> None:
    plant(boolq, {"data/../../evil.jsonl": b"{}"})
    with pytest.raises(SourceError, match=r"'data/\.\./\.\./evil\.jsonl' leads outside or nowhere"):
        download(REPO)


def test_a_builder_without_a_pin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BoolQBuilder, "pin", None)
    with pytest.raises(UsageError, match="boolq has no pinned Hub data set yet"):
        open_source(BoolQBuilder(), "hub")


def test_a_hub_snapshot_of_links_is_read(boolq: RunningHub) -> None:
    found = download(REPO)
    assert (found.root / TRAIN).is_symlink()
    assert BoolQBuilder().read(found.root, FaultLog(), found.origin).read == 1

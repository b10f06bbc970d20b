"""Sources on the Hub: the client is replaced by one that answers from a folder."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from huggingface_hub import errors

from benchwright.builders.base import SourcePin
from benchwright.builders.boolq import BoolQBuilder
from benchwright.builders.sources import hub
from benchwright.builders.sources.hub import download
from benchwright.errors import BenchwrightError, PrerequisiteError, SourceError
from benchwright.faults import FaultLog
from benchwright.hashing import sha256_file

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class FakeHub:
    """Answers `dataset_info` and `snapshot_download` for one data set; records the calls."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.calls: list[tuple[Any, ...]] = []
        self.error: Exception | None = None

    def dataset_info(self, repo: str, revision: str | None = None) -> SimpleNamespace:
        self.calls.append(("info", repo, revision))
        if self.error is not None:
            raise self.error
        names = [
            path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*") if path.is_file()
        ]
        return SimpleNamespace(sha=COMMIT, siblings=[SimpleNamespace(rfilename=name) for name in names])

    def snapshot_download(self, repo: str, **options: Any) -> str:
        self.calls.append(("download", repo, options["repo_type"], options["revision"]))
        return str(self.folder)


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeHub:
    (tmp_path / "repo").mkdir()
    answering = FakeHub(tmp_path / "repo")
    monkeypatch.setattr(hub, "HfApi", lambda: answering)
    monkeypatch.setattr(hub, "snapshot_download", answering.snapshot_download)
    return answering


def _add_boolq(folder: Path) -> Path:
    path = folder / "data" / "train-00000-of-00001.parquet"
    path.parent.mkdir()
    pq.write_table(pa.table({"question": ["is it so"], "answer": [True], "passage": ["It is so."]}), path)
    return path


def test_a_branch_is_resolved_and_only_its_commit_is_read_and_recorded(fake: FakeHub) -> None:
    _add_boolq(fake.folder)
    found = download("google/boolq", "main")
    assert fake.calls == [("info", "google/boolq", "main"), ("download", "google/boolq", "dataset", COMMIT)]
    assert (found.origin.kind, found.origin.location, found.origin.revision) == (
        "hub",
        "google/boolq",
        COMMIT,
    )
    data = BoolQBuilder().read(found.root, FaultLog(), found.origin)
    assert data.table.column("uid").to_pylist() == ["boolq:train:0"]
    assert data.files[0].name == "data/train-00000-of-00001.parquet"


def test_without_a_revision_the_pinned_commit_is_asked_for_and_its_files_verified(fake: FakeHub) -> None:
    path = _add_boolq(fake.folder)
    name = path.relative_to(fake.folder).as_posix()
    download("google/boolq", pin=SourcePin("google/boolq", COMMIT, {name: sha256_file(path)}))
    assert fake.calls[0] == ("info", "google/boolq", COMMIT)
    with pytest.raises(SourceError, match=f"sha256 differs from the pinned one of {name}"):
        download("google/boolq", pin=SourcePin("google/boolq", COMMIT, {name: "sha256:00"}))
    with pytest.raises(SourceError, match=r"a pinned file is missing, got 'gone\.jsonl'"):
        download("google/boolq", pin=SourcePin("google/boolq", COMMIT, {"gone.jsonl": "sha256:00"}))


def test_another_revision_than_the_pinned_one_is_not_held_against_the_pin(fake: FakeHub) -> None:
    _add_boolq(fake.folder)
    pin = SourcePin("google/boolq", "f" * 40, {"gone.jsonl": "sha256:00"})
    assert download("google/boolq", "main", pin=pin).origin.revision == COMMIT


def test_a_data_set_without_data_files(fake: FakeHub) -> None:
    (fake.folder / "README.md").write_text("words")
    with pytest.raises(SourceError, match="org/x: the data set has no data files"):
        download("org/x")


def _response(status: int) -> httpx2.Response:
    return httpx2.Response(status, request=httpx2.Request("GET", "https://hub.invalid/api?token=hf_abcdefgh"))


def _http(kind: type[errors.HfHubHTTPError], status: int) -> Exception:
    return kind("hf_abcdefgh https://hub.invalid", response=_response(status))


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (
            _http(errors.GatedRepoError, 403),
            PrerequisiteError,
            "org/x@main is gated: ask for access on its page",
        ),
        (
            _http(errors.RepositoryNotFoundError, 401),
            SourceError,
            "no such data set on the Hub, or it is private",
        ),
        (
            _http(errors.RepositoryNotFoundError, 404),
            SourceError,
            "no such data set on the Hub, or it is private",
        ),
        (_http(errors.RevisionNotFoundError, 404), SourceError, "no such revision on the Hub; give a commit"),
        (
            _http(errors.HfHubHTTPError, 401),
            PrerequisiteError,
            "refuses access to org/x@main (401); run: hf auth login",
        ),
        (_http(errors.HfHubHTTPError, 403), PrerequisiteError, "refuses access to org/x@main (403)"),
        (_http(errors.HfHubHTTPError, 503), SourceError, "the Hub answered 503; wait a little and try again"),
        (errors.OfflineModeIsEnabled("hf_abcdefgh"), SourceError, "switched off by HF_HUB_OFFLINE"),
        (errors.HFValidationError("hf_abcdefgh"), SourceError, "not a Hub id; write it as ORGANISATION/NAME"),
        (errors.LocalEntryNotFoundError("hf_abcdefgh"), SourceError, "the Hub does not answer"),
        (httpx2.ConnectError("hf_abcdefgh"), SourceError, "the Hub does not answer (ConnectError)"),
        (
            TimeoutError("hf_abcdefgh"),
            SourceError,
            "the Hub does not answer (TimeoutError); check the network",
        ),
    ],
)
def test_errors_are_one_line_without_tokens(
    fake: FakeHub, error: Exception, kind: type[BenchwrightError], message: str
) -> None:
    fake.error = error
    with pytest.raises(kind) as caught:
        download("org/x", "main")
    text = str(caught.value)
    assert message in text
    assert "\n" not in text
    assert "hf_" not in text.replace("hf auth", "")
    assert caught.value.__suppress_context__
    assert caught.value.exit_code == 2


def test_the_real_client_refuses_offline_in_one_line() -> None:
    with pytest.raises(SourceError, match="HF_HUB_OFFLINE"):
        download("org/x", "main")


def test_a_hub_snapshot_of_links_is_read(fake: FakeHub, tmp_path: Path) -> None:
    blob = tmp_path / "blob"
    shutil.move(_add_boolq(fake.folder), blob)
    (fake.folder / "data" / "train-00000-of-00001.parquet").symlink_to(blob)
    assert BoolQBuilder().read(download("org/x").root, FaultLog(), download("org/x").origin).read == 1

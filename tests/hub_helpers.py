"""A small data set on the test server."""

from __future__ import annotations

import io
from collections.abc import Callable

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hub_fixtures import RunningHub
from huggingface_hub import CommitOperationAdd
from huggingface_hub.errors import HfHubHTTPError

NAME = "acme/words"
TEST_FILE = "plain/test-00000-of-00001.parquet"
CARD = f"""---
configs:
- config_name: plain
  data_files:
  - split: test
    path: {TEST_FILE}
---
# Words
""".encode()


def parquet_bytes(rows: int) -> bytes:
    """A parquet file with the numbers from 0 on."""
    buffer = io.BytesIO()
    pq.write_table(pa.table({"number": range(rows)}), buffer)
    return buffer.getvalue()


def create(hub: RunningHub, name: str = NAME, private: bool = False) -> None:
    """An empty data set."""
    hub.api().create_repo(name, repo_type="dataset", private=private, exist_ok=True)


def add(
    hub: RunningHub, files: dict[str, bytes], *, user: str = "alice", name: str = NAME, **options: object
) -> str:
    """One commit with `files`; its id."""
    operations = [CommitOperationAdd(path, content) for path, content in files.items()]
    message = f"add {', '.join(files)}"
    done = hub.api(user).create_commit(
        name, operations, commit_message=message, repo_type="dataset", **options
    )
    return done.oid


def publish(hub: RunningHub, rows: int) -> str:
    """A card and a test split of `rows` rows; the commit's id."""
    create(hub)
    return add(hub, {"README.md": CARD, TEST_FILE: parquet_bytes(rows)})


def refused(status: int, work: Callable[[], object]) -> HfHubHTTPError:
    """The error of `work`, which the Hub must answer with `status`."""
    with pytest.raises(HfHubHTTPError) as caught:
        work()
    assert caught.value.response.status_code == status
    return caught.value

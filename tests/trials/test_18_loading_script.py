"""Trial 18: a Hub data set that exists only as a loading script (datasets #7693)."""

from __future__ import annotations

import pytest
from hub_fixtures import RunningHub

from benchwright.builders.sources.hub import download
from benchwright.errors import SourceError


def test_a_clear_message_and_no_download(hub: RunningHub) -> None:
    hub.api().create_repo("acme/snli", repo_type="dataset")
    hub.repository("acme/snli").plant(
        {"README.md": b"words", "snli.py": b"raise SystemExit", "dataset_infos.json.lock": b""}
    )
    with pytest.raises(SourceError) as caught:
        download("acme/snli")
    assert str(caught.value) == (
        "acme/snli: the data set exists only as a loading script, which is never run; "
        "try --revision refs/convert/parquet, or download the corpus and give its folder"
    )
    assert [record for record in hub.requests if "/resolve/" in record.path] == []

"""Trial 18: a Hub data set that exists only as a loading script (datasets #7693)."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from benchwright.builders.sources import hub
from benchwright.errors import SourceError


def test_a_clear_message_and_no_download(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [".gitattributes", "README.md", "snli.py", "dataset_infos.json.lock"]
    info = SimpleNamespace(sha="a" * 40, siblings=[SimpleNamespace(rfilename=name) for name in names])
    monkeypatch.setattr(hub, "HfApi", lambda: SimpleNamespace(dataset_info=lambda repo, revision=None: info))
    monkeypatch.setattr(hub, "snapshot_download", lambda *_, **__: pytest.fail("nothing may be downloaded"))
    with pytest.raises(SourceError) as caught:
        hub.download("org/snli")
    assert str(caught.value) == (
        "org/snli: the data set exists only as a loading script, which is never run; "
        "try --revision refs/convert/parquet, or download the corpus and give its folder"
    )

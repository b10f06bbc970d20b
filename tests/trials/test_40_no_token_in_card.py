"""Trial 40, the half of the card: a Hub token in any field of a release never gets in (datasets #6412)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cards_analyses import add_results
from cards_release import make_release, source_rows

from benchwright.cards import render_card, write_card
from benchwright.errors import ReleaseError

TOKEN = "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYz"


def planted(value: Any, key: str = "") -> Any:
    """The same data with the token in every free text; names, hashes and files stay what they are."""
    if isinstance(value, str):
        return f"{value} {TOKEN}" if key in FREE_TEXTS else value
    if isinstance(value, dict):
        return {name: planted(item, name) for name, item in value.items()}
    return [planted(item, key) for item in value] if isinstance(value, list) else value


FREE_TEXTS = {
    "pretty_name",
    "summary",
    "licence",
    "licence_link",
    "homepage",
    "citation",
    "tags",
    "location",
    "message",
    "reason",
    "uids",
    "context",
    "model",
    "device",
    "torch",
    "python",
    "name",
}


def test_tokens_in_the_manifest_do_not_reach_the_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    release = make_release(tmp_path / "toy")
    add_results(release)
    manifest = planted(release.manifest)
    manifest["source"] |= {
        "kind": "hub",
        "location": f"https://user:{TOKEN}@example.org/data",
        "revision": TOKEN,
    }
    manifest["configs"]["random"]["notes"] = [{"code": "x", "message": TOKEN, "uids": [TOKEN], "count": 1}]
    (release.path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    assert TOKEN in (release.path / "manifest.json").read_text(encoding="utf-8")
    card = write_card(release.path)
    text = card.path.read_text(encoding="utf-8")
    assert TOKEN[:10] not in text
    assert "hf_***" in text
    assert TOKEN not in repr(card)


def test_tokens_in_rows_do_not_reach_the_examples(tmp_path: Path) -> None:
    rows = source_rows()
    premises = [f"{text} {TOKEN}" for text in rows.column("premise").to_pylist()]
    rows = rows.set_column(rows.column_names.index("premise"), "premise", [premises])
    text = render_card(make_release(tmp_path / "toy", rows=rows))
    assert TOKEN[:10] not in text
    assert "hf_***" in text


def test_tokens_in_errors_are_removed(tmp_path: Path) -> None:
    release = make_release(tmp_path / "toy")
    (release.path / "README.md").write_text(f"<!-- user:begin {TOKEN} -->\n", encoding="utf-8")
    with pytest.raises(ReleaseError, match="has no end") as raised:
        write_card(release.path)
    assert TOKEN not in str(raised.value)

"""Trial 15: U+2028, U+0085 and U+000B inside a JSON string cut the record in two (verifiers PR #1644)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchwright.builders.sources.boolq import read_boolq
from benchwright.faults import FaultLog


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1e"])
def test_one_record_with_its_text_as_it_is(tmp_path: Path, character: str) -> None:
    passage = f"First part{character}second part."
    row = {"question": "is it one", "answer": True, "passage": passage}
    line = json.dumps(row, ensure_ascii=False)
    # Control characters must be escaped in JSON; the others may stand raw, which is what cuts lines.
    assert (character in line) == (ord(character) >= 0x20)
    (tmp_path / "dev.jsonl").write_bytes((line + "\n").encode() * 2)
    source = read_boolq(tmp_path, FaultLog())
    assert source.questions.column("passage").to_pylist() == [passage, passage]

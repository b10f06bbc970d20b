"""Trial 11: SNLI pairs whose gold label is `-` became the label -1 in public tools (datasets #296, #1963)."""

from __future__ import annotations

import json
from pathlib import Path

from benchwright.builders.base import Origin
from benchwright.builders.snli import SnliBuilder
from benchwright.faults import FaultLog


def test_pairs_without_a_gold_label_are_counted_and_no_minus_one_gets_through(tmp_path: Path) -> None:
    original = [
        {"gold_label": label, "sentence1": "A man sits.", "sentence2": "He rests.", "pairID": str(n)}
        for n, label in enumerate(["neutral", "-", "entailment"])
    ]
    simple = [{"premise": "A man sits.", "hypothesis": "He rests.", "label": label} for label in (2, -1, "-")]
    for name, rows in (("snli_1.0_train.jsonl", original), ("dev.jsonl", simple)):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    data = SnliBuilder().read(tmp_path, FaultLog(), Origin("folder"))
    assert data.table.column("label").to_pylist() == [1, 0, 2]
    assert data.filtered == {"no gold label": 3}
    assert data.read == 6

"""Trial 12: `None`, `NA`, `null`, `nan` were read as missing values (datasets #4467, pandas)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchwright.builders.sources.snli import read_snli
from benchwright.faults import FaultLog

WORDS = ["None", "NA", "null", "nan", "NaN", "N/A?", "-", "true", "1e3", ""]


@pytest.mark.parametrize("name", ["dev.tsv", "dev.jsonl"])
def test_they_are_text_and_only_the_filter_of_the_paper_takes_one_out(tmp_path: Path, name: str) -> None:
    rows = [(word, "A person speaks.") for word in WORDS] + [
        ("A person speaks.", word) for word in [*WORDS, "n/a"]
    ]
    if name.endswith("tsv"):
        lines = [
            "premise\thypothesis\tlabel",
            *(f"{premise}\t{hypothesis}\t0" for premise, hypothesis in rows),
        ]
    else:
        lines = [json.dumps({"premise": p, "hypothesis": h, "label": "entailment"}) for p, h in rows]
    (tmp_path / name).write_text("\n".join(lines) + "\n")
    faults = FaultLog()
    pairs = read_snli(tmp_path, faults).pairs
    texts = list(
        zip(pairs.column("premise").to_pylist(), pairs.column("hypothesis").to_pylist(), strict=True)
    )
    assert texts == rows[:-1]
    assert dict(faults.filtered) == {"hypothesis n/a": 1}

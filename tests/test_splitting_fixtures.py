"""A tiny corpus as a file, and for each splitter the uids of every side in written order as another.

`python tests/test_splitting_fixtures.py` prints the expected file anew; look at every changed line.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from benchwright.splitting import SIDES, Scores, SplitRows, splitters

FOLDER = Path(__file__).parent / "fixtures" / "splitting"
CASES: list[dict[str, Any]] = json.loads((FOLDER / "expected.json").read_text())


def corpus(labelled: bool) -> tuple[SplitRows, Scores]:
    with (FOLDER / "corpus.tsv").open(newline="") as handle:
        lines = list(csv.DictReader(handle, delimiter="\t"))
    programs = [frozenset(line["program"].split()) - {"(", ")"} for line in lines]
    rows = SplitRows(
        pa.array([line["uid"] for line in lines]),
        np.arange(len(lines)),
        lengths=np.array([int(line["length"]) for line in lines]),
        labels=np.array([int(line["label"] == "yes") for line in lines]) if labelled else None,
        label_names=("no", "yes") if labelled else (),
        source_splits=np.array([line["published"] for line in lines]),
        whitespace_lengths=np.array([int(line["words"]) for line in lines]),
        atoms=lambda: programs,
    )
    scores = Scores(
        np.array([float(line["log_likelihood"] or "nan") for line in lines], dtype=np.float32),
        np.array([int(line["tokens"]) for line in lines], dtype=np.int32),
    )
    return rows, scores


def placed(case: dict[str, Any]) -> dict[str, Any]:
    """`case` with what its splitter gives: uids per side in written order, rows placed by another rule."""
    rows, scores = corpus(case["labelled"])
    splitter = splitters.get(case["splitter"])(**case["parameters"])
    assignment = splitter.split(rows, scores)
    rules = dict(zip(rows.uids.to_pylist(), assignment.placed_by.tolist(), strict=True))
    usual = {"likelihood": "score"}.get(splitter.name, splitter.name)
    return {
        **{key: case[key] for key in ("splitter", "labelled", "parameters")},
        **{name: list(rows.names(assignment.rows(side))) for name, side in SIDES.items()},
        "placed_otherwise": {uid: rule for uid, rule in rules.items() if rule != usual},
    }


@pytest.mark.parametrize(
    "case", CASES, ids=[f"{case['splitter']}-{number}" for number, case in enumerate(CASES)]
)
def test_expected_uids(case: dict[str, Any]) -> None:
    assert placed(case) == case


if __name__ == "__main__":
    lines = [json.dumps(placed(case)) for case in CASES]
    print("[\n" + ",\n".join(lines) + "\n]")

"""What commands print about counts: one row is no "1 rows"."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from benchwright.builders.build import split
from benchwright.builders.rescore import RescoredTable
from benchwright.cli import output
from benchwright.eval import Result
from benchwright.release import ReleaseFolder
from benchwright.wording import plural


def release(rows: int, read: int) -> ReleaseFolder:
    entry = {"default": True, "splits": {"test": {"rows": rows}}}
    source = {
        "rows": rows,
        "read": read,
        "filtered": {},
        "dropped": {"missing field": read - rows},
        "notes": [],
    }
    manifest = {"source": source, "audit": {"counts": {"error": 0}}}
    found = SimpleNamespace(
        path=Path("made"), manifest=manifest, configs={"all": entry}, placed_configs={"all": entry}
    )
    return cast(ReleaseFolder, found)


@pytest.mark.parametrize(
    ("rows", "read", "line"),
    [
        (1, 1, "1 row from 1 record (0 missing field)"),
        (1, 2, "1 row from 2 records (1 missing field)"),
        (1_200, 1_234, "1,200 rows from 1,234 records (34 missing field)"),
    ],
)
def test_a_build_says_how_many_rows_it_has(
    capsys: pytest.CaptureFixture[str], rows: int, read: int, line: str
) -> None:
    assert output.print_build(release(rows, read), as_json=False) == 0
    assert capsys.readouterr().out.splitlines()[0] == line


def test_a_result_says_how_many_rows_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    metric = {"value": 0.5, "n": 3, "left_out": {"too long": 1}, "flagged": {"cut": 2}}
    result: Any = SimpleNamespace(
        config="all",
        baseline="majority",
        model=None,
        metrics={"accuracy": metric},
        left_out={"no answer": 1},
        flagged={"truncated": 1},
        unavailable={},
    )
    output.print_results([cast(Result, result)], as_json=False)
    assert [line.rpartition("majority: ")[2] for line in capsys.readouterr().out.splitlines()[-4:]] == [
        "1 row left out: no answer",
        "1 answer flagged: truncated",
        "1 row left out of accuracy: too long",
        "2 answers flagged by accuracy: cut",
    ]


def test_scores_that_were_computed_anew(capsys: pytest.CaptureFixture[str]) -> None:
    effect = SimpleNamespace(config="all", flipped=1, margin=None, uids=[])
    table: Any = SimpleNamespace(
        table="scores", compared=1, largest_difference=0.0, largest_at="a", unit="nats", changed_ranks=1,
        same_identity=True, configs=[effect], within=lambda: True,
    )  # fmt: skip
    output.print_rescored([cast(RescoredTable, table)], as_json=False)
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("scores: 1 score compared, ")
    assert first.endswith("1 rank changed")
    assert second == "  all: 1 row would change sides, no margin in nats"


def test_notes_about_what_stays_together(tmp_path: Path) -> None:
    rows = [f"text {number},{number // 2 if number else ''}" for number in range(30)]
    (tmp_path / "rows.csv").write_text("text,source\n" + "\n".join([*rows, rows[1]]) + "\n")
    made = split(tmp_path / "rows.csv", text="text", group="source", by=["random"], out=tmp_path / "out")
    notes = made.manifest["source"]["notes"]
    assert (
        "2 rows share their input with another row (1 input); rows of equal input stay on one side." in notes
    )
    assert any(note.endswith("; 1 row has none.") for note in notes)


def test_counts_with_their_nouns() -> None:
    assert plural(1, "row") == "1 row"
    assert plural(0, "row") == "0 rows"
    assert plural(1_034, "row is", "rows are") == "1,034 rows are"

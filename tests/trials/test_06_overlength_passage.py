"""A passage five times the window (lm-eval #3421): flagged, left out of every mean, counted, never cut."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scores_helpers import tiny_gpt2

from benchwright.splitting.scores import BOOLQ, score_with_prompt

WINDOW = 96
PASSAGES = ["ice floats", "ice floats on water " * (5 * WINDOW // 20), "ships float"]


def rows(passages: list[str]) -> pa.Table:
    count = len(passages)
    return pa.table(
        {
            "uid": [f"boolq:train:{i}" for i in range(count)],
            "content_id": [f"{i:032x}" for i in range(count)],
            "length": pa.array([4] * count, pa.int32()),
            "source_index": pa.array(range(count), pa.int32()),
            "passage": passages,
            "question": ["does it float"] * count,
        }
    )


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny_gpt2(tmp_path_factory.mktemp("models") / "tiny", positions=WINDOW))


def test_a_passage_of_five_windows_is_flagged_and_counted(tmp_path: Path, model: str) -> None:
    scores = score_with_prompt(rows(PASSAGES), BOOLQ, model, cache=tmp_path)
    assert scores.table.column("status").to_pylist() == ["ok", "overlength", "ok"]
    assert scores.table.column("log_likelihood")[1].as_py() is None
    assert scores.table.column("lm_num_tokens")[1].as_py() is None
    entry = scores.entry()
    assert (entry["rows"], entry["scored"], entry["overlength"]) == (3, 2, 1)
    aligned = scores.aligned(scores.table.column("uid"))
    assert np.isnan(aligned.log_likelihood).tolist() == [False, True, False]


def test_the_other_rows_score_as_if_it_were_not_there(tmp_path: Path, model: str) -> None:
    both = score_with_prompt(rows(PASSAGES), BOOLQ, model, cache=tmp_path / "a")
    without = score_with_prompt(rows(PASSAGES).take([0, 2]), BOOLQ, model, cache=tmp_path / "b")
    assert both.table.take([0, 2]).combine_chunks().equals(without.table)


@pytest.mark.parametrize(("extra", "status"), [(0, "ok"), (1, "overlength")])
def test_the_last_token_of_the_window_fits_and_the_next_does_not(
    tmp_path: Path, model: str, extra: int, status: str
) -> None:
    around = len("Passage:  Ask a question about the passage:") + len(" does it float") + 2
    scores = score_with_prompt(rows(["x" * (WINDOW - around + extra)]), BOOLQ, model, cache=tmp_path)
    assert scores.table.column("status").to_pylist() == [status]


def test_rows_that_all_exceed_the_window_give_a_table_without_scores(tmp_path: Path, model: str) -> None:
    scores = score_with_prompt(rows([PASSAGES[1]]), BOOLQ, model, cache=tmp_path)
    assert scores.entry()["scored"] == 0
    assert scores.table.num_rows == 1

"""Trial 13: one `"` in a tab-separated file swallowed the rows after it (ersatz #1)."""

from __future__ import annotations

from pathlib import Path

from benchwright.builders.sources.snli import read_snli
from benchwright.faults import FaultLog


def test_a_quotation_mark_is_text_and_all_five_rows_are_there(tmp_path: Path) -> None:
    hypotheses = ["It rains.", 'The "wet dog shakes.', "It snows.", '"Go," she said.', "It thaws."]
    lines = ["premise\thypothesis\tlabel", *(f"Weather report.\t{text}\t1" for text in hypotheses)]
    (tmp_path / "dev.tsv").write_text("\n".join(lines) + "\n")
    source = read_snli(tmp_path, FaultLog())
    assert source.pairs.column("hypothesis").to_pylist() == hypotheses
    assert source.read == 5

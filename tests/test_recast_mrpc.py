"""The recast of MRPC: quotation marks, byte order mark, the two published forms."""

from __future__ import annotations

from pathlib import Path

import pytest
from recast_corpora import recast, write

from benchwright.errors import SourceErrors

HEADER = "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\r\n"
ROWS = (
    '1\t702876\t702977\t"It works , " NASA said .\tNASA said it works .\r\n'
    '0\t2108705\t2108831\tHe said "no .\t" He left " .\r\n'
)


def test_quotation_marks_are_text(tmp_path: Path) -> None:
    write(tmp_path, "msr_paraphrase_train.txt", HEADER + ROWS)
    result = recast("syntactic_variation/mrpc", tmp_path)
    assert result.triples("train") == [
        ('"It works , " NASA said .', "NASA said it works .", "entailed"),
        ('He said "no .', '" He left " .', "not-entailed"),
    ]
    assert result.groups() == ["mrpc:train:0", "mrpc:train:1"]
    assert result.made.files[0].rows == 2


def test_glue_divides_the_training_file(tmp_path: Path) -> None:
    content = HEADER.removeprefix("\ufeff") + ROWS
    for name in (
        "MRPC/train.tsv",
        "MRPC/dev.tsv",
        "MRPC/msr_paraphrase_train.txt",
        "MRPC/msr_paraphrase_test.txt",
    ):
        write(tmp_path, name, content.replace("702876", name))
    write(tmp_path, "MRPC/test.tsv", "index\t#1 ID\t#2 ID\t#1 String\t#2 String\n0\t1\t2\ta\tb\n")
    result = recast("syntactic_variation/mrpc", tmp_path)
    assert [file.name for file in result.made.files] == [
        "MRPC/train.tsv",
        "MRPC/dev.tsv",
        "MRPC/msr_paraphrase_test.txt",
    ]
    assert {row["source_split"] for row in result.rows} == {"train", "dev", "test"}


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("0\t2108705", "2\t2108705", "unknown label, got '2'"),
        ('He said "no .', " ", "empty component"),
        ('\t" He left " .', "", "missing field"),
    ],
)
def test_rows_that_cannot_be_used(tmp_path: Path, old: str, new: str, reason: str) -> None:
    write(tmp_path, "msr_paraphrase_test.txt", HEADER + ROWS.replace(old, new))
    with pytest.raises(SourceErrors, match=reason):
        recast("syntactic_variation/mrpc", tmp_path)

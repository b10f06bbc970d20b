"""Trial 42: a recast keeps "NASA" (promptsource #690); one with an empty component is refused.

In a published set 4,034 premises end in " ; ": the update is missing.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from benchwright.builders.curriculum.recast import recasts, rules
from benchwright.builders.curriculum.recast.base import EMPTY_COMPONENT
from benchwright.errors import SourceErrors
from benchwright.faults import FaultLog
from benchwright.text.statements import statement

SENTENCE = "NASA hired Al."


def test_every_rule_keeps_nasa() -> None:
    texts = [
        rules.joined(context=SENTENCE, question="Who was hired?"),
        rules.choices_to_pairs("It is so.", [SENTENCE, "no"], 0)[0].hypothesis,
        rules.cause_or_effect("The probe flew.", SENTENCE, "cause"),
        rules.in_mid_sentence(SENTENCE),
        rules.capitalised(SENTENCE),
    ]
    assert all(SENTENCE in text for text in texts)


def test_a_statement_keeps_nasa() -> None:
    assert str(statement("Who did NASA hire?", "Al").text) == "NASA hired Al."
    assert str(statement("Who hired Al?", "NASA").text) == "NASA hired Al."


def test_a_recast_file_keeps_nasa(tmp_path: Path) -> None:
    (tmp_path / "msr_paraphrase_train.txt").write_text(
        f"Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n1\t1\t2\t{SENTENCE}\tAl works for NASA.\n"
    )
    table = recasts.get("syntactic_variation/mrpc").read(tmp_path, FaultLog()).table
    assert table.column("premise").to_pylist() == [SENTENCE]
    assert table.column("hypothesis").to_pylist() == ["Al works for NASA."]


def test_an_empty_component_is_refused_or_counted(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(
        '{"goal": "a goal", "sol1": "x", "sol2": "y"}\n{"goal": "NASA", "sol1": " ", "sol2": "y"}\n'
    )
    (tmp_path / "train-labels.lst").write_text("0\n0\n")
    piqa = recasts.get("physicalqa/piqa")
    with pytest.raises(SourceErrors, match=r"row 1.*empty component"):
        piqa.read(tmp_path, FaultLog())
    faults = FaultLog("drop")
    made = piqa.read(tmp_path, faults)
    assert made.table.column("premise").to_pylist() == ["a goal", "a goal"]
    assert faults.dropped == {EMPTY_COMPONENT: 1}


@pytest.mark.corpora
def test_the_published_set_with_missing_updates(data_folder: Path) -> None:
    """Its premises, joined again from their two parts: the rule refuses those that lack one."""
    with zipfile.ZipFile(data_folder / "curriculum" / "defeasible.zip") as archive:
        lines = archive.read("defeasible/train.jsonl").splitlines()
    missing = [text[:-3] for text in (json.loads(line)["premise"] for line in lines) if text.endswith(" ; ")]
    assert len(missing) == 4_034
    for premise in missing:
        with pytest.raises(rules.EmptyComponentError):
            rules.joined(premise=premise, update="")

"""Train labels {neutral, entailment}, validation labels {not-entailed, entailed}: the audit fails."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import parts_builder
import pyarrow as pa

from benchwright.builders.audit import AuditRows, audit_config
from benchwright.builders.build import build
from benchwright.cli import main
from benchwright.tasks import BINARY_NLI, Task

TASK = Task("nli", ("premise", "hypothesis"), "label", ("accuracy",), labels=("entailed", "not-entailed"))


def test_labels_that_train_never_shows_are_an_error_even_in_published_data():
    labels = ["neutral", "entailment", "neutral", "not-entailed", "entailed", "entailed"]
    table = pa.table(
        {
            "uid": [f"toy:{row}" for row in range(6)],
            "premise": [f"premise {row}" for row in range(6)],
            "hypothesis": [f"hypothesis {row}" for row in range(6)],
            "label": labels,
        }
    )
    rows = AuditRows.from_table(table, TASK)
    side = np.array([0, 0, 0, 1, 1, 1], dtype=np.int8)
    findings = audit_config("monotonicity", rows, side, published=True)
    error, warning = (finding for finding in findings if finding.code == "label_set")
    assert (error.code, error.severity, error.count) == ("label_set", "error", 3)
    assert "'entailed'" in error.message
    assert "'not-entailed'" in error.message
    assert (warning.severity, warning.count) == ("warning", 3)
    assert "'entailment', 'neutral'" in warning.message


def test_such_a_task_is_built_and_its_audit_fails_on_the_command_line(tmp_path, monkeypatch, capsys):
    labels = ("entailed", "not-entailed", "neutral", "entailment")
    monkeypatch.setitem(parts_builder.TASKS, "colour", replace(BINARY_NLI, labels=labels))
    source = tmp_path / "source"
    source.mkdir()
    names = {"train": ("neutral", "entailment"), "val": ("not-entailed", "entailed")}
    rows = [
        {"split": split, "premise": f"Ball {n} is here.", "hypothesis": f"{n} balls.", "label": found[n % 2]}
        for split, found in names.items()
        for n in range(8)
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (source / "colour.jsonl").write_text(text, encoding="utf-8")
    release = build(parts_builder.PuzzleBuilder(), source=source, out=tmp_path / "out", configs=["colour"])
    assert release.manifest["audit"]["counts"]["error"] == 1
    assert main(["audit", str(release.path)]) == 1
    said = capsys.readouterr()
    line = next(line for line in said.out.splitlines() if line.startswith("error"))
    assert "8 row(s) of validation have labels that train lacks: 'entailed', 'not-entailed'" in line
    assert said.err == "1 finding(s) stop this release\n"

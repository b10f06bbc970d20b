"""Train labels {neutral, entailment}, validation labels {not-entailed, entailed}: the audit fails."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from benchwright.builders.audit import AuditRows, audit_config
from benchwright.tasks import Task

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
    error, warning = findings
    assert (error.code, error.severity, error.count) == ("label_set", "error", 3)
    assert "'entailed'" in error.message
    assert "'not-entailed'" in error.message
    assert (warning.severity, warning.count) == ("warning", 3)
    assert "'entailment', 'neutral'" in warning.message

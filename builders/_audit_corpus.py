"""Checks on the rows of a corpus, wherever they are placed."""

from __future__ import annotations

import math

import numpy as np

from ..splitting.equal_inputs import combined, conflicts, later_copies
from ._audit_findings import Finding, Severity
from ._audit_rows import AuditRows

MAX_WORDS = 125
"""Most words that a model of 128 tokens, three of them its own, can read: a word is a token or more."""

# In random order fewer than one corpus in 10^8 deviates so far by chance.
_DEVIATIONS = 6.0
_SHARE_OF_RUNS = 0.1


def audit_corpus(rows: AuditRows, published: bool, part: str | None = None) -> list[Finding]:
    """Findings that hold wherever the rows are placed. `part` is the data set that they are of."""
    known: Severity = "known" if published else "warning"
    found: list[tuple[str, Severity, np.ndarray, str]] = []
    repeated = later_copies(combined(rows.exact, rows.targets))
    found.append(("duplicate_row", known, repeated, "row(s) repeat an earlier row, target included"))
    conflicting, inputs = conflicts(rows.exact, rows.targets)
    kind = f"{'labels' if rows.labelled else 'targets'} conflict; {inputs} input(s)"
    message = f"row(s) share their input with a row that has another target ({kind})"
    found.append(("target_conflict", known, conflicting, message))
    for column, component in rows.components.items():
        severity: Severity = "known" if published else "error"
        empty, broken = (np.flatnonzero(mask[component.at]) for mask in (component.empty, component.broken))
        found.append(("empty_component", severity, empty, f"row(s) have nothing in {column!r}"))
        message = f"row(s) have nothing on one side of the separator ';' in {column!r}"
        found.append(("empty_component", known, broken, message))
    words = sum(component.words[component.at] for component in rows.components.values())
    message = f"row(s) have more than {MAX_WORDS} words of input, which models that read 128 tokens cut"
    found.append(("long_input", "info", np.flatnonzero(words > MAX_WORDS), message))
    findings = [
        Finding.of(code, severity, rows.named(members), message, part=part)
        for code, severity, members, message in found
        if len(members)
    ]
    return [*findings, *_label_order(rows, part)]


def _label_order(rows: AuditRows, part: str | None) -> list[Finding]:
    """Source splits whose labels come in far fewer or far more runs than in random order."""
    findings = []
    for number, name in enumerate(rows.source_names if rows.labelled else ()):
        members = np.flatnonzero(rows.source_splits == number)
        made, expected, deviation = runs(rows.targets[members])
        if abs(made - expected) > max(_SHARE_OF_RUNS * expected, _DEVIATIONS * deviation):
            message = (
                f"row(s) of source split {name!r} have labels in {made} runs, in random order about "
                f"{expected:.0f}: shuffle them before taking the first ones"
            )
            named = rows.named(members)
            findings.append(Finding.of("label_order", "info", named, message, splits=(name,), part=part))
    return findings


def runs(labels: np.ndarray) -> tuple[int, float, float]:
    """Number of runs of equal labels; its mean and standard deviation over all orders of these labels.

    Source: Barton and David, "Multiple runs", Biometrika 44 (1957).

    >>> made, mean, deviation = runs(np.array([0, 0, 0, 1, 1, 1]))
    >>> made, mean, round(deviation**2, 6)
    (2, 4.0, 1.2)
    """
    n = len(labels)
    if n < 2:
        return n, float(n), 0.0
    counts = np.unique(labels, return_counts=True)[1].astype(np.float64)
    squares, cubes = float((counts**2).sum()), float((counts**3).sum())
    mean = (n * (n + 1) - squares) / n
    variance = (squares * (squares + n * (n + 1)) - 2 * n * cubes - n**3) / (n**2 * (n - 1))
    return 1 + int((labels[1:] != labels[:-1]).sum()), mean, math.sqrt(max(0.0, variance))

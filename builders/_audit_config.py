"""Checks on one placement of rows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from ..release import SPLITS
from ..splitting.equal_inputs import conflicts, later_copies
from ._audit_findings import Finding, Severity
from ._audit_near import THRESHOLD
from ._audit_rows import AuditRows

# Columns that hold what several rows are about: it may well stand in train and in evaluation data.
_SHARED = ("premise", "passage", "context")


def audit_config(
    name: str, rows: AuditRows, side: np.ndarray, published: bool, *, near: bool = True
) -> list[Finding]:
    """Findings of one placement. `side`: int8 array of shape (n,), index into SPLITS or -1 for unused.

    `near` says whether to look for near-duplicates.
    """
    known: Severity = "known" if published else "warning"
    findings: list[Finding] = []

    def add(
        code: str, severity: Severity, splits: tuple[str, ...], members: np.ndarray, message: str
    ) -> None:
        if len(members):
            named = rows.named(members)
            findings.append(Finding.of(code, severity, named, message, config=name, splits=splits))

    for first, second in itertools.combinations(range(len(SPLITS)), 2):
        pair = (SPLITS[first], SPLITS[second])
        exact = _standing_in(rows.exact, side, first, second)
        message = f"row(s) of {pair[1]} have an equal input in {pair[0]}"
        add("leak_exact", "known" if published else "error", pair, exact, message)
        normalised = _standing_in(rows.normalised, side, first, second)
        message = f"row(s) of {pair[1]} have an input equal but for case, punctuation and spaces in {pair[0]}"
        add("leak_normalised", known, pair, np.setdiff1d(normalised, exact), message)
        for column in _SHARED:
            if column in rows.components and len(rows.components) > 1:
                shared = _standing_in(rows.components[column].at, side, first, second)
                message = f"row(s) of {pair[1]} have a {column} that stands in {pair[0]} too"
                add(f"shared_{column}", "info", pair, shared, message)
        if near and first == 0:
            alike, message = _near_duplicates(rows, side, second, normalised)
            add("near_duplicate", known, pair, alike, message)
    for number, split in enumerate(SPLITS):
        members = np.flatnonzero(side == number)
        repeated = members[later_copies(rows.exact[members])]
        message = f"row(s) of {split} repeat the input of an earlier row of {split}"
        add("duplicate_input", known, (split,), repeated, message)
        conflicting, inputs = conflicts(rows.exact[members], rows.targets[members])
        message = (
            f"row(s) of {split} share their input with a row of {split} that has another target "
            f"({inputs} input(s))"
        )
        add("target_conflict", known, (split,), members[conflicting], message)
    for severity, splits, members, message in _label_sets(rows, side):
        add("label_set", severity, splits, members, message)
    return findings


def _standing_in(keys: np.ndarray, side: np.ndarray, first: int, second: int) -> np.ndarray:
    """Rows of the second side whose key stands on the first too, ascending."""
    present = np.zeros(int(keys.max(initial=-1)) + 1, dtype=bool)
    present[keys[side == first]] = True
    members = np.flatnonzero(side == second)
    return members[present[keys[members]]]


def _near_duplicates(
    rows: AuditRows, side: np.ndarray, second: int, leaks: np.ndarray
) -> tuple[np.ndarray, str]:
    """Rows of the second side that are near-duplicates of train rows, but for `leaks`, and a message."""
    members = np.setdiff1d(np.flatnonzero(side == second), leaks)
    train = np.flatnonzero(side == 0)
    if not len(members) or not len(train):
        return members[:0], ""
    queries, at = np.unique(rows.normalised[members], return_inverse=True)
    others, first_rows = np.unique(rows.normalised[train], return_index=True)
    twins = rows.near.of(queries, others)[at]
    alike = members[twins >= 0]
    if not len(alike):
        return alike, ""
    twin = train[first_rows[np.searchsorted(others, twins[twins >= 0][0])]]
    example = f"the first one like {rows.uids[int(twin)].as_py()}"
    split = SPLITS[second]
    return alike, (
        f"row(s) of {split} share at least {THRESHOLD:.0%} of their character trigrams with a row of train, "
        f"{example}"
    )


def _label_sets(
    rows: AuditRows, side: np.ndarray
) -> Iterator[tuple[Severity, tuple[str, ...], np.ndarray, str]]:
    """A label that stands in evaluation data and never in train cannot be learned: an error in any data."""
    if not rows.labelled:
        return
    present = {split: set(rows.targets[side == index].tolist()) for index, split in enumerate(SPLITS)}
    for split in SPLITS[1:]:
        if not present[split] or not present["train"]:
            continue
        unseen, unused = present[split] - present["train"], present["train"] - present[split]
        for labels, severity, where, text in (
            (unseen, "error", split, f"row(s) of {split} have labels that train lacks"),
            (unused, "warning", "train", f"row(s) of train have labels that {split} lacks"),
        ):
            members = np.flatnonzero((side == SPLITS.index(where)) & np.isin(rows.targets, sorted(labels)))
            names = ", ".join(sorted(repr(rows.target_names[label]) for label in labels))
            yield severity, ("train", split), members, f"{text}: {names}"  # type: ignore[misc]

"""What holds of the difference of any two releases."""

from __future__ import annotations

import json
from typing import Any

import pytest
from diff_helpers import EASY, Made
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchwright.builders.diff import ReleaseDiff, diff
from benchwright.release import ReleaseFolder

SIDES = st.text("tve-", min_size=8, max_size=8).map(lambda rest: f"te{rest}")


@settings(max_examples=15, deadline=None)
@given(first=SIDES, second=SIDES, texts=st.lists(st.sampled_from("ab"), min_size=10, max_size=10))
@example(first="te-vvttttt", second="te-vvttttt", texts=["a"] * 10)
@example(first="te-vvttttt", second="te-vvttttt", texts=[*"aabaaaaaaa"])
def test_there_is_no_bump_iff_nothing_differs_and_counts_are_symmetric(
    tmp_path_factory: pytest.TempPathFactory, first: str, second: str, texts: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("pair")
    one = Made(sides={EASY: first}, default=EASY, columns={"premise": ["a"] * 10}).write(
        folder / "a" / "made"
    )
    other = Made(sides={EASY: second}, default=EASY, columns={"premise": texts}).write(folder / "b" / "made")
    found, back = diff(one, other), diff(other, one)
    same = _facts(one) == _facts(other)
    assert (found.bump == "none") == same == (not found) == (back.bump == "none")
    assert _counts(found) == _reversed(_counts(back))
    assert _counts(found) == _by_hand(first, second, texts)


def _facts(release: ReleaseFolder) -> Any:
    return json.loads((release.path / "manifest.json").read_text())


def _counts(found: ReleaseDiff) -> dict[tuple[str, str], int]:
    """(from, to) -> rows, with "-" for rows that are not there, and changed rows."""
    counts: dict[tuple[str, str], int] = {}
    for config in found.configs:
        if config.name != EASY:
            continue
        rows = config.rows
        counts.update({(split, "-"): sample.rows for split, sample in rows.removed.items()})
        counts.update({("-", split): sample.rows for split, sample in rows.added.items()})
        counts.update({(move.origin, move.target): move.rows.rows for move in rows.moved})
        counts.update(
            {("=", "="): sum(sample.rows for sample in rows.changed.values())} if rows.changed else {}
        )
    return counts


def _reversed(counts: dict[tuple[str, str], int]) -> dict[tuple[str, str], int]:
    return {(target, origin): rows for (origin, target), rows in counts.items()}


def _by_hand(first: str, second: str, texts: list[str]) -> dict[tuple[str, str], int]:
    names = {"t": "train", "v": "validation", "e": "test", "-": "-"}
    counts: dict[tuple[str, str], int] = {}
    for old, new, text in zip(first, second, texts, strict=True):
        if old != new:
            counts[names[old], names[new]] = counts.get((names[old], names[new]), 0) + 1
        if old != "-" and new != "-" and text != "a":
            counts["=", "="] = counts.get(("=", "="), 0) + 1
    return counts

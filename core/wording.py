"""How messages, notes and cards word what they count."""

from __future__ import annotations


def plural(number: int, noun: str, many: str | None = None) -> str:
    """A count with its noun: 1 row, 1,034 rows. `many` is for what an s alone does not make plural."""
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"

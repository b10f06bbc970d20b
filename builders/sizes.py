"""How many rows are held out, as users say it: a number of rows, or a share of them."""

from __future__ import annotations

import re
from fractions import Fraction

from ..errors import UsageError, show
from ..splitting.base import Sizes

Size = int | float


def parse_size(text: str) -> Size:
    """The size of a held-out split as options give it: rows (`500`) or a share of all rows (`0.1`).

    Raises UsageError for anything else.
    """
    if re.fullmatch(r"[0-9]+", text):
        return int(text)
    if re.fullmatch(r"[0-9]*\.[0-9]+", text):
        return checked_size(float(text))
    raise UsageError(f"size is {show(text)}; give a number of rows (500) or a share of them (0.1)")


def checked_size(size: Size) -> Size:
    """A number of rows as int, a share as float. 1.0 could be either.

    Raises UsageError for it, for a negative number, and for rows that are no whole number.
    """
    if isinstance(size, bool) or not isinstance(size, int | float) or not size >= 0 or size == float("inf"):
        raise UsageError(f"size is {show(size)}; give a number of rows (500) or a share of them (0.1)")
    if isinstance(size, int) or 0 < size < 1:
        return size
    if size == 1 or not size.is_integer():
        raise UsageError(f"size is {size}; a share is between 0 and 1, a number of rows has no decimal point")
    return int(size)


def held_out_sizes(rows: int, validation: Size, test: Size) -> Sizes:
    """Rows per split. A share is rounded down, to one row at least.

    Raises UsageError if nothing would be held out, or nothing would be left to train on.

    >>> held_out_sizes(1205, validation=0.1, test=200)
    Sizes(train=885, validation=120, test=200)
    """
    held_out = {
        name: size if isinstance(size, int) else max(1, int(Fraction(str(size)) * rows))
        for name, size in (("validation", validation), ("test", test))
    }
    if not any(held_out.values()):
        raise UsageError("validation and test are both 0; hold out some rows")
    if sum(held_out.values()) >= rows:
        raise UsageError(
            f"validation ({held_out['validation']}) and test ({held_out['test']}) leave none of the "
            f"{rows} rows to train on; ask for fewer, or give more data"
        )
    return Sizes.holding_out(rows, **held_out)

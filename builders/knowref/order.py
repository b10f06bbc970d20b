"""The order in which the published code met the noun phrases of a sentence: that of a set of Python 3.6.

Which of two candidates is number 0 was decided by nothing else, and labels of the released data set refer to
these numbers. The hash of a tuple changed with Python 3.8, so a set of today has another order.
"""

from __future__ import annotations

from collections.abc import Sequence

_WORD = (1 << 64) - 1
_SMALLEST, _LINEAR_PROBES, _PERTURB_SHIFT = 8, 9, 5

Span = tuple[int, int]


def hash_of_tuple(values: Sequence[int]) -> int:
    """The hash of a tuple of small non-negative integers in 64-bit CPython before 3.8, unsigned.

    >>> hash_of_tuple((1, 2))
    3713081631934410656
    """
    found, factor = 0x345678, 1000003
    for left, value in zip(range(len(values) - 1, -1, -1), values, strict=True):
        found = ((found ^ value) * factor) & _WORD
        factor = (factor + 82520 + 2 * left) & _WORD
    return (found + 97531) & _WORD


def set_order(hashes: Sequence[int]) -> list[int]:
    """Positions of `hashes` (distinct, unsigned) in the order of a CPython set that they were added to."""
    table: list[int | None] = [None] * _SMALLEST
    for filled, position in enumerate(range(len(hashes)), 1):
        _insert(table, hashes, position)
        if filled * 5 >= (len(table) - 1) * 3:
            size = _SMALLEST
            while size <= filled * 4:
                size *= 2
            old = table
            table = [None] * size
            for entry in old:
                if entry is not None:
                    _insert(table, hashes, entry)
    return [entry for entry in table if entry is not None]


def published_order(spans: Sequence[Span]) -> list[Span]:
    """Spans of tokens (start, end) that were found from left to right, as the published code numbers them.

    >>> published_order([(2, 3), (6, 7), (8, 9), (13, 17), (21, 26)])
    [(6, 7), (21, 26), (8, 9), (13, 17), (2, 3)]
    """
    distinct = list(dict.fromkeys(spans))
    return [distinct[position] for position in set_order([hash_of_tuple(span) for span in distinct])]


def _insert(table: list[int | None], hashes: Sequence[int], position: int) -> None:
    mask = len(table) - 1
    perturb = hashes[position]
    slot = perturb & mask
    while True:
        probes = _LINEAR_PROBES + 1 if slot + _LINEAR_PROBES <= mask else 1
        for free in range(slot, slot + probes):
            if table[free] is None:
                table[free] = position
                return
        perturb >>= _PERTURB_SHIFT
        slot = (slot * 5 + 1 + perturb) & mask


def order_is_sure(first: Span, second: Span) -> bool:
    """Whether two spans, in the order of the text, are numbered alike however many other phrases there are.

    True where tables of 8, 32 and 128 places agree; that others take their places is left out of account.
    """
    hashes = hash_of_tuple(first), hash_of_tuple(second)
    alone = set_order(hashes) == [0, 1]
    return all((hashes[0] % size <= hashes[1] % size) == alone for size in (32, 128))

"""How differently two sets of programs use atoms or compounds.

Source: 2210.06799, Section 4 and Table 13, after "Measuring Compositional Generalization" (1912.09713).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

COMPOUND_ALPHA = 0.1
ATOM_ALPHA = 0.5


def chernoff_divergence(first: Mapping[str, int], second: Mapping[str, int], alpha: float) -> float:
    """1 - sum_k p_k^alpha q_k^(1 - alpha), between 0 (equal shares) and 1 (nothing in common).

    `first` (train) gives the shares p, `second` (evaluation) the shares q: with alpha = 0.1 the order
    matters, and a compound counts little for how often it stands in train. 1.0 if one side is empty.

    >>> round(chernoff_divergence({"a": 1, "b": 1}, {"a": 2}, alpha=0.5), 4)
    0.2929
    """
    first_total, second_total = sum(first.values()), sum(second.values())
    if not first_total or not second_total:
        return 1.0
    similarity = 0.0
    for key, count in first.items():
        if other := second.get(key, 0):
            similarity += (count / first_total) ** alpha * (other / second_total) ** (1 - alpha)
    return 1.0 - similarity


def total_counts(counts: Iterable[Mapping[str, int]]) -> Counter[str]:
    """The sum of all counts; it keeps the order in which keys first appear."""
    total: Counter[str] = Counter()
    for count in counts:
        total.update(count)
    return total

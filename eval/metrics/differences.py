"""Exact tests of differences between accuracies, and intervals of differences.

Written out here, so that reading results needs no scipy; tests compare them with it.
"""

from __future__ import annotations

import math

from .intervals import wilson

MCNEMAR = "exact McNemar test, two-sided"
FISHER = "Fisher's exact test, two-sided"
NEWCOMBE = "Newcombe's hybrid score 95%"
# Tables as likely as the observed one count as extreme, whatever the last bits say (as in scipy).
_RELATIVE = 1 + 1e-7


def mcnemar(only_first: int, only_second: int) -> float:
    """Two-sided p of the exact McNemar test, for two answers to each of the same rows.

    `only_first` and `only_second` are the rows that one alone has right: under the null hypothesis each such
    row falls to either with probability 1/2. 1.0 where there is none.

    >>> mcnemar(1, 5)
    0.21875
    """
    n = only_first + only_second
    tail, term = 0, 1
    for k in range(min(only_first, only_second) + 1):
        tail += term
        term = term * (n - k) // (k + 1)
    return min(1.0, 2 * tail / (1 << n))


def fisher(first_right: int, first: int, second_right: int, second: int) -> float:
    """Two-sided p of Fisher's exact test for two independent groups of `first` and `second` rows.

    The sum of the probabilities, with all margins given, of every table that is no likelier than the observed
    one. 1.0 where a group is empty.

    >>> round(fisher(1, 9, 11, 15), 6)
    0.009423
    """
    right = first_right + second_right
    places = range(max(0, right - second), min(first, right) + 1)
    weights = [_log_comb(first, k) + _log_comb(second, right - k) for k in places]
    observed = weights[first_right - places.start]
    total = math.fsum(math.exp(weight - observed) for weight in weights)
    extreme = math.fsum(ratio for weight in weights if (ratio := math.exp(weight - observed)) <= _RELATIVE)
    return min(1.0, extreme / total)


def newcombe(first_right: int, first: int, second_right: int, second: int) -> tuple[float, float]:
    """95 % interval of the first share minus the second, of independent groups with at least one row each.

    Newcombe (1998), method 10: built of Wilson's intervals of both shares.

    >>> low, high = newcombe(56, 70, 48, 80)
    >>> round(low, 4), round(high, 4)
    (0.0524, 0.3339)
    """
    one, two = first_right / first, second_right / second
    (low_one, high_one), (low_two, high_two) = wilson(first_right, first), wilson(second_right, second)
    difference = one - two
    return (
        difference - math.hypot(one - low_one, high_two - two),
        difference + math.hypot(high_one - one, two - low_two),
    )


def _log_comb(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)

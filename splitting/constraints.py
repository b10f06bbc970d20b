"""What a split must keep besides its sizes: shares of labels, and training examples for every atom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import SplitError, show
from ..wording import plural

MAX_SWAPS = 10_000
WITHOUT_CONSTRAINT = "switch the constraint off (--constraint none; constraint=None in Python)"
"""What mends a split that cannot have its constraint, as the end of a message."""

_ROWS_SHOWN = 3

Naming = Callable[[list[int], set[str]], Sequence[str]]
"""Names of the rows of some examples that have one of some atoms."""


def largest_remainder(weights: np.ndarray, total: int) -> np.ndarray:
    """Integers in proportion to `weights` (int64) that add up to `total`; ties go to the lowest index.

    The arithmetic is exact: no rounding of floats decides a seat. All zeros where no weight is positive.

    >>> largest_remainder(np.array([3, 3, 1]), 10).tolist()
    [4, 4, 2]
    """
    whole = sum(weights.tolist())
    if whole == 0:
        return np.zeros(len(weights), dtype=np.int64)
    products = [weight * total for weight in weights.tolist()]
    shares = np.array([product // whole for product in products], dtype=np.int64)
    remainders = np.array([product % whole for product in products], dtype=np.int64)
    shares[np.argsort(-remainders, kind="stable")[: total - int(shares.sum())]] += 1
    return shares


def share_quotas(counts: np.ndarray, validation: int, test: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of each label for validation and test, in proportion to `counts`, with exact totals.

    Every label with rows keeps at least one of them for train as long as the sizes allow: its seat goes to
    the label that keeps most. Largest remainders, ties to the lowest label.

    >>> [quota.tolist() for quota in share_quotas(np.array([60, 38, 1, 1]), 10, 10)]
    [[6, 4, 0, 0], [6, 4, 0, 0]]
    """
    evaluation = largest_remainder(counts, validation + test)
    for label in np.flatnonzero((evaluation == counts) & (counts > 0)):
        kept = counts - evaluation
        richest = int(np.argmax(kept))
        if kept[richest] < 2:
            break
        evaluation[label] -= 1
        evaluation[richest] += 1
    tests = largest_remainder(evaluation, test)
    return evaluation - tests, tests


def equal_quotas(
    labels: Sequence[int], validation: int, test: int, size: int
) -> tuple[np.ndarray, np.ndarray]:
    """The published rule: the same number of rows of every label, remainders to the first of `labels`.

    `labels` are those that occur, in the order in which the procedure meets them; the results have `size`
    entries. Source: 2210.06799, code of the classification splits.

    >>> [quota.tolist() for quota in equal_quotas([2, 0, 1], 10, 10, 3)]
    [[3, 3, 4], [3, 3, 4]]
    """
    quotas = []
    for total in (validation, test):
        quota = np.zeros(size, dtype=np.int64)
        quota[list(labels)] = total // len(labels)
        quota[labels[0]] += total % len(labels)
        quotas.append(quota)
    return quotas[0], quotas[1]


def _numbers(examples: list[int], atoms: set[str]) -> Sequence[str]:
    return [str(example) for example in examples]


@dataclass(frozen=True)
class Balanced:
    """Two lists after the swaps, in order, and how many swaps it took."""

    train: list[int]
    evaluation: list[int]
    swaps: int


def balance_atoms(
    train: Sequence[int],
    evaluation: Sequence[int],
    atoms: Sequence[frozenset[str]],
    *,
    fixed: Sequence[int] = (),
    weights: np.ndarray | None = None,
    max_swaps: int = MAX_SWAPS,
    named: Naming = _numbers,
) -> Balanced:
    """Swap examples until every atom of the evaluation list occurs in a train example.

    `atoms[x]` are the atoms of example x. Each swap takes the first train example without an atom that
    only one train example has, and the first evaluation example with an atom that train lacks; each is
    appended to the other list. `fixed` examples train and are never swapped. With `weights` only examples
    of equal weight are swapped. Raises SplitError, with the rows that `named` tells for examples and atoms,
    if there is no such pair or `max_swaps` were not enough. Source: 2210.06799, Section 3.4, and the
    atom-balancing procedure of google-research/language that it uses.

    >>> balance_atoms([0, 1, 2], [3], [frozenset("a"), frozenset("a"), frozenset("b"), frozenset("c")])
    Balanced(train=[1, 2, 3], evaluation=[0], swaps=1)
    """
    # Dictionaries keep the order of lists with removal in constant time.
    kept, held = dict.fromkeys(train), dict.fromkeys(evaluation)
    train_counts = Counter(atom for example in (*kept, *fixed) for atom in atoms[example])
    held_counts = Counter(atom for example in held for atom in atoms[example])
    rare = {atom for atom, count in train_counts.items() if count <= 1}
    missing = {atom for atom in held_counts if not train_counts[atom]}

    def move(example: int, change: int) -> None:
        for atom in atoms[example]:
            train_counts[atom] += change
            held_counts[atom] -= change
            _keep_if(rare, atom, train_counts[atom] <= 1)
            _keep_if(missing, atom, held_counts[atom] > 0 and train_counts[atom] == 0)

    def refusal(problem: str) -> SplitError:
        rows = named([x for x in held if not missing.isdisjoint(atoms[x])], missing)
        what = problem.format(_listed(missing, rows))
        return SplitError(f"{what}; ask for fewer evaluation rows, or {WITHOUT_CONSTRAINT}")

    swaps = 0
    while missing:
        if swaps == max_swaps:
            raise refusal(f"{swaps:,} swaps left {{}} without a train row")
        incoming = next(x for x in held if not missing.isdisjoint(atoms[x]))
        fits = (x for x in kept if weights is None or weights[x] == weights[incoming])
        outgoing = next((x for x in fits if rare.isdisjoint(atoms[x])), None)
        if outgoing is None:
            raise refusal("no train row can be given up for one with {}")
        move(outgoing, -1)
        move(incoming, +1)
        del kept[outgoing], held[incoming]
        held[outgoing] = kept[incoming] = None
        swaps += 1
    return Balanced(list(kept), list(held), swaps)


def _keep_if(members: set[str], atom: str, belongs: bool) -> None:
    if belongs:
        members.add(atom)
    else:
        members.discard(atom)


def _listed(missing: set[str], rows: Sequence[str]) -> str:
    of = "row" if len(rows) == 1 else "rows"
    more = ", ..." if len(rows) > _ROWS_SHOWN else ""
    shown = ", ".join(rows[:_ROWS_SHOWN])
    return f"{plural(len(missing), 'atom')} ({show(sorted(missing)[:3])}, in evaluation {of} {shown}{more})"

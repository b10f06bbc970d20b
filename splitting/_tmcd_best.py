"""Our way to a target maximum compound divergence (TMCD): the best swaps first, many between two looks."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from ._tmcd_state import Bipartition
from .divergence import COMPOUND_ALPHA

SMOOTHED_ALPHAS = (0.2, 0.3, 0.4, 0.5, 0.6)
"""Exponents under which a compound counts more for how often it stands in train: its occurrences leave train
one by one, where the divergence itself rewards hardly any swap but the last.
"""
_LOOKS = 32
_CLOSE_LOOK = 6

Trace = Callable[[float], None]
Ranked = list[tuple[list[int], list[int]]]


def best_swaps(state: Bipartition, max_swaps: int, trace: Trace = lambda divergence: None) -> int:
    """Swap units of equal size, the best first, while that raises the divergence: the number of swaps.

    When no swap raises it, swaps that raise a smoothed divergence lead elsewhere, and the climb starts again
    from there; what ends no higher is taken back. So the divergence is never lower than at the start, and
    under the atom constraint every single swap keeps it. The number is that of all swaps until the highest
    divergence, with those that were taken back on the way. `trace` gets the divergence at each look.
    """
    swaps = best = _climb(state, max_swaps, trace)
    for alpha in SMOOTHED_ALPHAS:
        trains, divergence = state.trains.copy(), state.divergence()
        state.set_alpha(alpha)
        swaps += _climb(state, max_swaps - swaps, lambda smoothed: None)
        state.set_alpha(COMPOUND_ALPHA)
        swaps += _climb(state, max_swaps - swaps, trace)
        if state.divergence() > divergence:
            best = swaps
        else:
            state.place(trains)
    return best


def _climb(state: Bipartition, max_swaps: int, trace: Trace) -> int:
    """Look at all units, swap the best of train with the best of evaluation, the second best, and so on.

    Every look gives as many pairs as 1/32 of the evaluation units (six at least); a pair is swapped if that
    still raises the divergence. If none does, the best swap among the first six of both sides is made, and
    if there is none, the climb is over. Units that are equally good rank by their numbers.
    """
    swaps = 0
    while swaps < max_swaps:
        trace(state.divergence())
        ranked, made = _ranked(state), 0
        for leaving, entering in ranked:
            for pair in zip(leaving, entering, strict=False):
                made += swaps + made < max_swaps and _swap_if_better(state, *pair)
        if not made and not _swap_best(state, ranked):
            break
        swaps += made or 1
    return swaps


def _ranked(state: Bipartition) -> Ranked:
    """For each size of units, the train units and the evaluation units that best change sides, best first."""
    after = state.divergences_after_moves()
    sides = [np.flatnonzero(side) for side in (state.free(), ~state.trains)]
    count = max(_CLOSE_LOOK, len(sides[1]) // _LOOKS)
    leaving, entering = (side[np.argsort(-after[side], kind="stable")] for side in sides)
    return [
        (
            leaving[state.sizes[leaving] == size][:count].tolist(),
            entering[state.sizes[entering] == size][:count].tolist(),
        )
        for size in np.unique(state.sizes[entering]).tolist()
    ]


def _swap_if_better(state: Bipartition, leaving: int, entering: int) -> bool:
    before = state.divergence()
    if _swap(state, leaving, entering) > before:
        return True
    _swap(state, leaving, entering)
    return False


def _swap_best(state: Bipartition, ranked: Ranked) -> bool:
    """Make the best swap of all pairs of the first few units, if it raises the divergence."""
    best, highest = None, state.divergence()
    for leaving, entering in ranked:
        for pair in product(leaving[:_CLOSE_LOOK], entering[:_CLOSE_LOOK]):
            reached = _swap(state, *pair)
            _swap(state, *pair)
            if reached > highest:
                best, highest = pair, reached
    if best is None:
        return False
    _swap(state, *best)
    return True


def _swap(state: Bipartition, leaving: int, entering: int) -> float:
    """Exchange the sides of two units: the divergence, or -1.0 if train then lacks an atom of `leaving`."""
    state.move(leaving)
    state.move(entering)
    return state.divergence() if state.keeps_atoms(leaving) else -1.0

"""The published way to a target maximum compound divergence (TMCD): first improvement, swap by swap.

Source: "Compositional Generalization and Natural Language Variation" (2010.12725), Section 4.2, and its code
as it was when 2210.06799 used it (google-research/language, revision 57c2033).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ._tmcd_state import Bipartition

MAX_ITERATIONS = 10_000


def first_improvements(
    state: Bipartition,
    train: np.ndarray,
    evaluation: np.ndarray,
    max_iterations: int = MAX_ITERATIONS,
    trace: Callable[[float], None] = lambda divergence: None,
) -> tuple[np.ndarray, np.ndarray, int]:
    """Swap the first two units that raise the divergence, until there are none: both lists, and the swaps.

    `train` and `evaluation` list the units of `state` in order. An iteration takes the first train unit
    that is free to leave and raises the divergence by leaving; then the first evaluation unit that, entering
    train, keeps it higher than at the start of the iteration. Each is appended to the other list. Without
    either the search ends. `trace` gets the divergence at the start of each iteration.

    Groups, which the published code does not know, are swapped for groups of their size only.
    """
    kept, held = train.tolist(), evaluation.tolist()
    swaps = 0
    while swaps < max_iterations:
        before = state.divergence()
        trace(before)
        leaves = state.free() & np.isin(state.sizes, state.sizes[~state.trains])
        leaves &= state.divergences_after_moves() > before
        leaving = next((unit for unit in kept if leaves[unit]), None)
        if leaving is None:
            break
        state.move(leaving)
        enters = (state.divergences_after_moves() > before) & (state.sizes == state.sizes[leaving])
        entering = next((unit for unit in held if enters[unit]), None)
        if entering is None:
            state.move(leaving)
            break
        state.move(entering)
        kept.remove(leaving)
        held.remove(entering)
        kept.append(entering)
        held.append(leaving)
        swaps += 1
    return np.array(kept, dtype=np.int64), np.array(held, dtype=np.int64), swaps

"""Models that were trained in this run."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

_KEPT = 2


class TrainedModels:
    """The last models that were trained, so that configs with the same train rows share one.

    The four cells of a generalisation matrix need two models: simple and hard rows are each trained on once.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Any] = OrderedDict()

    def get(self, key: str) -> Any:
        """What was kept under a hash of all that the model was trained with; None if it is not at hand."""
        return self._kept.get(key)

    def keep(self, key: str, trained: Any) -> None:
        """Keep a model; the one that was kept first goes where there are too many."""
        self._kept[key] = trained
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)

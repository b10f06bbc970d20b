"""A model to fine-tune as a classifier, before one knows for which labels."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchwright.errors import BenchwrightWarning, UsageError

from ._identity import environment, tokenizer_sha256, weights_sha256
from .classifier import load_classifier
from .classifier_training import load_untrained_classifier
from .embedded import embedded_model, get_model, require_models_extra
from .labels import align_labels

if TYPE_CHECKING:
    from .classifier import SequenceClassifier


_KEPT = 2
"""How many classifiers with new heads a model keeps at most."""


class TrainableClassifier:
    """A model by name: an encoder or a causal language model, or a classifier that is trained further.

    `name` and `revision` are recorded; a local folder is recorded by its last part.
    """

    def __init__(self, model: str, revision: str | None, device: str) -> None:
        self._model, self._revision, self._device = model, revision, device
        self._fresh: dict[tuple[tuple[str, ...], int], SequenceClassifier] = {}
        self.name, self.revision = self._body.name, self._body.revision

    def __repr__(self) -> str:
        return f"TrainableClassifier({self.name!r})"

    def for_labels(self, labels: Sequence[str], seed: int) -> SequenceClassifier:
        """A classifier of these labels, not to be changed: others may get the same one.

        A model with a head whose outputs stand for the labels keeps it, several outputs of one label summed
        (neutral and contradiction are `not-entailed`); any other gets a new head, drawn from `seed`.
        Warns (BenchwrightWarning) where a head that the model has means something else and is not used.
        """
        own, aligned = self._own_head, self._aligned(labels)
        if own is not None and aligned is not None:
            return own.with_labels(labels, [list(labels).index(label) for label in aligned])
        if own is not None:
            message = (
                f"the outputs of {self.name} ({', '.join(own.label_names)}) are not {', '.join(labels)}: "
                "it is trained with a new head"
            )
            warnings.warn(message, BenchwrightWarning, stacklevel=2)
        # Data sets of one release mostly have one or two sets of labels: of these no model is read again.
        key = (tuple(labels), seed)
        fresh = self._fresh.pop(key, None) or load_untrained_classifier(
            self._model, labels, revision=self._revision, device=self._device, seed=seed
        )
        self._fresh = {**dict(list(self._fresh.items())[1 - _KEPT :]), key: fresh}
        return fresh

    def keeps_head(self, labels: Sequence[str]) -> bool:
        """Whether `for_labels` keeps the model's own head."""
        return self._aligned(labels) is not None

    def identity(self) -> dict[str, Any]:
        """What decides a fine-tuned model besides recipe, rows and seed: JSON-able, no paths, no machine."""
        return {
            "model": self.name,
            "revision": self.revision,
            "weights_sha256": self._weights_sha256,
            "tokenizer_sha256": tokenizer_sha256(self._body.tokenizer),
            "own_labels": None if self._own_head is None else list(self._own_head.label_names),
        }

    def environment(self) -> dict[str, Any]:
        """What may move the last bits of the weights: library versions, device, instruction set, threads."""
        return environment(self._body.device)

    def _aligned(self, labels: Sequence[str]) -> tuple[str, ...] | None:
        """The label of each output of the model's own head; None where there is none, or no match by name."""
        if self._own_head is None:
            return None
        try:
            return align_labels(self._own_head.label_names, labels)
        except UsageError:
            return None

    @cached_property
    def _body(self) -> SequenceClassifier:
        # Any head does: names, tokenizer and the weights below it are read.
        return self._own_head or load_untrained_classifier(
            self._model, ("a", "b"), revision=self._revision, device=self._device
        )

    @cached_property
    def _own_head(self) -> SequenceClassifier | None:
        """The model as a classifier; None where it has no head, or one whose outputs have no names."""
        if embedded_model(self._model) is not None:
            return None
        try:
            return load_classifier(self._model, revision=self._revision, device=self._device)
        except UsageError:
            return None

    @cached_property
    def _weights_sha256(self) -> str:
        module = self._body.module
        return weights_sha256(module if self._own_head is not None else module.base_model)


def load_trainable_classifier(
    model: str, *, revision: str | None = None, device: str = "auto"
) -> TrainableClassifier:
    """A model to fine-tune: an embedded one by its name, a Hub id (at `revision`) or a local folder.

    The last one is kept for the next call, unless its files on this machine are others by then.

    Raises PrerequisiteError where torch or the embedded model is missing, UsageError where there is no such
    model.
    """
    require_models_extra()
    return _loaded(model, revision, device, _files(model))


@lru_cache(maxsize=1)
def _loaded(
    model: str, revision: str | None, device: str, files: tuple[tuple[str, int, int], ...]
) -> TrainableClassifier:
    return TrainableClassifier(model, revision, device)


def _files(model: str) -> tuple[tuple[str, int, int], ...]:
    """Name, bytes and time of change of a model's files; empty for one of the Hub, which a revision names."""
    folder = Path(model) if embedded_model(model) is None else get_model(model, fetch=False)
    if not folder.is_dir():
        return ()
    stats = [(path.name, path.stat()) for path in sorted(folder.iterdir())]
    return tuple((name, found.st_size, found.st_mtime_ns) for name, found in stats)

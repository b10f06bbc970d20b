"""The models of a PVI table: trained fold by fold on inputs and on the null input, then asked."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import UsageError
from ...progress import Stage
from ._pvi_rows import NO_FOLD, LabelledPairs, sample_per_label
from .cache import Workspace, clear_parts, read_scores, write_scores
from .table import PVI_SCORER
from .v_information import entropies, is_constant

if TYPE_CHECKING:
    from ...eval.models import ClassifierRecipe, SequenceClassifier

MEASURED = np.dtype([("entropy_null", "<f8"), ("entropy_input", "<f8"), ("truncated", "?")])
"""Entropies of one row in bits, and whether its pair was cut to fit the model."""

_ALGORITHM = 1
"""Raised when the same key would give other scores."""
_CHECKPOINTS, _MODEL = "checkpoints", "model"
_INPUTS_PER_CHUNK = 4_096
_KINDS = ("null", "input")
"""What the models of a fold learn from: the null input, or the inputs."""

Texts = Callable[[np.ndarray], tuple[list[str], list[str]]]
"""Rows (int64) -> the first and second texts that a model reads of them."""


@dataclass(frozen=True)
class PviModels:
    """Which rows the models of one table learn from, and which they score.

    `fold_of` int64[n]: the fold of every row, -1 for none; `folds` is their number, None for one model of all
    rows that train. Each of the models learns from at most `rows_per_label` rows of a label.
    """

    base: SequenceClassifier
    pairs: LabelledPairs
    fold_of: np.ndarray
    folds: int | None
    rows_per_label: int | None
    recipe: ClassifierRecipe
    null: tuple[str, str]
    seed: int
    keep_models: bool
    progress: Stage

    def key(self) -> dict[str, Any]:
        """What entropies depend on besides the recipe; a model's name is no part of it."""
        identity = self.base.identity()
        return {
            "scorer": PVI_SCORER,
            "algorithm": _ALGORITHM,
            "model": {name: value for name, value in identity.items() if name not in ("model", "revision")},
            "seed": self.seed,
            "null": list(self.null),
            "labels": list(self.pairs.label_names),
            "rows": len(self.pairs),
            "inputs": self.pairs.fingerprint,
        }

    def run(self, workspace: Workspace) -> tuple[np.ndarray, dict[str, Any]]:
        """Entropies (MEASURED) of all rows in source order, and the facts about the models."""
        measured = np.zeros(len(self.pairs), dtype=MEASURED)
        judges = np.zeros(len(self.pairs), dtype=np.int64)
        facts = []
        for number in range(self.folds or 1):
            rows = np.flatnonzero((self.fold_of == number) | (self.fold_of == NO_FOLD))
            null, given, fact = self._ask(number, rows, workspace)
            labels = self.pairs.labels[rows]
            measured["entropy_null"][rows] += entropies(null["logits"], labels)
            measured["entropy_input"][rows] += entropies(given["logits"], labels)
            measured["truncated"][rows] |= given["truncated"]
            judges[rows] += 1
            facts.append(fact)
        for name in ("entropy_null", "entropy_input"):
            measured[name] /= judges
        return measured, {"models": facts}

    def clear(self, workspace: Workspace) -> None:
        """Remove what the result makes superfluous, and the models unless they are to be kept.

        Warns of models that are to be kept and are not there any more.
        """
        clear_parts(
            workspace, "model-*", _MODEL, len(_KINDS) * (self.folds or 1) if self.keep_models else None
        )

    def training_rows(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """What the models of fold `number` learn from, and what chooses their best weights (int64 each).

        Both are drawn from the rows that train and are in other folds. The second come from those that the
        first leave over, as many of every label; they are empty where some label has none left (then the
        trainer takes its `validation_share` of the first), or where the recipe has no such share.
        """
        members = np.flatnonzero(self.pairs.trains & (self.fold_of != number))
        if self.folds is None:
            members = np.flatnonzero(self.pairs.trains)
            # The stream that Curriculum's scripts shuffle with.
            order = np.random.RandomState(self.seed).permutation(len(members))
        else:
            order = np.random.default_rng([self.seed, number]).permutation(len(members))
        labels = self.pairs.labels
        learned = sample_per_label(members, labels, self.rows_per_label, order)
        if not self.recipe.validation_share:
            return learned, learned[:0]
        left = members[order][~np.isin(members[order], learned)]
        most = self.recipe.max_validation_rows
        per_label = None if most is None else max(1, most // len(self.pairs.label_names))
        held = sample_per_label(left, labels, per_label, np.arange(len(left)))
        complete = np.array_equal(np.unique(labels[held]), np.unique(labels[learned]))
        return learned, held if complete else held[:0]

    def _ask(
        self, number: int, rows: np.ndarray, workspace: Workspace
    ) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
        """What the two models of a fold say of the null input (one row) and of `rows`; facts about them.

        Equal pairs are read once.
        """
        learned, held = self.training_rows(number)
        _, first_place, inverse = np.unique(self.pairs.inputs[rows], return_index=True, return_inverse=True)

        def null_texts(chosen: np.ndarray) -> tuple[list[str], list[str]]:
            first, second = self.null
            return [first] * len(chosen), [second] * len(chosen)

        which = f"model {number + 1} of {self.folds or 1}"
        read: list[tuple[Texts, np.ndarray]] = [
            (null_texts, rows[:1]),
            (self.pairs.texts, rows[first_place]),
        ]
        said, facts = {}, {}
        for kind, (texts, asked) in zip(_KINDS, read, strict=True):
            learner = _Learner(self, workspace.part(f"model-{number}-{kind}"), f"{kind} {which}", texts)
            said[kind], facts[kind] = learner.logits(learned, held, asked)
        names, labels = self.pairs.label_names, self.pairs.labels[learned]
        counts = np.bincount(labels, minlength=len(names)).tolist()
        return (
            said["null"],
            said["input"][inverse],
            {
                "fold": NO_FOLD if self.folds is None else number,
                "rows_by_label": dict(zip(names, counts, strict=True)),
                "distinct_inputs": len(first_place),
                "constant": is_constant(said["input"]["logits"]),
                **facts,
            },
        )


@dataclass(frozen=True)
class _Learner:
    """One model, from its training rows to its logits; `part` keeps what is done."""

    models: PviModels
    part: Workspace
    label: str
    texts: Texts

    def logits(
        self, learned: np.ndarray, held: np.ndarray, asked: np.ndarray
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """`logits` and `truncated` of each of the rows `asked`, and the facts about the model."""
        finished = self.part.finished()
        if finished is None:
            model, facts = self._trained(learned, held)
            bound = self.part.bound_to(weights=facts["weights_sha256"])
            finished = self._asked(model, asked, bound), facts
            if self.models.keep_models:
                # Before the result: once that is there, the model is not trained again.
                model.save(self.part.folder / _MODEL)
            self.part.finish(*finished)
        shutil.rmtree(self.part.folder / _CHECKPOINTS, ignore_errors=True)
        return finished

    def _trained(self, learned: np.ndarray, held: np.ndarray) -> tuple[SequenceClassifier, dict[str, Any]]:
        from ...eval.models import fine_tune_classifier

        labels, recipe = self.models.pairs.labels, self.models.recipe
        validation = (*self.texts(held), labels[held]) if len(held) else None
        with self.models.progress(f"training {self.label}", recipe.steps(len(learned)), "steps") as report:
            model, log = fine_tune_classifier(
                self.models.base,
                *self.texts(learned),
                labels[learned],
                recipe,
                self.models.seed,
                validation=validation,
                checkpoints=self.part.folder / _CHECKPOINTS,
                progress=report,
            )
        return model, {"weights_sha256": model.identity()["weights_sha256"], "training": log.to_json()}

    def _asked(self, model: SequenceClassifier, asked: np.ndarray, part: Workspace) -> np.ndarray:
        """Logits chunk by chunk; chunks that an interrupted run left are not made again."""
        chunks = []
        with self.models.progress(f"scoring by {self.label}", len(asked), "pairs") as report:
            for number, begin in enumerate(range(0, len(asked), _INPUTS_PER_CHUNK)):
                path = part.folder / f"chunk-{number:06}.scores"
                seal = part.seal.at(part="chunk", chunk=number)
                stored = read_scores(path, seal)
                rows = asked[begin : begin + _INPUTS_PER_CHUNK]
                if stored is None:
                    stored = self._said(model, rows), {}
                    write_scores(path, seal, stored[0])
                chunks.append(stored[0])
                report(len(rows))
        return np.concatenate(chunks)

    def _said(self, model: SequenceClassifier, rows: np.ndarray) -> np.ndarray:
        found = model.classify(*self.texts(rows), max_length=self.models.recipe.max_length)
        broken = int((~np.isfinite(found.logits)).any(axis=1).sum())
        if broken:
            raise UsageError(
                f"the {self.label} gave {broken} of {len(rows)} inputs no finite logits; lower learning_rate"
            )
        said = np.empty(len(rows), dtype=[("logits", "<f4", found.logits.shape[1:]), ("truncated", "?")])
        said["logits"], said["truncated"] = found.logits, found.truncated
        return said

"""Scores of pointwise V-information: classifiers trained on inputs and on a null input, in folds.

Source: Ethayarajh et al. 2022 (2110.08420); Curriculum (2204.06283), whose code trains one model of each kind
and scores, among others, the rows that it was trained on. Here every row that trains is scored by models that
did not see it, its group or an equal input (cross-fitting), unless `fit` is "in_sample".
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from ...errors import BenchwrightWarning, UsageError, show
from ...progress import Stage, no_progress
from ...registry import closest
from ...tasks import Task
from ._pvi_models import PviModels
from ._pvi_rows import NO_FOLD, LabelledPairs, draw_label_folds, read_pairs
from .cache import open_workspace
from .rows import DEFAULT_OPTIONS, ScoringOptions, check_rows
from .table import OK, PVI_SCHEMA, ScoreTable, score_identity
from .v_information import (
    PointwiseVInformation,
    VInformation,
    from_entropies,
    v_information,
    without_usable_information,
)

if TYPE_CHECKING:
    from ...eval.models import ClassifierRecipe

Fit = Literal["cross_fitted", "in_sample"]
FITS = ("cross_fitted", "in_sample")

_PER_LABEL = "rows_per_label"
# Small enough for a laptop: about a minute a model for MiniLM-L6 on two cores.
_CROSS_FITTED = {"epochs": 4, "learning_rate": 1e-4, "batch_size": 16, "max_validation_rows": 200}
# Curriculum's scripts: too few steps for them to come to the choice of a checkpoint.
_IN_SAMPLE = {"epochs": 3, "learning_rate": 1e-5, "batch_size": 8, "validation_share": 0.0}
_ROWS_PER_LABEL = {"cross_fitted": 200, "in_sample": 1_000}


@dataclass(frozen=True)
class PviRecipe:
    """How the models of a PVI table are trained; both kinds alike.

    `rows_per_label`: each model learns from at most so many rows of every label, drawn at random (None: all).
    `classifier`: everything else.
    """

    rows_per_label: int | None
    classifier: ClassifierRecipe

    @classmethod
    def of(cls, fit: Fit, changes: Mapping[str, Any]) -> PviRecipe:
        """The recipe of a fit with changes: `rows_per_label` and fields of `ClassifierRecipe`.

        cross_fitted: 200 rows a label in 4 epochs of batches of 16 at a rate of 1e-4, for small machines;
        the best epoch is chosen on at most 200 rows that no model of the fold learns from. in_sample: the
        published 1,000 rows a label, 3 epochs of batches of 8 at 1e-5, no choice. Raises UsageError.
        """
        from ...eval.models import ClassifierRecipe

        changes = {_PER_LABEL: _ROWS_PER_LABEL[fit], **changes}
        most = changes.pop(_PER_LABEL)
        if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 1):
            raise UsageError(f"{_PER_LABEL} must be a whole number from 1 or null for all, got {show(most)}")
        known = [*ClassifierRecipe.__dataclass_fields__, _PER_LABEL]
        for name in changes:
            if name not in known:
                raise UsageError(f"no recipe field {name!r}; {closest(name, known)}")
        usual = _CROSS_FITTED if fit == "cross_fitted" else _IN_SAMPLE
        return cls(most, ClassifierRecipe().changed({**usual, **changes}))

    def to_json(self) -> dict[str, Any]:
        """All settings, as `of` takes them."""
        return {_PER_LABEL: self.rows_per_label, **self.classifier.to_json()}


def null_texts(fit: Fit, labels: int) -> tuple[str, str]:
    """The two texts of the null input.

    One space each, as the code of V-information's authors has it, for every task and every tokenizer.
    in_sample: Curriculum's, two empty texts for tasks of two labels and two full stops for those of three.
    """
    if fit == "cross_fitted":
        return " ", " "
    return ("", "") if labels == 2 else (".", ".")


def score_with_pvi(
    rows: pa.Table,
    task: Task,
    model: str,
    *,
    revision: str | None = None,
    k: int = 3,
    recipe: Mapping[str, Any] | None = None,
    fit: Fit = "cross_fitted",
    zero_label: bool = False,
    seed: int = 42,
    cache: Path,
    options: ScoringOptions = DEFAULT_OPTIONS,
    keep_models: bool = False,
    progress: Stage = no_progress,
) -> ScoreTable:
    """Pointwise V-information of every row, in bits, for a kind of model that is trained on the rows.

    `rows` has the columns uid, content_id and source_index and those of the task; `length`, `source_split`
    and `group_id` are read if there. `model` is an encoder or causal model (Hub id, folder or a known word),
    whose classification head is drawn from `seed`, or a classifier whose outputs are the task's labels by
    name, which keeps its own. `recipe` holds changes to the one of the fit
    (`PviRecipe.of`).

    fit
        "cross_fitted": the rows that train are drawn into `k` folds (`draw_label_folds`); one model of each
        kind is trained on the others and scores the fold. Rows that only evaluate get the means of the
        entropies of all models (fold -1), those with a group or an equal input in a fold those of its model.
        "in_sample" (published): one model of each kind, trained on rows that train, scores all (fold -1).
    zero_label
        Repeat the published fault that gives all rows of label 0 a PVI of 0.

    Pairs that are too long are cut as in training, longest text first; provenance counts them, and has the
    V-information over all rows, by label and by source split with bootstrap intervals. An interrupted call
    goes on where it stopped. Neither the order of rows nor interruptions change a score; equal pairs of equal
    label and fold have equal ones.

    Raises UsageError or SourceError for rows, task or recipe that cannot be used, PrerequisiteError for a
    model that cannot be had. Warns (BenchwrightWarning) where the input gave no usable information, and
    of models that are to be kept but are gone, as those of finished scores are.
    """
    from ...eval.models import load_trainable_classifier

    if fit not in FITS:
        raise UsageError(f"no fit {show(fit)}; give {' or '.join(FITS)}")
    chosen = PviRecipe.of(fit, recipe or {})
    source_order, ordered, pairs, fold_of = _prepared(rows, task, k, fit, seed)
    models = PviModels(
        load_trainable_classifier(model, revision=revision, device=options.device).for_labels(
            pairs.label_names, seed
        ),
        pairs,
        fold_of,
        folds=k if fit == "cross_fitted" else None,
        rows_per_label=chosen.rows_per_label,
        recipe=chosen.classifier,
        null=null_texts(fit, len(pairs.label_names)),
        seed=seed,
        keep_models=keep_models,
        progress=progress,
    )
    key = models.key() | {"recipe": chosen.to_json(), "fit": fit, "k": models.folds, "zero_label": zero_label}
    found, provenance = _measured(models, key, cache, ordered)
    table = _table(ordered, found, fold_of).take(np.argsort(source_order, kind="stable"))
    return ScoreTable(table.combine_chunks(), provenance, score_identity(key))


def check_pvi_rows(rows: pa.Table, task: Task, *, k: int, fit: Fit, seed: int = 42) -> None:
    """Raise what `score_with_pvi` raises for rows that it cannot use, without a model."""
    _prepared(rows, task, k, fit, seed)


def _prepared(
    rows: pa.Table, task: Task, k: int, fit: Fit, seed: int
) -> tuple[np.ndarray, pa.Table, LabelledPairs, np.ndarray]:
    """The order of the source (int64[n]), and in it the rows, their pairs and the fold of each (int8[n])."""
    rows = _with_length(rows)
    check_rows(rows)
    source_order = np.argsort(rows.column("source_index").to_numpy(), kind="stable")
    ordered = rows.take(source_order)
    pairs = read_pairs(ordered, task)
    learned = np.unique(pairs.labels[pairs.trains])
    if len(learned) == 1:
        raise UsageError(
            f"all {int(pairs.trains.sum())} rows that train have the label "
            f"{show(pairs.label_names[learned[0]])}, of which no input can tell anything; V-information "
            "needs rows of two labels"
        )
    fold_of = draw_label_folds(pairs, k, seed) if fit == "cross_fitted" else np.full(len(pairs), NO_FOLD)
    return source_order, ordered, pairs, fold_of


def _measured(
    models: PviModels, key: dict[str, Any], cache: Path, rows: pa.Table
) -> tuple[PointwiseVInformation, dict[str, Any]]:
    """PVI of `rows`, which stand in source order, made now or before; and the provenance of a table of it."""
    with open_workspace(cache, key, models.base.environment()) as workspace:
        finished = workspace.finished()
        if finished is None:
            finished = models.run(workspace)
            workspace.finish(*finished)
        models.clear(workspace)
        environment = workspace.environment
    measured, facts = finished
    found = from_entropies(
        measured["entropy_null"],
        measured["entropy_input"],
        models.pairs.labels,
        zero_label=key["zero_label"],
    )
    summary = summarise(rows, models.pairs, found.pvi)
    constant = sum(fact["constant"] for fact in facts["models"])
    warning = without_usable_information(constant, len(facts["models"]), VInformation(**summary["overall"]))
    if warning is not None:
        warnings.warn(warning, BenchwrightWarning, stacklevel=3)
    return found, {
        "key": key,
        "model": {"model": models.base.name, "revision": models.base.revision},
        "environment": environment,
        "v_information": {
            **summary,
            "truncated": int(measured["truncated"].sum()),
            "constant_models": constant,
            "no_usable_information": warning is not None,
        },
        **facts,
    }


def summarise(rows: pa.Table, pairs: LabelledPairs, pvi: np.ndarray) -> dict[str, Any]:
    """V-information of `rows` in bits with its interval: overall, by label, and the same by source split."""
    labels = np.array(pairs.label_names)[pairs.labels]
    summary = _by_label(pvi, labels)
    if "source_split" in rows.column_names:
        splits = np.array(rows.column("source_split").to_pylist(), dtype=object)
        summary["by_source_split"] = {
            str(split): _by_label(pvi[splits == split], labels[splits == split])
            for split in dict.fromkeys(splits.tolist())
        }
    return summary


def _by_label(pvi: np.ndarray, labels: np.ndarray) -> dict[str, Any]:
    named = {str(name): asdict(v_information(pvi[labels == name])) for name in np.unique(labels)}
    return {"overall": asdict(v_information(pvi)), "by_label": named}


def _with_length(rows: pa.Table) -> pa.Table:
    """Some corpora count no tokens: their score tables have no lengths."""
    if "length" in rows.column_names:
        return rows
    return rows.append_column("length", pa.nulls(rows.num_rows, pa.int32()))


def _table(rows: pa.Table, found: PointwiseVInformation, fold_of: np.ndarray) -> pa.Table:
    """The columns of a PVI table, in the order of `rows`."""
    columns = {
        **{name: rows.column(name) for name in ("uid", "content_id", "length")},
        **{name: pa.nulls(rows.num_rows) for name in ("log_likelihood", "lm_num_tokens")},
        "fold": pa.array(fold_of, pa.int8()),
        "status": pa.array([OK] * rows.num_rows, pa.string()),
        **{name: pa.array(values, pa.float32()) for name, values in vars(found).items()},
    }
    return pa.table([columns[name] for name in PVI_SCHEMA.names], names=PVI_SCHEMA.names).cast(PVI_SCHEMA)

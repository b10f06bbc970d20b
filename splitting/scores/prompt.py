"""Scores of a language model as it is, given a prompt (2210.06799, section 3)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from ...progress import Stage, no_progress
from .cache import open_workspace
from .rows import (
    DEFAULT_OPTIONS,
    ScoringOptions,
    check_rows,
    describe_model,
    digest_pairs,
    encode_rows,
    load_model,
    make_plan,
    make_table,
    model_key,
    run_plan,
    spread,
)
from .table import ScoreTable, score_identity
from .templates import PromptTemplate

if TYPE_CHECKING:
    from ...eval.models import CausalModel


def score_with_prompt(
    rows: pa.Table,
    template: PromptTemplate,
    model: str | CausalModel,
    *,
    revision: str | None = None,
    cache: Path,
    options: ScoringOptions = DEFAULT_OPTIONS,
    progress: Stage = no_progress,
) -> ScoreTable:
    """Score every row with a language model.

    `rows` has the columns uid, content_id, length, source_index and those of the template. `model` is a Hub
    id, a folder, "embedded", or a model that is loaded (then only the plan's options count). Scores depend
    neither on the order of rows nor on batch sizes nor on interruptions; work that an earlier call left in
    `cache` is not done again. A row that does not fit the model gets the status `overlength` and no score.

    Raises UsageError or SourceError for rows that the template cannot use, PrerequisiteError for a model
    that cannot be had. Warns (BenchwrightWarning) about cached scores that cannot be used or come from
    another environment.
    """
    check_rows(rows)
    loaded = load_model(model, revision, options)
    encoded = encode_rows(rows, template, loaded)
    plan = make_plan(encoded.pairs, loaded, options)
    key = {
        "scorer": "prompt",
        **model_key(loaded, options),
        "template": template.to_json(),
        "token_ids": digest_pairs(plan.sequences),
    }
    with open_workspace(cache, key, loaded.environment()) as workspace:
        finished = workspace.finished()
        if finished is None:
            distinct = run_plan(loaded, plan, workspace, "scoring", progress)
            workspace.finish(distinct, {})
        else:
            distinct, _ = finished
        environment = workspace.environment
    table = make_table(rows, encoded, spread(plan, distinct))
    provenance = {
        "key": key,
        "model": describe_model(loaded),
        "environment": environment,
    }
    return ScoreTable(table, provenance, score_identity(key))

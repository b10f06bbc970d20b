"""From rows to scores and back: encoding rows, running a plan through the cache, making the table."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...errors import SourceError, UsageError
from ...hashing import sha256_text
from ...progress import Stage
from .cache import SCORE, Workspace, read_scores, write_scores
from .table import EMPTY, OK, OVERLENGTH, SCHEMA
from .templates import PromptTemplate

if TYPE_CHECKING:
    from ...eval.models import CausalModel, ScoringPlan, TokenPair, TokenPairs

ROW_COLUMNS = ("uid", "content_id", "length", "source_index")
"""What scorers need of every row besides the columns of the template."""


@dataclass(frozen=True)
class ScoringOptions:
    """How a model is run.

    `token_budget` (tokens a batch) changes memory and speed, never a score. `share_prefixes` runs what many
    rows begin with only once; it moves the last bits of scores and is part of their identity. `start_token`
    and `end_token` override the model's (a token or its id). `dtype` should stay float32 where scores place
    rows.
    """

    device: str = "auto"
    dtype: str = "float32"
    start_token: str | int | None = None
    end_token: str | int | None = None
    token_budget: int | None = None
    share_prefixes: bool = True


DEFAULT_OPTIONS = ScoringOptions()


def load_model(model: str | CausalModel, revision: str | None, options: ScoringOptions) -> CausalModel:
    """The model that `options` describe; a loaded one as it is. Raises PrerequisiteError, UsageError."""
    if not isinstance(model, str):
        return model
    from ...eval.models import load_causal

    return load_causal(
        model,
        revision=revision,
        device=options.device,
        dtype=options.dtype,
        start_token=options.start_token,
        end_token=options.end_token,
    )


@dataclass(frozen=True)
class EncodedRows:
    """Token pairs of the rows that have something to score; `rows` (int64) says which rows those are."""

    pairs: TokenPairs
    rows: np.ndarray


def check_rows(rows: pa.Table) -> None:
    """Raise UsageError for a missing column or no rows, SourceError for a repeated uid or source_index."""
    missing = [name for name in ROW_COLUMNS if name not in rows.column_names]
    if missing:
        raise UsageError(f"rows to score lack {', '.join(missing)}; read them with a builder or a reader")
    if not rows.num_rows:
        raise UsageError("there are no rows to score; check the source and its filters")
    for name in ("uid", "source_index"):
        counts = pc.value_counts(rows.column(name))
        if len(counts) < rows.num_rows:
            value = counts.filter(pc.greater(counts.field("counts"), 1)).field("values")[0].as_py()
            raise SourceError("not unique", field=name, value=value, fix=f"give every row its own {name}")


def encode_rows(rows: pa.Table, template: PromptTemplate, model: CausalModel) -> EncodedRows:
    """The rows as `model` reads them through `template`, without those that are incomplete."""
    usable = np.flatnonzero(~template.incomplete(rows))
    contexts, continuations = ([part[row] for row in usable.tolist()] for part in template.render(rows))
    pairs = model.encode_pairs(
        contexts, continuations, start=template.start_token, end=template.score_end_token
    )
    return EncodedRows(pairs, usable)


def make_plan(pairs: Iterable[TokenPair], model: CausalModel, options: ScoringOptions) -> ScoringPlan:
    """The scoring plan of `pairs` for `model`."""
    from ...eval.models import plan_scoring

    budget = {} if options.token_budget is None else {"token_budget": options.token_budget}
    return plan_scoring(
        pairs, max_positions=model.max_positions, share_prefixes=shares_prefixes(model, options), **budget
    )


def shares_prefixes(model: CausalModel, options: ScoringOptions) -> bool:
    """Whether shared prefixes run once: wanted, and possible with the model."""
    return options.share_prefixes and model.supports_shared_prefixes


def model_key(model: CausalModel, options: ScoringOptions) -> dict[str, Any]:
    """The part of a score's identity that is the model and how it runs; a model's name is no part of it."""
    identity = {name: value for name, value in model.identity().items() if name not in ("model", "revision")}
    return {"model": identity, "share_prefixes": shares_prefixes(model, options)}


def describe_model(model: CausalModel) -> dict[str, Any]:
    """Name and revision of a model, for readers; scores do not depend on them."""
    identity = model.identity()
    return {name: identity.get(name) for name in ("model", "revision")}


def digest_pairs(pairs: TokenPairs) -> str:
    """`sha256:<hex>` of token ids and of what is scored, in order."""
    digest = hashlib.sha256(f"pairs:{len(pairs)}\n".encode())
    for values, kind in ((pairs.ids, "<i4"), (pairs.offsets, "<i8"), (pairs.context_lengths, "<i4")):
        digest.update(np.ascontiguousarray(values, dtype=kind).tobytes())
    return "sha256:" + digest.hexdigest()


def digest_rows(encoded: EncodedRows) -> str:
    """`sha256:<hex>` of the token ids of every row, and of which rows have some."""
    rows = np.ascontiguousarray(encoded.rows, dtype="<i8").tobytes()
    return sha256_text(f"{digest_pairs(encoded.pairs)} {hashlib.sha256(rows).hexdigest()}")


def run_plan(
    model: CausalModel, plan: ScoringPlan, workspace: Workspace, label: str, progress: Stage
) -> np.ndarray:
    """Score what the workspace does not hold yet, chunk by chunk; the scores (SCORE) of all distinct pairs.

    Raises UsageError if the model gives a score that is no number.
    """
    seal = workspace.seal.at(part="chunk", plan=plan.fingerprint)
    paths = [workspace.folder / f"chunk-{number:06}.scores" for number in range(len(plan.chunks))]
    chunks = [read_scores(path, seal.at(chunk=number)) for number, path in enumerate(paths)]
    scores = [stored[0] if stored is not None else None for stored in chunks]
    missing = [number for number, stored in enumerate(scores) if stored is None]
    members = [
        np.array([member.sequence for member in chunk.members], dtype=np.int64) for chunk in plan.chunks
    ]
    scored_tokens = plan.sequences.lengths - plan.sequences.context_lengths
    first_rows = np.array([rows[0] for rows in plan.inputs], dtype=np.int64)
    total = sum(int(scored_tokens[members[number]].sum()) for number in missing)
    with progress(label, total, "tokens") as report:
        for chunk in model.score(plan, missing) if missing else ():
            position = {row: at for at, row in enumerate(chunk.rows.tolist())}
            # Equal pairs are scored once and reported for each of their rows: the first row stands for all.
            chosen = np.array(
                [position[row] for row in first_rows[members[chunk.chunk]].tolist()], dtype=np.int64
            )
            stored = np.empty(len(chosen), dtype=SCORE)
            stored["item"] = members[chunk.chunk]
            stored["log_likelihood"] = chunk.log_likelihood[chosen]
            stored["num_tokens"] = chunk.num_tokens[chosen]
            _require_finite(stored["log_likelihood"])
            write_scores(paths[chunk.chunk], seal.at(chunk=chunk.chunk), stored)
            scores[chunk.chunk] = stored
            report(int(stored["num_tokens"].sum()))
    together = np.concatenate([np.empty(0, dtype=SCORE), *(chunk for chunk in scores if chunk is not None)])
    return together[np.argsort(together["item"], kind="stable")]


def _require_finite(values: np.ndarray) -> None:
    broken = int((~np.isfinite(values.astype(np.float32))).sum())
    if broken:
        raise UsageError(f"the model gave {broken} of {len(values)} texts no finite score; use dtype float32")


def spread(plan: ScoringPlan, distinct: np.ndarray) -> np.ndarray:
    """Scores of distinct pairs, in order, as scores (SCORE) of all planned pairs; NaN = none."""
    scores = np.empty(plan.rows, dtype=SCORE)
    scores["item"] = np.arange(plan.rows)
    scores["log_likelihood"] = np.nan
    scores["num_tokens"] = 0
    for name in ("log_likelihood", "num_tokens"):
        values = np.repeat(distinct[name], [len(rows) for rows in plan.inputs])
        scores[name][np.concatenate([np.empty(0, np.int64), *plan.inputs])] = values
    return scores


def make_table(
    rows: pa.Table, encoded: EncodedRows, scores: np.ndarray, fold: np.ndarray | None = None
) -> pa.Table:
    """The columns of a score table, from scores (SCORE) of the encoded rows; null where a row has none."""
    scored = ~np.isnan(scores["log_likelihood"])
    has_tokens = encoded.pairs.lengths > encoded.pairs.context_lengths
    status = np.full(rows.num_rows, EMPTY, dtype=object)
    status[encoded.rows] = np.where(scored, OK, np.where(has_tokens, OVERLENGTH, EMPTY))
    values, tokens = np.zeros(rows.num_rows, np.float32), np.zeros(rows.num_rows, np.int32)
    values[encoded.rows] = scores["log_likelihood"]
    tokens[encoded.rows] = scores["num_tokens"]
    columns = {
        "uid": rows.column("uid"),
        "content_id": rows.column("content_id"),
        "log_likelihood": pa.array(values, mask=status != OK),
        "lm_num_tokens": pa.array(tokens, mask=status != OK),
        "length": rows.column("length"),
        "fold": pa.nulls(rows.num_rows, pa.int8()) if fold is None else pa.array(fold, pa.int8()),
        "status": pa.array(status.tolist(), pa.string()),
    }
    return (
        pa.table([columns[name] for name in SCHEMA.names], names=SCHEMA.names).cast(SCHEMA).combine_chunks()
    )

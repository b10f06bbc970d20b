"""Scoring the rows of a release again, say on another machine, and what the new scores would change."""

from __future__ import annotations

import math
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ReleaseError, UsageError
from ..faults import FaultLog
from ..progress import Stage, no_progress
from ..release import ReleaseFolder
from ..splitting.base import DEFAULT_SEED, TRAIN, UNUSED, Assignment, Scores, SplitRows, splitters
from ..splitting.scores import ScoreTable, ScoringOptions
from ..splitting.scores.check import SCORE_TOLERANCE, check_cut, compare_scores
from .base import Builder, BuildOptions, ScoreSpec, SourceData
from .recorded import builder_of, options_of
from .scoring import make_table, model_and_revision
from .sources.origin import open_source

_UIDS_SHOWN = 20
_PLACED_BY_SCORE = "score"


@dataclass(frozen=True)
class ConfigEffect:
    """What new scores would do to one config.

    `flipped` rows would change between train and evaluation if the split were made again (the first twenty
    in `uids`); `margin` is the smallest difference in nats between a train and an evaluation row at a cut,
    None where cuts are not made in nats.
    """

    config: str
    flipped: int
    uids: tuple[str, ...]
    margin: float | None


@dataclass(frozen=True)
class RescoredTable:
    """One published score table against the same rows scored again.

    `same_identity` says that model, prompt, tokens and algorithm are equal, so that scores may differ by
    the arithmetic of the machine only. `largest_difference` is in nats, at row `largest_at`.
    """

    table: str
    same_identity: bool
    compared: int
    only_one: int
    largest_difference: float
    largest_at: str | None
    changed_ranks: int
    configs: tuple[ConfigEffect, ...]

    def within(self, tolerance: float = SCORE_TOLERANCE) -> bool:
        """Whether no score is missing or off by more than `tolerance` nats and no row would change sides."""
        close = self.largest_difference <= tolerance and not self.only_one
        return self.same_identity and close and not any(effect.flipped for effect in self.configs)


def rescore(
    release: str | Path | ReleaseFolder,
    *,
    source: str | Path,
    lm: str | None = None,
    device: str = "auto",
    progress: Stage = no_progress,
) -> list[RescoredTable]:
    """Score every row again as the manifest says, for each score table, and compare.

    The model is the recorded one, at the recorded revision, unless `lm` names where to find it (a folder,
    say). Cached scores are left aside: every score is computed. Raises ReleaseError for a release without
    scores, SourceError if `source` holds other rows, UsageError if `lm` would stand for several models.
    """
    folder = release if isinstance(release, ReleaseFolder) else ReleaseFolder(release)
    if "scores" not in folder.configs:
        raise ReleaseError(f"{folder.path} has no score tables; there is nothing to score again")
    manifest = folder.manifest
    entries = manifest["scores"]
    models = {entry["provenance"]["key"]["model"]["weights_sha256"] for entry in entries.values()}
    if lm is not None and len(models) > 1:
        raise UsageError(f"the score tables come from {len(models)} models, which one --lm cannot stand for")
    builder = builder_of(manifest)
    root, origin = open_source(builder, source)
    faults = FaultLog(manifest["source"]["on_bad_row"])
    data = builder.read(root, faults, origin, builder.resolved(options_of(manifest)))
    uids, content_ids = (data.table.column(column).combine_chunks() for column in ("uid", "content_id"))
    published = {name: ScoreTable.from_release(folder, name).select(uids, content_ids) for name in entries}
    reports = []
    for name, entry in entries.items():
        with tempfile.TemporaryDirectory(prefix="benchwright-rescore-") as scratch:
            made = _score_again(builder, data, name, entry, lm, device, Path(scratch), progress)
        again = made.select(uids, content_ids)
        reports.append(_compare(folder, builder.split_rows(data), name, published[name], again))
    return reports


def _score_again(
    builder: Builder,
    data: SourceData,
    name: str,
    entry: dict[str, Any],
    lm: str | None,
    device: str,
    cache: Path,
    progress: Stage,
) -> ScoreTable:
    key, recorded = entry["provenance"]["key"], entry["provenance"]["model"]
    model, revision = recorded["model"], recorded.get("revision")
    if lm is not None:
        model, revision = model_and_revision(lm)
    return make_table(
        builder,
        data.table,
        ScoreSpec(name, entry["scorer"], {"model": model, "revision": revision, "k": key.get("k")}),
        BuildOptions(prompt=key["template"]["name"], seed=key.get("seed", DEFAULT_SEED)),
        ScoringOptions(
            device=device,
            dtype=key["model"]["dtype"],
            start_token=_chosen(key["model"]["start_token"]),
            end_token=_chosen(key["model"]["end_token"]),
            share_prefixes=key["share_prefixes"],
        ),
        cache,
        recipe=key.get("recipe"),
        progress=progress,
    )


def _chosen(token: dict[str, Any]) -> int | None:
    """The id of a token that an option chose; None where the model's own rule did, and will again."""
    return token["id"] if token["rule"] == "option" else None


def _compare(
    folder: ReleaseFolder, rows: SplitRows, name: str, published: ScoreTable, again: ScoreTable
) -> RescoredTable:
    old, new = published.scores(), again.scores()
    found = compare_scores(old.log_likelihood, new.log_likelihood)
    effects = []
    for config, entry in folder.placed_configs.items():
        if entry["scores"] != name:
            continue
        splitter = splitters.get(entry["splitter"])(**entry["parameters"])
        before, after = splitter.split(rows, old), splitter.split(rows, new)
        flipped = np.flatnonzero((before.side == TRAIN) != (after.side == TRAIN))
        shown = rows.names(flipped[:_UIDS_SHOWN])
        effects.append(ConfigEffect(config, len(flipped), shown, _margin(entry, rows, before, old, new)))
    return RescoredTable(
        table=name,
        same_identity=published.identity == again.identity,
        compared=found.compared,
        only_one=len(found.only_one),
        largest_difference=found.largest_difference,
        largest_at=rows.uids[found.largest_at].as_py() if found.largest_at >= 0 else None,
        changed_ranks=len(found.changed_ranks),
        configs=tuple(effects),
    )


def _margin(
    entry: dict[str, Any], rows: SplitRows, before: Assignment, old: Scores, new: Scores
) -> float | None:
    """The margin at the cuts, which lie within labels, and within lengths under length control.

    None where cuts are made in another quantity than the log-likelihood, in quantile buckets or by groups.
    """
    parameters = entry["parameters"]
    control = parameters.get("length_control")
    in_nats = parameters.get("criterion", "log_likelihood") == "log_likelihood"
    if not in_nats or control not in (None, "exact") or rows.groups is not None:
        return None
    strata = np.zeros(len(rows), dtype=np.int64) if rows.labels is None else rows.labels.astype(np.int64)
    if control == "exact":
        assert rows.lengths is not None
        strata = strata * (int(rows.lengths.max(initial=0)) + 1) + rows.lengths
    by_score = np.where(before.placed_by == _PLACED_BY_SCORE, before.side, UNUSED).astype(np.int8)
    margin = check_cut(old.log_likelihood, new.log_likelihood, by_score, strata).margin
    return None if math.isnan(margin) else margin

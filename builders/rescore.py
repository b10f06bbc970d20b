"""Scoring the rows of a release again, say on another machine, and what the new scores would change."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping
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
from ..splitting.scores.table import OVERLAP_SCORER, PVI_SCORER
from ._errata import scores_with_withdrawn
from ._parts import Part, SourceParts
from .base import Builder, BuildOptions, ConfigSpec, ScoreSpec
from .recorded import builder_of, options_of, spec_of
from .scoring import DEFAULT_FOLDS, make_table, model_and_revision
from .sources.origin import open_source

_UIDS_SHOWN = 20
_PLACED_BY_SCORE = "score"


@dataclass(frozen=True)
class ConfigEffect:
    """What new scores would do to one config.

    `flipped` rows would change between train and evaluation if the split were made again, for V-information
    between any two sides or be used no longer (the first twenty in `uids`); `margin` is the smallest
    difference in nats between a train and an evaluation row at a cut, None where cuts are not made in nats.
    """

    config: str
    flipped: int
    uids: tuple[str, ...]
    margin: float | None


@dataclass(frozen=True)
class RescoredTable:
    """One published score table against the same rows scored again.

    `same_identity` says that model, prompt, tokens and algorithm are equal, so that scores may differ by
    the arithmetic of the machine only. `largest_difference` is in `unit`, at row `largest_at`: nats of
    log-likelihoods, bits of pointwise V-information.
    """

    table: str
    unit: str
    same_identity: bool
    compared: int
    only_one: int
    largest_difference: float
    largest_at: str | None
    changed_ranks: int
    configs: tuple[ConfigEffect, ...]

    def within(self, tolerance: float = SCORE_TOLERANCE) -> bool:
        """Whether no score is missing or off by more than `tolerance` and no row would change sides."""
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
    if any(entry["scorer"] == OVERLAP_SCORER for entry in entries.values()):
        raise ReleaseError(
            f"{folder.path}: its scores come from corpora and not from a model; build it again with --corpus "
            "and compare with `benchwright diff`"
        )
    # By name: the weights of a classifier's new head depend on its labels.
    models = {entry["provenance"]["model"]["model"] for entry in entries.values()}
    if lm is not None and len(models) > 1:
        raise UsageError(f"the score tables come from {len(models)} models, which one --lm cannot stand for")
    read = {entry["scores"] for entry in folder.placed_configs.values()}
    for name in entries:
        if name not in read:
            raise ReleaseError(
                f"{folder.path}: no config reads score table {name!r}, so that nothing tells its rows; "
                "rescore a release that has such a config"
            )
    builder = builder_of(manifest)
    root, origin = open_source(builder, source)
    faults = FaultLog(manifest["source"]["on_bad_row"])
    data = builder.read(root, faults, origin, builder.resolved(options_of(manifest)))
    reports = []
    for name in entries:
        configs = {
            config: spec_of(config, made)
            for config, made in folder.placed_configs.items()
            if made["scores"] == name
        }
        tables = {name: scores_with_withdrawn(folder, name)}
        parts = SourceParts(builder, data, configs.values(), tables)
        part = parts.part_of(next(iter(configs.values())))
        with tempfile.TemporaryDirectory(prefix="benchwright-rescore-") as scratch:
            made = _score_again(builder, part, configs, name, lm, device, Path(scratch), progress)
        reports.append(_compare(configs, part, name, made))
    return reports


def _score_again(
    builder: Builder,
    part: Part,
    configs: Mapping[str, ConfigSpec],
    name: str,
    lm: str | None,
    device: str,
    cache: Path,
    progress: Stage,
) -> ScoreTable:
    published = part.tables[name]
    key, recorded = published.provenance["key"], published.provenance["model"]
    model, revision = recorded["model"], recorded.get("revision")
    if lm is not None:
        model, revision = model_and_revision(lm)
    parameters = {"model": model, "revision": revision, "k": key.get("k") or DEFAULT_FOLDS}
    in_bits = published.scorer == PVI_SCORER
    options, scoring = _pvi_options(key, device) if in_bits else _lm_options(key, device)
    return make_table(
        builder,
        part.data.table,
        builder.task_of(next(iter(configs.values()))),
        ScoreSpec(name, published.scorer, parameters),  # type: ignore[arg-type]
        options,
        scoring,
        cache,
        recipe=key.get("recipe"),
        progress=progress,
    )


def _lm_options(key: dict[str, Any], device: str) -> tuple[BuildOptions, ScoringOptions]:
    scoring = ScoringOptions(
        device=device,
        dtype=key["model"]["dtype"],
        start_token=_chosen(key["model"]["start_token"]),
        end_token=_chosen(key["model"]["end_token"]),
        share_prefixes=key["share_prefixes"],
    )
    return BuildOptions(prompt=key["template"]["name"], seed=key.get("seed", DEFAULT_SEED)), scoring


def _pvi_options(key: dict[str, Any], device: str) -> tuple[BuildOptions, ScoringOptions]:
    options = BuildOptions(seed=key["seed"], pvi_fit=key["fit"], pvi_zero_label=key["zero_label"])
    return options, ScoringOptions(device=device)


def _chosen(token: dict[str, Any]) -> int | None:
    """The id of a token that an option chose; None where the model's own rule did, and will again."""
    return token["id"] if token["rule"] == "option" else None


def _compare(configs: Mapping[str, ConfigSpec], part: Part, name: str, again: ScoreTable) -> RescoredTable:
    published = part.tables[name]
    uids = published.table.column("uid").combine_chunks()
    again = again.select(uids, published.table.column("content_id").combine_chunks())
    old, new = published.scores(), again.scores()
    in_bits = old.pvi is not None and new.pvi is not None
    values = [old.pvi, new.pvi] if in_bits else [old.log_likelihood, new.log_likelihood]
    found = compare_scores(*values)
    effects = []
    for config, spec in configs.items():
        splitter, rows = splitters.get(spec.splitter)(**spec.parameters), part.split_rows(spec)
        before, after = splitter.split(rows, old), splitter.split(rows, new)
        # V-information also decides which rows are used at all.
        sides = [made.side if in_bits else made.side == TRAIN for made in (before, after)]
        flipped = np.flatnonzero(sides[0] != sides[1])
        margin = None if in_bits else _margin(spec, rows, before, old, new)
        effects.append(ConfigEffect(config, len(flipped), rows.names(flipped[:_UIDS_SHOWN]), margin))
    return RescoredTable(
        table=name,
        unit="bits" if in_bits else "nats",
        same_identity=published.identity == again.identity,
        compared=found.compared,
        only_one=len(found.only_one),
        largest_difference=found.largest_difference,
        largest_at=uids[found.largest_at].as_py() if found.largest_at >= 0 else None,
        changed_ranks=len(found.changed_ranks),
        configs=tuple(effects),
    )


def _margin(spec: ConfigSpec, rows: SplitRows, before: Assignment, old: Scores, new: Scores) -> float | None:
    """The margin at the cuts, which lie within labels, and within lengths under length control.

    None where cuts are made in another quantity than the log-likelihood, in quantile buckets or by groups.
    """
    parameters = spec.parameters
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

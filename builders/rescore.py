"""Scoring the rows of a release again, say on another machine, and what the new scores would change."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..cache import cache_folder
from ..errors import ReleaseError
from ..faults import FaultLog
from ..progress import Stage, no_progress
from ..release import ReleaseFolder
from ..splitting import splitters
from ..splitting.scores import ScoreTable, ScoringOptions
from ..splitting.scores.check import check_cut, compare_scores
from .base import Builder, BuildOptions, ScoreSpec, SourceData
from .rebuild import builder_of
from .scoring import make_table
from .sources.origin import open_source

_UIDS_SHOWN = 20
_PLACED_BY_SCORE = "score"


@dataclass(frozen=True)
class ConfigEffect:
    """What new scores would do to one config.

    `flipped` rows would change between train and evaluation if the split were made again (the first twenty
    in `uids`); `margin` is the smallest difference in nats between a train and an evaluation row at a cut.
    """

    config: str
    flipped: int
    uids: tuple[str, ...]
    margin: float


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

    def within(self, tolerance: float) -> bool:
        """Whether no score is missing or off by more than `tolerance` nats and no row would change sides."""
        close = self.largest_difference <= tolerance and not self.only_one
        return self.same_identity and close and not any(effect.flipped for effect in self.configs)


def rescore(
    release: str | Path | ReleaseFolder,
    *,
    source: str | Path,
    lm: str | None = None,
    device: str = "auto",
    keep_models: bool = False,
    cache: str | Path | None = None,
    progress: Stage = no_progress,
) -> list[RescoredTable]:
    """Score every row again as the manifest says, for each score table, and compare.

    The model is the recorded one unless `lm` names where to find it (a folder, say). Raises ReleaseError
    for a release without scores, SourceError if `source` holds other rows.
    """
    folder = release if isinstance(release, ReleaseFolder) else ReleaseFolder(release)
    if "scores" not in folder.configs:
        raise ReleaseError(f"{folder.path} has no score tables; there is nothing to score again")
    manifest = folder.manifest
    builder = builder_of(manifest)
    root, origin = open_source(builder, source)
    data = builder.read(root, FaultLog(manifest["source"]["on_bad_row"]), origin)
    reports = []
    for name, entry in manifest["scores"].items():
        made = _score_again(
            builder, data, name, entry, lm, device, keep_models, cache_folder(cache), progress
        )
        reports.append(_compare(folder, builder, data, name, made))
    return reports


def _score_again(
    builder: Builder,
    data: SourceData,
    name: str,
    entry: dict[str, Any],
    lm: str | None,
    device: str,
    keep_models: bool,
    cache: Path,
    progress: Stage,
) -> ScoreTable:
    key = entry["provenance"]["key"]
    model = lm or entry["provenance"]["model"]["model"]
    return make_table(
        builder,
        data.table,
        ScoreSpec(name, entry["scorer"], {"model": model, "k": key.get("k")}),
        BuildOptions(prompt=key["template"]["name"], seed=key.get("seed", 42)),
        ScoringOptions(
            device=device,
            dtype=key["model"]["dtype"],
            start_token=_chosen(key["model"]["start_token"]),
            end_token=_chosen(key["model"]["end_token"]),
            share_prefixes=key["share_prefixes"],
        ),
        cache,
        recipe=key.get("recipe"),
        keep_models=keep_models,
        progress=progress,
    )


def _chosen(token: dict[str, Any]) -> int | None:
    """The id of a token that an option chose; None where the model's own rule did, and will again."""
    return token["id"] if token["rule"] == "option" else None


def _compare(
    folder: ReleaseFolder, builder: Builder, data: SourceData, name: str, made: ScoreTable
) -> RescoredTable:
    uids, content_ids = (data.table.column(column).combine_chunks() for column in ("uid", "content_id"))
    published = ScoreTable.from_release(folder, name).select(uids, content_ids)
    again = made.select(uids, content_ids)
    found = compare_scores(published.scores().log_likelihood, again.scores().log_likelihood)
    rows = builder.split_rows(data)
    effects = []
    for config, entry in folder.placed_configs.items():
        if entry["scores"] != name:
            continue
        splitter = splitters.get(entry["splitter"])(**entry["parameters"])
        before, after = splitter.split(rows, published.scores()), splitter.split(rows, again.scores())
        flipped = np.flatnonzero((before.side == 0) != (after.side == 0))
        by_score = np.where(before.placed_by == _PLACED_BY_SCORE, before.side, -1).astype(np.int8)
        cut = check_cut(
            published.scores().log_likelihood, again.scores().log_likelihood, by_score, _strata(entry, rows)
        )
        shown = tuple(pc.take(uids, pa.array(flipped[:_UIDS_SHOWN])).to_pylist())
        effects.append(ConfigEffect(config, len(flipped), shown, cut.margin))
    return RescoredTable(
        table=name,
        same_identity=published.identity == made.identity,
        compared=found.compared,
        only_one=len(found.only_one),
        largest_difference=found.largest_difference,
        largest_at=uids[found.largest_at].as_py() if found.largest_at >= 0 else None,
        changed_ranks=len(found.changed_ranks),
        configs=tuple(effects),
    )


def _strata(entry: dict[str, Any], rows: Any) -> np.ndarray | None:
    """Rows that are cut apart from others: those of one label, and of one length under length control."""
    strata = np.zeros(len(rows), dtype=np.int64)
    if rows.labels is not None:
        strata = rows.labels.astype(np.int64)
    if entry["parameters"].get("length_control") == "exact" and rows.lengths is not None:
        strata = strata * (int(rows.lengths.max(initial=0)) + 1) + rows.lengths
    return strata

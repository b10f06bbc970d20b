"""Stored baseline results and their analyses, as tables.

Values come from `results/*/*.json`, comparisons between configs from `results/index.json` (`analyses`),
where the evaluation wrote them. Nothing is computed here but what makes a result stale.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import ReleaseError
from ..hashing import canonical_json, sha256_text
from ..release import ReleaseFolder
from . import checks

INDEX = "results/index.json"

RunKey = tuple[str, str | None, str]


def analysis_entries(
    release: ReleaseFolder,
    index: Mapping[str, Any],
    kind: str,
    check: checks.Check,
    *,
    fix: str = "evaluate the release again",
) -> list[Mapping[str, Any]]:
    """The entries of an analysis in the index of results. Raises ReleaseError where one lacks a field."""
    entries: Any = (index.get("analyses") or {}).get(kind) or []
    try:
        checks.list_of(check)(entries, f"analyses.{kind}")
    except ValueError as error:
        raise ReleaseError(f"{release.path / INDEX}: {error}; {fix}") from None
    return list(entries)


@dataclass(frozen=True)
class ResultLine:
    """One baseline on one config; `value`, `low`, `high`, `drop` are fractions, None where not known.

    `others` maps the further metrics to their values; `remarks` are (what, rows): answers that were left
    out, or that count though something is the matter with them. `analysed` says that the analyses of the
    index take it in: it was not stale when they were made.
    """

    config: str
    reverse_of: str | None
    evaluated_on: str
    value: float
    low: float | None
    high: float | None
    n: int
    others: Mapping[str, float]
    remarks: tuple[tuple[str, int], ...]
    stale: str | None
    analysed: bool
    drop: float | None
    relative_error_increase: float | None


@dataclass(frozen=True)
class RunTable:
    """One baseline with one set of settings on all its configs; random splits first, reverse after forward.

    `spread` is (mean, standard deviation, number of random splits), or None with fewer than two of them.
    """

    baseline: str
    model: str | None
    settings_hash: str
    metric: str
    interval: str
    settings: str
    seed: int | None
    limit: int | None
    lines: tuple[ResultLine, ...]
    random_lines: int
    spread: tuple[float, float, int] | None
    has_drops: bool

    @property
    def key(self) -> RunKey:
        """What tells runs apart: baseline, model, hash of the settings."""
        return self.baseline, self.model, self.settings_hash

    @property
    def other_metrics(self) -> tuple[str, ...]:
        """Further metrics of any line, in order of first appearance."""
        return tuple(dict.fromkeys(name for line in self.lines for name in line.others))


@dataclass(frozen=True)
class ScorerEffect:
    """What the choice of the scoring model or of the number of folds changes."""

    correlations: tuple[Mapping[str, Any], ...]
    overlaps: tuple[Mapping[str, Any], ...]
    comparisons: tuple[Mapping[str, Any], ...]

    def __bool__(self) -> bool:
        return bool(self.correlations or self.overlaps or self.comparisons)


def read_index(release: ReleaseFolder) -> dict[str, Any]:
    """`results/index.json`, or an empty index if nothing was evaluated. Raises ReleaseError if it is none."""
    path = release.path / INDEX
    if not path.is_file():
        return {"results": [], "analyses": {}}
    try:
        index = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ReleaseError(f"{path} is not JSON ({error}); evaluate the release again") from None
    if not isinstance(index, dict):
        raise ReleaseError(f"{path} is no index of results; evaluate the release again")
    return index


def run_tables(release: ReleaseFolder, index: Mapping[str, Any]) -> list[RunTable]:
    """One table per baseline, model and settings, in order of first appearance.

    Raises ReleaseError for a stored result that lacks a field.
    """
    analyses = index.get("analyses") or {}
    stale = {(*_key(entry), entry["config"]): entry.get("stale") for entry in index.get("results") or ()}
    runs: dict[RunKey, dict[str, Mapping[str, Any]]] = {}
    try:
        for result in _stored(release):
            runs.setdefault(_key(result), {})[result["config"]] = result
        return [_table(release, key, results, analyses, stale) for key, results in runs.items()]
    except (AttributeError, KeyError, TypeError, StopIteration) as error:
        raise ReleaseError(
            f"a result in {release.path / 'results'} lacks {error}; delete it and evaluate again"
        ) from None


def scorer_effect(index: Mapping[str, Any]) -> ScorerEffect:
    """Correlations of score tables, shared evaluation rows, values on configs that differ in scores only."""
    analyses = index.get("analyses") or {}
    return ScorerEffect(
        correlations=tuple(analyses.get("score_correlations") or ()),
        overlaps=tuple(analyses.get("evaluation_overlaps") or ()),
        comparisons=tuple(analyses.get("scorer_comparison") or ()),
    )


def _remarks(result: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    for reason, rows in (result.get("left_out") or {}).items():
        yield f"left out: {reason}", rows
    yield from (result.get("flagged") or {}).items()
    for metric, found in result["metrics"].items():
        for reason, rows in (found.get("left_out") or {}).items():
            yield f"left out of {metric_words(metric)}: {reason}", rows


def metric_words(metric: str) -> str:
    """A metric's name in words: macro_f1 -> macro F1."""
    return metric.replace("_", " ").replace("f1", "F1").replace("matthews", "Matthews")


def stale_reason(release: ReleaseFolder, result: Mapping[str, Any]) -> str | None:
    """Why a result does not speak of the rows and the task of this release, as far as its own fields say."""
    if result["config"] not in release.placed_configs:
        return "the config is gone"
    entry = release.config(result["config"])
    for split, content_hash in result["splits"].items():
        if entry["splits"].get(split, {}).get("content_hash") != content_hash:
            return f"the rows of {split} have changed"
    if "task_hash" in result and result["task_hash"] != sha256_text(canonical_json(entry["task"])):
        return "the task has changed"
    return None


def _stored(release: ReleaseFolder) -> list[dict[str, Any]]:
    order = {name: place for place, name in enumerate(release.configs)}
    try:
        return sorted(release.results(), key=lambda result: order.get(result["config"], len(order)))
    except ValueError as error:
        folder = release.path / "results"
        raise ReleaseError(
            f"a result in {folder} is not JSON ({error}); delete it and evaluate again"
        ) from None


def _key(result: Mapping[str, Any]) -> RunKey:
    return result["baseline"], result.get("model"), result["settings_hash"]


def _table(
    release: ReleaseFolder,
    key: RunKey,
    results: Mapping[str, Mapping[str, Any]],
    analyses: Mapping[str, Any],
    stale: Mapping[tuple[Any, ...], str | None],
) -> RunTable:
    first = next(iter(results.values()))
    metric = next(iter(first["metrics"]))
    drops = {found["config"]: found for found in _of_run(analyses.get("drops"), key, metric)}
    spreads = _of_run(analyses.get("random_spread"), key, metric)
    random, ordered = _ordered(release, results)
    lines = tuple(
        _line(release, results[name], metric, drops.get(name, {}), stale.get((*key, name)))
        for name in [*random, *ordered]
    )
    return RunTable(
        baseline=key[0],
        model=key[1],
        settings_hash=key[2],
        metric=metric,
        interval=first["metrics"][metric].get("interval") or "",
        settings=canonical_json(first.get("settings") or {}),
        seed=first.get("seed"),
        limit=first.get("limit"),
        lines=lines,
        random_lines=len(random),
        spread=next(((s["mean"], s["standard_deviation"], len(s["configs"])) for s in spreads), None),
        has_drops=any(line.drop is not None for line in lines),
    )


def _of_run(entries: Iterable[Mapping[str, Any]] | None, key: RunKey, metric: str) -> list[Mapping[str, Any]]:
    return [entry for entry in entries or () if _key(entry) == key and entry["metric"] == metric]


def _ordered(release: ReleaseFolder, results: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Random splits, and the other configs with every reverse right after its forward config."""
    entries = release.placed_configs
    random = [name for name in results if entries.get(name, {}).get("splitter") == "random"]
    others = [name for name in results if name not in random]
    reverse_of = {name: entries.get(name, {}).get("reverse_of") for name in others}
    ordered = []
    for name in others:
        if reverse_of[name] not in others:
            ordered += [name, *(reverse for reverse in others if reverse_of[reverse] == name)]
    return random, ordered


def _line(
    release: ReleaseFolder,
    result: Mapping[str, Any],
    metric: str,
    drop: Mapping[str, Any],
    stale: str | None,
) -> ResultLine:
    summary = result["metrics"][metric]
    name = result["config"]
    return ResultLine(
        config=name,
        reverse_of=release.placed_configs.get(name, {}).get("reverse_of"),
        evaluated_on=result["evaluated_on"],
        value=summary["value"],
        low=summary.get("low"),
        high=summary.get("high"),
        n=summary["n"],
        others={other: found["value"] for other, found in result["metrics"].items() if other != metric},
        remarks=tuple(_remarks(result)),
        stale=stale_reason(release, result) or stale,
        analysed=stale is None,
        drop=drop.get("drop"),
        relative_error_increase=drop.get("relative_error_increase"),
    )

"""Stored results: one JSON file per config, baseline and settings, with the answers beside it.

    results/<config>/<baseline>[--<model>]--<settings hash>.json
    results/<config>/<baseline>[--<model>]--<settings hash>.predictions.jsonl
    results/index.json

A result carries hashes of everything that it was made from and no times, hosts or paths.
"""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from ..atomic import atomic_open, write_text
from ..errors import ReleaseError
from ..hashing import canonical_json, sha256_text
from ..release import ReleaseFolder
from ..tasks import Task
from .baselines import Predictions, baselines
from .judging import table_hash
from .metrics import MetricValue, metrics

FORMAT = 1
FOLDER = "results"
INDEX = "index.json"

_UNSAFE = re.compile(r"[^a-z0-9._]+")
_PACKAGES = ("benchwright", "numpy", "pyarrow", "scikit-learn")
_OPTIONAL = ("flagged", "training", "unavailable", "tables", "databases", "withheld")
"""Fields that stand in the stored form only if they say something."""


@dataclass(frozen=True)
class Result:
    """The score of one baseline on one split of one config.

    `splits` maps the splits that were used (the evaluated one, and train where the baseline learns) to
    their content hashes. `metrics` maps names to value, n, low, high (fractions), interval and version;
    the first is the headline; a metric that could not judge every answered row, or judged some not as they
    stand, counts them by reason in its own `left_out` and `flagged`. `unavailable` says why metrics of the
    task are missing. `left_out` counts rows without an answer by reason, `flagged` rows that were answered
    and count, but not as they stand, for any metric. `tables` maps the side tables that metrics read to
    their hashes, `databases` is a hash of the databases, if any. `training` is what a baseline that trains a
    model says of it. `environment` is what the model says of its device; empty without a model.
    `withheld` says that the answers are text that may not be passed on and were taken out.
    """

    config: str
    task: str
    task_hash: str
    baseline: str
    model: str | None
    settings: dict[str, Any]
    seed: int
    limit: int | None
    evaluated_on: str
    splits: dict[str, str]
    metrics: dict[str, dict[str, Any]]
    predictions_hash: str
    left_out: dict[str, int] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    environment: dict[str, Any] = field(default_factory=dict)
    flagged: dict[str, int] = field(default_factory=dict)
    unavailable: dict[str, str] = field(default_factory=dict)
    tables: dict[str, str | None] = field(default_factory=dict)
    databases: str | None = None
    training: dict[str, Any] = field(default_factory=dict)
    withheld: bool = False

    @property
    def settings_hash(self) -> str:
        """Hash of everything but config and rows: results that may be compared across configs share it."""
        return settings_hash(self.baseline, self.settings, self.seed, self.limit, self.evaluated_on)

    @property
    def headline(self) -> str:
        return next(iter(self.metrics))

    @property
    def file(self) -> str:
        """Path of the JSON file inside the release, with `/`."""
        return result_file(self.config, self.baseline, self.model, self.settings_hash)

    @property
    def predictions_file(self) -> str:
        return self.file.removesuffix(".json") + ".predictions.jsonl"

    def to_json(self) -> dict[str, Any]:
        """The stored form, in a fixed order of keys."""
        return {
            "format": FORMAT,
            "config": self.config,
            "task": self.task,
            "task_hash": self.task_hash,
            "baseline": self.baseline,
            "model": self.model,
            "settings": self.settings,
            "settings_hash": self.settings_hash,
            "seed": self.seed,
            "limit": self.limit,
            "splits": self.splits,
            "evaluated_on": self.evaluated_on,
            "metrics": self.metrics,
            "left_out": self.left_out,
            "predictions_hash": self.predictions_hash,
            "versions": self.versions,
            "environment": self.environment,
            **{name: found for name in _OPTIONAL if (found := getattr(self, name))},
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Result:
        """Raises KeyError for a missing field and ValueError for a format that this version does not know."""
        if data["format"] != FORMAT:
            raise ValueError(f"format {data['format']!r}")
        required = (name for name in cls.__dataclass_fields__ if name not in _OPTIONAL)
        optional = {name: data[name] for name in _OPTIONAL if name in data}
        return cls(**{name: data[name] for name in required}, **optional)


def settings_hash(baseline: str, settings: dict[str, Any], seed: int, limit: int | None, split: str) -> str:
    """`sha256:<hex>` of what a run depends on besides the config."""
    return sha256_text(canonical_json([baseline, settings, seed, limit, split]))


def task_hash(task: Task) -> str:
    """`sha256:<hex>` of a task's inputs, target, labels and metrics."""
    return sha256_text(canonical_json(task.to_json()))


def result_file(config: str, baseline: str, model: str | None, settings: str) -> str:
    """Path of a result inside the release. Names of baselines and models cannot leave the config's folder."""
    parts = [baseline, *([model] if model is not None else []), settings.removeprefix("sha256:")[:12]]
    return f"{FOLDER}/{config}/{'--'.join(map(_slug, parts))}.json"


def metric_json(name: str, value: MetricValue) -> dict[str, Any]:
    """What a result keeps of a metric's value."""
    summary = {"value": value.value, "n": value.n, "low": value.low, "high": value.high}
    counts = {
        "left_out": dict(value.left_out),
        "flagged": {reason: len(rows) for reason, rows in value.flagged.items()},
    }
    found = {key: count for key, count in counts.items() if count}
    return {**summary, "interval": value.interval, "version": metrics.get(name).version, **found}


def library_versions() -> dict[str, str]:
    """Versions of Python and of the libraries that results depend on, as far as they are installed."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def stale_reason(result: Result, release: ReleaseFolder) -> str | None:
    """Why a stored result no longer speaks of this release, or None if it does."""
    if result.config not in release.placed_configs:
        return f"the release has no config {result.config!r}"
    for split, content_hash in result.splits.items():
        if release.rows_hash(result.config, split) != content_hash:
            return f"the rows of {result.config}/{split} have changed"
    if result.task_hash != task_hash(release.task(result.config)):
        return f"the task of {result.config} has changed"
    for name, metric in result.metrics.items():
        if name not in metrics or metrics.get(name).version != metric["version"]:
            return f"the metric {name} has changed"
    for table, table_content in result.tables.items():
        if table_hash(release, table) != table_content:
            return f"the table {table} has changed"
    if result.baseline in baselines and baselines.get(result.baseline).version != result.settings["version"]:
        return f"the baseline {result.baseline} has changed"
    if result.withheld:
        return None
    answers = read_predictions_hash(release.path / result.predictions_file)
    if answers != result.predictions_hash:
        return (
            f"{result.predictions_file} is {'missing' if answers is None else 'not the file that was judged'}"
        )
    return None


def write_result(
    release: ReleaseFolder, result: Result, predictions: Predictions, values: dict[str, MetricValue]
) -> None:
    """Write the answers with their scores, then the result: where it is current, its answers are whole."""
    with atomic_open(release.path / result.predictions_file) as handle:
        for row, (uid, answer) in enumerate(zip(predictions.uids, predictions.values, strict=True)):
            scores = {
                name: _number(value.per_example[row])
                for name, value in values.items()
                if not np.isnan(value.per_example[row])
            }
            line: dict[str, Any] = {"uid": uid, "prediction": answer, "scores": scores}
            reasons = _reasons(values, row)
            flags = [reason for reason, uids in predictions.flagged.items() if uid in uids] + list(reasons)
            if flags:
                line["flags"] = flags
            if reasons:
                line["reasons"] = reasons
            handle.write(json.dumps(line, ensure_ascii=False) + "\n")
    write_text(release.path / result.file, _pretty(result.to_json()))


def _reasons(values: dict[str, MetricValue], row: int) -> dict[str, str]:
    """What metrics found the matter with a row, by flag."""
    found = (pair for value in values.values() for pair in value.flagged.items())
    return {flag: rows[row] for flag, rows in found if row in rows}


def read_examples(release: ReleaseFolder, result: Result) -> list[dict[str, Any]]:
    """The lines of a result's per-example file: uid, prediction, scores by metric, and what is flagged.

    Raises ReleaseError if the file is missing or cannot be read.
    """
    path = release.path / result.predictions_file
    try:
        lines = [json.loads(line) for line in path.read_bytes().decode("utf-8").split("\n") if line]
        if not all({"uid", "prediction", "scores"} <= line.keys() for line in lines):
            raise ValueError("a line lacks uid, prediction or scores")
    except (OSError, ValueError, AttributeError) as error:
        raise ReleaseError(f"{path} cannot be read ({error}); evaluate again") from None
    return lines


def stored_predictions(release: ReleaseFolder, result: Result) -> Predictions:
    """The answers of a stored result, to be judged again. Raises ReleaseError for a file that is none."""
    by_metrics = {flag for metric in result.metrics.values() for flag in metric.get("flagged", ())}
    flagged: dict[str, set[str]] = {}
    uids, values = [], []
    for line in read_examples(release, result):
        uids.append(line["uid"])
        answer = line["prediction"]
        values.append(tuple(answer) if isinstance(answer, list) else answer)
        for flag in line.get("flags", ()):
            if flag not in by_metrics:
                flagged.setdefault(flag, set()).add(line["uid"])
    frozen = {flag: frozenset(members) for flag, members in flagged.items()}
    return Predictions(uids, values, dict(result.left_out), frozen, dict(result.training))


def read_predictions_hash(path: Path) -> str | None:
    """The predictions hash of a stored per-example file; None if it is missing or not readable."""
    try:
        lines = [json.loads(line) for line in path.read_bytes().decode("utf-8").split("\n") if line]
        return Predictions([line["uid"] for line in lines], [line["prediction"] for line in lines]).hash
    except (OSError, ValueError, KeyError, TypeError):
        return None


def read_result(release: ReleaseFolder, file: str) -> Result | None:
    """A stored result, or None if there is none. Raises ReleaseError for a file that is none."""
    path = release.path / file
    if not path.is_file():
        return None
    try:
        result = Result.from_json(json.loads(path.read_text(encoding="utf-8")))
        if result.file != file:
            raise ValueError(f"its content belongs to {result.file}")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ReleaseError(f"{path} is not a result ({error!r}); delete it and evaluate again") from None
    return result


def text_answers(release: ReleaseFolder) -> list[Path]:
    """Per-example files, also of typed errors, whose answers may be text of the corpus and not labels."""
    labels = {task.name: task.labels for task in map(release.task, release.placed_configs)}
    labelled = {
        release.path / result.file.removesuffix(".json")
        for result in load_results(release)
        if labels.get(result.task) is not None
    }
    files = sorted((release.path / FOLDER).glob("*/*.jsonl"))
    return [file for file in files if file.with_suffix("").with_suffix("") not in labelled]


def withhold_answers(release: ReleaseFolder) -> None:
    """Remove `text_answers`; the results keep their values and the hash of what was answered."""
    files = text_answers(release)
    for result in load_results(release):
        if release.path / result.predictions_file in files:
            write_text(release.path / result.file, _pretty(replace(result, withheld=True).to_json()))
    for file in files:
        file.unlink()


def load_results(release: ReleaseFolder) -> Iterator[Result]:
    """Every stored result, stale ones too, ordered by config as the release lists them, then by file."""
    order = {name: place for place, name in enumerate(release.configs)}
    paths = (release.path / FOLDER).glob("*/*.json")
    files = [f"{FOLDER}/{path.parent.name}/{path.name}" for path in paths]
    for file in sorted(files, key=lambda name: (order.get(name.split("/")[1], len(order)), name)):
        result = read_result(release, file)
        if result is not None:
            yield result


def write_index(
    release: ReleaseFolder, results: Iterable[tuple[Result, str | None]], analyses: dict[str, Any]
) -> None:
    """Write `results/index.json` from results, each with the reason why it is stale, and the analyses."""
    entries = [
        {
            "file": result.file,
            "config": result.config,
            "task": result.task,
            "baseline": result.baseline,
            "model": result.model,
            "settings_hash": result.settings_hash,
            "seed": result.seed,
            "limit": result.limit,
            "evaluated_on": result.evaluated_on,
            "headline": result.headline,
            "metrics": result.metrics,
            "left_out": result.left_out,
            **({"flagged": result.flagged} if result.flagged else {}),
            **({"unavailable": result.unavailable} if result.unavailable else {}),
            "stale": stale,
        }
        for result, stale in results
    ]
    index = {"format": FORMAT, "results": entries, "analyses": analyses}
    write_text(release.path / FOLDER / INDEX, _pretty(index))


def read_analyses(release: ReleaseFolder) -> dict[str, list[dict[str, Any]]]:
    """The analyses of the stored index by name; none where it is missing or cannot be read."""
    try:
        index = json.loads((release.path / FOLDER / INDEX).read_text(encoding="utf-8"))
        analyses = {name: list(lines) for name, lines in index["analyses"].items()}
    except (OSError, ValueError, RecursionError, LookupError, AttributeError, TypeError):
        return {}
    return {name: [line for line in lines if isinstance(line, dict)] for name, lines in analyses.items()}


def _pretty(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _number(score: np.float64) -> int | float:
    return int(score) if float(score).is_integer() else float(score)


def _slug(name: str) -> str:
    return _UNSAFE.sub("-", name.lower()).strip("-.")[:60] or "unnamed"

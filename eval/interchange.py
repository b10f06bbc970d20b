"""Stored results in the forms in which others keep evaluation results.

The Hub's `.eval_results/*.yaml` stand in the repository of a model and are shown on its page and on the
benchmark's leaderboard. Records of Every Eval Ever (`eval.schema.json`) compare evaluations by different
tools. Everything here is pure: results in, data out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from .results import Result

if TYPE_CHECKING:
    from huggingface_hub import EvalResultEntry

EVERY_EVAL_EVER = "0.3.0"
"""The version of the schema."""

Relationship = Literal["first_party", "third_party", "collaborative", "other"]
"""What the evaluator is to the makers of the model."""

_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Benchmark:
    """The release that results are of.

    `name` is what people call it. `repo` and `revision` are where it is published and at which commit or
    version tag; both None for a release that is not. `rows` maps (config, split) to the number of rows.
    """

    name: str
    repo: str | None
    revision: str | None
    rows: Mapping[tuple[str, str], int]


@dataclass(frozen=True)
class Evaluator:
    """Who ran the evaluation, and when the record was made (seconds since 1970)."""

    organization: str
    relationship: Relationship
    timestamp: int


def runs(results: Iterable[Result]) -> list[list[Result]]:
    """Results that one model got with the same settings, config by config, in the order of the first."""
    found: dict[tuple[str | None, str], list[Result]] = {}
    for result in results:
        found.setdefault((result.model, result.settings_hash), []).append(result)
    return list(found.values())


def variant(result: Result) -> str:
    """The baseline and its settings: what tells runs of one model apart."""
    return f"{result.baseline}-{_short_hash(result)}"


def hub_entries(run: Sequence[Result], benchmark: Benchmark, endpoint: str) -> list[EvalResultEntry]:
    """The headline metric of every result as an entry for the model's repository; the task is the config.

    `endpoint` is the Hub's address. Raises ValueError for a release that is not published.
    """
    from huggingface_hub import EvalResultEntry

    if benchmark.repo is None or benchmark.revision is None:
        raise ValueError("results of an unpublished release have no place on the Hub")
    at = f"{endpoint}/datasets/{benchmark.repo}/blob/{benchmark.revision}"
    return [
        EvalResultEntry(
            dataset_id=benchmark.repo,
            task_id=result.config,
            value=result.metrics[result.headline]["value"],
            dataset_revision=benchmark.revision,
            source_url=f"{at}/{result.file}",
            source_name="Result and answers",
            notes=_notes(result),
        )
        for result in run
    ]


def every_eval_ever(run: Sequence[Result], benchmark: Benchmark, evaluator: Evaluator) -> dict[str, Any]:
    """The record of one run: every metric of every config. `run` has a model and is not empty."""
    first = run[0]
    assert first.model is not None
    evaluation = f"{benchmark.repo or benchmark.name}:{variant(first)}"
    return {
        "schema_version": EVERY_EVAL_EVER,
        "evaluation_id": f"{evaluation}/{first.model}/{evaluator.timestamp}",
        "retrieved_timestamp": str(evaluator.timestamp),
        "source_metadata": {
            "source_name": benchmark.name,
            "source_type": "evaluation_run",
            "source_organization_name": evaluator.organization,
            "evaluator_relationship": evaluator.relationship,
        },
        "eval_library": {
            "name": "benchwright",
            "version": first.versions.get("benchwright", "unknown"),
            "additional_details": {
                name: version for name, version in first.versions.items() if name != "benchwright"
            },
        },
        "model_info": _model_info(first),
        "evaluation_results": [
            _evaluation_result(result, name, benchmark) for result in run for name in result.metrics
        ],
    }


def _notes(result: Result) -> str:
    metric = result.metrics[result.headline]
    return (
        f"{result.headline} (0 to 1) of {metric['n']} rows of {result.evaluated_on}; benchwright baseline "
        f"{result.baseline}, settings {_short_hash(result)}"
    )


def _short_hash(result: Result) -> str:
    return result.settings_hash.removeprefix("sha256:")[:12]


def _model_info(result: Result) -> dict[str, Any]:
    name = str(result.model)
    identity = result.settings.get("model", {})
    developer = {"developer": name.split("/")[0]} if "/" in name else {}
    transformers = result.environment.get("versions", {}).get("transformers")
    engine = {"inference_engine": {"name": "transformers", "version": transformers}} if transformers else {}
    details = {
        key: str(value)
        for key, value in identity.items()
        if key != "model" and isinstance(value, (str, int, float, bool))
    }
    return {"name": name, "id": name, **developer, **engine, "additional_details": details}


def _evaluation_result(result: Result, name: str, benchmark: Benchmark) -> dict[str, Any]:
    metric = result.metrics[name]
    prompt = result.settings.get("prompt")
    asked = {"generation_args": {"prompt_template": prompt}} if isinstance(prompt, str) else {}
    return {
        "evaluation_result_id": f"{result.config}/{result.evaluated_on}/{variant(result)}/{name}",
        "evaluation_name": result.config,
        "source_data": _source_data(result, benchmark),
        "metric_config": {
            "evaluation_description": f"{name} on {result.evaluated_on} of config {result.config}",
            "metric_id": name,
            "metric_name": name.replace("_", " "),
            "metric_unit": "proportion",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0,
            "max_score": 1,
            "additional_details": {"version": str(metric["version"])},
        },
        "score_details": _score_details(result, metric),
        "generation_config": {
            **asked,
            "additional_details": {"baseline": result.baseline, "seed": str(result.seed)},
        },
    }


def _source_data(result: Result, benchmark: Benchmark) -> dict[str, Any]:
    place = {"config": result.config, "content_hash": result.splits[result.evaluated_on]}
    if benchmark.repo is None:
        where = {**place, "split": result.evaluated_on}
        return {"dataset_name": benchmark.name, "source_type": "other", "additional_details": where}
    revision = {} if benchmark.revision is None else {"revision": benchmark.revision}
    return {
        "dataset_name": benchmark.name,
        "source_type": "hf_dataset",
        "hf_repo": benchmark.repo,
        "hf_split": result.evaluated_on,
        "samples_number": benchmark.rows[result.config, result.evaluated_on],
        "additional_details": {**place, **revision},
    }


def _score_details(result: Result, metric: Mapping[str, Any]) -> dict[str, Any]:
    uncertainty: dict[str, Any] = {"num_samples": metric["n"]}
    if metric["low"] is not None and metric["high"] is not None:
        uncertainty["confidence_interval"] = {
            "lower": metric["low"],
            "upper": metric["high"],
            "confidence_level": _CONFIDENCE,
            "method": metric["interval"],
        }
    left_out = {**result.left_out, **metric.get("left_out", {})}
    details = {"details": {f"left out: {reason}": str(rows) for reason, rows in left_out.items()}}
    return {"score": metric["value"], **(details if left_out else {}), "uncertainty": uncertainty}

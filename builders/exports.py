"""Writing a release's results for others: the Hub's model repositories, and Every Eval Ever."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from ..atomic import write_text
from ..cards import to_yaml
from ..cards.harness import benchmark_tasks
from ..errors import UsageError, show
from ..eval import Result, load_results, stale_reason
from ..eval.interchange import (
    Benchmark,
    Evaluator,
    Relationship,
    every_eval_ever,
    hub_entries,
    runs,
    variant,
)
from ..release import ReleaseFolder
from .hub.location import open_release
from .hub.remote import HubRelease

EVAL_RESULTS = "eval_results"
EVERY_EVAL_EVER = "every_eval_ever"

_UNSAFE = re.compile(r"[^A-Za-z0-9._]+")


@dataclass(frozen=True)
class Exported:
    """The files that `export` wrote, and how many results it left out, by reason."""

    files: tuple[Path, ...]
    left_out: Mapping[str, int]

    def __str__(self) -> str:
        lines = [str(file) for file in self.files] or ["nothing to export"]
        return "\n".join([*lines, *(f"left out: {count} {why}" for why, count in self.left_out.items())])


def export(
    release: str | Path | ReleaseFolder,
    *,
    out: str | Path,
    organization: str | None = None,
    relationship: Relationship = "third_party",
    timestamp: int | None = None,
) -> Exported:
    """Write the results of models in the forms of others, into a new folder `out`.

    `release` is a folder or a Hub release. `out/eval_results/<model>/.eval_results/` holds what goes into the
    model's Hub repository, for releases that are published; `out/every_eval_ever/` holds records of Every
    Eval Ever. Results without a model, of some rows only (`limit`) and stale ones are left out; the Hub takes
    those on the split that the benchmark evaluates. A folder counts as published where it holds a published
    version; its results are taken to be of that version's rows, and are left out where it was changed since.

    `organization` is who ran the evaluations (None: the owner of the repository, else `unknown`),
    `relationship` what they are to the makers of the models. `timestamp` is the time of the records in
    seconds since 1970 (None: SOURCE_DATE_EPOCH, else now).

    Raises UsageError where `out` holds something or an option cannot be used, and what opening raises.
    """
    target = Path(out)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} is there already; give another --out, or remove it")
    if relationship not in get_args(Relationship):
        raise UsageError(
            f"relationship is one of {', '.join(get_args(Relationship))}, got {show(relationship)}"
        )
    folder = open_release(release)
    if isinstance(folder, HubRelease):
        folder.fetch([path for path in folder.state.files if path.startswith("results/")])
    usable, left_out = _usable(folder, load_results(folder))
    benchmark = _benchmark(folder)
    owner = benchmark.repo.split("/")[0] if benchmark.repo else "unknown"
    evaluator = Evaluator(organization or owner, relationship, _timestamp(timestamp))
    texts = dict(_texts(folder, usable, benchmark, evaluator))
    for path, text in texts.items():
        write_text(target / path, text)
    return Exported(tuple(target / path for path in texts), left_out)


def _usable(release: ReleaseFolder, results: Iterable[Result]) -> tuple[list[Result], dict[str, int]]:
    usable: list[Result] = []
    left_out: dict[str, int] = {}
    for result in results:
        reason = _why_not(release, result)
        if reason is None:
            usable.append(result)
        else:
            left_out[reason] = left_out.get(reason, 0) + 1
    return usable, left_out


def _why_not(release: ReleaseFolder, result: Result) -> str | None:
    if result.model is None:
        return "without a model"
    if result.limit is not None:
        return "of some rows only"
    if stale_reason(result, release) is not None:
        return "stale"
    changed = release.publication.version is not None and not release.is_as_published
    return "not published" if changed and not isinstance(release, HubRelease) else None


def _benchmark(release: ReleaseFolder) -> Benchmark:
    rows = {
        (config, split): facts["rows"]
        for config, entry in release.configs.items()
        for split, facts in entry["splits"].items()
    }
    name, publication = release.dataset["pretty_name"], release.publication
    if isinstance(release, HubRelease):
        return Benchmark(name, release.repo, release.commit, rows)
    if publication.version is None:
        return Benchmark(name, None, None, rows)
    return Benchmark(name, publication.repo, publication.version, rows)


def _texts(
    release: ReleaseFolder, results: Sequence[Result], benchmark: Benchmark, evaluator: Evaluator
) -> Iterator[tuple[str, str]]:
    """Path below the folder -> text, one file per model and settings. Names of models cannot leave it."""
    from huggingface_hub import constants, eval_result_entries_to_yaml

    tasks = benchmark_tasks(release)
    dataset = _slug((benchmark.repo or benchmark.name).split("/")[-1])
    for run in runs(results):
        model, settings = _slug(str(run[0].model)), _slug(variant(run[0]))
        evaluated = [result for result in run if tasks.get(result.config) == result.evaluated_on]
        if benchmark.repo is not None and evaluated:
            entries = hub_entries(evaluated, benchmark, constants.ENDPOINT)
            text = to_yaml(eval_result_entries_to_yaml(entries))
            yield f"{EVAL_RESULTS}/{model}/.eval_results/{dataset}--{settings}.yaml", text
        record = every_eval_ever(run, benchmark, evaluator)
        text = json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        yield f"{EVERY_EVAL_EVER}/{dataset}/{model}/{settings}.json", text


def _timestamp(given: int | None) -> int:
    """Raises UsageError for a SOURCE_DATE_EPOCH that is no number."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH")
    if given is not None or not fixed:
        return int(time.time()) if given is None else given
    if not fixed.isdecimal():
        raise UsageError(
            f"SOURCE_DATE_EPOCH must be seconds since 1970, got {show(fixed)}; correct or unset it"
        )
    return int(fixed)


def _slug(name: str) -> str:
    return _UNSAFE.sub("--", name).strip("-.") or "unnamed"

"""Releases of the four kinds of questions, built from the samples, and answers to them that are known."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchwright.builders.build import build
from benchwright.builders.hub.publish import publish
from benchwright.eval import evaluate
from benchwright.release import ReleaseFolder

CONFIG = "random"
BUILDERS = ("snli", "boolq", "spider", "geoquery")
ROWS = 6


def build_releases(folder: Path) -> dict[str, ReleaseFolder]:
    """Small releases by builder, each with `ROWS` rows to evaluate on."""
    sizes: dict[str, Any] = {"validation": ROWS, "test": ROWS}
    return {
        name: build(name, source="sample", out=folder / f"{name}-splits", configs=[CONFIG], **sizes)
        for name in BUILDERS
    }


def publish_copy(release: ReleaseFolder, folder: Path, repo: str) -> ReleaseFolder:
    """A copy of a release, published to `repo` as 1.0.0; its folder holds what stands there."""
    shutil.copytree(release.path, folder)
    publish(folder, repo=repo, create=True, load=False)
    return ReleaseFolder(folder)


def task_name(builder: str, config: str = CONFIG) -> str:
    """The name of a task in both harnesses."""
    return f"{builder}_splits_{config}"


def rows_to_answer(release: ReleaseFolder) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = release.table(CONFIG, "test").to_pylist()
    return rows


def known_answers(release: ReleaseFolder) -> dict[str, str]:
    """uid -> an answer, right for two rows of three; programs in another spacing and case than the gold."""
    task = release.task(CONFIG)
    answers = {}
    for number, row in enumerate(rows_to_answer(release)):
        right = number % 3 != 1
        gold = row[task.target]
        if task.labels is None:
            answers[row["uid"]] = f"{gold.upper()}  " if right else "select 1"
        else:
            answers[row["uid"]] = task.labels[(int(gold) + (0 if right else 1)) % len(task.labels)]
    return answers


def our_scores(release: ReleaseFolder, answers: Mapping[str, str], folder: Path) -> dict[str, float]:
    """Values by metric of answers, as benchwright judges them."""
    file = folder / f"{release.path.name}.jsonl"
    lines = (json.dumps({"uid": uid, "prediction": answer}) for uid, answer in answers.items())
    file.write_text("\n".join(lines), encoding="utf-8")
    (result,) = evaluate(release, configs=[CONFIG], predictions=file, predictions_name="known")
    return {name: metric["value"] for name, metric in result.metrics.items()}

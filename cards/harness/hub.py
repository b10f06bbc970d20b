"""The Hub's `eval.yaml`: what makes a dataset a benchmark there, in the form that inspect-ai runs.

Checked against the Hub's documentation (Evaluation Results) and inspect-ai's reader of the file, which takes
no other keys than these.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import Formatter
from typing import Any

from ...release import ReleaseFolder
from ..markdown import one_line
from ..yaml_header import to_yaml
from .questions import Question

FRAMEWORK = "inspect-ai"
"""One of the Hub's list, which has no lm-evaluation-harness."""


def eval_yaml(release: ReleaseFolder, questions: Sequence[Question]) -> str:
    """The benchmark of a release, one task per question; task ids are names of configs."""
    dataset = release.dataset
    return to_yaml(
        {
            "name": one_line(dataset["pretty_name"]),
            "description": one_line(dataset["summary"]),
            "evaluation_framework": FRAMEWORK,
            "tasks": [_task(question) for question in questions],
        }
    )


def _task(question: Question) -> dict[str, Any]:
    columns = [column for _, column, _, _ in Formatter().parse(question.chat) if column is not None]
    # The file names one column as the input; the others of the question go by their names.
    asked, others = columns[-1], columns[:-1]
    template = question.chat.replace(f"{{{asked}}}", "{prompt}") + f"\n\n{_form(question)}"
    return {
        "id": question.config,
        "config": question.config,
        "split": question.split,
        "field_spec": {
            "input": asked,
            "target": question.target,
            **({"metadata": others} if others else {}),
        },
        "solvers": [
            {"name": "prompt_template", "args": {"template": template}},
            {"name": "generate"},
        ],
        "scorers": [_scorer(question)],
    }


def _values(question: Question) -> dict[str, str]:
    """What the reader of the file makes of a target's values -> their labels."""
    assert question.labels is not None
    values = ("False", "True") if question.boolean else map(str, range(len(question.labels)))
    return dict(zip(values, question.labels, strict=True))


def _form(question: Question) -> str:
    if question.labels is None:
        return "Answer with it alone, without a code block and without any explanation."
    listed = ", ".join(f"{value} for {label}" for value, label in _values(question).items())
    # Braces would be placeholders.
    return f"Answer with one word alone: {listed}.".replace("{", "{{").replace("}", "}}")


def _scorer(question: Question) -> dict[str, Any]:
    if question.labels is None:
        return {"name": "match", "args": {"location": "exact"}}
    alternatives = "|".join(map(re.escape, _values(question)))
    return {"name": "pattern", "args": {"pattern": rf"\b({alternatives})\b"}}

"""Tasks of lm-evaluation-harness: one YAML file per config, a group of all, and the functions they share."""

from __future__ import annotations

from collections.abc import Sequence
from string import Formatter
from typing import Any

from ..yaml_header import to_yaml
from .questions import Question

_LONGEST_ANSWER = 256


def task_yaml(question: Question, repo: str | None, revision: str | None) -> str:
    """The task of one config, of the Hub dataset `repo` at `revision` or of the folder that it lies in."""
    if repo is not None:
        where: dict[str, Any] = {"dataset_path": repo, "dataset_name": question.config}
        where |= {"dataset_kwargs": {"revision": revision}} if revision is not None else {}
    else:
        where = {"dataset_kwargs": {"config": question.config}}
    task = {
        "task": question.identifier,
        **where,
        f"{question.split}_split": question.split,
        **({"fewshot_split": question.examples} if question.examples else {}),
        "num_fewshot": question.shots,
        **({"fewshot_config": {"sampler": "first_n"}} if question.examples else {}),
        **_asking(question),
        "metadata": {"version": revision or 0},
    }
    return to_yaml(task) + "".join(f"{line}\n" for line in _functions(question, local=repo is None))


def group_yaml(name: str, questions: Sequence[Question]) -> str:
    """A group of all tasks. Their scores are not averaged: they are of other divisions of the same rows."""
    return to_yaml({"group": name, "task": [question.identifier for question in questions]})


def _asking(question: Question) -> dict[str, Any]:
    prompt = _jinja(question.prompt)
    if question.answers is not None:
        number = " | int" if question.boolean else ""
        return {
            "output_type": "multiple_choice",
            "doc_to_text": prompt,
            "doc_to_choice": list(question.answers),
            "doc_to_target": f"{{{{ {question.target}{number} }}}}",
            # Answers begin with their own blank.
            "target_delimiter": "",
            "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
        }
    return {
        "output_type": "generate_until",
        "doc_to_text": prompt,
        "doc_to_target": f"{{{{ {question.target} }}}}",
        "target_delimiter": " ",
        "generation_kwargs": {
            "until": ["\n\n", ";"],
            "do_sample": False,
            "max_gen_toks": _LONGEST_ANSWER,
        },
    }


def _functions(question: Question, *, local: bool) -> list[str]:
    """Lines with the tag `!function`, which names a function of the file `utils.py` beside the task."""
    lines = ["custom_dataset: !function utils.rows"] if local else []
    if question.on_schemas:
        lines.append("process_results: !function utils.judge_query")
        names = ["exact_set_match", "string_match"]
    elif question.answers is None:
        names = ["!function utils.string_match"]
    else:
        return lines
    lines.append("metric_list:")
    for name in names:
        lines += [f"- metric: {name}", "  aggregation: mean", "  higher_is_better: true"]
    return lines


def _jinja(template: str) -> str:
    """A `str.format` template over columns as the Jinja template that gives the same text.

    >>> _jinja("{premise}\\nQuestion: {hypothesis}?")
    '{{ premise }}\\nQuestion: {{ hypothesis }}?'
    """
    parts = Formatter().parse(template)
    return "".join(text + ("" if column is None else f"{{{{ {column} }}}}") for text, column, _, _ in parts)

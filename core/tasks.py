"""What kind of rows a config holds; baselines and metrics are matched by it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Task:
    """A kind of rows.

    `inputs` are the columns a model may read, in order; `target` is the column it predicts; `labels` are
    the class names in order, or None where the target is free text; `metrics` are names known to
    `benchwright.eval.metrics`, the first one being the headline.
    """

    name: str
    inputs: tuple[str, ...]
    target: str
    metrics: tuple[str, ...]
    labels: tuple[str, ...] | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Task:
        return cls(
            name=data["name"],
            inputs=tuple(data["inputs"]),
            target=data["target"],
            metrics=tuple(data["metrics"]),
            labels=tuple(data["labels"]) if data.get("labels") is not None else None,
        )


TEXT_TO_SQL = Task("text-to-sql", ("db_id", "question"), "query", ("exact_set_match", "string_match"))
TEXT_TO_FUNQL = Task("funql", ("source",), "target", ("string_match",))
NLI = Task(
    "nli",
    ("premise", "hypothesis"),
    "label",
    ("accuracy", "macro_f1"),
    labels=("entailment", "neutral", "contradiction"),
)
RECAST_NLI = Task(
    "nli",
    ("premise", "hypothesis"),
    "label",
    ("accuracy", "matthews_correlation"),
    labels=("entailment", "neutral", "contradiction"),
)
BINARY_NLI = Task(
    "binary-nli",
    ("premise", "hypothesis"),
    "label",
    ("accuracy", "matthews_correlation"),
    labels=("entailed", "not-entailed"),
)
BOOLEAN_QUESTION = Task(
    "boolean-question",
    ("question", "passage"),
    "answer",
    ("accuracy", "macro_f1"),
    labels=("no", "yes"),
)
PRONOUN_RESOLUTION = Task(
    "pronoun-resolution",
    ("text", "pronoun", "pronoun_loc", "options"),
    "label",
    ("accuracy",),
    labels=("0", "1"),
)
"""Which of `options` the pronoun at character `pronoun_loc` of the text stands for; a label is its place."""

"""What the outputs of a classifier mean, matched to a task's labels by name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchwright.errors import UsageError

NOT_ENTAILED = "not entailment"

_SYNONYMS = {
    "entailment": ("entailed", "entail", "entails"),
    "neutral": (),
    "contradiction": ("contradictory", "contradicted", "contradict", "contradicts"),
    NOT_ENTAILED: ("not entailed", "non entailment", "non entailed"),
    "yes": ("true",),
    "no": ("false",),
}
_MEANING = {word: meaning for meaning, words in _SYNONYMS.items() for word in (meaning, *words)}
_SEPARATOR = re.compile(r"[\s_-]+")


def align_labels(model_labels: Sequence[str], task_labels: Sequence[str]) -> tuple[str, ...]:
    """The task's label for each output of a model, by name.

    Case, hyphens and underscores do not count, and the usual words for one meaning are known: `ENTAILED`
    is `entailment`, `True` is `yes`. Where the task has one label for everything that is not entailed,
    neutral and contradiction are that label (Curriculum's zero-shot test, 2204.06283: the arg max of three
    outputs, then entailment against the rest).

    Raises UsageError for a name that is no label of the task, for two outputs of one meaning, and for a
    label that no output stands for.

    >>> align_labels(["CONTRADICTION", "neutral", "Entailment"], ["entailed", "not-entailed"])
    ('not-entailed', 'not-entailed', 'entailed')
    """
    label_of = {_meaning(label): label for label in task_labels}
    fix = "; name the outputs in their order by the task's labels with --label-names (Python: label_names=)"
    aligned: list[str] = []
    meanings: list[str] = []
    for name in model_labels:
        meaning = _meaning(name)
        if meaning in meanings:
            raise UsageError(f"the model has two outputs for {meaning}: {', '.join(model_labels)}{fix}")
        meanings.append(meaning)
        if meaning not in label_of and meaning in ("neutral", "contradiction"):
            meaning = NOT_ENTAILED
        if meaning not in label_of:
            raise UsageError(f"the model's label {name!r} is none of {', '.join(task_labels)}{fix}")
        aligned.append(label_of[meaning])
    missing = [label for label in task_labels if label not in aligned]
    if missing:
        raise UsageError(f"the model has no output for {missing[0]!r}, only {', '.join(model_labels)}")
    return tuple(aligned)


def _meaning(name: str) -> str:
    words = _SEPARATOR.sub(" ", name).strip().casefold()
    return _MEANING.get(words, words)

"""Which configs a language model can be asked, and how: what the files of every harness are made from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from keyword import iskeyword
from typing import Any

from ...prompts import ANSWER_PROMPTS
from ...release import ReleaseFolder
from ...tasks import Task

EVALUATED = ("test", "validation")
"""The splits that models are asked, the first one that there is."""
EXAMPLES = "train"
SCHEMAS = "schemas"

_SHOTS = 5
# Choices are lettered.
_MOST_CHOICES = 26
# Words that templates or their renderer read as something else than a column.
_RESERVED = {"self", "true", "false", "none"}
_PRONOUN = (
    "{text}\nQuestion: which of {options}, numbered from 0, does the word at character {pronoun_loc} of the "
    "text, {pronoun}, stand for?"
)
_CHAT = {
    "nli": "Premise: {premise}\nHypothesis: {hypothesis}\nWhat does the premise say about the hypothesis?",
    "binary-nli": "Premise: {premise}\nHypothesis: {hypothesis}\nDoes the premise entail the hypothesis?",
    "boolean-question": "{passage}\n\nQuestion: {question}?",
    "pronoun-resolution": _PRONOUN,
}
_PROMPTS = {"pronoun-resolution": f"{_PRONOUN}\nAnswer:"}


@dataclass(frozen=True)
class Question:
    """How one config is asked.

    `config` is what readers load; `identifier` names the task in harnesses, unique among the questions of a
    release. `prompt` is continued by models with one of `answers` or, where those are None, with the text of
    column `target`; `chat` is the question as it is put to a model that follows instructions, without a word
    on the form of the answer. Both are `str.format` templates over columns. With answers, `target` holds a
    class number or, if `boolean`, a truth value; `labels` are its names in order. `shots` rows of the split
    `examples` (None: there is none) are shown before the question. `on_schemas`: answers are queries that
    benchwright can judge against the schemas of their databases.
    """

    config: str
    identifier: str
    split: str
    task: str
    prompt: str
    chat: str
    target: str
    labels: tuple[str, ...] | None = None
    answers: tuple[str, ...] | None = None
    boolean: bool = False
    examples: str | None = None
    shots: int = 0
    on_schemas: bool = False


def questions(release: ReleaseFolder, prefix: str) -> list[Question]:
    """The questions of a release, in the order of its configs, former names of configs last.

    Configs without rows to evaluate on, without a target, or whose columns cannot be named in a template are
    left out. Identifiers begin with `prefix`, which is one.
    """
    former = {old: new for old, new in release.publication.aliases.items() if new in release.placed_configs}
    named = {**{name: name for name in release.placed_configs}, **former}
    found: list[Question] = []
    taken: set[str] = set()
    for name, config in named.items():
        split = next((split for split in EVALUATED if split in release.splits(config)), None)
        asked = None if split is None else _asked(release, config)
        if asked is None:
            continue
        identifier = _free(f"{prefix}_{identifier_of(name)}", taken)
        taken.add(identifier)
        found.append(Question(config=name, identifier=identifier, split=str(split), **asked))
    return found


def identifier_of(name: str) -> str:
    """A Python identifier after a name.

    >>> identifier_of("Spider-splits"), identifier_of("2024 reviews"), identifier_of("class")
    ('spider_splits', 'release_2024_reviews', 'release_class')
    """
    word = re.sub(r"[^a-z0-9_]+", "_", name.lower()).strip("_")
    return word if word.isidentifier() and not iskeyword(word) else f"release_{word}".rstrip("_")


def _free(name: str, taken: set[str]) -> str:
    return next(found for found in _numbered(name) if found not in taken)


def _numbered(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name}_{number}"
        number += 1


def _asked(release: ReleaseFolder, config: str) -> dict[str, Any] | None:
    """The fields of a config's question that do not depend on its name; None if it cannot be asked."""
    task, features = release.task(config), release.config(config)["features"]
    columns = {*task.inputs, task.target}
    if not task.target or not columns <= features.keys() or not all(map(_can_be_named, columns)):
        return None
    examples = EXAMPLES if EXAMPLES in release.splits(config) else None
    asked: dict[str, Any] = {"task": task.name, "target": task.target, "examples": examples}
    if task.labels is not None:
        labels = _labels(task, features[task.target])
        return None if labels is None else {**asked, **_choice(task, labels, features)}
    if task.name == "text-to-sql":
        asked |= _sql(features)
        asked["on_schemas"] = "db_id" in features and release.configs.get(SCHEMAS, {}).get("kind") == "table"
        return asked
    return {**asked, **_program(task), "shots": _SHOTS if examples else 0}


def _choice(task: Task, labels: tuple[str, ...], features: Mapping[str, Any]) -> dict[str, Any]:
    known = ANSWER_PROMPTS.get(task.name)
    if known is not None and set(known.answers) == set(labels):
        prompt, answers = known.prompt, tuple(known.answers[label] for label in labels)
    else:
        prompt = _PROMPTS.get(task.name, f"{_lines(task)}\n{task.target}:")
        answers = tuple(f" {label}" for label in labels)
    chat = _CHAT.get(task.name, f"{_lines(task)}\nWhat is the {task.target}?")
    boolean = features[task.target].get("dtype") == "bool"
    return {"prompt": prompt, "answers": answers, "labels": labels, "chat": chat, "boolean": boolean}


def _sql(features: Mapping[str, Any]) -> dict[str, Any]:
    # `source` has the tables and columns of the database behind the question.
    question = "{source}" if "source" in features else "{db_id}: {question}"
    chat = "Write the SQL query that answers the question. The database comes first.\n\n" + question
    return {"prompt": question + "\nSQL:", "chat": chat}


def _program(task: Task) -> dict[str, Any]:
    if task.name == "funql":
        lines = "Question: {source}"
        return {"prompt": lines + "\nFunQL:", "chat": f"{lines}\nWrite it in FunQL."}
    return {"prompt": f"{_lines(task)}\n{task.target}:", "chat": f"{_lines(task)}\nWrite the {task.target}."}


def _labels(task: Task, feature: Any) -> tuple[str, ...] | None:
    """Label names in the order of the target's values; None for a target of another kind."""
    if not isinstance(feature, Mapping) or task.labels is None:
        return None
    if feature.get("dtype") == "bool" and len(task.labels) == 2:
        return task.labels
    names = feature.get("names")
    if not isinstance(names, list) or set(names) != set(task.labels) or len(names) > _MOST_CHOICES:
        return None
    return tuple(names)


def _lines(task: Task) -> str:
    """The inputs of a task of unknown kind, one a line, each after its column's name."""
    return "\n".join(f"{name}: {{{name}}}" for name in task.inputs)


def _can_be_named(column: str) -> bool:
    return column.isascii() and column.isidentifier() and not iskeyword(column) and column not in _RESERVED

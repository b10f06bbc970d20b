"""All files that a release carries for evaluation harnesses, as text."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from ...errors import ReleaseError, show
from ...prompts import ANSWER_PROMPTS
from ...release import ReleaseFolder
from . import hub, lm_eval
from .questions import EXAMPLES, SCHEMAS, identifier_of, questions

EVAL_YAML = "eval.yaml"
FOLDER = "harness"
LM_EVAL = f"{FOLDER}/lm_eval"
INSPECT_AI = f"{FOLDER}/inspect_ai"

_FILE_NAME = re.compile(r"\w[\w.-]*", re.ASCII)


def export_texts(
    release: ReleaseFolder, *, repo: str | None = None, revision: str | None = None
) -> dict[str, str]:
    """Path in the release -> text of every harness file, the same for the same release; nothing is written.

    The tasks read the rows of Hub dataset `repo` at `revision` (a version's tag), or, without `repo`, of the
    folder in which the files lie. Empty where no config can be asked. Raises ReleaseError for a config, or a
    former name of one, that cannot name a file, or whose file would take another file's name.
    """
    prefix = _prefix(release, repo)
    asked = questions(release, prefix)
    if not asked:
        return {}
    files: dict[str, str] = {}
    for question in asked:
        _add(files, _task_file(question.config), lm_eval.task_yaml(question, repo, revision))
    _add(files, f"{LM_EVAL}/_all.yaml", lm_eval.group_yaml(prefix, asked))
    context = {
        "repo": repo,
        "revision": revision,
        "group": prefix,
        "questions": asked,
        "zero_shot": [question for question in asked if question.task in ANSWER_PROMPTS],
        "queries": any(question.on_schemas for question in asked),
        "programs": any(question.answers is None for question in asked),
        "choices": any(question.answers is not None for question in asked),
        "examples": EXAMPLES,
        "schemas": SCHEMAS,
    }
    for path, template in (
        (f"{LM_EVAL}/utils.py", "harness_lm_eval.py.jinja"),
        (f"{INSPECT_AI}/tasks.py", "harness_inspect_ai.py.jinja"),
        (f"{FOLDER}/README.md", "harness_README.md.jinja"),
    ):
        _add(files, path, _environment().get_template(template).render(context))
    _add(files, EVAL_YAML, hub.eval_yaml(release, asked))
    return files


def benchmark_tasks(release: ReleaseFolder) -> dict[str, str]:
    """Ids of the tasks in the release's `eval.yaml` -> the split that they are evaluated on."""
    return {question.config: question.split for question in questions(release, FOLDER)}


def _task_file(config: str) -> str:
    # Names are checked where a manifest is read; that of a release in the making was not read.
    if not _FILE_NAME.fullmatch(config):
        raise ReleaseError(f"a config was named {show(config)}, which cannot name a file; correct the alias")
    return f"{LM_EVAL}/{config}.yaml"


def _add(files: dict[str, str], path: str, text: str) -> None:
    if path in files:
        raise ReleaseError(f"a config needs the file {path}, which has another use; rename the config")
    files[path] = text


def _prefix(release: ReleaseFolder, repo: str | None) -> str:
    """What names of tasks begin with: the repo's name, or what it is by convention."""
    if repo is not None:
        return identifier_of(repo.rsplit("/", 1)[-1])
    builder = release.dataset["builder"]
    return identifier_of(release.dataset["pretty_name"] if builder == "custom" else f"{builder}_splits")


@cache
def _environment() -> Environment:
    """Templates of Python and Markdown; `literal` writes a value as Python does, so that no text is code."""
    environment = Environment(
        loader=PackageLoader("benchwright.cards", "templates"),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["literal"] = _literal
    return environment


def _literal(value: Any) -> str:
    """A Python literal in ASCII, strings in double quotes.

    >>> print(_literal('say "é"'), _literal(("a", "b")), _literal(None), _literal(True))
    "say \\"\\u00e9\\"" ["a", "b"] None True
    """
    return json.dumps(value) if isinstance(value, (str, list, tuple)) else repr(value)

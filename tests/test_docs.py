"""What the documentation shows is what the product does: README's commands, snippets and every doctest."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from scores_helpers import tiny_gpt2

from benchwright.builders.build import build
from benchwright.cli.app import commands

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


COMMANDS = [
    line.split("#")[0].strip()
    for block in _blocks("sh")
    for line in block.splitlines()
    if line.startswith("benchwright ")
]


@pytest.mark.parametrize("line", COMMANDS)
def test_readme_commands_have_only_options_that_exist(line):
    group = commands()
    arguments = shlex.split(line)[1:]
    context = group.make_context("benchwright", arguments[:1], resilient_parsing=True)
    while hasattr(group, "commands"):
        group, arguments = group.commands[arguments[0]], arguments[1:]
    # Parsing raises for an unknown option, a missing argument or a value of the wrong type.
    group.make_context(group.name, arguments, parent=context)


def test_readme_names_every_command():
    group = commands()
    shown = {shlex.split(line)[1] for line in COMMANDS}
    assert set(group.commands) - shown - {"demo", "card", "rescore"} == set()


def test_readme_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"(?:^|`)make (\w+)", README, flags=re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


@pytest.mark.parametrize("number", range(len(_blocks("python"))))
def test_readme_python_snippets_run(number, tmp_path):
    snippet = _blocks("python")[number]
    if "benchwright-demo" in snippet:
        model = str(tiny_gpt2(tmp_path / "tiny", positions=1024))
        build(
            "spider", source="sample", out=tmp_path / "benchwright-demo" / "spider-splits", lm=[model], k=[2],
            configs=["ll_split_len"], recipe={"max_steps": 1},
        )  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", snippet], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def _modules() -> list[str]:
    """Installed names of all modules; root folders are mapped to import names, so that no walk finds them."""
    names = []
    for folder in ("core", "builders", "splitting", "cards", "eval", "cli"):
        for path in (ROOT / folder).rglob("*.py"):
            parts = [part for part in path.relative_to(ROOT).with_suffix("").parts if part != "__init__"]
            names.append(".".join(["benchwright", *(parts[1:] if folder == "core" else parts)]))
    return sorted(name for name in names if not name.endswith("__main__"))


def test_every_module_imports_and_every_doctest_holds():
    modules = _modules()
    assert len(modules) > 60
    for name in modules:
        result = doctest.testmod(import_module(name))
        assert result.failed == 0, name

"""What splits and divergences count in programs (SQL, FunQL): atoms, compounds and templates.

Several definitions exist for one language; each has a name that stands in manifest and card. `structures`
say what a program is made of, `template_rules` when two programs are the same but for their values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

from ..errors import UsageError
from ..registry import Registry

T = TypeVar("T")
Language = Literal["sql", "funql"]

structures: Registry[Structure] = Registry("structure")
structures.declare("spider", "benchwright.text.sql_grammar:SPIDER")
structures.declare("sqlglot", "benchwright.text.sql_trees:SQLGLOT")
structures.declare("funql", "benchwright.text.funql:FUNQL")

template_rules: Registry[TemplateRule] = Registry("template_rule")
template_rules.declare("masked", "benchwright.text.sql_templates:MASKED")
template_rules.declare("canonical", "benchwright.text.sql_templates:CANONICAL")
template_rules.declare("funql", "benchwright.text.funql:AS_IT_IS")


def structure_named(name: str) -> Structure:
    """The structure of that name; `sqlglot-DIALECT` reads another dialect of SQL than SQLite's.

    Raises UsageError for an unknown name or dialect.
    """
    if name.startswith("sqlglot-") and name not in structures:
        from .sql_trees import sqlglot_structure

        structures.register(name)(_in_dialect(sqlglot_structure, name))
    return structures.get(name)


def template_rule_named(name: str) -> TemplateRule:
    """The template rule of that name; `canonical-DIALECT` reads another dialect of SQL than SQLite's.

    Raises UsageError for an unknown name or dialect.
    """
    if name.startswith("canonical-") and name not in template_rules:
        from .sql_templates import canonical_rule

        template_rules.register(name)(_in_dialect(canonical_rule, name))
    return template_rules.get(name)


def rule_of_dialect(structure: str) -> str | None:
    """The template rule that reads the dialect of a structure `sqlglot-DIALECT`; None for other structures.

    >>> rule_of_dialect("sqlglot-postgres")
    'canonical-postgres'
    """
    return f"canonical-{structure.removeprefix('sqlglot-')}" if structure.startswith("sqlglot-") else None


def _in_dialect(make: Callable[[str], T], name: str) -> T:
    dialect = name.partition("-")[2]
    if not dialect:
        raise UsageError(f"{name!r} names no dialect; give sqlglot-postgres, say")
    try:
        return make(dialect)
    except ValueError as error:
        raise UsageError(f"{name!r}: {error}") from None


@dataclass(frozen=True, eq=False)
class Program:
    """What is counted in one program.

    `atoms` are the symbols that an evaluation program may not have unless a training program has them; None
    where the program cannot be read at all. `tokens` counts every token, `symbols` those that are neither
    keywords nor punctuation. `compounds` counts how symbols are combined; None where the program has no
    unique parse, `problem` then says why. An unread program is never one without atoms or compounds.
    """

    atoms: frozenset[str] | None
    tokens: Mapping[str, int]
    symbols: Mapping[str, int]
    compounds: Mapping[str, int] | None
    problem: str | None = None

    @property
    def parsed(self) -> bool:
        return self.compounds is not None


@dataclass(frozen=True)
class Structure:
    """A definition of atoms and compounds. `version` is raised when it would count differently.

    `summary` is a sentence for cards; `analyse` reads one program, cached by its text, and never raises.
    """

    name: str
    language: Language
    version: int
    summary: str
    analyse: Callable[[str], Program]


@dataclass(frozen=True)
class TemplateRule:
    """A definition of templates: `template` gives equal texts for programs that differ in values only.

    It gives None for a program that it cannot read, is cached by the program's text and never raises.
    """

    name: str
    language: Language
    version: int
    summary: str
    template: Callable[[str], str | None]

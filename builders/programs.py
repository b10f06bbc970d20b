"""The programs of a corpus (SQL, FunQL) as its configs need them: atoms, compounds, templates, novelty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import UsageError
from ..splitting.base import TRAIN, UNUSED
from ..text.programs import Language, Program, Structure, TemplateRule, structure_named, template_rule_named


@dataclass(frozen=True, eq=False)
class Programs:
    """One program per row of a source, in the order of its table, by one structure and one template rule."""

    structure: Structure
    rule: TemplateRule
    programs: list[Program]
    templates: list[str | None]

    @classmethod
    def of(cls, texts: Sequence[str], structure: Structure, rule: TemplateRule) -> Programs:
        """Analyse every text; equal texts are analysed once."""
        programs = [structure.analyse(text) for text in texts]
        return cls(structure, rule, programs, [rule.template(text) for text in texts])

    def take(self, rows: np.ndarray) -> Programs:
        """The programs of the rows at `rows`, in that order."""
        chosen = rows.tolist()
        return replace(
            self,
            programs=[self.programs[row] for row in chosen],
            templates=[self.templates[row] for row in chosen],
        )

    @property
    def parsed(self) -> list[bool]:
        return [program.parsed for program in self.programs]

    def atoms(self) -> list[frozenset[str] | None]:
        return [program.atoms for program in self.programs]

    def compounds(self) -> list[Mapping[str, int] | None]:
        return [program.compounds for program in self.programs]

    def split_rows(self) -> dict[str, Any]:
        """The fields of SplitRows that come from programs."""
        return {"atoms": self.atoms, "compounds": self.compounds, "templates": lambda: list(self.templates)}

    def novel_compounds(self, side: np.ndarray) -> list[int | None]:
        """For each evaluation row, how many distinct compounds no train row has (2210.06799, Section A.8).

        `side` (int8[n]) as in `splitting.base`. None for rows of train and of no split, and for programs
        without a parse.
        """
        known: set[str] = set()
        for program, where in zip(self.programs, side.tolist(), strict=True):
            if where == TRAIN and program.compounds is not None:
                known.update(program.compounds)
        return [
            None
            if where in (TRAIN, UNUSED) or program.compounds is None
            else len(program.compounds.keys() - known)
            for program, where in zip(self.programs, side.tolist(), strict=True)
        ]


def chosen_structure(name: str, language: Language) -> Structure:
    """The structure of that name. Raises UsageError for an unknown one and for another language's."""
    structure = structure_named(name)
    _refuse_language("structure", name, structure.language, language)
    return structure


def chosen_rule(name: str, language: Language) -> TemplateRule:
    """The template rule of that name. Raises UsageError for an unknown one and for another language's."""
    rule = template_rule_named(name)
    _refuse_language("template rule", name, rule.language, language)
    return rule


def _refuse_language(kind: str, name: str, found: str, wanted: str) -> None:
    if found != wanted:
        raise UsageError(f"the {kind} {name!r} is for {found}, but the programs are {wanted}; choose another")

"""What the programs of a release tell about its splits: divergence, novelty and length."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from ..eval.analyses.composition import SymbolCounts
from ..splitting.divergence import ATOM_ALPHA, COMPOUND_ALPHA, chernoff_divergence
from ..text.programs import Program, Structure
from ._analysis_rows import AnalysisRows, DistinctTexts

EVALUATION = ("validation", "test")
_ALPHAS: Final = {
    "compound": COMPOUND_ALPHA,
    "atom_symbols": ATOM_ALPHA,
    "atom_set": ATOM_ALPHA,
    "atom_tokens": ATOM_ALPHA,
}


class ProgramAnalyses:
    """Analyses of the programs in one column of a release, by one structure."""

    def __init__(self, rows: AnalysisRows, column: str, structure: Structure) -> None:
        self._structure = structure
        self._texts: DistinctTexts = rows.texts(column)
        self._configs = list(rows.configs())
        programs = [structure.analyse(text) for text in self._texts.texts]
        self._counts = {kind: SymbolCounts([_counted(one, kind) for one in programs]) for kind in _ALPHAS}
        self._compounds = {
            (config, split): self._totals("compound", rows)
            for config, splits in self._configs
            for split, rows in splits.items()
        }

    def lengths(self) -> np.ndarray:
        """Tokens of each distinct program, int64; -1 for one that cannot be read at all."""
        tokens = self._counts["atom_tokens"]
        return np.where(tokens.read, tokens.lengths(), -1)

    def divergence(self) -> dict[str, Any]:
        """Chernoff divergence of train from validation and from test, train first (Table 13).

        Compounds (alpha 0.1) leave out programs without a parse, whose numbers stand beside. Atoms (alpha
        0.5) are counted in three ways: symbols that are neither keywords nor punctuation, as often as they
        occur (which gives the paper's numbers); each atom once a program; all tokens.
        """
        lines = [
            self._divergence_line(config, splits["train"], split, splits[split])
            for config, splits in self._configs
            for split in EVALUATION
            if "train" in splits and split in splits
        ]
        if not lines:
            return {}
        return {
            "structure": self._structure.name,
            "summary": self._structure.summary,
            "version": self._structure.version,
            "rows": lines,
        }

    def distinct_novel(self, config: str, split: str) -> int | None:
        """How many compounds of a split no train program of its config has; None without train rows."""
        known = self._compounds.get((config, "train"))
        return None if known is None else len(self._compounds[config, split].keys() - known.keys())

    def _divergence_line(
        self, config: str, train: np.ndarray, split: str, evaluation: np.ndarray
    ) -> dict[str, Any]:
        unparsed = self._counts["compound"].unread
        return {
            "config": config,
            "train": "train",
            "evaluation": split,
            "train_rows": len(train),
            "evaluation_rows": len(evaluation),
            "train_unparsed": unparsed(self._texts.of(train)),
            "evaluation_unparsed": unparsed(self._texts.of(evaluation)),
            **{
                kind: chernoff_divergence(self._totals(kind, train), self._totals(kind, evaluation), alpha)
                for kind, alpha in _ALPHAS.items()
            },
        }

    def _totals(self, kind: str, rows: np.ndarray) -> dict[str, int]:
        return self._counts[kind].totals(self._texts.of(rows))


def _counted(program: Program, kind: str) -> Mapping[str, int] | None:
    if kind == "compound":
        return program.compounds
    if program.atoms is None:
        return None
    if kind == "atom_set":
        return dict.fromkeys(program.atoms, 1)
    return program.symbols if kind == "atom_symbols" else program.tokens

"""The 36 phenomena of Curriculum in 8 categories.

Source: "Curriculum: A Broad-Coverage Benchmark for Linguistic Phenomena in Natural Language Understanding"
(2204.06283). Names are those of the released tasks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, cast

from ...tasks import BINARY_NLI, RECAST_NLI, Task
from ..constituents import Redistribute, common_licence, strictest
from ._corpora import CORPORA, CURRICULUM_CITATION, Corpus
from ._table import ROWS

__all__ = [
    "CATEGORIES",
    "CORPORA",
    "CURRICULUM_CITATION",
    "PHENOMENA",
    "Corpus",
    "Item",
    "Phenomenon",
]

Item = Literal["adjacent premises", "equal premises", "adjacent hypotheses"]
"""What rows of one source item have in common in a released file: premises equal to those of the line above,
premises equal to those of any line, or hypotheses equal to those of the line above."""

CATEGORIES = (
    "lexical",
    "syntactic",
    "semantic",
    "logical",
    "analytic",
    "commonsense",
    "comprehension",
    "special",
)

# Zero-shot, all models are near chance on these, and label and text contradict each other in many rows.
_NOISE = "The labels of the released files look random, so they should not be used as gold answers."
_KNOWN_FAULTS = {
    "hypernymy": _NOISE,
    "hyponymy": _NOISE,
    "transitive": "Most pairs of validation stand in train, too.",
    "coreference": "Most pairs of validation stand in train, too.",
    "spatial": "A fifth of the pairs of validation stand in train; hypotheses of validation have a "
    "word-order fault.",
    "defeasible": "Many premises end where an update should follow, so that a strengthener and a weakener "
    "are rendered alike.",
}


@dataclass(frozen=True)
class Phenomenon:
    """One task of the benchmark.

    `train_labels` and `validation_labels` count the rows of each label of `task.labels` in the released
    files. `recast_rule` says how rows were made, `item` what those of one source item share (None: it cannot
    be told). `warning` is what users of the released labels should know.
    """

    name: str
    abbreviation: str
    category: str
    corpora: tuple[Corpus, ...]
    item: Item | None
    train_labels: tuple[int, ...]
    validation_labels: tuple[int, ...]
    recast_rule: str
    warning: str | None = None

    @property
    def labels(self) -> int:
        """The number of labels, 2 or 3."""
        return len(self.train_labels)

    @property
    def task(self) -> Task:
        """The task of its rows: label names in order, and metrics."""
        return BINARY_NLI if self.labels == 2 else RECAST_NLI

    @property
    def train_rows(self) -> int:
        """Lines of the released train.jsonl."""
        return sum(self.train_labels)

    @property
    def validation_rows(self) -> int:
        """Lines of the released val.jsonl."""
        return sum(self.validation_labels)

    @property
    def source_dataset(self) -> str | None:
        """The corpus that all released rows come from; None where there are several."""
        return self.corpora[0].name if len(self.corpora) == 1 else None

    @property
    def homepage(self) -> str:
        """Where the first of its corpora is published."""
        return self.corpora[0].homepage

    @property
    def licence(self) -> str:
        """A Hub licence id, `unknown` or `mixed`; see `common_licence`."""
        return common_licence(corpus.licence for corpus in self.corpora)

    @property
    def redistribute(self) -> Redistribute:
        """What of the rows may be published: text only if all its corpora allow it."""
        return strictest(corpus.redistribute for corpus in self.corpora)

    @property
    def citation(self) -> str:
        """BibTeX entries of the papers of its corpora."""
        return "\n".join(corpus.citation for corpus in self.corpora)


def _phenomena() -> dict[str, Phenomenon]:
    found = {}
    for name, abbreviation, category, corpora, item, train, validation, rule in ROWS:
        found[name] = Phenomenon(
            name=name,
            abbreviation=abbreviation,
            category=category,
            corpora=tuple(CORPORA[corpus] for corpus in corpora.split()),
            item=cast(Item | None, item),
            train_labels=train,
            validation_labels=validation,
            recast_rule=rule,
            warning=_KNOWN_FAULTS.get(name),
        )
    return found


PHENOMENA: Mapping[str, Phenomenon] = MappingProxyType(_phenomena())
"""Phenomena by name, category by category."""

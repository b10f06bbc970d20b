"""What the rows of a release say about their overlap with corpora: best scores, curves, examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import ReleaseError
from ..release import ReleaseFolder
from . import checks
from .markdown import Markdown, codes, compose

SPLITTER, SCORER, ALL, NO_OVERLAP = "overlap", "bm25", "all", "no_overlap"
ALL_ROWS = "all rows"
PUBLISHED_CUTOFFS = (0.0, 25.0, 35.0)

_FIRST_CUTOFFS = 40
_EXAMPLES_IN_A_BAND = 2
_CORPUS = checks.record(
    name=checks.text,
    documents=checks.optional(checks.count),
    terms=checks.optional(checks.count),
    fingerprint=checks.optional(checks.text),
)


@dataclass(frozen=True)
class Corpus:
    """A corpus that was searched for the rows of some test sets; numbers that are not recorded are None."""

    name: str
    documents: int | None
    terms: int | None
    test_sets: tuple[str, ...]


@dataclass(frozen=True)
class CorpusOverlap:
    """What one corpus (None: all of them together) has of n rows.

    `best` float64 of shape (n,): the score of the most similar document, 0 where none matches, NaN where no
    query could be made of the row. `exact` bool of shape (n,): a document is, or holds, a copy of the text.
    """

    corpus: str | None
    best: np.ndarray
    exact: np.ndarray

    @property
    def searched(self) -> int:
        """Rows that were searched."""
        return int((~np.isnan(self.best)).sum())

    def above(self, cutoff: float) -> int:
        """Rows whose best score is above the cut-off."""
        return int((self.best > cutoff).sum())

    def curve(self, cutoffs: np.ndarray) -> np.ndarray:
        """Shares of the searched rows above each cut-off (2011.04767, Figure 1); NaN without any."""
        known = np.sort(self.best[~np.isnan(self.best)])
        above = len(known) - np.searchsorted(known, cutoffs, side="right")
        return above / len(known) if len(known) else np.full(len(cutoffs), np.nan)


@dataclass(frozen=True)
class Example:
    """A row and the document of a corpus that is most similar to it."""

    score: float
    text: str
    found: str
    corpus: str
    exact_copy: bool


@dataclass(frozen=True)
class SearchedTestSet:
    """A whole test set, or one split of a whole data set, whose rows were searched in corpora.

    `overlaps` has all corpora together first, then each of them if there are several. `cutoffs` are those of
    its subsets, ascending. `split` is None where the config has one split alone.
    """

    config: str
    part: str | None
    split: str | None
    rows: int
    cutoffs: tuple[float, ...]
    overlaps: tuple[CorpusOverlap, ...]
    examples: tuple[Example, ...]

    @property
    def name(self) -> str:
        """How it is called."""
        whole = self.part or self.config
        return whole if self.split is None else f"{whole}/{self.split}"


def searched_test_sets(release: ReleaseFolder) -> list[SearchedTestSet]:
    """Every split of a whole config of the release that was searched, in the order of its configs."""
    found = []
    searched = corpora(release)
    for config, entry in release.placed_configs.items():
        parameters = entry.get("parameters") or {}
        if entry["splitter"] != SPLITTER or parameters.get("subset") != ALL:
            continue
        if "best_score" in entry["features"]:
            part = str(entry.get("part") or ALL_ROWS)
            names = tuple(corpus.name for corpus in searched if part in corpus.test_sets)
            for split in entry["splits"]:
                found.append(_searched(release, config, split, parameters, names))
    return found


def corpora(release: ReleaseFolder) -> list[Corpus]:
    """The corpora that were searched, each once.

    Raises ReleaseError for a record that lacks a name or has another kind of number.
    """
    parts: dict[tuple[str, str | None], list[str]] = {}
    facts: dict[tuple[str, str | None], Mapping[str, Any]] = {}
    for name, entry in (release.manifest.get("scores") or {}).items():
        if entry.get("scorer") != SCORER:
            continue
        listed = (entry.get("provenance") or {}).get("corpora") or []
        where = f"scores.{name}.provenance.corpora"
        try:
            checks.list_of(_CORPUS)(listed, where)
        except ValueError as error:
            raise ReleaseError(f"{release.path / 'manifest.json'}: {error}; build it again") from None
        for corpus in listed:
            # Corpora of two languages may have one name.
            key = corpus["name"], corpus.get("fingerprint")
            facts[key] = corpus
            parts.setdefault(key, []).append(str(entry.get("part") or ALL_ROWS))
    return [
        Corpus(key[0], facts[key].get("documents"), facts[key].get("terms"), tuple(parts[key]))
        for key in facts
    ]


def subset_sentences(parameters: Mapping[str, Any]) -> Iterator[Markdown]:
    """How the rows of a config of overlap were chosen."""
    subset, cutoff = parameters.get("subset"), _numbers(parameters.get("cutoff"))
    if subset == ALL:
        if parameters.get("mapping"):
            yield Markdown("The split that the source itself was **published** with.")
            yield Markdown("**Every row** has its best score and the documents found.")
        else:
            yield Markdown("**Every row** of the test set, with its best score and the documents found.")
        return
    if subset not in ("overlap", NO_OVERLAP):
        return
    quantile = _numbers(parameters.get("quantile"))
    where = (
        compose("the {quantile:g} quantile of the overlapping rows' best scores", quantile=quantile[0])
        if quantile
        else compose("{cutoff:g}", cutoff=cutoff[0] if cutoff else 0.0)
    )
    side = Markdown("**above**" if subset == "overlap" else "**at most**")
    mapping = parameters.get("mapping")
    splits = [name for name, place in mapping.items() if place] if isinstance(mapping, Mapping) else []
    rows = compose("Rows of the source's {splits}", splits=codes(splits)) if splits else Markdown("Rows")
    without = parameters.get("without_copies") is True
    yield compose(
        "{rows} whose best score is {side} {where}{copies}; all others are in no split.",
        rows=rows,
        side=side,
        where=where,
        copies=Markdown(" and of which no corpus holds an exact copy" if without else ""),
    )


def curve_cutoffs(test_sets: Sequence[SearchedTestSet]) -> np.ndarray:
    """The cut-offs that curves are drawn over: 0, 1, ... to 40, or on to the highest score."""
    highest = max((np.nanmax(one.best, initial=0.0) for s in test_sets for one in s.overlaps), default=0.0)
    return np.arange(max(_FIRST_CUTOFFS, int(np.ceil(highest))) + 1, dtype=np.float64)


def _searched(
    release: ReleaseFolder, config: str, split: str, parameters: Mapping[str, Any], names: tuple[str, ...]
) -> SearchedTestSet:
    features = release.config(config)["features"]
    wanted = [name for name in ("text", "best_score", "exact_copy", "hits") if name in features]
    table = release.table(config, split, wanted)
    best = table.column("best_score").to_numpy().astype(np.float64)
    exact = np.zeros(len(best), dtype=bool)
    if "exact_copy" in wanted:
        exact = pc.fill_null(table.column("exact_copy"), False).to_numpy().astype(bool)
    cutoffs = sorted(set(_numbers(parameters.get("cutoffs")) or PUBLISHED_CUTOFFS))
    of_corpora = _by_corpus(table, best, names) if "hits" in wanted and len(names) != 1 else []
    only = names[0] if len(names) == 1 else None
    both = "hits" in wanted and "text" in wanted
    return SearchedTestSet(
        config=config,
        part=release.config(config).get("part"),
        split=split if len(release.config(config)["splits"]) > 1 else None,
        rows=len(best),
        cutoffs=tuple(cutoffs),
        overlaps=(CorpusOverlap(only, best, exact), *(of_corpora if len(of_corpora) > 1 else [])),
        examples=tuple(_examples(table, best, cutoffs)) if both else (),
    )


def _numbers(value: Any) -> list[float]:
    """A number of a manifest, or those of a list, without what is none."""
    listed = value if isinstance(value, list) else [value]
    return [float(one) for one in listed if isinstance(one, int | float) and not isinstance(one, bool)]


def _by_corpus(table: pa.Table, best: np.ndarray, searched: Sequence[str]) -> list[CorpusOverlap]:
    """Each corpus by itself, by name: `hits` hold the best of every corpus, none of those without a match."""
    hits = table.column("hits").combine_chunks()
    rows = pc.list_parent_indices(hits).to_numpy(zero_copy_only=False)
    flat = pc.list_flatten(hits)
    names = np.array(flat.field("corpus").to_pylist(), dtype=object)
    scores = flat.field("score").to_numpy(zero_copy_only=False)
    copies = pc.fill_null(flat.field("exact_copy"), False).to_numpy(zero_copy_only=False).astype(bool)
    found = []
    for corpus in sorted({*names.tolist(), *searched}):
        of_corpus = names == corpus
        own = np.where(np.isnan(best), np.nan, 0.0)
        np.maximum.at(own, rows[of_corpus], scores[of_corpus])
        exact = np.zeros(len(best), dtype=bool)
        exact[rows[of_corpus & copies]] = True
        found.append(CorpusOverlap(corpus, own, exact))
    return found


def _examples(table: pa.Table, best: np.ndarray, cutoffs: Sequence[float]) -> Iterator[Example]:
    """Rows of every band between two cut-offs, the highest band first: the best row and the middle one."""
    order = [row for row in np.argsort(-best, kind="stable").tolist() if best[row] > 0]
    bounds = [float("inf"), *sorted({0.0, *cutoffs}, reverse=True)]
    for upper, lower in pairwise(bounds):
        band = [row for row in order if lower < best[row] <= upper]
        chosen = dict.fromkeys([band[0], band[len(band) // 2]]) if band else {}
        for row in list(chosen)[:_EXAMPLES_IN_A_BAND]:
            hits = table.column("hits")[row].as_py() or []
            if hits:
                first = max(hits, key=lambda hit: hit["score"])
                text = table.column("text")[row].as_py()
                yield Example(
                    best[row], text, first["text"] or "", first["corpus"] or "", bool(first["exact_copy"])
                )

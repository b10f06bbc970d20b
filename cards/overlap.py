"""How much of the test sets stands in corpora (2011.04767): counts, curves, examples, funnels of mining."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..errors import ReleaseError
from ..release import ReleaseFolder
from . import checks
from .markdown import Markdown, code, codes, compose, folded, prose, shorten, table
from .numbers import MISSING, count, decimal, percent
from .overlap_data import CorpusOverlap, SearchedTestSet, corpora, curve_cutoffs, searched_test_sets
from .overlap_figures import OverlapFigure, OverlapPanel
from .properties import PropertySection

FIGURE = "figures/overlap_curves.png"
ALL_CORPORA = "all corpora"

_QUOTED = 240
_DEFINITION = (
    "Every row was made a query (a phrase of its predicates, and its content words) and searched in corpora. "
    "The **best score** is the BM25 score of the most similar document, 0 where no document matches. A row "
    "**overlaps** where it is above a cut-off; what a score means depends on the size of a corpus and the "
    "length of its documents. Most matches are near, not exact: an *exact copy* is a document that holds the "
    "row's text word by word, and is counted apart. A high score says that a sentence like this one could be "
    "seen in training, not that a model has learnt its answer."
)
_STAGE = checks.record(
    stage=checks.text,
    unit=checks.text,
    kept=checks.count,
    dropped=checks.optional(checks.mapping_of(checks.count)),
)


def overlap_sections(release: ReleaseFolder) -> list[PropertySection]:
    """The overlap of searched test sets and the funnel of mined ones; empty for a release of neither.

    Raises ReleaseError for a manifest whose corpora or funnel lack a number.
    """
    return [*_overlap(release), *_funnel(release)]


def _overlap(release: ReleaseFolder) -> Iterator[PropertySection]:
    test_sets = searched_test_sets(release)
    if not test_sets:
        return
    sentences = [Markdown(_DEFINITION)]
    unsearched = [one for one in test_sets if one.overlaps[0].searched < one.rows]
    if unsearched:
        sentences.append(
            Markdown("Rows of which no query could be made have no best score and are in no subset.")
        )
    yield PropertySection(
        title=Markdown("Overlap with corpora"),
        sentences=tuple(sentences),
        figures=(_figure(test_sets),),
        tables=(*_corpora(release), _counts(test_sets), *_examples(test_sets)),
    )


def _corpora(release: ReleaseFolder) -> Iterator[Markdown]:
    listed = corpora(release)
    if listed:
        lines = [
            (
                code(corpus.name),
                codes(corpus.test_sets),
                count(corpus.documents),
                count(corpus.terms),
                decimal(corpus.terms / corpus.documents)
                if corpus.documents and corpus.terms is not None
                else MISSING,
            )
            for corpus in listed
        ]
        header = ("corpus", "searched for", "documents", "terms", "terms per document")
        yield table(header, lines, left=2)


def _counts(test_sets: Sequence[SearchedTestSet]) -> Markdown:
    """A line for each test set and corpus: rows above every cut-off, and their share of the searched ones."""
    cutoffs = sorted({cutoff for one in test_sets for cutoff in one.cutoffs})
    header = ["test set", "corpus", "rows", "searched", *(f"above {cutoff:g} (%)" for cutoff in cutoffs)]
    lines = [
        (
            code(one.name),
            _corpus(overlap),
            count(one.rows),
            count(overlap.searched),
            *(_share(overlap, cutoff) for cutoff in cutoffs),
            count(int(overlap.exact.sum())),
        )
        for one in test_sets
        for overlap in one.overlaps
    ]
    return table([*header, "exact copies"], lines, left=2)


def _corpus(overlap: CorpusOverlap) -> Markdown:
    return Markdown(ALL_CORPORA) if overlap.corpus is None else code(overlap.corpus)


def _share(overlap: CorpusOverlap, cutoff: float) -> str:
    above = overlap.above(cutoff)
    return f"{count(above)} ({percent(above / overlap.searched)})" if overlap.searched else MISSING


def _examples(test_sets: Sequence[SearchedTestSet]) -> Iterator[Markdown]:
    """Rows beside the document that is most similar, by score; texts are quoted and cut."""
    for one in test_sets:
        if not one.examples:
            continue
        lines = [
            (
                prose(shorten(example.text, _QUOTED)),
                prose(shorten(example.found, _QUOTED)),
                code(example.corpus),
                "exact copy" if example.exact_copy else "near match",
                decimal(example.score, 2),
            )
            for example in one.examples
        ]
        header = ("row", "most similar document", "corpus", "match", "score")
        yield folded(compose("Examples by score: {name:code}", name=one.name), table(header, lines, left=4))


def _figure(test_sets: Sequence[SearchedTestSet]) -> OverlapFigure:
    cutoffs = curve_cutoffs(test_sets)
    return OverlapFigure(
        file=FIGURE,
        title="Share of the searched rows whose best score is above a cut-off",
        cutoffs=cutoffs,
        marked=tuple(sorted({cutoff for one in test_sets for cutoff in one.cutoffs})),
        panels=tuple(
            OverlapPanel(
                one.name,
                {
                    ALL_CORPORA if overlap.corpus is None else overlap.corpus: overlap.curve(cutoffs)
                    for overlap in one.overlaps
                },
            )
            for one in test_sets
        ),
    )


def _funnel(release: ReleaseFolder) -> Iterator[PropertySection]:
    stages = release.manifest["source"].get("funnel")
    if not stages:
        return
    try:
        checks.list_of(_STAGE)(stages, "source.funnel")
    except ValueError as error:
        raise ReleaseError(f"{release.path / 'manifest.json'}: {error}; build it again") from None
    yield PropertySection(
        title=Markdown("Mining"),
        sentences=(Markdown("What each stage of the mining read and kept, and why it dropped the rest."),),
        figures=(),
        tables=(_stages(stages),),
    )


def _stages(stages: Sequence[Mapping[str, Any]]) -> Markdown:
    lines = []
    for stage in stages:
        dropped = stage.get("dropped") or {}
        read = stage["kept"] + sum(dropped.values())
        lines.append(
            (
                prose(stage["stage"]),
                "; ".join(f"{reason}: {count(number)}" for reason, number in dropped.items()) or MISSING,
                prose(stage["unit"]),
                count(read),
                count(stage["kept"]),
                percent(stage["kept"] / read) if read else MISSING,
            )
        )
    return table(("stage", "dropped", "what", "read", "kept", "kept (%)"), lines, left=3)

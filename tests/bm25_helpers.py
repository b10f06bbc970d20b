"""Corpora, queries and comparisons of the BM25 tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hypothesis import strategies as st

from benchwright.splitting.scores.bm25 import Hit, OverlapQuery, SearchEngine, index_corpus, open_index

ENGINES = ("fast", "whoosh")


def search(
    documents: Sequence[str],
    queries: Sequence[OverlapQuery],
    folder: Path,
    engine: str,
    *,
    k: int = 50,
    idf: str = "whoosh",
    analyzer: str = "english",
) -> list[list[Hit]]:
    """Index and search at once."""
    built = index_corpus(documents, folder / engine, engine=engine, analyzer=analyzer, idf=idf)
    assert built.documents == len(documents)
    return built.search(queries, k=k)


def both(documents: Sequence[str], folder: Path, idf: str = "whoosh") -> list[SearchEngine]:
    """The same corpus in both engines."""
    for engine in ENGINES:
        index_corpus(documents, folder / engine, engine=engine)
    return [open_index(folder / engine, engine=engine, idf=idf) for engine in ENGINES]


def phrase(*words: str, gap: int = 10, content: Sequence[str] = (), required: bool = False) -> OverlapQuery:
    """A query with the same gap everywhere."""
    return OverlapQuery(tuple(words), (gap,) * (len(words) - 1), tuple(content), required)


def assert_equal_hits(found: Sequence[Hit], expected: Sequence[Hit]) -> None:
    """Equal hits in equal order, scores to 1e-9; hits whose scores differ by rounding may change places."""
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert abs(one.score - other.score) < 1e-9
    assert [_place(hit, found) for hit in found] == [_place(hit, expected) for hit in expected]


def _place(hit: Hit, hits: Sequence[Hit]) -> tuple[object, ...]:
    """What a hit is, among those of its score: order by document where scores are equal but for rounding."""
    tied = sorted((h.document, h.matched_terms) for h in hits if abs(h.score - hit.score) < 1e-9)
    return tuple(tied)


WORDS = ["red", "blue", "green", "cat", "dog", "the", "x", "doesn't", "20,000", "20", "great-cat", "É", "*"]


def documents() -> st.SearchStrategy[list[str]]:
    """Small corpora of few words, so that phrases are met; empty documents among them."""
    texts = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
    return st.lists(texts, max_size=10)


@st.composite
def queries(draw: st.DrawFn) -> OverlapQuery:
    """Queries of the same words, with a gap of its own between any two."""
    words = st.sampled_from([*WORDS, "absent"])
    chosen = tuple(draw(st.lists(words, max_size=4)))
    gaps = tuple(draw(st.integers(1, 4)) for _ in chosen[1:])
    content = tuple(draw(st.lists(words, max_size=4)))
    return OverlapQuery(
        chosen, gaps, content, draw(st.booleans()), draw(st.integers(1, 3)), may_vanish=draw(st.booleans())
    )

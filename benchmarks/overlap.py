"""Overlap search: the fast engine against Whoosh and bm25s, and its cost as the corpus grows.

    python benchmarks/overlap.py [--sentences 50000 1000000] [--data LOCATION] [--queries 200]
                                 [--whoosh-queries 200] [--scale 1000000 10000000] [--memory 1024]

Sentences are made up (Zipf-distributed words, English stop words among the frequent ones, 5 to 35 words), or
read from a corpus that `benchwright.builders.corpora` opens. Queries are made like the published ones: from a
sentence of the corpus two to four words in order, up to 10 terms apart, and up to eight others, one of which
must match. Contenders, each in a process of its own:

    fast     the fast engine
    whoosh   the reference engine, default writer, the same queries (or the first `--whoosh-queries`)
    bm25s    its default index of the same terms; it has no phrases: the other words of each query as a bag

All times are processor seconds; rates of one run are compared. The fast engine's search is compiled once on a
machine and loaded once in a process; both are measured apart and printed first. `peak` is the process's most
resident memory, without what it had before it began (files that are mapped count while they are cached).
`--scale` shows the fast engine alone, up to the sizes given. Limits: 15 times Whoosh's indexing rate and 100
times its queries a second at the largest size that Whoosh runs at, equal hits, and a cost of indexing a
sentence that grows by less than half from the smallest to the largest size. Exit code 1 if one is missed. In
a small corpus what does not grow with it, queries made into terms and hits into objects, is most of the fast
engine's time.

Measured on one core of a busy machine: a shard of a million made-up sentences takes 11 to 13 s to index, 139
MiB of disk and 0.5 ms a query; a shard of ten million 82 s, 1.2 GiB and 3.2 ms. By that a corpus of Wikipedia
and books (170 million sentences) in 17 shards of ten million takes 23 processor minutes to index, or three
rounds of 82 s with 8 workers, and 21 GiB; a query takes 54 ms over all shards, the 3,400 rows of WSC, DPR,
WinoGrande and KnowRef three processor minutes. Reading the corpus and splitting it into sentences come on
top.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from pathlib import Path
from unittest.mock import patch

import numpy as np

from benchwright.executor import LocalExecutor
from benchwright.splitting.scores.bm25 import Hit, OverlapQuery, index_corpus
from benchwright.splitting.scores.bm25.analysis import STOP_WORDS, EnglishAnalyzer
from benchwright.splitting.scores.bm25.engine import analysed
from benchwright.splitting.scores.bm25.fast_index import compiled_search

INDEXING_LIMIT, QUERIES_LIMIT, GROWTH_LIMIT = 15.0, 100.0, 1.5
_VOCABULARY = 400_000
_BLOCK = 20_000


@dataclass(frozen=True)
class Corpus:
    """The first sentences of made-up text, or of a corpus."""

    sentences: int
    data: str | None = None

    def __iter__(self) -> Iterator[str]:
        if self.data is None:
            return islice(_made_up(), self.sentences)
        from benchwright.builders.corpora import open_corpus

        corpus = open_corpus(self.data, sentences="punkt")
        return islice((document.text for document in corpus), self.sentences)


@cache
def _words() -> np.ndarray:
    """Words by falling frequency, frequent ones short; every second one of the first is a stop word."""
    letters = str.maketrans("0123456789abcdef", "etaoinshrdlucmfw")
    words = [f"{rank + 16:x}".translate(letters) for rank in range(_VOCABULARY)]
    words[1 : 2 * len(STOP_WORDS) : 2] = sorted(STOP_WORDS)
    return np.array(words, dtype=object)


def _made_up() -> Iterator[str]:
    """Sentences without end, the same ones in every run."""
    random = np.random.default_rng(6)
    weights = 1 / (np.arange(_VOCABULARY) + 2.7) ** 1.07
    borders = np.cumsum(weights / weights.sum())
    while True:
        lengths = random.integers(5, 36, _BLOCK)
        ranks = np.minimum(np.searchsorted(borders, random.random(lengths.sum())), _VOCABULARY - 1)
        chosen = iter(_words()[ranks].tolist())
        for length in lengths.tolist():
            yield " ".join(islice(chosen, length))


def make_queries(corpus: Corpus, count: int) -> list[OverlapQuery]:
    """Queries that sentences of the corpus answer."""
    random = np.random.default_rng(7)
    analyzer = EnglishAnalyzer()
    queries: list[OverlapQuery] = []
    for sentence in islice(iter(corpus), 0, None, max(1, corpus.sentences // (2 * count))):
        terms = analyzer.terms(sentence)
        size = int(random.integers(2, 5))
        if len(terms) < size + 2 or len(queries) == count:
            continue
        first = int(random.integers(0, len(terms) - size))
        phrase = tuple(terms[first : first + size])
        content = tuple(terms[:first] + terms[first + size :])[:8]
        queries.append(OverlapQuery(phrase, (10,) * (size - 1), content, content_required=True))
    return queries


@dataclass(frozen=True)
class Cost:
    """Processor seconds, bytes and hits of one contender."""

    indexing: float
    searching: float
    queries: int
    peak: int
    disk: int
    hits: list[list[Hit]]


class _Timed:
    """The sentences of a corpus, and the seconds that making them up or reading them took."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self.seconds = 0.0

    def __iter__(self) -> Iterator[str]:
        sentences = iter(self._corpus)
        while True:
            start = time.process_time()
            block = list(islice(sentences, _BLOCK))
            self.seconds += time.process_time() - start
            if not block:
                return
            yield from block


def measure(contender: str, corpus: Corpus, queries: Sequence[OverlapQuery], memory: int) -> Cost:
    """Index and search in this process."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    texts = _Timed(corpus)
    if contender == "fast":
        compiled_search()
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / "index"
        start = time.process_time()
        if contender == "bm25s":
            hits: list[list[Hit]] = []
            indexed, done = _bm25s(texts, queries, corpus.sentences)
        else:
            engine = index_corpus(texts, folder, engine=contender, memory=memory)
            indexed = time.process_time()
            hits = engine.search(queries)
            done = time.process_time()
        disk = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return Cost(indexed - start - texts.seconds, done - indexed, len(queries), peak << 10, disk, hits)


def _bm25s(texts: Iterable[str], queries: Sequence[OverlapQuery], size: int) -> tuple[float, float]:
    """The times when its index and its answers were there."""
    import bm25s

    options = {"token_pattern": r"\w+(?:\.?\w+)*", "stopwords": sorted(STOP_WORDS), "show_progress": False}
    model = bm25s.BM25(k1=1.2, b=0.75)
    model.index(bm25s.tokenize(list(texts), **options), show_progress=False)
    indexed = time.process_time()
    wanted = [query for query in (analysed(query, EnglishAnalyzer()) for query in queries) if query]
    bags = [[term for group in query.content for term in group] for query in wanted]
    model.retrieve(bags, k=min(50, size), show_progress=False)
    return indexed, time.process_time()


def _alone(contender: str, corpus: Corpus, queries: Sequence[OverlapQuery], memory: int) -> Cost:
    """Measured in a process of its own."""
    with LocalExecutor(1) as executor:
        work = partial(measure, corpus=corpus, queries=queries, memory=memory)
        return executor.map(work, [contender])[0]


def _loading(_: str) -> float:
    """Processor seconds until the compiled search is there, in this process."""
    start = time.process_time()
    compiled_search()
    return time.process_time() - start


def _print_loading() -> None:
    """What the fast engine costs once a machine, and once a process."""
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, NUMBA_CACHE_DIR=folder):
        times = []
        for name in ("compiled", "loaded"):
            with LocalExecutor(1) as executor:
                times += executor.map(_loading, [name])
    print(f"the fast search is compiled in {times[0]:.1f} s, and loaded in {times[1]:.1f} s from then on")


def _line(contender: str, corpus: Corpus, cost: Cost) -> None:
    rate = corpus.sentences / max(cost.indexing, 1e-9)
    speed = cost.queries / max(cost.searching, 1e-9)
    print(
        f"{corpus.sentences:>10}  {contender:<8}{cost.indexing:>9.1f} s{rate:>11.0f}/s"
        f"{1000 * cost.searching / max(1, cost.queries):>11.2f} ms{speed:>10.1f}/s"
        f"{cost.peak / 2**20:>9.0f} MiB{cost.disk / 2**20:>9.0f} MiB",
        flush=True,
    )


def _same(found: list[list[Hit]], expected: list[list[Hit]]) -> bool:
    """Equal scores to 1e-9, place by place."""
    pairs = zip(found, expected, strict=True)
    return all(
        len(one) == len(other) and all(abs(a.score - b.score) < 1e-9 for a, b in zip(one, other, strict=True))
        for one, other in pairs
    )


def compare(corpus: Corpus, options: argparse.Namespace) -> tuple[list[str], Cost]:
    """Print the three contenders at one size; what misses a limit there."""
    queries = make_queries(corpus, options.queries)
    sample = queries[: options.whoosh_queries]
    memory = options.memory << 20
    fast = _alone("fast", corpus, queries, memory)
    _line("fast", corpus, fast)
    _line("bm25s", corpus, _alone("bm25s", corpus, queries, memory))
    if corpus.sentences > options.whoosh_limit:
        return [], fast
    whoosh = _alone("whoosh", corpus, sample, memory)
    _line("whoosh", corpus, whoosh)
    indexing = whoosh.indexing / fast.indexing
    searching = whoosh.searching / len(sample) / (fast.searching / len(queries))
    print(f"{'':>12}fast against whoosh: indexing {indexing:.1f} times, queries {searching:.1f} times")
    missed = []
    if indexing < INDEXING_LIMIT:
        missed.append(f"indexing {indexing:.1f} times Whoosh at {corpus.sentences}")
    if searching < QUERIES_LIMIT and corpus.sentences == max(
        size for size in options.sentences if size <= options.whoosh_limit
    ):
        missed.append(f"queries {searching:.1f} times Whoosh at {corpus.sentences}")
    if not _same(fast.hits[: len(sample)], whoosh.hits):
        missed.append(f"the engines' hits differ at {corpus.sentences}")
    return missed, fast


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sentences", type=int, nargs="+", default=[50_000, 1_000_000])
    parser.add_argument("--scale", type=int, nargs="*", default=[])
    parser.add_argument("--data", help="a corpus's location instead of made-up text")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--whoosh-queries", type=int, default=200)
    parser.add_argument("--whoosh-limit", type=int, default=1_000_000, help="most sentences for Whoosh")
    parser.add_argument("--memory", type=int, default=1024, help="MiB for building an index")
    options = parser.parse_args()
    _print_loading()
    print(
        f"{'sentences':>10}  {'':<8}{'indexing':>11}{'':>13}{'a query':>14}{'':>12}{'peak':>13}{'disk':>13}"
    )
    missed: list[str] = []
    costs: list[tuple[int, Cost]] = []
    for size in sorted(options.sentences):
        found, fast = compare(Corpus(size, options.data), options)
        missed += found
        costs.append((size, fast))
    for size in sorted(options.scale):
        corpus = Corpus(size, options.data)
        fast = _alone("fast", corpus, make_queries(corpus, options.queries), options.memory << 20)
        _line("fast", corpus, fast)
        costs.append((size, fast))
    (small, least), (large, most) = min(costs, key=lambda c: c[0]), max(costs, key=lambda c: c[0])
    growth = (most.indexing / large) / (least.indexing / small)
    print(f"cost of a sentence from {small} to {large}: {growth:.2f} times")
    if growth > GROWTH_LIMIT:
        missed.append(f"the cost of a sentence grows {growth:.2f} times")
    for miss in missed:
        print(f"missed: {miss}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

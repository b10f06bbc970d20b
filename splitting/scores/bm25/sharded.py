"""Search over a corpus that is indexed in shards: the same answer, bit for bit, as from one index.

`index_shards` makes one index folder per shard, in parallel; a shard that is finished is not indexed again.
`ShardedEngine` searches them in parallel: the numbers that scores depend on (documents, total length, each
term's document frequency) are summed over the shards first, every shard then returns its best k by the
corpus-wide formula, and these are merged. Documents are numbered through, shard after shard.

Which executor does the work (core/executor.py) changes nothing. On a cluster, every node must see the corpus
and the index folder under the same paths.
"""

from __future__ import annotations

import bisect
import heapq
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, islice
from pathlib import Path

from ....atomic import write_text
from ....errors import SourceError, UsageError
from ....executor import Executor, SerialExecutor
from ....hashing import canonical_json, sha256_text
from ....progress import Progress, silent
from .analysis import load_analyzer
from .engine import MEMORY, MOST_HITS, Hit, Statistics, TermQuery, analysed_queries, check_choices
from .fast_engine import FastEngine, all_terms
from .fast_index import FORMAT, build_index, compiled_search, read_facts
from .query import OverlapQuery


@dataclass(frozen=True)
class Shard:
    """A part of a corpus. `identity`: changes whenever its documents do (a fingerprint of its file and its
    place in it); `documents`: gives them, each time anew. Both travel to workers: `documents` is a picklable
    callable, a partial of a module's function or a bound method of a picklable corpus."""

    identity: str
    documents: Callable[[], Iterable[str]]


def index_shards(
    shards: Sequence[Shard],
    folder: Path,
    *,
    executor: Executor | None = None,
    analyzer: str = "english",
    idf: str = "whoosh",
    memory: int = MEMORY,
    progress: Progress = silent,
) -> ShardedEngine:
    """Index each shard in a folder below `folder`, and open all for searching with the same executor.

    A shard whose finished index is there (same identity, analyzer and format) is left as it is, so that an
    interrupted run goes on where it stopped. `memory`: bytes for each worker. `progress` counts shards.
    Raises UsageError for no shards, or two of one identity.
    """
    if not shards:
        raise UsageError("a corpus has at least one shard")
    check_choices(idf=idf)
    compiled_search()
    identity = load_analyzer(analyzer).identity
    names = [_folder_name(shard, identity) for shard in shards]
    if len(set(names)) < len(names):
        raise UsageError("two shards of one identity: their documents would count twice")
    chosen = executor or SerialExecutor()
    work = partial(_index_shard, folder=folder, analyzer=analyzer, memory=memory)
    chosen.map(work, list(zip(names, shards, strict=True)), progress=progress)
    write_text(folder / _LIST, canonical_json({"format": FORMAT, "shards": names}) + "\n")
    return ShardedEngine(folder, executor=chosen, analyzer=analyzer, idf=idf)


_LIST = "shards.json"


def _folder_name(shard: Shard, analyzer: str) -> str:
    key = sha256_text(canonical_json({"shard": shard.identity, "analyzer": analyzer, "format": FORMAT}))
    return f"shard-{key.removeprefix('sha256:')[:24]}"


def _index_shard(work: tuple[str, Shard], *, folder: Path, analyzer: str, memory: int) -> None:
    name, shard = work
    target = folder / name
    try:
        facts = read_facts(target)
    except SourceError:
        facts = {}
    if facts.get("note") != shard.identity:
        build_index(shard.documents(), target, load_analyzer(analyzer), memory=memory, note=shard.identity)


class ShardedEngine:
    """Searches the shards that `index_shards` made. `executor`: who does the work, default this process."""

    def __init__(
        self,
        folder: Path,
        *,
        executor: Executor | None = None,
        analyzer: str = "english",
        idf: str = "whoosh",
    ) -> None:
        check_choices(idf=idf)
        self._executor = executor or SerialExecutor()
        self._analyzer, self._idf = analyzer, idf
        self._folders = [folder / name for name in _listed(folder)]
        facts = [read_facts(shard) for shard in self._folders]
        self._ends = list(accumulate(int(fact["documents"]) for fact in facts))
        self._total_length = sum(int(fact["total_length"]) for fact in facts)

    @property
    def documents(self) -> int:
        """Documents of all shards."""
        return self._ends[-1]

    @property
    def total_length(self) -> int:
        """Terms of all documents of all shards."""
        return self._total_length

    def locate(self, document: int) -> tuple[int, int]:
        """The shard that a document stands in, and its number there."""
        if not 0 <= document < self.documents:
            raise UsageError(f"documents are numbered from 0 to {self.documents - 1}, got {document}")
        shard = bisect.bisect_right(self._ends, document)
        return shard, document - (self._ends[shard - 1] if shard else 0)

    def statistics(self, terms: Iterable[str]) -> Statistics:
        """The whole corpus's numbers, with the document frequencies of `terms`."""
        wanted = tuple(dict.fromkeys(terms))
        work = partial(_shard_statistics, terms=wanted, analyzer=self._analyzer)
        return Statistics.summed(self._executor.map(work, self._folders))

    def search(
        self, queries: Sequence[OverlapQuery], *, k: int = MOST_HITS, progress: Progress = silent
    ) -> list[list[Hit]]:
        """At most `k` hits of each query over all shards, best first, ties by document number. Every shard is
        opened once for all queries; `progress` counts shards."""
        check_choices(idf=self._idf, k=k)
        wanted = tuple(analysed_queries(queries, load_analyzer(self._analyzer)))
        statistics = self.statistics(all_terms(wanted))
        work = partial(
            _search_shard,
            queries=wanted,
            k=k,
            statistics=statistics,
            analyzer=self._analyzer,
            idf=self._idf,
        )
        found = self._executor.map(work, self._folders, progress=progress)
        return [self._merged([hits[i] for hits in found], k) for i in range(len(queries))]

    def _merged(self, parts: Sequence[list[Hit]], k: int) -> list[Hit]:
        starts = [0, *self._ends[:-1]]
        numbered = [
            [hit._replace(document=hit.document + start) for hit in hits]
            for start, hits in zip(starts, parts, strict=True)
        ]
        merged = heapq.merge(*numbered, key=lambda hit: (-hit.score, hit.document))
        return list(islice(merged, k))


def _listed(folder: Path) -> list[str]:
    path = folder / _LIST
    try:
        listed = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        raise SourceError("no sharded index here", path=path, fix="index the shards first") from None
    names = listed.get("shards") if isinstance(listed, dict) else None
    if not isinstance(names, list) or not names or any(Path(str(name)).name != name for name in names):
        raise SourceError("not a list of shards", path=path, fix="index the shards again")
    return names


def _shard_statistics(folder: Path, *, terms: Sequence[str], analyzer: str) -> Statistics:
    return FastEngine(folder, load_analyzer(analyzer)).statistics(terms)


def _search_shard(
    folder: Path,
    *,
    queries: Sequence[TermQuery | None],
    k: int,
    statistics: Statistics,
    analyzer: str,
    idf: str,
) -> list[list[Hit]]:
    engine = FastEngine(folder, load_analyzer(analyzer), idf=idf)
    return engine.search_terms(queries, k=k, statistics=statistics)

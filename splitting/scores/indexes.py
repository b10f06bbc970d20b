"""Indexes of corpora, which a cache keeps for other rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from filelock import FileLock

from ...executor import Executor
from ...hashing import canonical_json, sha256_text
from ...progress import Progress, Stage
from .bm25.analysis import Analyzer, load_analyzer
from .bm25.engine import SearchEngine, index_corpus, open_index
from .bm25.sharded import Shard, ShardedEngine, index_shards
from .corpora import Corpus


@dataclass(frozen=True)
class Index:
    """An open index, and the parts of the corpus that it was made of, in order."""

    engine: SearchEngine
    parts: Sequence[Corpus]

    def by_part(self, documents: Iterable[int]) -> list[list[int]]:
        """Numbers of documents in the whole corpus as numbers in each part."""
        found: list[list[int]] = [[] for _ in self.parts]
        for document in documents:
            engine = self.engine
            part, number = engine.locate(document) if isinstance(engine, ShardedEngine) else (0, document)
            found[part].append(number)
        return found


@dataclass(frozen=True)
class Indexes:
    """The indexes of corpora, which the cache keeps for other rows; each is made by one run at a time."""

    engine: str
    idf: str
    analyzer: str
    cache: Path
    executor: Executor | None
    shards: int | None
    progress: Stage

    @cached_property
    def loaded(self) -> Analyzer:
        """The analyzer of queries and corpora."""
        return load_analyzer(self.analyzer)

    def of(self, corpus: Corpus) -> Index:
        """One index, or with an executor one of several shards; documents are numbered alike."""
        if self.executor is not None:
            parts = corpus.shards(self.shards or self.executor.workers)
            engine = self._sharded(corpus, parts, self.executor)
            if not engine.documents:
                # A shard may be empty, a whole corpus may not: it says so itself, and why.
                any(True for _ in corpus)
            return Index(engine, parts)
        return Index(self._whole(corpus), [corpus])

    def _whole(self, corpus: Corpus) -> SearchEngine:
        engine, idf = self.engine, self.idf
        folder = self._folder(corpus.fingerprint)
        with self._locked(folder):
            if folder.is_dir():
                return open_index(folder, engine=engine, analyzer=self.analyzer, idf=idf)
            with self.progress(f"indexing {corpus.name}", 0, "documents") as report:
                texts = _reported(corpus, report)
                return index_corpus(texts, folder, engine=engine, analyzer=self.analyzer, idf=idf)

    def _sharded(self, corpus: Corpus, parts: Sequence[Corpus], executor: Executor) -> SearchEngine:
        folder = self._folder(corpus.fingerprint, len(parts))
        shards = [Shard(part.fingerprint, partial(_texts, part)) for part in parts]
        with self._locked(folder), self.progress(f"indexing {corpus.name}", len(shards), "shards") as report:
            return index_shards(
                shards,
                folder,
                executor=executor,
                analyzer=self.analyzer,
                idf=self.idf,
                progress=report,
            )

    def _folder(self, *made_from: str | int) -> Path:
        made_by = [*made_from, self.engine, self.loaded.identity]
        return self.cache / "indexes" / sha256_text(canonical_json(made_by)).removeprefix("sha256:")

    def _locked(self, folder: Path) -> FileLock:
        folder.parent.mkdir(parents=True, exist_ok=True)
        return FileLock(folder.with_name(f"{folder.name}.lock"))


def _texts(corpus: Corpus) -> Iterator[str]:
    return (document.text for document in corpus)


def _reported(corpus: Corpus, report: Progress) -> Iterator[str]:
    for document in corpus:
        yield document.text
        report(1)

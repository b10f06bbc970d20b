"""Searching the rows of a test set in corpora: which corpora, by what queries, and what is found."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc

from ..errors import BenchwrightWarning, UsageError, show
from ..faults import Policy
from ..progress import Stage, no_progress
from ..splitting.scores import ScoreTable
from ..splitting.scores.bm25.analysis import load_analyzer
from ..splitting.scores.corpora import Corpus
from ..splitting.scores.overlap import PUBLISHED_HITS, Execution, SearchOptions, score_by_overlap
from ..wording import plural
from .base import OVERLAP_OPTIONS, Builder, BuildOptions, ConfigSpec, SourceData, overlap_table_name
from .corpora.base import SENTENCES, Sentences

CONSTRUCTIONS = ("parsed", "published")
"""Queries from dependency parses (the paper) or from part-of-speech tags (its code)."""
_BY_METHOD = {
    "query": {"corrected": "parsed", "published": "published"},
    "idf": {"corrected": "paper", "published": "whoosh"},
}
CHINESE = "zh"
ENGLISH_ANALYZER = "english"


@dataclass(frozen=True)
class CorpusSearch:
    """Where rows are searched, and how; the options of `build` of the same names.

    `corpus` are locations of corpora (see `builders.corpora`), `chinese_corpus` those for rows in Chinese.
    `chinese_analyzer` cuts those into terms. `query` (parsed, published) and `idf` (paper, whoosh): None for
    the choice of the method. The options from `executor` on are those of `overlap.Execution`.
    """

    corpus: Sequence[str] = ()
    chinese_corpus: Sequence[str] = ()
    corpus_form: str | None = None
    corpus_field: str | None = None
    sentences: str = "none"
    chinese_analyzer: str = "characters-2"
    query: str | None = None
    idf: str | None = None
    engine: str = "fast"
    hits_per_query: int = PUBLISHED_HITS
    top_hits: int = 10
    executor: str = "serial"
    workers: int | None = None
    ray_address: str | None = None
    shards: int | None = None
    _opened: dict[tuple[str, str], Corpus] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def given(self) -> list[str]:
        """The options that are not left to their defaults, as the command line calls them."""
        default = CorpusSearch()
        options = (option.name for option in fields(self) if option.init)
        names = (name for name in options if _value(self, name) != _value(default, name))
        return [f"--{name.replace('_', '-')}" for name in names]

    def locations(self, language: str) -> Sequence[str]:
        """The corpora of a language."""
        return self.chinese_corpus if language == CHINESE else self.corpus

    def check(self, options: BuildOptions) -> None:
        """Raise UsageError for words and numbers that cannot be used: before a source is read.

        PrerequisiteError for a segmenter that is not installed, SourceError for a file or folder that is not
        there or holds no corpus of the form, whether or not rows are searched in it.
        """
        from .corpora.hub import PREFIX

        self._construction(options)
        self._options(options)
        self._execution.check(self.engine)
        load_analyzer(self.chinese_analyzer)
        if self.sentences not in SENTENCES:
            words = " or ".join(SENTENCES)
            raise UsageError(f"no way {show(self.sentences)} to cut sentences; give {words}")
        for location in dict.fromkeys((*self.corpus, *self.chinese_corpus)):
            # What the Hub has is asked for when it is searched.
            if not str(location).startswith(PREFIX):
                self._open(location, "fail")

    def table(
        self,
        builder: Builder,
        rows: pa.Table,
        part: str | None,
        options: BuildOptions,
        *,
        cache: Path,
        on_bad_row: Policy = "fail",
        progress: Stage = no_progress,
    ) -> ScoreTable:
        """Search the rows of a part. Raises UsageError without a corpus of their language.

        SourceError for a corpus that cannot be read, PrerequisiteError for a parser or extra that is missing.
        """
        language = builder.overlap_language(part)
        locations = self.locations(language)
        if not locations:
            raise UsageError(f"rows of {part or builder.name} are searched in a corpus; {_lacking(language)}")
        corpora = [self._open(location, on_bad_row) for location in locations]
        analyzer = self.chinese_analyzer if language == CHINESE else ENGLISH_ANALYZER
        queries = builder.overlap_queries(rows, self._construction(options), analyzer, progress)
        made = score_by_overlap(
            rows,
            queries,
            corpora,
            self._options(options),
            cache=cache,
            execution=self._execution,
            progress=progress,
        )
        _tell_of_idle_hits(made.table, part or builder.name)
        return made

    @property
    def _execution(self) -> Execution:
        return Execution(self.executor, self.workers, self.ray_address, self.shards)

    def _open(self, location: str, on_bad_row: Policy) -> Corpus:
        """The same corpus each time it is asked for: its identity, for which every file is read, is too."""
        from .corpora import open_corpus

        if (location, on_bad_row) not in self._opened:
            self._opened[location, on_bad_row] = open_corpus(
                location,
                form=self.corpus_form,
                text_field=self.corpus_field,
                sentences=cast("Sentences", self.sentences),
                on_bad_row=on_bad_row,
            )
        return self._opened[location, on_bad_row]

    def _construction(self, options: BuildOptions) -> str:
        query = self.query or _BY_METHOD["query"][options.method]
        if query not in CONSTRUCTIONS:
            raise UsageError(f"no query construction {show(query)}; give {' or '.join(CONSTRUCTIONS)}")
        return query

    def _options(self, options: BuildOptions) -> SearchOptions:
        return SearchOptions(
            engine=self.engine,
            idf=self.idf or _BY_METHOD["idf"][options.method],
            hits_per_query=self.hits_per_query,
            top_hits=self.top_hits,
        )


def _tell_of_idle_hits(table: pa.Table, part: str) -> None:
    """Warn of rows whose hits all score 0 or less, as the paper's formula has it of common words."""
    hits, best = table.column("num_hits"), table.column("best_score")
    idle = pc.sum(pc.and_(pc.greater(hits, 0), pc.less_equal(best, 0.0))).as_py() or 0
    if idle:
        message = (
            f"rows of {part} with hits but no score above 0: {idle}; they do not count as overlapping, "
            "since half of the documents or more have their words; search a larger corpus, or give "
            "--idf whoosh"
        )
        warnings.warn(message, BenchwrightWarning, stacklevel=3)


def searchable(
    builder: Builder,
    search: CorpusSearch,
    options: BuildOptions,
    specs: Sequence[ConfigSpec],
    asked: Sequence[str] | None,
) -> list[str]:
    """Names of those `specs` whose rows need no search or can be searched; see `warn_of_unsearched`.

    Raises UsageError if others are all, or `asked` for by name, and for options that the builder has no use
    for or that cannot be used: before a source is read.
    """
    if not builder.overlap_parts():
        if search.given:
            flags = ", ".join(search.given)
            raise UsageError(f"{builder.name} has no rows to search in corpora; leave out {flags}")
        return [spec.name for spec in specs]
    search.check(options)
    if not builder.needs_corpus:
        _refuse_idle(builder, search, options)
    lacking = _unsearched(builder, search, specs)
    left = {name for names in lacking.values() for name in names}
    for language, names in lacking.items():
        if len(left) == len(specs) or left & set(asked or ()):
            raise UsageError(f"{names[0]} is made by searching a corpus; {_lacking(language)}")
    return [spec.name for spec in specs if spec.name not in left]


def warn_of_unsearched(
    builder: Builder, search: CorpusSearch, specs: Sequence[ConfigSpec], data: SourceData
) -> None:
    """Name those `specs` of the parts that are there which are left out, as no corpus is given for them."""
    there = [spec for spec in specs if spec.part is None or spec.part in data.parts]
    for language, names in _unsearched(builder, search, there).items():
        left_out = plural(len(names), "config is", "configs are")
        message = f"{left_out} left out, the first is {names[0]}: {_lacking(language)}"
        warnings.warn(message, BenchwrightWarning, stacklevel=3)


def _unsearched(builder: Builder, search: CorpusSearch, specs: Sequence[ConfigSpec]) -> dict[str, list[str]]:
    """Names of configs by the language of their rows, which no corpus is given for."""
    lacking: dict[str, list[str]] = {}
    for spec in specs:
        if spec.part in builder.overlap_parts() and spec.scores == overlap_table_name(spec.part):
            language = builder.overlap_language(spec.part)
            if not search.locations(language):
                lacking.setdefault(language, []).append(spec.name)
    return lacking


def _refuse_idle(builder: Builder, search: CorpusSearch, options: BuildOptions) -> None:
    """Raise UsageError for options on searching without a corpus, where a release is made without one too."""
    if any(search.locations(builder.overlap_language(part)) for part in builder.overlap_parts()):
        return
    chosen = [f"--{name.replace('_', '-')}" for name in OVERLAP_OPTIONS if getattr(options, name)]
    if idle := [*search.given, *chosen]:
        raise UsageError(f"{', '.join(idle)}: nothing is searched; give a corpus with --corpus")


def _lacking(language: str) -> str:
    if language == CHINESE:
        return "give one of Chinese text with --chinese-corpus, or published scores with --scores"
    return "give one with --corpus, or published scores with --scores"


def _value(search: CorpusSearch, name: str) -> Any:
    value = getattr(search, name)
    return tuple(value) if isinstance(value, list) else value

"""The pipeline from Reddit dumps to problems with new names, ready for annotators (2011.04767, Section 6).

Five files stand in the folder: `sentences/DUMP.jsonl` (stage 1, one for each dump), `chunked.jsonl` (stages 2
and 3), `problems.jsonl` (stage 4) and `swapped.jsonl` (stage 5). An interrupted run goes on with the stage
that it had begun; a file is made anew only where options or inputs have changed.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache as keep
from pathlib import Path
from typing import Any, TypeVar

from ... import __version__
from ...errors import SourceError, UsageError
from ...executor import open_executor
from ...hashing import sha256_file
from ...progress import Stage, no_progress
from ...text.tagging import Tagger, load_tagger
from ...wording import plural
from ..base import Method
from ..corpora import Corpus, open_corpus
from ._stages import FunnelStage, Seen, StageFolder
from .chunking import chunk, fault_of_phrases
from .cleaning import Found, find_sentences
from .persons import LOST_CHUNK, Problem, SentenceParser, find_problem, lost_in_chunks
from .swapping import Swapped, swap_names
from .words import NounTest, TaggedNouns, read_treebank

CHUNKED, PROBLEMS, SWAPPED = "chunked.jsonl", "problems.jsonl", "swapped.jsonl"
REPEATED = "sentence met before"

_COMMENTS_IN_BLOCK = 2_000
_SENTENCES_IN_BLOCK = 1_000
# So many blocks of comments for each process are in memory at a time.
_BLOCKS_AHEAD = 4
Item = TypeVar("Item")


@dataclass(frozen=True)
class Mined:
    """What a run kept and dropped, stage by stage, and where the problems are."""

    folder: Path
    funnel: tuple[FunnelStage, ...]

    @property
    def problems(self) -> Path:
        return self.folder / SWAPPED

    def to_json(self) -> dict[str, Any]:
        return {"problems": str(self.problems), "funnel": [stage.to_json() for stage in self.funnel]}

    def __str__(self) -> str:
        found = plural(self.funnel[-1].kept, "problem")
        following = f"next: benchwright mine export-tasks {self.folder} --out TASKS"
        if not self.funnel[-1].kept:
            following = "nothing to annotate; mine more dumps"
        return "\n".join([*map(str, self.funnel), f"{found} in {self.problems}", following])


def mine_knowref(
    dumps: Sequence[str | Path],
    *,
    out: str | Path,
    method: Method = "corrected",
    treebank: str | Path | None = None,
    parser: str | SentenceParser = "parser",
    seed: int = 42,
    workers: int = 1,
    cache: str | Path | None = None,
    progress: Stage = no_progress,
) -> Mined:
    """Find sentences about two persons and a pronoun in Reddit dumps, and give the persons new names.

    `dumps` are files of comments as JSON lines (`.bz2`, `.zst`, `.gz` or plain), read as streams. `treebank`
    is NLTK's `treebank.zip`, whose words that are not nouns cannot be candidates; without it, a tagger says
    which words are nouns. `parser` is a spaCy pipeline by name or folder, or anything that parses. `workers`
    processes share stage 1; the result does not depend on their number. `seed` chooses the new names.

    Raises UsageError for a folder with other files, SourceError for dumps that cannot be read,
    PrerequisiteError where tagger or parser is missing.
    """
    if workers < 1:
        raise UsageError(f"{workers} workers; give at least 1")
    folder = StageFolder(Path(out))
    tagger = load_tagger(cache)
    names = _sentence_files(dumps)
    run = _Run(folder, method, treebank, tagger, cache, workers, progress)
    hashes = [run.sentences(name, dump) for name, dump in names.items()]
    chunked = run.chunked(list(names), hashes)
    problems = run.problems(chunked, parser)
    run.swapped(problems, seed)
    return Mined(folder.root, tuple(folder.funnel([*names, CHUNKED, PROBLEMS, SWAPPED])))


def _sentence_files(dumps: Sequence[str | Path]) -> dict[str, Path]:
    """The file of stage 1 for each dump, in the order of their names. Raises UsageError, SourceError."""
    paths: list[Path] = []
    for dump in dumps:
        path = Path(dump)
        if not path.exists():
            raise SourceError("no such file or folder", path=path, fix="check the path of the dump")
        inside = path.iterdir() if path.is_dir() else (path,)
        paths += [file for file in inside if file.is_file() and not file.name.startswith(".")]
    if not paths:
        raise UsageError("no dump to mine; name a file of Reddit comments")
    paths.sort(key=lambda path: path.name)
    names = {f"sentences/{path.name}.jsonl": path for path in paths}
    if len(names) < len(paths):
        raise UsageError("two dumps have the same name; rename one of them")
    return names


@dataclass
class _Counts:
    """What a stage keeps and drops while its lines are written."""

    stage: str
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)

    def judge(self, reason: str | None) -> bool:
        if reason is None:
            self.kept += 1
        else:
            self.dropped[reason] += 1
        return reason is None

    def funnel(self) -> list[FunnelStage]:
        return [FunnelStage(self.stage, "sentences", self.kept, self.dropped)]


@dataclass
class _SentenceCounts:
    """What stage 1 keeps and drops, comments and sentences."""

    corpus: Corpus
    comments: int = 0
    dropped_comments: Counter[str] = field(default_factory=Counter)
    sentences: _Counts = field(default_factory=lambda: _Counts("sentences"))

    def add(self, found: Found) -> None:
        self.comments += found.comments
        self.dropped_comments += found.dropped_comments
        self.sentences.kept += len(found.kept)
        self.sentences.dropped += found.dropped

    def funnel(self) -> list[FunnelStage]:
        counts = self.corpus.counts
        unread = Counter(counts.skipped) + Counter(counts.dropped)
        kept = self.comments - sum(self.dropped_comments.values())
        comments = FunnelStage("comments", "comments", kept, unread + self.dropped_comments)
        return [comments, *self.sentences.funnel()]


@dataclass(frozen=True)
class _SentenceFinder:
    """Stage 1 of one block of comments; picklable, so that processes can share the work."""

    method: Method
    treebank: str | None
    cache: str | None

    def __call__(self, comments: Sequence[str]) -> Found:
        return find_sentences(comments, _noun_test(self.treebank, self.cache), self.method)


@keep
def _noun_test(treebank: str | None, cache: str | None) -> NounTest:
    return TaggedNouns(load_tagger(cache)) if treebank is None else read_treebank(treebank)


@dataclass
class _Run:
    folder: StageFolder
    method: Method
    treebank: str | Path | None
    tagger: Tagger
    cache: str | Path | None
    workers: int
    progress: Stage

    def _key(self, **more: Any) -> dict[str, Any]:
        return {"benchwright": __version__, "method": self.method, **more}

    def sentences(self, name: str, dump: Path) -> str:
        """Stage 1 of one dump."""
        treebank = None if self.treebank is None else str(self.treebank)
        cache = None if self.cache is None else str(self.cache)
        finder = _SentenceFinder(self.method, treebank, cache)
        nouns = _noun_test(treebank, cache).identity()

        def records() -> tuple[Iterator[dict[str, Any]], _SentenceCounts]:
            corpus = open_corpus(dump, form="reddit", on_bad_row="drop")
            counts = _SentenceCounts(corpus)
            return self._found(corpus, finder, counts), counts

        return self.folder.run(name, self._key(nouns=nouns, dump=sha256_file(dump)), records)

    def _found(
        self, corpus: Corpus, finder: _SentenceFinder, counts: _SentenceCounts
    ) -> Iterator[dict[str, Any]]:
        blocks = _blocks((document.text for document in corpus), _COMMENTS_IN_BLOCK)
        kind = "serial" if self.workers == 1 else "local"
        with (
            self.progress("comments", 0, "comments") as report,
            open_executor(kind, workers=self.workers) as executor,
        ):
            for window in _blocks(blocks, self.workers * _BLOCKS_AHEAD):
                for found in executor.map(finder, window):
                    counts.add(found)
                    report(found.comments)
                    for sentence, words in found.kept:
                        yield {"sentence": sentence, "words": words}

    def chunked(self, names: Sequence[str], hashes: Sequence[str]) -> str:
        """Stages 2 and 3 of all sentences."""

        def records() -> tuple[Iterator[dict[str, Any]], _Counts]:
            counts = _Counts("noun phrases")
            return self._chunked(names, counts), counts

        return self.folder.run(CHUNKED, self._key(sentences=list(hashes)), records, made_of=names)

    def _chunked(self, names: Sequence[str], counts: _Counts) -> Iterator[dict[str, Any]]:
        lines = itertools.chain.from_iterable(map(self.folder.lines, names))
        with Seen() as seen:
            for block in _blocks(lines, _SENTENCES_IN_BLOCK):
                tagged = self.tagger.tag([record["words"] for record in block])
                for record, tags in zip(block, tagged, strict=True):
                    words = record["words"]
                    reason = fault_of_phrases(chunk(words, tags.tags, self.method))
                    sentence = " ".join(words)
                    if reason is None and not seen.add(sentence):
                        reason = REPEATED
                    if counts.judge(reason):
                        yield {"sentence": sentence}

    def problems(self, chunked: str, parser: str | SentenceParser) -> str:
        """Stage 4 of all sentences."""
        loaded = loaded_parser(parser, self.cache)

        def records() -> tuple[Iterator[dict[str, Any]], _Counts]:
            counts = _Counts("persons")
            with_progress = self._problems(loaded, counts)
            return (problem.to_json() for problem in with_progress), counts

        return self.folder.run(PROBLEMS, self._key(chunked=chunked, parser=loaded.identity()), records)

    def _problems(self, parser: SentenceParser, counts: _Counts) -> Iterator[Problem]:
        with self.progress("sentences parsed", 0, "sentences") as report:
            for block in _blocks(self.folder.lines(CHUNKED), _SENTENCES_IN_BLOCK):
                parsed = parser.parse([record["sentence"] for record in block])
                found = [find_problem(sentence, self.method) for sentence in parsed]
                faults = [result if isinstance(result, str) else None for result in found]
                lost = lost_in_chunks(faults) if self.method == "published" else [False] * len(found)
                report(len(block))
                for result, fault, gone in zip(found, faults, lost, strict=True):
                    if counts.judge(fault or (LOST_CHUNK if gone else None)) and isinstance(result, Problem):
                        yield result

    def swapped(self, problems: str, seed: int) -> str:
        """Stage 5 of all problems."""

        def records() -> tuple[Iterator[dict[str, Any]], _Counts]:
            counts = _Counts("new names")
            return self._swapped(seed, counts), counts

        return self.folder.run(SWAPPED, self._key(problems=problems, seed=seed), records)

    def _swapped(self, seed: int, counts: _Counts) -> Iterator[dict[str, Any]]:
        for record in self.folder.lines(PROBLEMS):
            swapped = swap_names(Problem.from_json(record), seed=seed, method=self.method)
            if counts.judge(swapped if isinstance(swapped, str) else None) and isinstance(swapped, Swapped):
                yield swapped.to_json()


def loaded_parser(parser: str | SentenceParser, cache: str | Path | None = None) -> SentenceParser:
    """A parser by name or folder, or the one that was given. Raises PrerequisiteError."""
    if not isinstance(parser, str):
        return parser
    from ...text.parsing import load_parser

    return load_parser(parser, cache)


def _blocks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    iterator = iter(items)
    while block := list(itertools.islice(iterator, size)):
        yield block

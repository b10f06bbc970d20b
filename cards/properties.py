"""What the splits of a release hold besides their sizes: sections made from its analyses.

Source of the measures: "Benchmarking Long-tail Generalization with Likelihood Splits" (2210.06799), Figures 2
to 11 and Tables 13 and 14.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from datasets import ClassLabel

from ..release import SPLITS, ReleaseFolder
from .figures import EVALUATION, Figure, Panel, Picture, picture_name
from .markdown import Markdown, code, compose, folded, table
from .numbers import MISSING, brief, count, decimal, percent
from .placement import explains_structure
from .property_data import Line, Properties, by_config
from .property_figures import Bar, BarFigure, Dot, DotFigure, DotPanel
from .provenance import flatten

_MOST_LINES = 16
_MOST_CLASSES = 8
_NAME_LENGTH = 60
# A picture named after a split is a row of it to readers that are not told which files to read.
_SPLIT_WORD = re.compile(
    r"(?<![A-Za-z])(train|training|validation|valid|dev|val|test|testing|eval|evaluation)(?![A-Za-z])"
)
_DEPTHS = {"max_depth": "maximum depth", "mean_depth": "mean depth", "yngve": "Yngve score"}


@dataclass(frozen=True)
class PropertySection:
    """One property: what is to be known about it, pictures, and tables (folded where they are long)."""

    title: Markdown
    sentences: tuple[Markdown, ...]
    figures: tuple[Picture, ...]
    tables: tuple[Markdown, ...]


def property_sections(release: ReleaseFolder, found: Properties) -> list[PropertySection]:
    """Every property that was analysed, the composition of the splits first."""
    return [
        *_divergence(release, found),
        *_composition(release, found),
        *_novel_compounds(found),
        *_lengths(found),
        *_rare_words(found),
        *_trees(found),
        *_readability(found),
    ]


def property_notes(found: Properties) -> list[Markdown]:
    """Which configs are left out, and from what outside data the numbers come."""
    notes = [
        compose(
            "**Stale**: {config:code} is left out, because {reason} since it was analysed.",
            config=config,
            reason=reason,
        )
        for config, reason in found.stale.items()
    ]
    if found.unknown:
        notes.append(compose("Not analysed: {configs:codes}.", configs=found.unknown))
    facts = list(flatten(found.resources))
    if facts:
        lines = [
            (compose("{name:code}", name=name), compose("{value:code}", value=value)) for name, value in facts
        ]
        notes.append(folded("Outside data behind these numbers", table(("what", "value"), lines, left=2)))
    return notes


def _divergence(release: ReleaseFolder, found: Properties) -> Iterator[PropertySection]:
    if not found.divergence:
        return
    lines: dict[str, dict[str, Line]] = {}
    for line in found.divergence:
        lines.setdefault(line["config"], {})[line["evaluation"]] = line
    splits = [split for split in EVALUATION if any(split in of for of in lines.values())]
    measures = {"compounds": "compound", "atoms": "atom_symbols"}
    main = table(
        ("config", *(f"{words}, {split}" for words in measures for split in splits)),
        (
            (
                code(config),
                *(
                    decimal(of[split][key] if split in of else None, 3)
                    for key in measures.values()
                    for split in splits
                ),
            )
            for config, of in lines.items()
        ),
    )
    others = table(
        ("config", "evaluation", "atoms of a row once", "all tokens", "train rows", "evaluation rows"),
        (
            (
                code(config),
                split,
                decimal(line["atom_set"], 3),
                decimal(line["atom_tokens"], 3),
                *(_read_rows(line, side) for side in ("train", "evaluation")),
            )
            for config, of in lines.items()
            for split, line in of.items()
        ),
        left=2,
    )
    yield PropertySection(
        Markdown("Divergence of train and evaluation"),
        tuple(_divergence_sentences(found, known=explains_structure(release))),
        (),
        (main, folded("Atoms counted in other ways; rows, and how many of them have no parse", others)),
    )


def _divergence_sentences(found: Properties, *, known: bool) -> Iterator[Markdown]:
    """How to read the divergences; `known` tells that the structure was explained before."""
    yield Markdown(
        "Chernoff divergence from train: 0 where both sides have the same distribution, 1 where they share "
        "nothing; α is 0.1 for compounds and 0.5 for atoms."
    )
    if known or not found.structure_summary:
        yield compose("The structure is {structure:code}.", structure=found.structure)
    else:
        yield compose(
            "The structure is {structure:code}: {summary}",
            structure=found.structure,
            summary=found.structure_summary,
        )
    yield Markdown("Every occurrence of an atom counts; keywords and punctuation are left out.")


def _read_rows(line: Line, side: str) -> str:
    rows, unparsed = line[f"{side}_rows"], line.get(f"{side}_unparsed")
    return f"{count(rows)} ({count(unparsed)})" if unparsed else count(rows)


def _composition(release: ReleaseFolder, found: Properties) -> Iterator[PropertySection]:
    targets = {entry["task"].get("target") for entry in release.placed_configs.values()}
    columns = {column: lines for column, lines in found.composition.items() if column not in targets}
    for column, file in _files("composition", columns).items():
        lines = by_config(columns[column])
        classes = _classes(release, column, columns[column])
        cells = _by_split(columns[column], partial(_class_cells, classes))
        bars = tuple(_bars(lines, classes))
        drawn = len(classes) <= _MOST_CLASSES and bars
        yield PropertySection(
            compose("Rows by {column:code}", column=column),
            (Markdown("In percent of the rows of a split."),),
            (BarFigure(file, f"Rows by {column}", classes, bars),) if drawn else (),
            (_table(("config", "split", *map(code, classes), "rows"), cells, left=2),),
        )


def _class_cells(classes: tuple[str, ...], line: Line) -> tuple[str, ...]:
    rows = sum(line["counts"].values())
    return (*(percent(line["counts"].get(name, 0) / max(1, rows)) for name in classes), count(rows))


def _classes(release: ReleaseFolder, column: str, lines: Iterable[Line]) -> tuple[str, ...]:
    """The classes in the order of the column's features, then those that only the lines have."""
    names: dict[str, None] = {}
    for config in dict.fromkeys(line["config"] for line in lines):
        feature = release.features(config).get(column)
        names |= dict.fromkeys(feature.names if isinstance(feature, ClassLabel) else ())
    return tuple(names | dict.fromkeys(name for line in lines for name in line["counts"]))


def _bars(lines: Mapping[str, Mapping[str, Line]], classes: Sequence[str]) -> Iterator[Bar]:
    for config, splits in lines.items():
        for side, names in (("train", ("train",)), ("evaluation", EVALUATION)):
            numbers = [
                sum(splits[split]["counts"].get(name, 0) for split in names if split in splits)
                for name in classes
            ]
            if sum(numbers):
                yield Bar(config, side, tuple(number / sum(numbers) for number in numbers))


def _novel_compounds(found: Properties) -> Iterator[PropertySection]:
    if not found.novel_compounds:
        return
    lines = _by_split(
        found.novel_compounds,
        lambda line: (
            count(line["rows"]),
            count(line["with_novel"]),
            percent(line["with_novel"] / max(1, line["rows"])),
            count(line["distinct_novel"]),
        ),
    )
    header = ("config", "split", "rows", "with a novel compound", "in %", "distinct novel compounds")
    yield PropertySection(
        Markdown("Novel compounds"),
        (Markdown("A compound is novel if no training row has it."),),
        (),
        (_table(header, lines, left=2),),
    )


def _lengths(found: Properties) -> Iterator[PropertySection]:
    if not found.lengths:
        return
    files = _files("lengths", found.lengths)
    figures = [
        Figure(
            files[column], f"Length of {column}", f"length of {picture_name(column)} (tokens)", True, panels
        )
        for column, lines in found.lengths.items()
        if (panels := tuple(_length_panels(lines)))
    ]
    yield PropertySection(
        Markdown("Lengths"),
        (
            Markdown(
                "Medians and, in brackets, quartiles of the number of tokens: of NLTK or, for programs, of "
                "their language."
            ),
            Markdown("The outermost bars of a figure also count what lies beyond its axis."),
        ),
        tuple(figures),
        tuple(
            _split_table(
                column,
                lines,
                lambda line: f"{brief(line['median'])} ({' to '.join(map(brief, line['quartiles']))})",
            )
            for column, lines in found.lengths.items()
        ),
    )


def _length_panels(lines: tuple[Line, ...]) -> Iterator[Panel]:
    for config, splits in by_config(lines).items():
        train, evaluation = (
            _spread_out([pair for split in names if split in splits for pair in splits[split]["histogram"]])
            for names in (("train",), EVALUATION)
        )
        if len(train) or len(evaluation):
            yield Panel(config, train, evaluation)


def _spread_out(histogram: Sequence[Sequence[int]]) -> np.ndarray:
    """One value per row, shape (rows,), from [length, rows] pairs."""
    values, rows = np.array(histogram, dtype=np.float64).reshape(-1, 2).T
    return np.repeat(values, rows.astype(np.int64))


def _rare_words(found: Properties) -> Iterator[PropertySection]:
    if not found.rare_words:
        return
    panels = [
        DotPanel(
            column,
            "rare words (% of words)",
            {config: tuple(_rare_dots(splits)) for config, splits in by_config(lines).items()},
        )
        for column, lines in found.rare_words.items()
    ]
    yield PropertySection(
        Markdown("Rare words"),
        tuple(_rare_sentences(found)),
        (DotFigure("figures/rare_words.png", "Rare words", tuple(panels)),),
        tuple(
            _captioned(
                column,
                ("config", "split", "words", "rare", "in %", "random splits", "percentile"),
                _by_split(lines, _rare_cells),
            )
            for column, lines in found.rare_words.items()
        ),
    )


def _rare_sentences(found: Properties) -> Iterator[Markdown]:
    yield Markdown(
        "A word is rare if it is an English word that the frequency list has at most once per million; the "
        "share is that of all words (tokens of letters) of the split."
    )
    draws = {
        line["null"]["draws"] for lines in found.rare_words.values() for line in lines if line.get("null")
    }
    if draws:
        yield compose(
            "{draws} random splits of the same size are the yardstick: their middle 95 % (the grey bars) and "
            "the percentile at which the split stands among them.",
            draws=count(max(draws)),
        )


def _rare_dots(splits: Mapping[str, Line]) -> Iterator[Dot]:
    for split, line in splits.items():
        if line["share"] is not None:
            low, high = ((line.get("null") or {}).get(bound) for bound in ("low", "high"))
            expected = None if low is None or high is None else (100 * low, 100 * high)
            yield Dot(split, 100 * line["share"], expected)


def _rare_cells(line: Line) -> tuple[str, ...]:
    null = line.get("null") or {}
    low, high = (percent(null.get(bound), 2) for bound in ("low", "high"))
    return (
        count(line["words"]),
        count(line["rare"]),
        percent(line["share"], 2),
        f"{low} to {high}" if null else MISSING,
        decimal(null.get("percentile")),
    )


def _trees(found: Properties) -> Iterator[PropertySection]:
    if not found.trees:
        return
    panels = [
        DotPanel(
            column,
            words,
            {
                config: tuple(
                    Dot(split, line[measure]["mean"])
                    for split, line in splits.items()
                    if line[measure]["mean"] is not None
                )
                for config, splits in by_config(lines).items()
            },
        )
        for column, lines in found.trees.items()
        for measure, words in _DEPTHS.items()
    ]
    yield PropertySection(
        Markdown("Parse trees"),
        (
            Markdown(
                "Means and, in brackets, medians over rows. The depth of a word is the number of nodes above "
                "it, its Yngve score the number of right sisters of it and of these nodes; mean depth and "
                "Yngve score are those of the words of a row."
            ),
            *_tree_origin(found),
        ),
        (DotFigure("figures/trees.png", "Means of parse trees", tuple(panels)),),
        tuple(
            _captioned(
                column,
                ("config", "split", *_DEPTHS.values(), "rows"),
                _by_split(
                    lines,
                    lambda line: (*(_average(line[measure]) for measure in _DEPTHS), _measured_rows(line)),
                ),
            )
            for column, lines in found.trees.items()
        ),
    )


def _measured_rows(line: Line) -> str:
    rows, of = line["rows"], line.get("of")
    return count(rows) if of in (None, rows) else f"{count(rows)} of {count(of)}"


def _tree_origin(found: Properties) -> Iterator[Markdown]:
    parses = found.resources.get("parses")
    if isinstance(parses, Mapping):
        if parses.get("parser"):
            yield compose(
                "The parser {parser:code} made the trees, errors included.", parser=parses["parser"]
            )
        elif parses.get("source"):
            yield compose("The trees come from {source:code}.", source=parses["source"])


def _readability(found: Properties) -> Iterator[PropertySection]:
    if not found.readability:
        return
    panels = [
        DotPanel(
            column,
            "Flesch-Kincaid grade",
            {
                config: tuple(
                    Dot(split, line["mean"]) for split, line in splits.items() if line["mean"] is not None
                )
                for config, splits in by_config(lines).items()
            },
        )
        for column, lines in found.readability.items()
    ]
    yield PropertySection(
        Markdown("Readability"),
        (
            Markdown("Mean Flesch-Kincaid grade (US school years) and, in brackets, the median."),
            *_without_grade(found),
        ),
        (DotFigure("figures/readability.png", "Mean Flesch-Kincaid grade", tuple(panels)),),
        tuple(_split_table(column, lines, _average) for column, lines in found.readability.items()),
    )


def _without_grade(found: Properties) -> Iterator[Markdown]:
    """Which texts the averages leave out, where they leave out any."""
    for column, lines in found.readability.items():
        texts = sum(line["rows"] for line in found.lengths.get(column, ()))
        missing = texts - sum(line["rows"] for line in lines)
        if missing > 0:
            yield compose(
                "{missing} of {texts} texts of {column:code}, over all configs, have no grade: texts without "
                "an English word, and those with Chinese or Japanese characters.",
                missing=count(missing),
                texts=count(texts),
                column=column,
            )


def _by_split(lines: tuple[Line, ...], cells: Callable[[Line], Sequence[str]]) -> Iterator[Sequence[str]]:
    """The lines of a table with a line for each split of each config."""
    for config, splits in by_config(lines).items():
        for split, line in splits.items():
            yield (code(config), split, *cells(line))


def _split_table(column: str, lines: tuple[Line, ...], cell: Callable[[Line], str]) -> Markdown:
    """A table with a line for each config and a column for each split."""
    configs = by_config(lines)
    splits = [split for split in SPLITS if any(split in of for of in configs.values())]
    cells = (
        (code(config), *(cell(of[split]) if split in of else MISSING for split in splits))
        for config, of in configs.items()
    )
    return _captioned(column, ("config", *splits), cells, left=1)


def _captioned(column: str, header: Sequence[str], lines: Iterable[Sequence[str]], left: int = 2) -> Markdown:
    return _table(
        header, lines, left, f"The table for {column}", compose("{column:code}:\n\n", column=column)
    )


def _table(
    header: Sequence[str],
    lines: Iterable[Sequence[str]],
    left: int,
    summary: str = "The table",
    caption: str = "",
) -> Markdown:
    """A table below its caption, or folded under its summary where it is long."""
    listed = list(lines)
    written = table(header, listed, left)
    return folded(summary, written) if len(listed) > _MOST_LINES else Markdown(caption + written)


def _files(kind: str, columns: Iterable[str]) -> dict[str, str]:
    """A file of its own for each column, named after it as far as file names allow."""
    files: dict[str, str] = {}
    for column in columns:
        name = re.sub(r"\W+", "_", column, flags=re.ASCII)[:_NAME_LENGTH]
        name = _SPLIT_WORD.sub(r"\1column", name)
        file = f"figures/{kind}_of_{name}.png"
        files[column] = file if file not in files.values() else f"figures/{kind}_of_{name}_{len(files)}.png"
    return files


def _average(found: Mapping[str, float | None]) -> str:
    return f"{decimal(found['mean'], 2)} ({decimal(found['median'], 2)})"

"""What a release holds: its configs, its columns, one example of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import pyarrow.parquet as pq
from datasets import ClassLabel, Features

from ..features import class_names
from ..release import SPLITS, ReleaseFolder
from ..wording import plural
from .markdown import Markdown, code, join, prose, record
from .numbers import count
from .parts import by_category, parts
from .yaml_header import unnamed_config

# What the shared columns mean (the columns of the task are explained by the task itself).
_MEANINGS = {
    "uid": "identifies the row: corpus, split of the source, id in the source",
    "content_id": "hash of the input fields; the same text has the same id in every release",
    "log_likelihood": "log-probability of the scored text, in nats; null without a score",
    "lm_num_tokens": "number of model tokens that were scored",
    "fold": "fold that held the row out when the scoring model was fine-tuned",
    "length": "number of words (NLTK tokens) of the text that was or would be scored",
    "placed_by": "rule that put the row on its side",
    "source_split": "split in which the source published the row",
    "source_index": "0-based position in the source",
    "status": "whether the row has a score (`ok`) or why not",
    "num_novel_compounds": "compounds of the target that no training row has (evaluation rows)",
    "annotator_labels": "labels that single annotators gave",
    "pair_id": "id of the pair in the source",
    "caption_id": "id of the premise in the source",
    "premise_length": "number of words (NLTK tokens) of the premise",
    "title": "title of the passage's article",
    "passage_length": "number of words (NLTK tokens) of the passage",
    "sql_parsed": "whether the SQL could be parsed",
    "program_parsed": "whether the program could be parsed",
    "entities": "what the placeholders in `source` and `target` stand for",
    "hardness": "Spider's hardness class of the query",
    "question": "the question as it stands in the source",
    "query": "the program as it stands in the source",
    "pronoun": "the pronoun, or `_` where the source has a blank",
    "pronoun_loc": "place of the pronoun in `text`, in characters from 0",
    "options": "candidates that the pronoun may stand for",
    "e1": "first candidate as it stands in the text",
    "e2": "second candidate as it stands in the text",
    "pred_c": "predicate of the clause before the pronoun's",
    "pred_q": "predicate of the pronoun's clause",
    "connective": "word or sign that joins the two clauses",
    "content_words": "words that are searched beside the predicates",
    "best_score": "BM25 score of the most similar document; 0: none matches, null: no query could be made",
    "num_hits": "documents that match, in each corpus up to a limit",
    "exact_copy": "whether a document holds the text word by word",
    "annotation_strength": "how many annotators chose the right option",
    "gender": "gender of the pronoun and of both names",
    "sentence_sha224": "SHA-224 of the tokenised original sentence, by which it is found in a dump",
    "hits": "the most similar documents of every corpus, with their scores",
    "source": "input string of a sequence-to-sequence model",
    "target": "output string of a sequence-to-sequence model",
    "template": "equal for programs that differ in their values only",
    "phenomenon": "linguistic phenomenon that the row tests",
    "category": "category of the phenomenon",
    "source_dataset": "corpus that the row comes from",
    "source_id": "id of the item in that corpus",
    "group_id": "equal for rows that were made from one item; they stay on one side where rows are divided",
    "recast_rule": "rule by which the row was made from its item",
    "answer": "the item's right answer, from which the hypothesis was made",
    "substituted": "what stands in the hypothesis in place of the right answer",
    "entropy_null": "bits by which the label surprises a model that sees an empty input",
    "entropy_input": "bits by which the label surprises a model that sees the texts",
    "pvi": "pointwise V-information of the label, in bits: `entropy_null` minus `entropy_input`; low is hard",
    "pvi_fold": "fold whose models did not see the row and scored it; −1: in no fold, scored by all models",
    "difficulty": "whether the row is simple or hard by its `pvi`, cut label by label on its side; null in "
    "configs that do not grade rows",
}

# Names of configs that a summary shows.
_MOST_NAMES = 8

# Columns that belong to the bookkeeping; an example shows the rest.
_NOT_IN_EXAMPLES = frozenset({"content_id", "source_index", "source_split", "fold", "lm_num_tokens", "hits"})


@dataclass(frozen=True)
class ConfigLine:
    """A line of the table of configs; `sizes` are rows of train, validation, test (None: no such split)."""

    name: str
    summary: str
    default: bool
    sizes: tuple[int | None, ...]
    scores: str | None
    former_name_of: str | None = None


@dataclass(frozen=True)
class ConfigGroup:
    """The configs of one category; `category` is None where there are no categories."""

    category: Markdown | None
    lines: tuple[ConfigLine, ...]


@dataclass(frozen=True)
class SideTable:
    """A config that is no split of the corpus: schemas, score tables."""

    name: str
    summary: str
    splits: tuple[tuple[str, int], ...]
    former_name_of: str | None = None


_Line = TypeVar("_Line", ConfigLine, SideTable)


@dataclass(frozen=True)
class Column:
    """One column of the rows."""

    name: str
    kind: str
    meaning: Markdown


@dataclass(frozen=True)
class ColumnTable:
    """The columns of all configs that share them."""

    configs: tuple[str, ...]
    columns: tuple[Column, ...]

    @property
    def summary(self) -> Markdown:
        """The configs by name; of many only the first ones."""
        shown = self.configs if len(self.configs) <= _MOST_NAMES + 1 else self.configs[:_MOST_NAMES]
        rest = len(self.configs) - len(shown)
        return Markdown(join(shown) + (f" and {count(rest)} more" if rest else ""))


@dataclass(frozen=True)
class Example:
    """One row of a config."""

    config: str
    split: str
    opened: bool
    block: Markdown


def config_lines(release: ReleaseFolder) -> list[ConfigLine]:
    """The placed configs in the builder's order, each followed by its former names."""
    lines = []
    for name, entry in release.placed_configs.items():
        line = ConfigLine(
            name=name,
            summary=entry["summary"],
            default=False,
            sizes=tuple(
                entry["splits"][split]["rows"] if split in entry["splits"] else None for split in SPLITS
            ),
            scores=entry.get("scores"),
        )
        lines += [line, *_former(release, line)]
    return [replace(line, default=line.name == unnamed_config(release)) for line in lines]


def _former(release: ReleaseFolder, line: _Line) -> Iterator[_Line]:
    for old, name in release.publication.aliases.items():
        if name == line.name:
            yield replace(line, name=old, former_name_of=name)


def side_tables(release: ReleaseFolder) -> list[SideTable]:
    """The configs beside the splits, each followed by its former names."""
    tables = []
    for name, entry in release.configs.items():
        if entry["kind"] != "split":
            rows = tuple((split, facts["rows"]) for split, facts in entry["splits"].items())
            table = SideTable(name, _side_summary(entry), rows)
            tables += [table, *_former(release, table)]
    return tables


def _side_summary(entry: Mapping[str, Any]) -> str:
    if entry.get("summary"):
        return str(entry["summary"])
    if entry["kind"] == "scores":
        return "scores of every row, one split per score table: re-split without a GPU"
    return "side table of the rows"


def config_groups(release: ReleaseFolder) -> list[ConfigGroup]:
    """The lines of the table of configs: all together, or a group for each category of parts."""
    lines, found = config_lines(release), parts(release)
    if not any(part.category for part in found.values()):
        return [ConfigGroup(None, tuple(lines))]
    names = {
        category: [name for part in members for name in part.configs]
        for category, members in by_category(found).items()
    }
    placed = {name for listed in names.values() for name in listed}
    groups = [
        ConfigGroup(
            Markdown("of no category") if category is None else prose(category),
            tuple(line for name in listed for line in lines if name in (line.name, line.former_name_of)),
        )
        for category, listed in names.items()
    ]
    rest = tuple(line for line in lines if (line.former_name_of or line.name) not in placed)
    return [*groups, *([ConfigGroup(Markdown("of all rows"), rest)] if rest else [])]


def default_config(release: ReleaseFolder) -> str:
    """The release's own default: what `load_dataset` reads when no config is named, unless others' is."""
    return next(name for name, entry in release.configs.items() if entry.get("default"))


def column_tables(release: ReleaseFolder) -> list[ColumnTable]:
    """Columns per group of placed configs with equal features."""
    groups: dict[str, list[str]] = {}
    for name in release.placed_configs:
        groups.setdefault(repr(release.features(name)), []).append(name)
    return [
        ColumnTable(
            tuple(names),
            tuple(
                _columns(
                    release.features(names[0]),
                    release.configs[names[0]].get("task") or {},
                    frozenset.intersection(*(_empty_columns(release, name) for name in names)),
                )
            ),
        )
        for names in groups.values()
    ]


def _empty_columns(release: ReleaseFolder, config: str) -> frozenset[str]:
    """Flat columns without a single value in any split, told from the statistics of the files."""
    empty: set[str] | None = None
    for split in release.splits(config):
        for file in release.files(config, split):
            with pq.ParquetFile(file) as parquet:
                groups = [parquet.metadata.row_group(number) for number in range(parquet.num_row_groups)]
            without = {
                column.path_in_schema
                for column in (groups[0].column(number) for number in range(groups[0].num_columns))
            }
            for group in groups:
                for column in (group.column(number) for number in range(group.num_columns)):
                    statistics = column.statistics
                    if statistics is None or statistics.null_count != group.num_rows:
                        without.discard(column.path_in_schema)
            empty = without if empty is None else empty & without
    return frozenset(empty or ())


def examples(release: ReleaseFolder) -> list[Example]:
    """The first test row of every placed config, of its last split if it has no test.

    Only the default config's is shown unfolded. Of a release of parts, one config for each category.
    """
    shown = default_config(release)
    found = []
    chosen = _with_example(release)
    for name, entry in release.placed_configs.items():
        if name not in chosen:
            continue
        split = "test" if "test" in entry["splits"] else list(entry["splits"])[-1]
        row = _first_row(release.files(name, split)[0])
        found.append(Example(name, split, name == shown, record(readable(row, release.features(name)))))
    return found


def _with_example(release: ReleaseFolder) -> set[str]:
    """The configs to take an example of: all, or the default and the first of each category."""
    groups = by_category(parts(release))
    if not groups:
        return set(release.placed_configs)
    shown = default_config(release)
    own = next((kind for kind, found in groups.items() if any(shown in p.configs for p in found)), None)
    first = {found[0].configs[0] for kind, found in groups.items() if kind != own or len(groups) == 1}
    of_no_part = {name for name, entry in release.placed_configs.items() if entry.get("part") is None}
    return {shown, *first, *of_no_part}


def example_note(release: ReleaseFolder) -> Markdown:
    """Of which configs the examples are."""
    number = len(release.placed_configs) - len(_with_example(release))
    if not number:
        return Markdown("The first row of each config's evaluation side")
    return Markdown(
        "The first row of the evaluation side of one config for each category "
        f"({plural(number, 'further config')} not shown)"
    )


def _first_row(file: Path) -> dict[str, Any]:
    with pq.ParquetFile(file) as parquet:
        return next(parquet.iter_batches(batch_size=1)).to_pylist()[0]


def readable(row: Mapping[str, Any], features: Features) -> dict[str, Any]:
    """A row without bookkeeping and nulls, class numbers replaced by their names."""
    labels = class_names(features)
    kept = {}
    for name, value in row.items():
        if value is None or name in _NOT_IN_EXAMPLES:
            continue
        is_class = name in labels and isinstance(value, int) and 0 <= value < len(labels[name])
        kept[name] = labels[name][value] if is_class else _rounded(value)
    return kept


def _rounded(value: Any) -> Any:
    return round(value, 3) if isinstance(value, float) else value


def _columns(features: Features, task: Mapping[str, Any], empty: frozenset[str]) -> list[Column]:
    return [
        Column(name, _kind(feature), _meaning(name, feature, task, name in empty))
        for name, feature in features.items()
    ]


def _kind(feature: Any) -> str:
    if isinstance(feature, ClassLabel):
        return "class"
    if isinstance(feature, dict):
        return "{" + ", ".join(f"{name}: {_kind(inner)}" for name, inner in feature.items()) + "}"
    if isinstance(feature, (list, tuple)):
        return f"list of {_kind(feature[0])}"
    if hasattr(feature, "feature"):
        return f"list of {_kind(feature.feature)}"
    return str(getattr(feature, "dtype", type(feature).__name__))


def _meaning(name: str, feature: Any, task: Mapping[str, Any], empty: bool) -> Markdown:
    parts = [Markdown("**empty in this release**")] if empty else []
    if name in (task.get("inputs") or ()):
        parts.append(Markdown("**input**"))
    if name == task.get("target"):
        parts.append(Markdown("**target**"))
    if (name, task.get("name")) == ("query", "pronoun-resolution"):
        parts.append(Markdown("what was searched"))
    elif name in _MEANINGS:
        parts.append(Markdown(_MEANINGS[name]))
    if isinstance(feature, ClassLabel):
        names = Markdown(", ".join(f"{number} = {code(label)}" for number, label in enumerate(feature.names)))
        parts.append(names)
    return Markdown("; ".join(parts))

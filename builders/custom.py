"""Splits of a user's own data: one file (or Hub data set) of texts, with or without contexts and labels.

Instead of labels, rows may have programs (SQL, say), which a model has to write.

Two rules differ from those of published benchmarks. Rows of equal input stay on one side, so that no split
leaks; a row that repeats on two sides would be an error of the audit. And rows are placed in the order of
their uids, which come from an id column or from the content, so that a shuffled file gives the same split.
(Only the folds of fine-tuned models are drawn over rows in file order.)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from datasets import ClassLabel, Features

from ..errors import SourceError, UsageError, show
from ..faults import FaultLog
from ..features import family
from ..registry import closest
from ..splitting.base import DEFAULT_SEED, Sizes, SplitRows
from ..splitting.scores.templates import user_template
from ..tasks import Task
from ..text.programs import Structure, TemplateRule, rule_of_dialect, structure_named
from ._custom_rows import (
    Columns,
    placement_notes,
    program_notes,
    side_groups,
    typed,
    usable_rows,
    with_head_and_tail,
    with_programs,
)
from .base import DEFAULT_OPTIONS, Builder, BuildOptions, ConfigSpec, DatasetInfo, Origin, SourceData
from .constituents import Redistribute
from .likelihood import LikelihoodBenchmark
from .programs import chosen_rule
from .sizes import Size, checked_size, held_out_sizes
from .sources.tabular import read_table, read_tables, table_files

RULES = {
    "random": "at random",
    "length": "by length",
    "likelihood": "by likelihood",
    "likelihood_len": "by likelihood among texts of one length",
    "likelihood_reverse": "by likelihood in reverse",
    "likelihood_len_reverse": "by likelihood in reverse among texts of one length",
    "template": "by query template",
    "tmcd": "by compounds of programs (TMCD)",
}
"""What rows can be divided by, in words. Likelihood rules train on the likely rows, their reverses on the
unlikely ones; `_len` keeps the distribution of lengths."""
PROGRAM_RULES = ("template", "tmcd")
"""The rules that need programs."""

_TEMPLATE_RULES = {"sql": "canonical", "funql": "funql"}

_RANDOM_SEEDS = tuple(DEFAULT_SEED + number for number in range(3))

Scorer = Literal["prompt", "kfold"]
"""What of the rows may be published."""


def corpus_name(name: str) -> str:
    """The first part of uids, from the name of a file or data set.

    >>> corpus_name("My reviews (2024).csv.gz")
    'my_reviews_2024'
    """
    stem = re.sub(r"\.(csv|tsv|jsonl|ndjson|json|parquet)(\.gz)?$", "", name.lower())
    return re.sub(r"[^a-z0-9]+", "_", stem).strip("_") or "data"


def custom_builder(
    name: str,
    *,
    text: str,
    context: str | None = None,
    label: str | None = None,
    group: str | None = None,
    id: str | None = None,
    program: str | None = None,
    structure: str | None = None,
    template_rule: str | None = None,
    by: Sequence[str] = ("random",),
    scorer: Scorer = "prompt",
    validation: Size = 0.1,
    test: Size = 0.1,
    files: str | None = None,
    licence: str = "unknown",
    redistribute: Redistribute = "text",
    languages: Sequence[str] = (),
) -> CustomBuilder:
    """A builder for rows of the user's own, which are texts in column `text`.

    `context` is read before the text and never scored; `label` is a class to predict, `program` a program to
    write. Rows of one value in `group` stay on one side (empty values are no group), as rows of equal input
    do anyway. `id` gives unique ids; without it, a row's id is a hash of its input and label or program.
    `structure` and `template_rule` name definitions of `text.programs`; None for `sqlglot` and `canonical`
    (for FunQL, `funql`). `by` names rules of RULES; the first one makes the default config. `scorer` says
    whether likelihood is that of a prompted or of a fine-tuned model. `validation` and `test` are rows (int)
    or shares (float). `files` is a pattern for the names of the files of a Hub data set that are read
    (`data/train-*.parquet`); otherwise all of one format are. `redistribute` says what of the rows may be
    published.

    Raises UsageError for choices that cannot be used.
    """
    for rule in by:
        if rule not in RULES:
            raise UsageError(f"rows cannot be divided by {rule!r}; {closest(rule, list(RULES))}")
    if not by:
        raise UsageError(f"nothing to divide rows by; give one of {', '.join(RULES)}")
    if program is None:
        _refuse_without_programs(by, structure, template_rule)
    if scorer not in get_args(Scorer):
        raise UsageError(f"scorer is {show(scorer)}; give prompt or kfold")
    if redistribute not in get_args(Redistribute):
        raise UsageError(f"redistribute is {show(redistribute)}; give text, ids_only or no")
    info = DatasetInfo(
        pretty_name=name,
        summary=f"{name}, divided into train, validation and test {_listed(by)}.",
        licence=licence,
        licence_link="",
        redistribute=redistribute,
        homepage="",
        citation="",
        languages=tuple(languages),
        task_categories=("text-classification",) if label is not None else (),
        tags=("benchwright",),
    )
    columns = Columns(text, context, label, group, id, program)
    sizes = checked_size(validation), checked_size(test)
    definitions = None if program is None else _definitions(structure or "sqlglot", template_rule)
    return CustomBuilder(info, columns, tuple(by), scorer, *sizes, files, definitions)


def _refuse_without_programs(by: Sequence[str], structure: str | None, template_rule: str | None) -> None:
    for rule in by:
        if rule in PROGRAM_RULES:
            raise UsageError(f"a split by {rule} needs programs; name their column with --program")
    for option, value in (("--structure", structure), ("--template-rule", template_rule)):
        if value is not None:
            raise UsageError(f"{option} {value!r} is for programs; name their column with --program")


def _definitions(structure: str, template_rule: str | None) -> tuple[Structure, TemplateRule]:
    found = structure_named(structure)
    rule = template_rule or rule_of_dialect(structure) or _TEMPLATE_RULES[found.language]
    return found, chosen_rule(rule, found.language)


class CustomBuilder(Builder):
    """The builder of one user's data; make it with `custom_builder`.

    `task`, `features`, `published_rows` and `published_sizes` depend on the rows: they are there after
    `read`. `root` of `read` is a file, or the folder of a Hub data set.
    """

    published = False
    name = "custom"

    def __init__(
        self,
        info: DatasetInfo,
        columns: Columns,
        by: tuple[str, ...],
        scorer: Scorer,
        validation: Size,
        test: Size,
        files: str | None,
        definitions: tuple[Structure, TemplateRule] | None = None,
    ) -> None:
        self.columns = columns
        self.by = by
        self.scorer = scorer
        self.validation = validation
        self.test = test
        self.files = files
        template = user_template(columns.text, columns.context)
        # Other builders declare these once per class; here every builder has its own.
        vars(self).update(
            info=info,
            templates={template.name: template},
            default_prompt=template.name,
            kfold_template=template.name,
        )
        if definitions is not None:
            structure, rule = definitions
            vars(self).update(
                language=structure.language,
                structure=structure.name,
                template_rules={"corrected": rule.name, "published": rule.name},
            )

    def read(
        self, root: Path, faults: FaultLog, origin: Origin, options: BuildOptions = DEFAULT_OPTIONS
    ) -> SourceData:
        """Read one file in a format of `sources.tabular`, or the files of a Hub data set.

        Rows without text, context, label, program or id go to `faults`, as do repeated ids; a program that
        cannot be read is no fault, and noted. Raises SourceError for a file or column that cannot be used,
        UsageError for columns that the file lacks or that a release adds by itself.
        """
        if origin.kind == "hub":
            source = read_tables(table_files(root, self.files), faults)
        else:
            source = read_table(root, faults)
        self.columns.check(source.table.column_names)
        source = usable_rows(source, self.columns, faults)
        faults.finish()
        if not source.table.num_rows:
            raise SourceError("no usable row", path=root, fix="fill in texts, labels and ids")
        rows = source.table.num_rows
        payload, features = typed(source, self.columns)
        programs = None
        if self.columns.program is not None:
            texts = payload.column(self.columns.program).to_pylist()
            programs = self.programs(texts, self.resolved(options))
            payload, features = with_programs(payload, features, programs)
        vars(self).update(
            task=_task(self.columns, features),
            features=family(features),
            published_rows=rows,
            published_sizes=held_out_sizes(rows, self.validation, self.test),
        )
        table = with_head_and_tail(payload, source, self.columns, corpus_name(self.info.pretty_name))
        notes = placement_notes(table, self.columns)
        if programs is not None:
            uids = table.column("uid").to_pylist()
            notes += program_notes(programs, uids, self.by, options.constraint)
        return SourceData(
            table=table,
            origin=origin,
            files=source.files,
            read=source.read,
            filtered=dict(faults.filtered),
            dropped=dict(faults.dropped),
            notes=notes,
            programs=programs,
        )

    def configs(
        self, options: BuildOptions, score_names: Mapping[str, Sequence[str]], rows: int | None = None
    ) -> list[ConfigSpec]:
        """The configs of the rules in `by`; others, and further random splits, are `extra`.

        Before rows are known (`rows` is None and nothing was read) sizes are those of three rows. Raises
        UsageError if a rule needs a score table and there is none.
        """
        if rows is not None:
            sizes = held_out_sizes(rows, self.validation, self.test)
        else:
            sizes = getattr(self, "published_sizes", Sizes(1, 1, 1))
        programs = self.columns.program is not None
        benchmark = LikelihoodBenchmark(
            texts="texts",
            sizes=sizes,
            labelled=self.columns.label is not None,
            random_seeds=_RANDOM_SEEDS,
            constraint="atoms" if programs else None,
            programs=programs,
            tmcd_iterations=None,
        )
        made = [(self._rule(spec), spec) for spec in benchmark.configs(options, score_names, sizes.total)]
        for rule in self.by:
            if rule not in {known for known, _ in made}:
                raise UsageError(
                    f"a split by {rule} needs scores by {self.scorer}; name a language model with --lm"
                )
        default = next(spec.name for rule, spec in made if rule == self.by[0])
        return [replace(spec, extra=rule not in self.by, default=spec.name == default) for rule, spec in made]

    def split_rows(self, data: SourceData) -> SplitRows:
        """Uids, lengths, labels, groups and programs; the canonical order is that of the uids."""
        table = data.table
        uids = table.column("uid").combine_chunks()
        rank = np.empty(len(uids), dtype=np.int64)
        rank[pc.sort_indices(uids).to_numpy()] = np.arange(len(uids))
        labels = None
        if self.columns.label is not None:
            labels = table.column(self.columns.label).cast(pa.int64()).to_numpy()
        return SplitRows(
            uids=uids,
            source_index=rank,
            lengths=table.column("length").to_numpy().astype(np.int64),
            labels=labels,
            label_names=self.task.labels or (),
            groups=side_groups(table, self.columns),
            **({} if data.programs is None else data.programs.split_rows()),
        )

    def choices(self) -> dict[str, Any]:
        """`custom_builder(name, **choices)` makes this builder again; licence and the like are in `info`."""
        programs = self.columns.program is not None
        return {
            **vars(self.columns),
            "structure": self.structure if programs else None,
            "template_rule": self.template_rules["corrected"] if programs else None,
            "by": list(self.by),
            "scorer": self.scorer,
            "validation": self.validation,
            "test": self.test,
            "files": self.files,
        }

    def _rule(self, spec: ConfigSpec) -> str | None:
        """The rule that makes a config; None for a further random split and for the other scorer's."""
        if spec.splitter != "likelihood":
            return spec.splitter if spec.name == spec.splitter else None
        if not (spec.scores or "").startswith(f"lm_{self.scorer}"):
            return None
        length = "_len" if spec.parameters.get("length_control") else ""
        return f"likelihood{length}{'_reverse' if spec.reverse_of else ''}"


def _task(columns: Columns, features: Features) -> Task:
    if columns.program is not None:
        return Task("text-to-program", columns.inputs, columns.program, ("string_match",))
    if columns.label is None:
        return Task("text", columns.inputs, target="", metrics=())
    feature = features[columns.label]
    labels = tuple(feature.names) if isinstance(feature, ClassLabel) else ("false", "true")
    return Task("classification", columns.inputs, columns.label, ("accuracy", "macro_f1"), labels)


def _listed(rules: Sequence[str]) -> str:
    words = [RULES[rule] for rule in rules]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"

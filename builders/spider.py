"""Likelihood splits of Spider, a text-to-SQL corpus over many databases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
from datasets import ClassLabel, Features, Value

from ..eval.metrics.spider import HARDNESS_LEVELS, Schema, hardness
from ..faults import FaultLog
from ..features import HEAD, family
from ..hashing import content_ids
from ..splitting.base import Sizes, SplitRows
from ..splitting.scores.templates import (
    SPIDER_FINE_TUNED,
    SPIDER_PROMPT,
    SPIDER_PROMPT_DATABASE_ID,
    SPIDER_TRAINING,
    PromptTemplate,
)
from ..tasks import TEXT_TO_SQL
from ..text import word_counts
from .base import DEFAULT_OPTIONS, BuildOptions, DatasetInfo, Origin, SourceData
from .likelihood import CITATION, LikelihoodBenchmark, LikelihoodBuilder, payload_table
from .sources.files import SourceFolder
from .sources.published_splits import PublishedSplits, read_published_splits, spider_row_numbers
from .sources.spider import (
    DatabaseSchema,
    SpiderSource,
    parser_source,
    parser_target,
    read_spider,
)

SCHEMAS = Features(
    {
        **HEAD,
        "db_id": Value("string"),
        "table_names": [Value("string")],
        "column_names": [{"table_id": Value("int32"), "name": Value("string")}],
        "column_types": [Value("string")],
        "primary_keys": [Value("int32")],
        "foreign_keys": [{"column_id": Value("int32"), "referenced_column_id": Value("int32")}],
    }
)
"""Config `schemas`: tables and columns by the names that queries use. Columns are numbered from 0, which
is `*` of table -1; keys are column numbers."""


_PUBLISHED_SPLITS = {"random_1": "random", "length_1": "length", "template_1": "template", "tmcd_1": "TMCD"}
"""Of "Compositional Generalization and Natural Language Variation" (2010.12725), train and test only."""


class SpiderBuilder(LikelihoodBuilder):
    """8,034 questions over 160 databases, with the schemas as a side table.

    `length` counts the NLTK tokens of the lower-cased question, which is what the language model reads;
    `source` and `target` are lower-cased too. Equal questions with equal queries stay in: the published
    placement keeps them.
    """

    name = "spider"
    info = DatasetInfo(
        pretty_name="Spider likelihood splits",
        summary=(
            "Questions to databases with their SQL queries, divided into train, validation and test by how "
            "likely a language model finds the question."
        ),
        licence="cc-by-sa-4.0",
        licence_link="https://creativecommons.org/licenses/by-sa/4.0/legalcode",
        redistribute="text",
        homepage="https://yale-lily.github.io/spider",
        citation="""@inproceedings{yu-etal-2018-spider,
  title     = {Spider: A Large-Scale Human-Labeled Dataset for Complex and Cross-Domain
               Semantic Parsing and Text-to-{SQL} Task},
  author    = {Yu, Tao and Zhang, Rui and Yang, Kai and Yasunaga, Michihiro and Wang, Dongxu and
               Li, Zifan and Ma, James and Li, Irene and Yao, Qingning and Roman, Shanelle and
               Zhang, Zilin and Radev, Dragomir},
  booktitle = {Proceedings of the 2018 Conference on Empirical Methods in Natural Language Processing},
  year      = {2018},
  pages     = {3911--3921},
  url       = {https://arxiv.org/abs/1809.08887}
}
"""
        + CITATION,
        task_categories=("text-generation",),
        source_datasets=("xlangai/spider",),
        annotations_creators=("expert-generated",),
        tags=("text-to-sql", "semantic-parsing", "long-tail", "likelihood-splits"),
    )
    task = TEXT_TO_SQL
    features = family(
        {
            "db_id": Value("string"),
            "question": Value("string"),
            "query": Value("string"),
            "source": Value("string"),
            "target": Value("string"),
            "hardness": ClassLabel(names=list(HARDNESS_LEVELS)),
            "template": Value("string"),
            "sql_parsed": Value("bool"),
            "num_novel_compounds": Value("int32"),
        }
    )
    published_rows = 8_034
    published_sizes = Sizes(train=5_966, validation=1_034, test=1_034)
    benchmark = LikelihoodBenchmark(
        texts="questions",
        sizes=published_sizes,
        labelled=False,
        random_seeds=(1, 2, 3),
        constraint="atoms",
        programs=True,
    )
    templates: ClassVar[dict[str, PromptTemplate]] = {
        template.name: template
        for template in (SPIDER_PROMPT, SPIDER_PROMPT_DATABASE_ID, SPIDER_FINE_TUNED, SPIDER_TRAINING)
    }
    default_prompt = SPIDER_PROMPT.name
    kfold_template = SPIDER_FINE_TUNED.name
    training_template = SPIDER_TRAINING.name
    fine_tune_steps = 2_000
    language = "sql"
    published_splits: ClassVar[Mapping[str, str]] = {
        name: f"The published {kind} split of the 4,376 train questions on larger databases."
        for name, kind in _PUBLISHED_SPLITS.items()
    }

    def read(
        self, root: Path, faults: FaultLog, origin: Origin, options: BuildOptions = DEFAULT_OPTIONS
    ) -> SourceData:
        """Read train_spider.json, dev.json, tables.json and, where they are, the published splits.

        Raises SourceError.
        """
        options = self.resolved(options)
        source = read_spider(root, faults)
        examples = source.examples
        suffixes = {db_id: database.suffix() for db_id, database in source.databases.items()}
        db_ids, questions, queries = (
            examples.column(name).to_pylist() for name in ("db_id", "question", "query")
        )
        published = _published_splits(root, source)
        targets = [parser_target(query) for query in queries]
        programs = self.programs(targets, options)
        derived = {
            "content_id": content_ids(examples, list(self.task.inputs)),
            "source": [
                parser_source(db_id, question) + suffixes[db_id]
                for db_id, question in zip(db_ids, questions, strict=True)
            ],
            "target": targets,
            "hardness": _hardness(source.databases, db_ids, queries),
            "template": programs.templates,
            "sql_parsed": programs.parsed,
            "length": word_counts(question.lower().strip() for question in questions),
        }
        return SourceData(
            table=payload_table(examples, derived, self.features),
            origin=origin,
            files=(*source.files, *published.files),
            read=source.read,
            dropped=dict(faults.dropped),
            extras={"schemas": (_schema_table(source.databases), SCHEMAS)},
            notes=(*source.notes, *published.notes),
            programs=programs,
            published_splits=published.splits,
        )

    def split_rows(self, data: SourceData) -> SplitRows:
        """Rows without labels; programs are read from `target`."""
        table = data.table
        pairs = zip(table.column("db_id").to_pylist(), table.column("question").to_pylist(), strict=True)
        # The published length split counts pieces between single spaces, the database's name included.
        pieces = [len(parser_source(db_id, question).split(" ")) for db_id, question in pairs]
        return replace(super().split_rows(data), whitespace_lengths=np.array(pieces, dtype=np.int64))


def _published_splits(root: Path, source: SpiderSource) -> PublishedSplits:
    """The published splits of the larger databases' train rows, where their files are there."""
    train = source.rows_read.get("train", 0)
    db_ids = source.examples.column("db_id").to_pylist()
    kept = source.examples.column("source_split").to_pylist().count("train")
    if kept != train:
        note = f"{train - kept} dropped rows leave the published splits without their numbering: left out"
        return PublishedSplits(notes=(note,))
    numbers = spider_row_numbers(db_ids[:train])
    known = range(sum(number is not None for number in numbers))
    numbers += [None] * (len(db_ids) - train)
    return read_published_splits(SourceFolder(root), tuple(_PUBLISHED_SPLITS), numbers, known)


def _hardness(
    databases: Mapping[str, DatabaseSchema], db_ids: Sequence[str], queries: Sequence[str]
) -> list[int | None]:
    """Class number of each query's hardness; None where Spider's own parser cannot read it."""
    schemas = {
        db_id: Schema(database.tables, database.columns, database.foreign_keys)
        for db_id, database in databases.items()
    }
    levels = (hardness(query, schemas[db_id]) for db_id, query in zip(db_ids, queries, strict=True))
    return [None if level is None else HARDNESS_LEVELS.index(level) for level in levels]


def _schema_table(databases: Mapping[str, DatabaseSchema]) -> pa.Table:
    rows = [
        {
            "uid": f"spider:tables:{database.db_id}",
            "db_id": database.db_id,
            "table_names": list(database.tables),
            "column_names": [{"table_id": table, "name": name} for table, name in database.columns],
            "column_types": list(database.column_types),
            "primary_keys": list(database.primary_keys),
            "foreign_keys": [
                {"column_id": column, "referenced_column_id": referenced}
                for column, referenced in database.foreign_keys
            ],
        }
        for database in databases.values()
    ]
    schema = SCHEMAS.arrow_schema
    table = pa.Table.from_pylist(rows, schema=schema)
    ids = content_ids(table, [name for name in SCHEMAS if name not in HEAD])
    return table.set_column(schema.get_field_index("content_id"), schema.field("content_id"), ids)

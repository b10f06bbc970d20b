"""Likelihood splits of BoolQ, yes/no questions about passages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
from datasets import Value

from ..faults import FaultLog
from ..features import family
from ..hashing import content_ids
from ..splitting.base import Sizes, SplitRows
from ..splitting.scores.templates import BOOLQ, PromptTemplate
from ..tasks import BOOLEAN_QUESTION
from ..text import word_counts
from .base import DEFAULT_OPTIONS, BuildOptions, DatasetInfo, Origin, SourceData
from .likelihood import CITATION, LikelihoodBenchmark, LikelihoodBuilder, payload_table
from .sources.boolq import read_boolq

LABELS = ("no", "yes")


class BoolQBuilder(LikelihoodBuilder):
    """12,697 labelled questions: the published train and dev files pooled.

    `length` counts the NLTK tokens of the question, which is what the language model scores. Titles are
    kept in the rows; models do not read them.
    """

    name = "boolq"
    info = DatasetInfo(
        pretty_name="BoolQ likelihood splits",
        summary=(
            "Yes/no questions about passages, divided into train, validation and test by how likely a "
            "language model finds the question."
        ),
        licence="cc-by-sa-3.0",
        licence_link="https://creativecommons.org/licenses/by-sa/3.0/legalcode",
        redistribute="text",
        homepage="https://github.com/google-research-datasets/boolean-questions",
        citation="""@inproceedings{clark-etal-2019-boolq,
  title     = {{B}ool{Q}: Exploring the Surprising Difficulty of Natural Yes/No Questions},
  author    = {Clark, Christopher and Lee, Kenton and Chang, Ming-Wei and Kwiatkowski, Tom and
               Collins, Michael and Toutanova, Kristina},
  booktitle = {Proceedings of the 2019 Conference of the North American Chapter of the Association
               for Computational Linguistics},
  year      = {2019},
  pages     = {2924--2936},
  url       = {https://arxiv.org/abs/1905.10044}
}
"""
        + CITATION,
        task_categories=("question-answering", "text-classification"),
        source_datasets=("google/boolq",),
        annotations_creators=("crowdsourced",),
        tags=("yes-no-questions", "long-tail", "likelihood-splits"),
    )
    task = BOOLEAN_QUESTION
    features = family(
        {
            "question": Value("string"),
            "passage": Value("string"),
            "answer": Value("bool"),
            "title": Value("string"),
            "passage_length": Value("int32"),
        }
    )
    published_rows = 12_697
    published_sizes = Sizes(train=7_617, validation=2_540, test=2_540)
    benchmark = LikelihoodBenchmark(
        texts="questions", sizes=published_sizes, labelled=True, random_seeds=(42, 43, 44)
    )
    templates: ClassVar[dict[str, PromptTemplate]] = {BOOLQ.name: BOOLQ}
    default_prompt = BOOLQ.name
    kfold_template = BOOLQ.name
    fine_tune_steps = 3_000

    def read(
        self, root: Path, faults: FaultLog, origin: Origin, options: BuildOptions = DEFAULT_OPTIONS
    ) -> SourceData:
        """Read the labelled questions of the splits that are there. Raises SourceError."""
        source = read_boolq(root, faults)
        questions = source.questions
        derived = {
            "content_id": content_ids(questions, list(self.task.inputs)),
            "passage_length": word_counts(questions.column("passage").to_pylist()),
            "length": word_counts(questions.column("question").to_pylist()),
        }
        return SourceData(
            table=payload_table(questions, derived, self.features),
            origin=origin,
            files=source.files,
            read=source.read,
            filtered=dict(faults.filtered),
            dropped=dict(faults.dropped),
            notes=source.notes,
        )

    def split_rows(self, data: SourceData) -> SplitRows:
        """Rows with their answers as labels; `lengths` are those of the questions."""
        labels = np.array(data.table.column("answer").to_pylist(), dtype=np.int64)
        return replace(super().split_rows(data), labels=labels, label_names=LABELS)

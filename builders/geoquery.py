"""Splits of GeoQuery, questions about geography with their FunQL programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar

import numpy as np
from datasets import Value

from ..faults import FaultLog
from ..features import family
from ..hashing import content_ids
from ..splitting.base import Sizes, SplitRows
from ..splitting.scores.templates import SPIDER_FINE_TUNED, SPIDER_TRAINING, PromptTemplate
from ..tasks import TEXT_TO_FUNQL
from ..text import word_counts
from .base import DEFAULT_OPTIONS, BuildOptions, DatasetInfo, Method, Origin, SourceData
from .likelihood import CITATION, LikelihoodBenchmark, LikelihoodBuilder, payload_table
from .sources.geoquery import read_geoquery

GEOQUERY_PROMPT = PromptTemplate(
    name="geoquery_prompt",
    context="write a question about geography:",
    continuation=" {question}",
    start_token="model_default",
    lower_case=True,
    strip=True,
)
GEOQUERY_FINE_TUNED = replace(SPIDER_FINE_TUNED, name="geoquery_fine_tuned")
GEOQUERY_TRAINING = replace(SPIDER_TRAINING, name="geoquery_training")

_PUBLISHED_SPLITS = {
    "standard": "The standard split of GeoQuery: 600 questions train, 280 evaluate.",
    "template_1": "The published template split (2010.12725): programs of one template stay on one side.",
    "tmcd_1": "The published TMCD split (2010.12725): different compounds of the same atoms on both sides.",
    "length_1": "The published length split (2010.12725): short questions train, long ones evaluate.",
}
"""They have train and test only."""


class GeoQueryBuilder(LikelihoodBuilder):
    """880 questions about the geography of the United States.

    A parser reads `source` and writes `target`, in which places are masked; `question` and `query` are as
    published. `length` counts the NLTK tokens of the lower-cased question, which is what the language model
    reads; `content_id` hashes the question too, since equal sources may be of different questions. Half of
    the rows train, as in the published splits. The paper scores no GeoQuery questions: the prompt, modelled
    on that of Spider, is our choice, and so are the seeds of `random`.
    """

    name = "geoquery"
    info = DatasetInfo(
        pretty_name="GeoQuery splits",
        summary=(
            "Questions about geography with their FunQL programs, divided into train, validation and test by "
            "likelihood, length, template and compounds."
        ),
        licence="unknown",
        licence_link="",
        redistribute="text",
        homepage="https://www.cs.utexas.edu/users/ml/nldata/geoquery.html",
        citation="""@inproceedings{zelle-mooney-1996-learning,
  title     = {Learning to Parse Database Queries Using Inductive Logic Programming},
  author    = {Zelle, John M. and Mooney, Raymond J.},
  booktitle = {Proceedings of the Thirteenth National Conference on Artificial Intelligence},
  year      = {1996},
  pages     = {1050--1055}
}
@inproceedings{finegan-dollak-etal-2018-improving,
  title     = {Improving Text-to-{SQL} Evaluation Methodology},
  author    = {Finegan-Dollak, Catherine and Kummerfeld, Jonathan K. and Zhang, Li and
               Ramanathan, Karthik and Sadasivam, Sesh and Zhang, Rui and Radev, Dragomir},
  booktitle = {Proceedings of the 56th Annual Meeting of the Association for Computational Linguistics
               (Volume 1: Long Papers)},
  year      = {2018},
  pages     = {351--360},
  url       = {https://arxiv.org/abs/1806.09029}
}
@inproceedings{shaw-etal-2021-compositional,
  title     = {Compositional Generalization and Natural Language Variation: Can a Semantic Parsing
               Approach Handle Both?},
  author    = {Shaw, Peter and Chang, Ming-Wei and Pasupat, Panupong and Toutanova, Kristina},
  booktitle = {Proceedings of the 59th Annual Meeting of the Association for Computational Linguistics
               and the 11th International Joint Conference on Natural Language Processing
               (Volume 1: Long Papers)},
  year      = {2021},
  pages     = {922--938},
  url       = {https://arxiv.org/abs/2010.12725}
}
"""
        + CITATION,
        task_categories=("text-generation",),
        annotations_creators=("expert-generated",),
        tags=("semantic-parsing", "compositional-generalization", "long-tail", "likelihood-splits"),
    )
    task = TEXT_TO_FUNQL
    features = family(
        {
            "question": Value("string"),
            "query": Value("string"),
            "source": Value("string"),
            "target": Value("string"),
            "entities": [{"placeholder": Value("string"), "value": Value("string"), "type": Value("string")}],
            "template": Value("string"),
            "num_novel_compounds": Value("int32"),
        }
    )
    published_rows = 880
    published_sizes = Sizes(train=440, validation=220, test=220)
    benchmark = LikelihoodBenchmark(
        texts="questions",
        sizes=published_sizes,
        labelled=False,
        random_seeds=(1, 2, 3),
        constraint="atoms",
        programs=True,
        tmcd_iterations=1_000,
    )
    templates: ClassVar[dict[str, PromptTemplate]] = {
        template.name: template for template in (GEOQUERY_PROMPT, GEOQUERY_FINE_TUNED, GEOQUERY_TRAINING)
    }
    default_prompt = GEOQUERY_PROMPT.name
    kfold_template = GEOQUERY_FINE_TUNED.name
    training_template = GEOQUERY_TRAINING.name
    language = "funql"
    published_splits = _PUBLISHED_SPLITS
    structure = "funql"
    template_rules: ClassVar[Mapping[Method, str]] = MappingProxyType(
        {"corrected": "funql", "published": "funql"}
    )

    def read(
        self, root: Path, faults: FaultLog, origin: Origin, options: BuildOptions = DEFAULT_OPTIONS
    ) -> SourceData:
        """Read the corpus, its places and, where they are, the published splits. Raises SourceError."""
        options = self.resolved(options)
        source = read_geoquery(root, faults)
        examples = source.examples
        programs = self.programs(examples.column("target").to_pylist(), options)
        derived = {
            "content_id": content_ids(examples, ["question"]),
            "template": programs.templates,
            "length": word_counts(text.lower() for text in examples.column("question").to_pylist()),
        }
        return SourceData(
            table=payload_table(examples, derived, self.features),
            origin=origin,
            files=source.files,
            read=source.read,
            filtered=dict(faults.filtered),
            dropped=dict(faults.dropped),
            notes=source.notes,
            programs=programs,
            published_splits=source.published_splits,
        )

    def split_rows(self, data: SourceData) -> SplitRows:
        """Rows without labels; programs are read from `target`."""
        # The published length split counts pieces between single spaces.
        pieces = [len(source.split(" ")) for source in data.table.column("source").to_pylist()]
        return replace(super().split_rows(data), whitespace_lengths=np.array(pieces, dtype=np.int64))

"""Likelihood splits of SNLI, sentence pairs with entailment labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from datasets import ClassLabel, Value

from ..faults import FaultLog
from ..features import family
from ..hashing import content_ids
from ..splitting.base import Sizes, SplitRows
from ..splitting.scores.templates import SNLI_WITH_LABEL, SNLI_WITHOUT_LABEL, PromptTemplate
from ..tasks import NLI
from ..text import word_counts
from .base import DEFAULT_OPTIONS, BuildOptions, ConfigSpec, DatasetInfo, Origin, SourceData
from .likelihood import CITATION, LikelihoodBenchmark, LikelihoodBuilder, payload_table
from .sources.snli import LABELS, read_snli


class SnliBuilder(LikelihoodBuilder):
    """569,018 pairs: all three published files pooled, after three filters (see `read_snli`).

    `length` counts the NLTK tokens of the hypothesis, which is what the language model scores. Config
    `standard` is the published split after the filters, which those by V-information keep.
    """

    name = "snli"
    info = DatasetInfo(
        pretty_name="SNLI likelihood splits",
        summary=(
            "Sentence pairs with entailment labels, divided into train, validation and test by how likely a "
            "language model finds the hypothesis."
        ),
        licence="cc-by-sa-4.0",
        licence_link="https://creativecommons.org/licenses/by-sa/4.0/legalcode",
        redistribute="text",
        homepage="https://nlp.stanford.edu/projects/snli/",
        citation="""@inproceedings{bowman-etal-2015-large,
  title     = {A large annotated corpus for learning natural language inference},
  author    = {Bowman, Samuel R. and Angeli, Gabor and Potts, Christopher and Manning, Christopher D.},
  booktitle = {Proceedings of the 2015 Conference on Empirical Methods in Natural Language Processing},
  year      = {2015},
  pages     = {632--642},
  url       = {https://arxiv.org/abs/1508.05326}
}
"""
        + CITATION,
        task_categories=("text-classification",),
        task_ids=("natural-language-inference",),
        source_datasets=("stanfordnlp/snli",),
        annotations_creators=("crowdsourced",),
        tags=("natural-language-inference", "long-tail", "likelihood-splits"),
    )
    task = NLI
    features = family(
        {
            "premise": Value("string"),
            "hypothesis": Value("string"),
            "label": ClassLabel(names=list(LABELS)),
            "annotator_labels": [Value("string")],
            "pair_id": Value("string"),
            "caption_id": Value("string"),
            "premise_length": Value("int32"),
        }
    )
    published_rows = 569_018
    published_sizes = Sizes(train=549_018, validation=10_000, test=10_000)
    benchmark = LikelihoodBenchmark(
        texts="hypotheses", sizes=published_sizes, labelled=True, random_seeds=(42, 43, 44)
    )
    templates: ClassVar[dict[str, PromptTemplate]] = {
        template.name: template for template in (SNLI_WITH_LABEL, SNLI_WITHOUT_LABEL)
    }
    default_prompt = SNLI_WITH_LABEL.name
    kfold_template = SNLI_WITH_LABEL.name
    fine_tune_steps = 15_000
    source_has_trees = True

    def read(
        self, root: Path, faults: FaultLog, origin: Origin, options: BuildOptions = DEFAULT_OPTIONS
    ) -> SourceData:
        """Read the splits that are there and apply the filters. Raises SourceError."""
        source = read_snli(root, faults)
        pairs = source.pairs
        derived = {
            "content_id": content_ids(pairs, list(self.task.inputs)),
            "premise_length": word_counts(pairs.column("premise").to_pylist()),
            "length": word_counts(pairs.column("hypothesis").to_pylist()),
        }
        return SourceData(
            table=payload_table(pairs, derived, self.features),
            origin=origin,
            files=source.files,
            read=source.read,
            filtered=dict(faults.filtered),
            dropped=dict(faults.dropped),
            notes=source.notes,
        )

    def configs(
        self, options: BuildOptions, score_names: Mapping[str, Sequence[str]], rows: int | None = None
    ) -> list[ConfigSpec]:
        """The published split, then random, length, likelihood and V-information splits, label by label."""
        standard = ConfigSpec(
            name="standard",
            splitter="published",
            parameters={},
            summary="The published split, after the filters that all configs share.",
        )
        return [standard, *super().configs(options, score_names, rows)]

    def split_rows(self, data: SourceData) -> SplitRows:
        """Rows with their labels; `lengths` are those of the hypotheses."""
        labels = data.table.column("label").to_numpy()
        return replace(super().split_rows(data), labels=labels, label_names=LABELS)

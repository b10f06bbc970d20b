"""The configs that every likelihood-split benchmark has: random, length and likelihood splits.

Corpora of programs (text-to-SQL) have template and TMCD splits as well.

Source: "Benchmarking Long-tail Generalization with Likelihood Splits" (2210.06799). Config names are those of
the paper's published data: `ll_split` for a fine-tuned model, `ll_split_pt` for a prompted one, `_len` where
the distribution of lengths is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from datasets import Features

from ..errors import UsageError, show
from ..features import DIFFICULTY, HEAD, PLACEMENT, PVI, family, payload_columns
from ..splitting.base import DEFAULT_SEED, Scores, Sizes, SplitRows
from ..tables import conform
from .base import Builder, BuildOptions, ConfigSpec, SourceData, pvi_tables
from .pvi_configs import difficulty_column, is_pvi_config, pvi_configs
from .sizes import checked_size, held_out_sizes

CITATION = """@inproceedings{godbole-jia-2023-benchmarking,
  title     = {Benchmarking Long-tail Generalization with Likelihood Splits},
  author    = {Godbole, Ameya and Jia, Robin},
  booktitle = {Findings of the Association for Computational Linguistics: EACL 2023},
  year      = {2023},
  url       = {https://arxiv.org/abs/2210.06799}
}"""
"""The paper that the splits come from; follows the citation of each corpus."""

# Score-table names start with the scorer's word; what follows is the slug of a second model or k.
_LIKELIHOOD_CONFIGS = {"kfold": ("lm_kfold", "ll_split"), "prompt": ("lm_prompt", "ll_split_pt")}
_PROGRAM_SEED = 1
"""Of `template` and `tmcd`, unless the build has a seed of its own (code of google-research/language)."""
_JUDGES = {"kfold": "fine-tuned on the other folds", "prompt": "given a prompt"}


@dataclass(frozen=True)
class LikelihoodBenchmark:
    """What the configs of one benchmark depend on.

    `texts` is the plural noun of the scored texts, for summaries. `labelled` rows are divided label by
    label; others may have the atom constraint. `random_seeds` are those of `random`, `random_2`, ...;
    they hold unless the build has a seed of its own. `constraint` is that of likelihood splits. Rows with
    `programs` have the configs `template` and `tmcd` too; the latter makes at most `tmcd_iterations` swaps in
    mode `reference`, whose cap is a published one (None: the splitter's own); mode `best` has no cap.
    """

    texts: str
    sizes: Sizes
    labelled: bool
    random_seeds: tuple[int, ...]
    constraint: str | None = None
    programs: bool = False
    tmcd_iterations: int | None = 10_000

    def configs(
        self, options: BuildOptions, score_names: Mapping[str, Sequence[str]], rows: int
    ) -> list[ConfigSpec]:
        """All configs for `rows` rows, the default marked, reverse splits last and only by request."""
        common = {"sizes": asdict(self._sizes(options, rows)), **self._label_rule(options)}
        likelihood = self._likelihood(options, score_names, common)
        default = likelihood[0].name if likelihood else "random"
        specs = [
            *self._random(options, common),
            self._length(options, common),
            *(self._programs(options, common) if self.programs else ()),
            *likelihood,
            *(self._reverse(spec) for spec in likelihood),
        ]
        _refuse_repeated([spec.name for spec in specs])
        return [replace(spec, default=spec.name == default) for spec in specs]

    def _sizes(self, options: BuildOptions, rows: int) -> Sizes:
        if options.validation is None and options.test is None:
            return Sizes.proportional(self.sizes, rows)
        if options.validation is None or options.test is None:
            raise UsageError("give both --validation and --test, or neither for the published proportions")
        return held_out_sizes(rows, checked_size(options.validation), checked_size(options.test))

    def _label_rule(self, options: BuildOptions) -> dict[str, Any]:
        """The published code takes equally many rows of every label; the paper means to keep their shares."""
        if not self.labelled:
            return {}
        by_method = "equal" if options.method == "published" else "shares"
        return {"evaluation_labels": options.evaluation_labels or by_method}

    def _constraint_rule(self, options: BuildOptions, usual: str | None) -> dict[str, Any]:
        chosen = usual if options.constraint is None else options.constraint
        if chosen not in (None, "atoms", "none"):
            raise UsageError(f"no constraint {show(chosen)}; give atoms or none")
        return {} if chosen in (None, "none") else {"constraint": chosen}

    def _random(self, options: BuildOptions, common: Mapping[str, Any]) -> list[ConfigSpec]:
        seeds = self.random_seeds
        if options.seed != DEFAULT_SEED:
            seeds = tuple(options.seed + number for number in range(len(seeds)))
        return [
            ConfigSpec(
                name="random" if number == 1 else f"random_{number}",
                splitter="random",
                parameters={**common, "seed": seed, **self._constraint_rule(options, None)},
                summary=f"Rows are placed at random (seed {seed}).",
            )
            for number, seed in enumerate(seeds, 1)
        ]

    def _length(self, options: BuildOptions, common: Mapping[str, Any]) -> ConfigSpec:
        return ConfigSpec(
            name="length",
            splitter="length",
            parameters={**common, "seed": options.seed, **self._constraint_rule(options, None)},
            summary=f"Short {self.texts} train, the longest ones evaluate.",
        )

    def _programs(self, options: BuildOptions, common: Mapping[str, Any]) -> list[ConfigSpec]:
        """The paper evaluates on templates picked at random; the published code trains on them first."""
        seed = _PROGRAM_SEED if options.seed == DEFAULT_SEED else options.seed
        shared = {"sizes": common["sizes"], "seed": seed}
        mode = "train_first" if options.method == "published" else "evaluation"
        tmcd_mode = options.tmcd_mode or "best"
        template = ConfigSpec(
            name="template",
            splitter="template",
            parameters={**shared, "mode": mode, **self._constraint_rule(options, None)},
            summary="Whole query templates are placed at random: no program evaluates that trains with other "
            "values.",
        )
        tmcd = ConfigSpec(
            name="tmcd",
            splitter="tmcd",
            parameters={
                **shared,
                "mode": tmcd_mode,
                "constraint": self._constraint_rule(options, "atoms").get("constraint"),
                "max_iterations": self.tmcd_iterations if tmcd_mode == "reference" else None,
            },
            summary="Programs train and evaluate on different compounds of the same atoms (TMCD).",
        )
        return [template, tmcd]

    def _likelihood(
        self, options: BuildOptions, score_names: Mapping[str, Sequence[str]], common: Mapping[str, Any]
    ) -> list[ConfigSpec]:
        parameters = {
            **common,
            "seed": options.seed,
            "criterion": options.criterion,
            **self._constraint_rule(options, self.constraint),
        }
        buckets = options.length_buckets
        control: dict[str, Any] = {"length_control": "exact" if buckets is None else buckets}
        if self.labelled:
            by_method = "whole_bucket" if options.method == "published" else "none"
            control["empty_quota"] = options.empty_quota or by_method
        specs = []
        for kind, (table_word, config_word) in _LIKELIHOOD_CONFIGS.items():
            for table in score_names.get(kind, ()):
                slug = table.removeprefix(table_word)
                which = f" (score table {table})" if slug else ""
                summary = f"The least likely {self.texts} evaluate, by a language model {_JUDGES[kind]}"
                specs += [
                    ConfigSpec(
                        config_word + slug, "likelihood", parameters, f"{summary}{which}.", scores=table
                    ),
                    ConfigSpec(
                        f"{config_word}_len{slug}",
                        "likelihood",
                        parameters | control,
                        f"{summary}, at the same distribution of lengths on both sides{which}.",
                        scores=table,
                    ),
                ]
        return specs

    def _reverse(self, spec: ConfigSpec) -> ConfigSpec:
        return replace(
            spec,
            name=f"{spec.name}_reverse",
            parameters=spec.parameters | {"reverse": True},
            summary=f"The reverse of {spec.name}: unlikely {self.texts} train, likely ones evaluate.",
            reverse_of=spec.name,
            extra=True,
        )


def _refuse_repeated(names: Sequence[str]) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            # A model called `len`, say, whose slug makes `ll_split_len`.
            raise UsageError(f"two configs would be called {name!r}; rename the second model's folder")


class LikelihoodBuilder(Builder):
    """A published corpus whose configs are those of `benchmark`."""

    benchmark: ClassVar[LikelihoodBenchmark]
    published_splits: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Summaries of configs `nqg_NAME`, by the names of published divisions that may stand beside a source."""

    def configs(
        self, options: BuildOptions, score_names: Mapping[str, Sequence[str]], rows: int | None = None
    ) -> list[ConfigSpec]:
        """Random, length and likelihood splits; template and TMCD for programs; then published ones.

        For labelled rows those by V-information come last, made only by name; they keep the published split.
        """
        made = self.benchmark.configs(options, score_names, self.published_rows if rows is None else rows)
        published = [
            ConfigSpec(f"nqg_{name}", "published", {"split": name}, summary)
            for name, summary in self.published_splits.items()
        ]
        tables = pvi_tables(score_names, None, self.pvi_parts())
        by_pvi = (pvi_configs(options, table, suffix=suffix) for suffix, table in tables.items())
        return [*made, *published, *(spec for specs in by_pvi for spec in specs)]

    def pvi_parts(self) -> tuple[str | None, ...]:
        """All rows together, where they have labels."""
        return (None,) if self.benchmark.labelled else ()

    def features_of(self, spec: ConfigSpec) -> Features:
        """Configs by V-information have its columns and `difficulty`."""
        if not is_pvi_config(spec):
            return self.features
        payload = {name: kind for name, kind in self.features.items() if name not in {**HEAD, **PLACEMENT}}
        return family({**payload, "difficulty": DIFFICULTY, **PVI})

    def placed_columns(
        self,
        data: SourceData,
        side: np.ndarray,
        spec: ConfigSpec | None = None,
        scores: Scores | None = None,
    ) -> pa.Table | None:
        """Those of programs, or the `difficulty` of the rows of a config by V-information."""
        difficulty = None if spec is None else difficulty_column(spec, side)
        return super().placed_columns(data, side, spec, scores) if difficulty is None else difficulty

    def split_rows(self, data: SourceData) -> SplitRows:
        """What corpora have in common: uids, source order, lengths of the scored text, splits, programs."""
        table = data.table
        return SplitRows(
            uids=table.column("uid").combine_chunks(),
            source_index=table.column("source_index").to_numpy().astype(np.int64),
            lengths=table.column("length").to_numpy(),
            source_splits=np.array(table.column("source_split").to_pylist()),
            published_splits=data.published_splits,
            **({} if data.programs is None else data.programs.split_rows()),
        )


def payload_table(read: pa.Table, derived: Mapping[str, Any], features: Features) -> pa.Table:
    """The columns that were read and those derived from them, as `features` orders and types the payload.

    A payload column that neither has becomes null.
    """
    schema = pa.schema([features.arrow_schema.field(name) for name in payload_columns(features)])
    for name, values in derived.items():
        read = read.append_column(name, pa.array(values, schema.field(name).type))
    return conform(read, schema)

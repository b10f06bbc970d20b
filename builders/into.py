"""Adding configs to a release that exists: its other files stay as they are, byte for byte."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import BenchwrightWarning, ReleaseError, UsageError, show
from ..faults import Policy
from ..hashing import canonical_json, sha256_text
from ..release import ReleaseFolder
from ..splitting.base import SIDES, UNUSED
from ..splitting.scores import ScoreTable
from . import audit as auditing
from ._choosing import (
    check_splitters,
    choose_configs,
    every_config,
    in_source,
    optional_names,
    read_source,
    refuse_idle_folds,
    refuse_idle_pvi,
    refuse_withdrawn,
    tables_of,
)
from ._describing import describe, files_of, other_files, release_name
from ._errata import Errata
from ._parts import PlacedConfig, SourceParts, divide
from .assemble import (
    audit_rows,
    dataset_facts,
    library_versions,
    published_tables,
    scores_summary,
    side_summary,
    source_fingerprint,
    start_configs,
)
from .base import DEFAULT_OPTIONS, Builder, BuildOptions, ConfigSpec, ScoreSpec, SourceData
from .recorded import builder_of, options_of, spec_of
from .release import ReleaseWriter, scores_features
from .scoring import (
    TableMaker,
    fold_options_given,
    load_tables,
    model_and_revision,
    names_by_scorer,
    pvi_options_given,
)
from .searching import searchable, warn_of_unsearched

_DEFAULT_MAKER = TableMaker()


def extend(
    builder: Builder,
    base: ReleaseFolder,
    *,
    source: str | Path,
    out: str | Path,
    configs: Sequence[str] | None,
    options: BuildOptions,
    maker: TableMaker,
    on_bad_row: Policy = "fail",
    accepted: Collection[str] = (),
    repair: bool = False,
    overwrite: bool = False,
    optional: Collection[str] = (),
) -> ReleaseFolder:
    """A release at `out` with all that `base` has and the new `configs`; see `build`.

    Configs of the names `optional` whose rows cannot be divided are left out with a warning.

    Raises UsageError for options that are not those of `base`, configs that it has already or that were
    withdrawn, and a source with other files.
    """
    if configs is None:
        raise UsageError("name the configs to add with --configs")
    _check_builder(builder, base)
    given = pvi_options_given(options, maker)
    options = _options_of_base(builder, base, options, on_bad_row)
    errata = Errata.of(base.manifest)
    published, specs = load_tables(base) if "scores" in base.configs else ({}, {})
    specs = _score_specs(builder, base, specs, maker)
    names = names_by_scorer(specs)
    chosen = refuse_withdrawn(errata, choose_configs(builder, options, names, configs, repair), configs)
    _check_new(base, errata, chosen)
    known = every_config(builder, options, names)
    refuse_idle_pvi(builder, known, chosen, given)
    read = tables_of([spec for spec in known if spec.name in chosen])
    refuse_idle_folds(read, specs, fold_options_given(maker))
    for name in sorted(read.keys() & published.keys()):
        _check_recipe(base, specs[name], maker)
    scored = [spec for spec in known if spec.name in chosen and spec.scores not in published]
    unsearched = set(chosen) - {spec.name for spec in scored}
    possible = searchable(builder, maker.search, options, scored, configs)
    chosen = [name for name in chosen if name in unsearched or name in possible]
    maker.check_recipes(builder, options)
    root, data = read_source(builder, source, options, base.manifest["source"]["on_bad_row"])
    _check_source(base, data)
    warn_of_unsearched(builder, maker.search, scored, data)
    every = every_config(builder, options, names, data.table.num_rows)
    wanted = in_source([spec for spec in every if spec.name in chosen], data, configs, root)
    check_splitters(wanted)
    needed = tables_of(wanted)
    missing = {name: config for name, config in needed.items() if name not in published}
    maker.check_rows(builder, data, missing, specs, options)
    tables = {
        name: published[name]
        if name in published
        else maker.make(builder, data, config, specs[name], options)
        for name, config in needed.items()
    }
    spared = {*optional_names(wanted, configs), *optional}
    addition = _Addition(builder, base, data, wanted, tables, frozenset(published), errata, spared)
    return addition.write(Path(out), accepted, root if builder.source_has_trees else None, overwrite)


@dataclass(frozen=True)
class _Addition:
    """Configs to add to a release, with the rows and scores that they are made of."""

    builder: Builder
    base: ReleaseFolder
    data: SourceData
    specs: Sequence[ConfigSpec]
    tables: Mapping[str, ScoreTable]
    published: frozenset[str]
    """Names of the score tables that the release has already."""
    errata: Errata
    optional: Collection[str]

    def write(
        self, out: Path, accepted: Collection[str], trees_from: Path | None, overwrite: bool
    ) -> ReleaseFolder:
        # The parts of configs that are there already are audited again.
        there = [
            replace(spec_of(name, entry), scores=None) for name, entry in self.base.placed_configs.items()
        ]
        source = SourceParts(self.builder, self.data, [*there, *self.specs], self.tables)
        divided = divide(source, self.specs, self.optional)
        specs = [spec for spec, _ in divided]
        if len(specs) < len(self.specs):
            source = SourceParts(self.builder, self.data, [*there, *specs], self.tables)
        scores, ordered = published_tables(source, self.errata, self.published)
        plan = [self.base.manifest, [spec.name for spec in specs], scores]
        with ReleaseWriter(out, sha256_text(canonical_json(plan)), overwrite) as writer:
            tables = self._all_scores(ordered)
            self._take_over(writer, tables)
            pending, placed = start_configs(writer, source, divided, self.errata, default=None)
            others = self._others(writer, ordered, tables)
            findings = audit_rows(source, {**self._placed(source), **placed}, tables, self.errata)
            agreed = {*accepted, *self.base.manifest["audit"]["accepted"]}
            made = {name: config.entry() for name, config in pending.items()}
            manifest = {
                **self.base.manifest,
                "dataset": {
                    **self.base.manifest["dataset"],
                    **dataset_facts(self.builder, self.data, [*there, *specs]),
                },
                "scores": {**self.base.manifest["scores"], **scores},
                "configs": {**self.base.placed_configs, **made, **others},
                "audit": auditing.report(findings, agreed),
            }
            describe(writer, manifest, name=release_name(out), earlier=self.base.path, trees_from=trees_from)
            return writer.finish(manifest)

    def _take_over(self, writer: ReleaseWriter, tables: Mapping[str, pa.Table]) -> None:
        """Copy every file of the release that is not made anew."""
        anew = ("scores",) if self._other_columns(tables) else ()
        kept = [entry for name, entry in self.base.configs.items() if name not in anew]
        for name in [*files_of(kept), *other_files(self.base)]:
            writer.keep(self.base.path / name, name, link=False)

    def _other_columns(self, tables: Mapping[str, pa.Table]) -> bool:
        """Whether config `scores` needs other columns than it has, for new tables."""
        known = self.base.configs.get("scores")
        return known is not None and self.base.features("scores") != scores_features(tables)

    def _others(
        self, writer: ReleaseWriter, ordered: Mapping[str, pa.Table], tables: Mapping[str, pa.Table]
    ) -> dict[str, Any]:
        """Entries of side tables and of `scores`: those of the release, and what it lacks."""
        others = {name: e for name, e in self.base.configs.items() if e["kind"] == "table"}
        for name, (table, features) in self.data.extras.items():
            if name not in others:
                others[name] = writer.write_table(name, table, features, side_summary(name))
        known = self.base.configs.get("scores")
        if not ordered:
            return others if known is None else {**others, "scores": known}
        if self._other_columns(tables):
            return {**others, "scores": writer.write_scores(tables, scores_summary(tables))}
        made = writer.write_scores(ordered, scores_summary(tables), scores_features(tables))
        splits = {**(known["splits"] if known else {}), **made["splits"]}
        return {**others, "scores": {**made, "splits": splits}}

    def _all_scores(self, ordered: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
        """The score tables of the release and the new ones, each with the columns of its own."""
        known = self.base.splits("scores") if "scores" in self.base.configs else []
        return {**{name: ScoreTable.from_release(self.base, name).table for name in known}, **ordered}

    def _placed(self, source: SourceParts) -> dict[str, PlacedConfig]:
        """Where each config of the release has its rows, in source order. Raises ReleaseError."""
        placed = {}
        for name, entry in self.base.placed_configs.items():
            spec = spec_of(name, entry)
            rows = source.part_of(spec).rows(spec).table
            assigned = self.base.assignment(name)
            if (
                not assigned.column("uid")
                .combine_chunks()
                .equals(rows.column("uid").combine_chunks().cast(pa.string()))
            ):
                raise ReleaseError(
                    f"{self.base.path}: assignments/{name}.parquet lists other rows than the source; run "
                    "`benchwright verify` on it"
                )
            split = assigned.column("split").to_pylist()
            side = np.array([SIDES.get(word, UNUSED) for word in split], dtype=np.int8)
            placed[name] = PlacedConfig(spec, side)
        return placed


def _check_builder(builder: Builder, base: ReleaseFolder) -> None:
    made_by = builder_of(base.manifest)
    if (made_by.name, made_by.info.pretty_name) != (builder.name, builder.info.pretty_name):
        raise UsageError(
            f"{base.path} was made by {made_by.name} and not by {builder.name}; give --into a release of "
            f"{builder.name}"
        )
    now, then = library_versions(), base.manifest["versions"]
    other = [f"{name} {then[name]}" for name in now if then.get(name, now[name]) != now[name]]
    if other:
        message = f"{base.path} was made with {', '.join(other)}; what is added is made with other versions"
        warnings.warn(message, BenchwrightWarning, stacklevel=4)


def _options_of_base(
    builder: Builder, base: ReleaseFolder, given: BuildOptions, on_bad_row: Policy
) -> BuildOptions:
    """The options of the release. Raises UsageError for a given one (no default) that is another."""
    own = builder.resolved(options_of(base.manifest))
    changes = {
        field.name: value
        for field in fields(BuildOptions)
        if (value := getattr(given, field.name)) != getattr(DEFAULT_OPTIONS, field.name)
    }
    if changes.get("prompt") == builder.default_prompt:
        changes["prompt"] = None
    asked = builder.resolved(replace(own, **changes))
    for field in fields(BuildOptions):
        found, known = getattr(asked, field.name), getattr(own, field.name)
        if found != known:
            raise _other_option(base, field.name, found, known)
    policy = base.manifest["source"]["on_bad_row"]
    if on_bad_row not in ("fail", policy):
        raise _other_option(base, "on_bad_row", on_bad_row, policy)
    return own


def _other_option(base: ReleaseFolder, name: str, given: object, own: object) -> UsageError:
    option = f"--{name.replace('_', '-')}"
    return UsageError(f"{option} {show(given)} is not that of {base.path}, {show(own)}; leave it out")


def _score_specs(
    builder: Builder, base: ReleaseFolder, specs: Mapping[str, ScoreSpec], maker: TableMaker
) -> dict[str, ScoreSpec]:
    """What the release's own score tables and those that can be made are called and made by.

    Raises UsageError for a model or number of folds that is given (no default) and is not that of the table
    that would have its name; and for a corpus where the rows of the release could do without and did.
    """
    planned = maker.plan(builder)
    for name, spec in planned.items():
        if name not in specs:
            if spec.scorer == "bm25" and not builder.needs_corpus:
                raise UsageError(
                    f"{base.path} was made without a corpus, and its rows are searched all together; build "
                    "it anew with --corpus"
                )
            continue
        if spec.scorer == "bm25":
            continue
        provenance = base.manifest["scores"][name]["provenance"]
        option = "pvi_model" if spec.scorer == "pvi" else "lm"
        if tuple(getattr(maker, option)) != tuple(getattr(_DEFAULT_MAKER, option)):
            _check_model(base, name, option, str(spec.parameters["model"]), provenance)
        k = provenance["key"].get("k")
        if tuple(maker.k) != tuple(_DEFAULT_MAKER.k) and k is not None and spec.parameters["k"] != k:
            raise UsageError(f"--k {spec.parameters['k']}: score table {name} of {base.path} has {k} folds")
    return {**planned, **specs}


def _check_recipe(base: ReleaseFolder, spec: ScoreSpec, maker: TableMaker) -> None:
    """Raise UsageError for a recipe that is not that of a table which the release has already."""
    option, given = ("--pvi-recipe", maker.pvi_recipe) if spec.scorer == "pvi" else ("--recipe", maker.recipe)
    own = base.manifest["scores"][spec.name]["provenance"]["key"].get("recipe") or {}
    for name, value in (given or {}).items():
        # Names that the recorded recipe lacks are for the check of recipes to tell.
        if name in own and own[name] != value:
            raise UsageError(
                f"{option} {name}={show(value)}: score table {spec.name} of {base.path} was made with "
                f"{name}={show(own[name])} and is not made again; leave it out"
            )


def _check_model(
    base: ReleaseFolder, table: str, option: str, given: str, provenance: Mapping[str, Any]
) -> None:
    from ..eval.models import is_embedded

    own = str((provenance.get("model") or {}).get("model"))
    name = model_and_revision(given)[0]
    if name == own or (is_embedded(name) and is_embedded(own)) or Path(name).name == own:
        return
    flag = f"--{option.replace('_', '-')}"
    raise UsageError(
        f"{flag} {show(given)}: score table {table} of {base.path} was made with {own}; name that model first"
    )


def _check_new(base: ReleaseFolder, errata: Errata, chosen: Sequence[str]) -> None:
    taken = {**base.configs, **dict.fromkeys(errata.publication.aliases)}
    for name in chosen:
        if errata.name(name) in taken:
            known = errata.name(name)
            raise UsageError(f"{base.path} has config {known!r} already; name only configs that it lacks")


def _check_source(base: ReleaseFolder, data: SourceData) -> None:
    source = base.manifest["source"]
    if source_fingerprint(data.files) == source["fingerprint"]:
        return
    known = {file["name"]: file["sha256"] for file in source["files"]}
    found = {file.name: file.sha256 for file in data.files}
    names = [name for name in dict.fromkeys([*known, *found]) if known.get(name) != found.get(name)]
    raise UsageError(
        f"the source is not that of {base.path}: {', '.join(names)}; give the same files, or build a new "
        "release"
    )

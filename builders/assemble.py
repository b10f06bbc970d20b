"""Rows that are read and scored become a release: place them, audit, write, describe."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from .. import __version__
from ..faults import Policy
from ..hashing import canonical_json, sha256_text
from ..release import ReleaseFolder
from ..splitting.scores import ScoreTable
from ..tasks import Task
from . import audit as auditing
from ._describing import describe, release_name
from ._errata import (
    MADE_AS,
    Errata,
    Withdrawn,
    left_out,
    placement_record,
    score_entry,
    side_names,
    without_rows,
)
from ._parts import Divided, PlacedConfig, SourceParts, divide
from .base import Builder, BuildOptions, ConfigSpec, SourceData, SourceFile
from .constituents import CONSTITUENTS, collected
from .release import PendingConfig, ReleaseWriter

_SCORES_SUMMARY = "One {} per row, so that anyone can split again without running a model."
_SEARCHED_SUMMARY = (
    "What was searched for every row in the corpora and the best hits with their BM25 scores, so that anyone "
    "can cut subsets anew without the corpora."
)

# The samples were written for benchwright: they carry its licence, and come from no corpus they imitate.
_SAMPLE = {
    "licence": "apache-2.0",
    "licence_link": "https://www.apache.org/licenses/LICENSE-2.0",
    "redistribute": "text",
    "source_datasets": (),
}
_LIBRARIES = ("datasets", "nltk", "numpy", "pyarrow", "rensa", "sqlglot", "sqlparse")


def assemble(
    builder: Builder,
    data: SourceData,
    specs: Sequence[ConfigSpec],
    tables: Mapping[str, ScoreTable],
    options: BuildOptions,
    out: str | Path,
    *,
    on_bad_row: Policy = "fail",
    accepted: Collection[str] = (),
    trees_from: Path | None = None,
    overwrite: bool = False,
    errata: Errata | None = None,
    optional: Collection[str] = (),
) -> ReleaseFolder:
    """Place rows that are read and scored, and write the whole release.

    `tables` holds every score table that a config of `specs` reads; tables may have more rows than `data`.
    `trees_from` is a source whose files hold constituency trees of the texts. `errata` are those of the
    release that this one follows: their rows are withdrawn after the rows are divided. Configs of the names
    `optional` whose rows cannot be divided are left out with a warning, with the tables that they alone read.
    """
    errata = errata or Errata()
    source = SourceParts(builder, data, specs, tables)
    divided = divide(source, specs, optional)
    if len(divided) < len(specs):
        specs = [spec for spec, _ in divided]
        source = SourceParts(builder, data, specs, tables)
    entries, ordered = published_tables(source, errata)
    facts = {
        "benchwright": __version__,
        "dataset": dataset_facts(builder, data, specs),
        **_facts(builder, data, entries, options, on_bad_row),
    }
    plan = [facts, [asdict(spec) for spec in specs], errata.publication.to_json(), dict(errata.names)]
    with ReleaseWriter(out, sha256_text(canonical_json(plan)), overwrite) as writer:
        # Files are written in threads: all that does not depend on them is done meanwhile.
        pending, placed = start_configs(writer, source, divided, errata, default_of(specs))
        others: dict[str, Any] = {}
        for name, (side_table, features) in data.extras.items():
            others[name] = writer.write_table(name, side_table, features, side_summary(name))
        if ordered:
            others["scores"] = writer.write_scores(ordered, scores_summary(ordered))
        audit = auditing.report(audit_rows(source, placed, ordered, errata), set(accepted))
        configs = {name: config.entry() for name, config in pending.items()}
        manifest = errata.publication.put_into({**facts, "configs": {**configs, **others}, "audit": audit})
        target = Path(out)
        describe(writer, manifest, name=release_name(target), earlier=target, trees_from=trees_from)
        return writer.finish(manifest)


def start_configs(
    writer: ReleaseWriter,
    source: SourceParts,
    divided: Sequence[Divided],
    errata: Errata,
    default: str | None,
) -> tuple[dict[str, PendingConfig], dict[str, PlacedConfig]]:
    """Begin to write every config; what is being written, and where its rows stand.

    Both are named by the present names of the configs. `default` is the spec that becomes the default.
    """
    pending, placed = {}, {}
    for spec, made in divided:
        part, rows = source.part_of(spec), source.part_of(spec).rows(spec)
        table = None if spec.scores is None else part.tables[spec.scores]
        withdrawn = errata.withdrawn(part.data.table.column("uid"))
        kept = without_rows(made, withdrawn) if withdrawn.any() else made
        name = errata.name(spec.name)
        present = renamed_spec(spec, errata.names)
        forward = None if spec.reverse_of in errata.reasons else present.reverse_of
        config = writer.start_config(
            replace(present, reverse_of=forward, default=spec.name == default),
            rows,
            kept,
            task=source.builder.task_of(spec),
            scores=None if table is None else table.table,
            # Where rows stood when they were divided: withdrawing others changes no row.
            columns=part.columns(spec, made.side, withdrawn),
        )
        if spec.part is not None and (of_part := source.builder.constituents_of({spec.part})):
            config.facts[CONSTITUENTS] = sorted(of_part)
        if withdrawn.any():
            gone = rows.order[withdrawn[rows.order]]
            config.facts.update(placement_record(_withdrawn_rows(part.data.table, gone, made.side)))
            before, after = (set(side_names(found.side)) - {""} for found in (made, kept))
            config.facts["left_out"] = left_out(config.facts["left_out"], before, after)
        if name != spec.name:
            config.facts[MADE_AS] = spec.name
        pending[name] = config
        placed[name] = PlacedConfig(spec, kept.side[rows.order].astype(np.int8))
    return pending, placed


def _withdrawn_rows(table: pa.Table, gone: np.ndarray, side: np.ndarray) -> dict[str, Withdrawn]:
    """The rows `gone` (places in the table, in source order) by uid; `side` is in table order."""
    uids, contents = (table.column(name).take(pa.array(gone)).to_pylist() for name in ("uid", "content_id"))
    splits = side_names(side[gone])
    rows = [
        Withdrawn(split, content if split else "") for split, content in zip(splits, contents, strict=True)
    ]
    return dict(zip(uids, rows, strict=True))


def renamed_spec(spec: ConfigSpec, names: Mapping[str, str]) -> ConfigSpec:
    """`spec` under the present names of configs.

    >>> spec = ConfigSpec("a_reverse", "likelihood", {}, "The reverse of a: long rows.", reverse_of="a")
    >>> renamed_spec(spec, {"a": "b"}).summary
    'The reverse of b: long rows.'
    """
    forward = spec.reverse_of
    if forward is None:
        return replace(spec, name=names.get(spec.name, spec.name))
    present = names.get(forward, forward)
    summary = spec.summary.replace(f"of {forward}:", f"of {present}:")
    return replace(spec, name=names.get(spec.name, spec.name), reverse_of=present, summary=summary)


def published_tables(
    source: SourceParts, errata: Errata, known: Collection[str] = ()
) -> tuple[dict[str, Any], dict[str, pa.Table]]:
    """The manifest's entries of score tables, and the tables in source order, without withdrawn rows.

    Tables that are `known` are left out.
    """
    entries, ordered = {}, {}
    for name, part, table_name in source.tables():
        if table_name in known:
            continue
        table = part.tables[table_name]
        in_order = ScoreTable(table.table.take(pa.array(part.order)), table.provenance, table.identity)
        withdrawn = errata.withdrawn(in_order.table.column("uid"))
        ordered[table_name], entry = score_entry(in_order, withdrawn)
        entries[table_name] = entry if name is None else {**entry, "part": name}
    return entries, ordered


def audit_rows(
    source: SourceParts,
    placed: Mapping[str, PlacedConfig],
    scores: Mapping[str, pa.Table],
    errata: Errata,
) -> list[auditing.Finding]:
    """Findings on the rows of every part but withdrawn ones, and on their placements."""
    findings: list[auditing.Finding] = []
    groups: dict[tuple[str | None, Task], dict[str, PlacedConfig]] = {}
    for name, config in placed.items():
        key = config.spec.part, source.builder.task_of(config.spec)
        groups.setdefault(key, {})[name] = config
    for (part, task), configs in groups.items():
        spec = next(iter(configs.values())).spec
        table = source.part_of(spec).rows(spec).table
        kept = ~errata.withdrawn(table.column("uid"))
        audited = auditing.AuditRows.from_table(table.filter(pa.array(kept)), task)
        sides = {name: config.side[kept] for name, config in configs.items()}
        findings += auditing.audit_part(audited, sides, source.builder.published, part=part)
    # Only tables of V-information and of overlap have these columns.
    own = {"pvi": "pvi", "best_score": "bm25"}
    scorers = {
        name: next((scorer for column, scorer in own.items() if column in table.column_names), None)
        for name, table in scores.items()
    }
    return findings + auditing.unscored_findings(
        (name, scorers[name], table) for name, table in scores.items()
    )


def scores_summary(tables: Mapping[str, pa.Table]) -> str:
    """What the manifest says of config `scores`."""
    if any("best_score" in table.column_names for table in tables.values()):
        return _SEARCHED_SUMMARY
    graded = [name for name, table in tables.items() if "pvi" in table.column_names]
    if not graded:
        return _SCORES_SUMMARY.format("log-likelihood")
    if len(graded) == len(tables):
        return _SCORES_SUMMARY.format("pointwise V-information (bits)")
    return _SCORES_SUMMARY.format("log-likelihood (nats) or pointwise V-information (bits)")


def side_summary(name: str) -> str:
    """What the manifest says of a side table."""
    return f"The {name} that rows of the other configs refer to."


def default_of(specs: Sequence[ConfigSpec]) -> str:
    """The config that readers get without a name: the builder's, else a likelihood split, else the first."""
    forward = [spec for spec in specs if spec.scores is not None and spec.reverse_of is None]
    return next((spec for spec in specs if spec.default), (forward or list(specs))[0]).name


def dataset_facts(builder: Builder, data: SourceData, specs: Sequence[ConfigSpec]) -> dict[str, Any]:
    """What the manifest says of a data set with these configs: licence and languages of their rows alone."""
    parts = {spec.part for spec in specs if spec.part is not None}
    sample = _SAMPLE if data.origin.kind == "sample" else {}
    facts = {"builder": builder.name, "published": builder.published, **asdict(builder.info), **sample}
    found = {name: {**asdict(each), **sample} for name, each in builder.constituents_of(parts).items()}
    return collected(facts, found) if found else facts


def _facts(
    builder: Builder,
    data: SourceData,
    scores: Mapping[str, Any],
    options: BuildOptions,
    on_bad_row: Policy,
) -> dict[str, Any]:
    """How rows were made, for the manifest: all that is known before they are placed."""
    return {
        "method": options.method,
        "choices": {**options.to_json(), "builder": builder.choices()},
        "source": {
            **asdict(data.origin),
            "fingerprint": source_fingerprint(data.files),
            "files": [asdict(file) for file in data.files],
            "read": data.read,
            "filtered": data.filtered,
            "dropped": data.dropped,
            "rows": data.table.num_rows,
            **({"parts": {name: len(rows) for name, rows in data.parts.items()}} if data.parts else {}),
            **({"funnel": [dict(stage) for stage in data.funnel]} if data.funnel else {}),
            "on_bad_row": on_bad_row,
            "notes": list(data.notes),
        },
        "scores": dict(scores),
        "versions": {**library_versions(), **_definition_versions(data)},
    }


def source_fingerprint(files: Sequence[SourceFile]) -> str:
    """`sha256:<hex>` of the names and hashes of the files that rows were read from."""
    return sha256_text(canonical_json([[file.name, file.sha256] for file in files]))


def _definition_versions(data: SourceData) -> dict[str, str]:
    """Versions of the definitions that programs were read by, raised when they would count differently."""
    if data.programs is None:
        return {}
    structure, rule = data.programs.structure, data.programs.rule
    return {
        f"structure {structure.name}": str(structure.version),
        f"template rule {rule.name}": str(rule.version),
    }


def library_versions() -> dict[str, str]:
    """Versions that the bytes of a release may depend on."""
    from importlib.metadata import version

    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return {"python": python, **{name: version(name) for name in _LIBRARIES}}

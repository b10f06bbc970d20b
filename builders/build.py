"""From a source to a release: read, score, split, audit, write, describe."""

from __future__ import annotations

import shutil
import sys
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from .. import __version__
from ..cache import cache_folder
from ..cards import README, hand_written, write_card
from ..errors import BenchwrightWarning, SourceError, UsageError
from ..eval import refresh_index
from ..faults import FaultLog, Policy
from ..hashing import canonical_json, sha256_text
from ..progress import Stage, no_progress
from ..registry import closest
from ..release import ReleaseFolder
from ..splitting import splitters
from ..splitting.scores import ScoreTable, ScoringOptions
from . import audit as auditing
from .analyse import PROPERTIES, analyse
from .audit import read_accepted
from .base import Builder, BuildOptions, ConfigSpec, Method, SourceData, builders
from .custom import corpus_name, custom_builder
from .release import PendingConfig, ReleaseWriter, SourceRows, check_target
from .scoring import load_tables, make_table, names_by_scorer, plan_tables, prompt_of_tables
from .sizes import Size
from .sources.origin import is_hub_id, open_source

# The samples were written for benchwright and carry its licence, not that of the corpus they imitate.
_SAMPLE_LICENCE = {"licence": "apache-2.0", "licence_link": "https://www.apache.org/licenses/LICENSE-2.0"}
_LIBRARIES = ("datasets", "nltk", "numpy", "pyarrow", "sqlglot", "sqlparse")


def build(
    builder: str | Builder,
    *,
    source: str | Path,
    out: str | Path,
    configs: Sequence[str] | None = None,
    lm: Sequence[str] = ("embedded",),
    k: Sequence[int] = (3,),
    method: Method = "corrected",
    criterion: str = "log_likelihood",
    length_buckets: int | None = None,
    validation: Size | None = None,
    test: Size | None = None,
    evaluation_labels: str | None = None,
    empty_quota: str | None = None,
    constraint: str | None = None,
    structure: str | None = None,
    template_rule: str | None = None,
    tmcd_mode: str | None = None,
    prompt: str | None = None,
    seed: int = 42,
    scores: str | Path | None = None,
    recipe: Mapping[str, Any] | None = None,
    keep_models: bool = False,
    device: str = "auto",
    start_token: str | int | None = None,
    on_bad_row: Policy = "fail",
    accepted: str | Path | None = None,
    cache: str | Path | None = None,
    overwrite: bool = False,
    progress: Stage = no_progress,
) -> ReleaseFolder:
    """Make a release of a corpus.

    `source` is a folder in the published format, `sample`, or `hub:ORG/NAME@REVISION`. Without `configs`:
    every config of the builder but the reversed splits, which are made by name. Only the score tables that
    the configs read are computed, with each model of `lm` (a Hub id, with `@REVISION` if it is to be pinned,
    or a folder) and, for fine-tuned scores, each number of folds of `k`; with `scores`, all are taken from
    that release and no model is run. `method` and the options after it are those of `BuildOptions`.
    `accepted` is a file of audit findings that are agreed to.

    Nothing stands at `out` until the release is whole; an interrupted build goes on where it stopped.
    Raises UsageError for names and options, SourceError for bad input, ReleaseError if `out` is in the way.
    """
    made = builder if isinstance(builder, Builder) else builders.get(builder)()
    check_target(Path(out), overwrite)
    hand_written(Path(out))
    agreed = read_accepted(Path(accepted)) if accepted is not None else set()
    published = None
    if scores is not None:
        if recipe or start_token is not None:
            raise UsageError("with --scores no model is run; leave out --recipe and --start-token")
        published = load_tables(ReleaseFolder(scores))
        prompt = prompt_of_tables(made, published[0], prompt)
    options = made.resolved(
        BuildOptions(
            method=method,
            criterion=criterion,
            length_buckets=length_buckets,
            prompt=prompt,
            seed=seed,
            validation=validation,
            test=test,
            evaluation_labels=evaluation_labels,
            empty_quota=empty_quota,
            constraint=constraint,
            structure=structure,
            template_rule=template_rule,
            tmcd_mode=tmcd_mode,
        )
    )
    specs = plan_tables(lm, k) if published is None else published[1]
    names = names_by_scorer(specs)
    chosen = choose_configs(made, options, names, configs)
    faults = FaultLog(on_bad_row)
    root, origin = open_source(made, source)
    data = made.read(root, faults, origin, options)
    faults.finish()
    wanted = [spec for spec in made.configs(options, names, data.table.num_rows) if spec.name in chosen]
    wanted = _in_source(wanted, data, configs, root)
    for spec in wanted:
        # Options that a splitter refuses should be known before a model has run for hours.
        splitters.get(spec.splitter)(**spec.parameters)
    tables = {
        name: published[0][name]
        if published is not None
        else make_table(
            made,
            data.table,
            specs[name],
            options,
            ScoringOptions(device=device, start_token=start_token),
            cache_folder(cache),
            recipe=recipe,
            keep_models=keep_models,
            progress=progress,
        )
        for name in dict.fromkeys(spec.scores for spec in wanted if spec.scores is not None)
    }
    return assemble(
        made,
        data,
        wanted,
        tables,
        options,
        out,
        on_bad_row=on_bad_row,
        accepted=agreed,
        trees_from=root if made.source_has_trees else None,
        overwrite=overwrite,
    )


def split(
    file: str | Path,
    *,
    text: str,
    out: str | Path,
    by: Sequence[str],
    context: str | None = None,
    label: str | None = None,
    group: str | None = None,
    id: str | None = None,
    program: str | None = None,
    structure: str | None = None,
    template_rule: str | None = None,
    tmcd_mode: str | None = None,
    constraint: str | None = None,
    validation: Size = 0.1,
    test: Size = 0.1,
    licence: str = "unknown",
    scorer: Literal["prompt", "kfold"] = "prompt",
    lm: Sequence[str] = ("embedded",),
    k: Sequence[int] = (3,),
    criterion: str = "log_likelihood",
    seed: int = 42,
    recipe: Mapping[str, Any] | None = None,
    device: str = "auto",
    start_token: str | int | None = None,
    on_bad_row: Policy = "fail",
    cache: str | Path | None = None,
    overwrite: bool = False,
    progress: Stage = no_progress,
) -> ReleaseFolder:
    """Make a release of a user's own rows: a CSV, TSV, JSONL, JSON or parquet file, or a Hub data set.

    Rows whose inputs (`context` and `text`) are equal stay on one side, as do rows of one value in `group`;
    shares of `label` are kept. `program` is a column of programs, SQL say, for splits by `template` and
    `tmcd`; their definitions and `constraint` are those of `BuildOptions`. `by` names rules of
    `builders.custom.RULES`; `licence` is a Hub licence id. A Hub data set is `ORG/NAME@REVISION`, if no such
    file exists. Raises as `build` does.
    """
    source = str(file)
    if not Path(file).exists():
        if not is_hub_id(source):
            raise SourceError(
                "no such file", path=file, fix="check the path, or give a Hub id: ORG/NAME@REVISION"
            )
        source = f"hub:{source}"
    name = source.removeprefix("hub:").partition("@")[0] if source.startswith("hub:") else Path(file).name
    made = custom_builder(
        corpus_name(name),
        text=text,
        context=context,
        label=label,
        group=group,
        id=id,
        program=program,
        structure=structure,
        template_rule=template_rule,
        by=by,
        scorer=scorer,
        validation=validation,
        test=test,
        licence=licence,
    )
    return build(
        made,
        source=source,
        out=out,
        lm=lm,
        k=k,
        criterion=criterion,
        constraint=constraint,
        structure=structure,
        template_rule=template_rule,
        tmcd_mode=tmcd_mode,
        seed=seed,
        recipe=recipe,
        device=device,
        start_token=start_token,
        on_bad_row=on_bad_row,
        cache=cache,
        overwrite=overwrite,
        progress=progress,
    )


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
) -> ReleaseFolder:
    """Place rows that are read and scored, and write the whole release.

    `tables` holds every score table that a config of `specs` reads; tables may have more rows than `data`.
    `trees_from` is a source whose files hold constituency trees of the texts.
    """
    uids, content_ids = (data.table.column(name).combine_chunks() for name in ("uid", "content_id"))
    tables = {name: table.select(uids, content_ids) for name, table in tables.items()}
    facts = _facts(builder, data, tables, options, on_bad_row)
    key = sha256_text(canonical_json([facts, [asdict(spec) for spec in specs]]))
    with ReleaseWriter(out, key, overwrite) as writer:
        rows = SourceRows(data.table, builder.features)
        # Files are written in threads: all that does not depend on them is done meanwhile.
        pending, sides = _start_configs(writer, builder, data, rows, specs, tables)
        others: dict[str, Any] = {}
        for name, (side_table, features) in data.extras.items():
            summary = f"The {name} that rows of the other configs refer to."
            others[name] = writer.write_table(name, side_table, features, summary)
        ordered = {name: table.table.take(pa.array(rows.order)) for name, table in tables.items()}
        if ordered:
            summary = "One log-likelihood per row, so that anyone can split again without running a model."
            others["scores"] = writer.write_scores(ordered, summary)
        audit = auditing.report(_audit(builder, rows, sides, ordered), set(accepted))
        entries = {name: config.entry() for name, config in pending.items()}
        manifest = {**facts, "configs": {**entries, **others}, "audit": audit}
        _describe(writer, manifest, Path(out), trees_from)
        return writer.finish(manifest)


def _in_source(
    specs: Sequence[ConfigSpec], data: SourceData, asked: Sequence[str] | None, root: Path
) -> list[ConfigSpec]:
    """Without configs whose published placement the source lacks; SourceError for one asked for by name."""
    found = []
    for spec in specs:
        split = spec.parameters.get("split") if spec.splitter == "published" else None
        if split is None or split in data.published_splits:
            found.append(spec)
        elif asked is not None:
            raise SourceError(
                f"no published split {split!r} for config {spec.name!r}",
                path=root,
                fix="put the file of the published split beside the corpus, or leave the config out",
            )
    if not found:
        raise UsageError("the source holds none of the published splits; name other configs")
    return found


def _start_configs(
    writer: ReleaseWriter,
    builder: Builder,
    data: SourceData,
    rows: SourceRows,
    specs: Sequence[ConfigSpec],
    tables: Mapping[str, ScoreTable],
) -> tuple[dict[str, PendingConfig], dict[str, np.ndarray]]:
    """Split every config and begin to write it; what is being written, and the sides in source order."""
    split_rows = builder.split_rows(data)
    default = _default(specs)
    pending, sides = {}, {}
    for spec in specs:
        splitter = splitters.get(spec.splitter)(**spec.parameters)
        table = None if spec.scores is None else tables[spec.scores]
        assignment = splitter.split(split_rows, None if table is None else table.scores())
        pending[spec.name] = writer.start_config(
            replace(spec, default=spec.name == default),
            rows,
            assignment,
            task=builder.task,
            scores=None if table is None else table.table,
            columns=builder.placed_columns(data, assignment.side),
        )
        sides[spec.name] = assignment.side[rows.order].astype(np.int8)
    return pending, sides


def _audit(
    builder: Builder, rows: SourceRows, sides: Mapping[str, np.ndarray], scores: Mapping[str, pa.Table]
) -> list[auditing.Finding]:
    audited = auditing.AuditRows.from_table(rows.table, builder.task)
    findings = auditing.audit_corpus(audited, builder.published)
    for name, side in sides.items():
        findings += auditing.audit_config(name, audited, side, builder.published)
    return findings + auditing.unscored_findings(scores.items())


def _default(specs: Sequence[ConfigSpec]) -> str:
    """The config that readers get without a name: the builder's, else a likelihood split, else the first."""
    forward = [spec for spec in specs if spec.scores is not None and spec.reverse_of is None]
    return next((spec for spec in specs if spec.default), (forward or list(specs))[0]).name


def _describe(writer: ReleaseWriter, manifest: dict[str, Any], target: Path, trees_from: Path | None) -> None:
    """Analyse the rows and write the card. What people added to a release that is replaced outlives its rows.

    Sections written by hand come back in the new card; results come back too, marked stale where the rows
    that they were measured on have changed, and so do analyses of the same rows by other data.
    """
    card, results = target / README, target / "results"
    writer.write_text(card.name, hand_written(target))
    view = writer.view(manifest)
    if results.is_dir():
        with writer.adding(results.name):
            shutil.copytree(results, writer.folder / results.name, dirs_exist_ok=True)
            refresh_index(view)
    earlier = target / PROPERTIES
    with writer.adding(PROPERTIES):
        if earlier.is_file():
            (writer.folder / PROPERTIES).parent.mkdir()
            shutil.copyfile(earlier, writer.folder / PROPERTIES)
        analyse(view, source=trees_from)
    with writer.adding(card.name):
        written = write_card(view, name=target.resolve().name)
    for note in (*writer.notes, *written.notes):
        warnings.warn(note, BenchwrightWarning, stacklevel=2)


def choose_configs(
    builder: Builder, options: BuildOptions, names: Mapping[str, Sequence[str]], wanted: Sequence[str] | None
) -> list[str]:
    """Names of the configs to make, in the builder's order. Raises UsageError for unknown names."""
    known = builder.configs(options, names)
    if wanted is None:
        return [spec.name for spec in known if not spec.extra]
    for name in wanted:
        if name not in {spec.name for spec in known}:
            raise UsageError(
                f"{builder.name} has no config {name!r}; {closest(name, [s.name for s in known])}"
            )
    return [spec.name for spec in known if spec.name in set(wanted)]


def _facts(
    builder: Builder,
    data: SourceData,
    tables: Mapping[str, ScoreTable],
    options: BuildOptions,
    on_bad_row: Policy,
) -> dict[str, Any]:
    """Everything in the manifest that is known before rows are placed."""
    files = [asdict(file) for file in data.files]
    choices = {name: value for name, value in asdict(options).items() if name != "method"}
    return {
        "benchwright": __version__,
        "dataset": {
            "builder": builder.name,
            "published": builder.published,
            **asdict(builder.info),
            **(_SAMPLE_LICENCE if data.origin.kind == "sample" else {}),
        },
        "method": options.method,
        "choices": {**choices, "builder": builder.choices()},
        "source": {
            **asdict(data.origin),
            "fingerprint": sha256_text(canonical_json([[file["name"], file["sha256"]] for file in files])),
            "files": files,
            "read": data.read,
            "filtered": data.filtered,
            "dropped": data.dropped,
            "rows": data.table.num_rows,
            "on_bad_row": on_bad_row,
            "notes": list(data.notes),
        },
        "scores": {name: table.entry() for name, table in tables.items()},
        "versions": {**library_versions(), **_definition_versions(data)},
    }


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

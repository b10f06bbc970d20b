"""Which configs a build makes: those asked for, as far as the source can give them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ..errors import SourceError, UsageError
from ..faults import FaultLog, Policy
from ..registry import closest
from ..splitting import splitters
from ._errata import Errata
from .base import Builder, BuildOptions, ConfigSpec, ScoreSpec, SourceData
from .pvi_configs import is_pvi_config
from .repair import with_clean
from .sources.origin import open_source

_NAMES_SHOWN = 4


def every_config(
    builder: Builder, options: BuildOptions, names: Mapping[str, Sequence[str]], rows: int | None = None
) -> list[ConfigSpec]:
    """The configs of a builder, and the cleaned one of each, which is made only when asked for by name.

    `names` and `rows` are as in `Builder.configs`.
    """
    return with_clean(builder.configs(options, names, rows))


def choose_configs(
    builder: Builder,
    options: BuildOptions,
    names: Mapping[str, Sequence[str]],
    wanted: Sequence[str] | None,
    repair: bool = False,
) -> list[str]:
    """Names of the configs to make, in the builder's order. Raises UsageError for unknown names.

    With `repair`, the cleaned config of each of them besides.
    """
    known = every_config(builder, options, names)
    if wanted is None:
        chosen = {spec.name for spec in known if not spec.extra}
    else:
        chosen = set(wanted)
        for name in wanted:
            if name not in {spec.name for spec in known}:
                names_known = [spec.name for spec in known]
                raise UsageError(
                    f"{builder.name} has no config {name!r}; {closest(name, names_known, listed=True)}"
                )
    if repair:
        chosen |= {spec.name for spec in with_clean([spec for spec in known if spec.name in chosen])}
    return [spec.name for spec in known if spec.name in chosen]


def in_source(
    specs: Sequence[ConfigSpec], data: SourceData, asked: Sequence[str] | None, root: Path
) -> list[ConfigSpec]:
    """Without configs whose rows or published placement the source lacks; SourceError for one asked for by
    name.
    """
    found = []
    for spec in specs:
        lacking = _lacking(spec, data)
        if lacking is None:
            found.append(spec)
        elif asked is not None and spec.name in asked:
            what, fix = lacking
            raise SourceError(f"no {what} for config {spec.name!r}", path=root, fix=fix)
    if not found:
        raise UsageError("the source holds nothing that these configs are made of; name other configs")
    return found


def _lacking(spec: ConfigSpec, data: SourceData) -> tuple[str, str] | None:
    """What of a config the source does not have, and what to do about it; None if it has all."""
    if spec.part is not None and spec.part not in data.parts:
        have = ", ".join(data.parts) or "nothing"
        fix = f"put its files into the source, which has {have}, or leave the config out"
        return f"rows of {spec.part!r}", fix
    splitter, parameters = spec.splitter, spec.parameters
    if splitter == "clean":
        splitter, parameters = parameters["of"]["splitter"], parameters["of"]["parameters"]
    split = parameters.get("split") if splitter == "published" else None
    if split is None or split in data.published_splits:
        return None
    fix = "put the file of the published split beside the corpus, or leave the config out"
    return f"published split {split!r}", fix


def optional_names(specs: Sequence[ConfigSpec], asked: Sequence[str] | None) -> set[str]:
    """The configs that a build can do without: not asked for by name, cleaned ones, subsets and those of a
    part.

    Where all configs divide the same rows, what one of them refuses is a mistake in the options; but a subset
    may have no rows.
    """
    spared = (spec.name for spec in specs if spec.splitter in ("clean", "overlap") or spec.part is not None)
    return set(spared) - set(asked or ())


def refuse_idle_pvi(
    builder: Builder, known: Sequence[ConfigSpec], chosen: Sequence[str], given: Sequence[str]
) -> None:
    """Raise UsageError for options on PVI that are `given` while no chosen config is cut by it.

    `known` are all configs of the builder.
    """
    cut = [spec for spec in known if is_pvi_config(spec)]
    if not given or any(spec.name in chosen for spec in cut):
        return
    flags = ", ".join(f"--{name.replace('_', '-')}" for name in given)
    if not cut:
        raise UsageError(f"{builder.name} has no PVI splits; leave out {flags}")
    parts = {spec.part for spec in known if spec.name in chosen}
    near = [spec.name for spec in cut if spec.part in parts] or [spec.name for spec in cut]
    raise UsageError(
        f"{flags}: none of these configs is cut by PVI; name one that is with --configs, such as "
        f"{', '.join(near[:_NAMES_SHOWN])}, or leave the option out"
    )


def refuse_idle_folds(tables: Iterable[str], specs: Mapping[str, ScoreSpec], given: Sequence[str]) -> None:
    """Raise UsageError for options on fold models that are `given` while none of `tables` is made by such."""
    if given and not any(specs[name].scorer == "kfold" for name in tables):
        raise UsageError(
            f"{', '.join(given)}: none of these configs reads scores of a fine-tuned language model, which "
            "these options are for; leave them out (models of V-information are trained by --pvi-recipe, "
            "with one number of folds)"
        )


def refuse_withdrawn(errata: Errata, chosen: Sequence[str], asked: Sequence[str] | None) -> list[str]:
    """The chosen configs without withdrawn ones; UsageError for one of these that is asked for by name."""
    reasons = errata.reasons
    for name in asked or ():
        if name in reasons:
            raise UsageError(
                f"config {name!r} was withdrawn ({reasons[name]}); leave it out, or build into another folder"
            )
    return [name for name in chosen if name not in reasons]


def read_source(
    builder: Builder, source: str | Path, options: BuildOptions, on_bad_row: Policy
) -> tuple[Path, SourceData]:
    """Where a source is and what it holds. Raises UsageError or SourceError."""
    faults = FaultLog(on_bad_row)
    root, origin = open_source(builder, source)
    data = builder.read(root, faults, origin, options)
    faults.finish()
    return root, data


def check_splitters(specs: Sequence[ConfigSpec]) -> None:
    """Raise SplitError for options that a splitter refuses: before a model has run for hours."""
    for spec in specs:
        splitters.get(spec.splitter)(**spec.parameters)


def tables_of(specs: Sequence[ConfigSpec]) -> dict[str, ConfigSpec]:
    """The score tables that configs read, each with the first config that does."""
    found: dict[str, ConfigSpec] = {}
    for spec in specs:
        if spec.scores is not None:
            found.setdefault(spec.scores, spec)
    return found

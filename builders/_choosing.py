"""Which configs a build makes: those asked for, as far as the source can give them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..errors import SourceError, UsageError
from ..faults import FaultLog, Policy
from ..registry import closest
from ..splitting import splitters
from ._errata import Errata
from .base import Builder, BuildOptions, ConfigSpec, SourceData
from .sources.origin import open_source


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


def in_source(
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


def tables_of(specs: Sequence[ConfigSpec]) -> list[str]:
    """The score tables that configs read, each once."""
    return list(dict.fromkeys(spec.scores for spec in specs if spec.scores is not None))

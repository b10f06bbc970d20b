"""What was found out about the rows of a release: `analyses/properties.json`, read and checked.

The file stands outside the rebuild proof and may be anyone's, so its shape is checked before it is shown.
What was computed on rows that have changed since is left out and named.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import ReleaseError, show
from ..release import SPLITS, ReleaseFolder
from . import checks

PROPERTIES = "analyses/properties.json"
_FORMAT = 1

Line = Mapping[str, Any]


@dataclass(frozen=True)
class Properties:
    """The analyses that hold for the rows as they are, each line about one config and one split.

    `composition` is keyed by class column; `lengths`, `rare_words`, `readability` and `trees` by text
    column. `stale` maps configs to the reason why their lines are left out; `unknown` are configs that
    were never analysed. `resources` are the outside data that were used.
    """

    resources: Mapping[str, Any] = field(default_factory=dict)
    structure: str | None = None
    structure_summary: str | None = None
    divergence: tuple[Line, ...] = ()
    novel_compounds: tuple[Line, ...] = ()
    composition: Mapping[str, tuple[Line, ...]] = field(default_factory=dict)
    lengths: Mapping[str, tuple[Line, ...]] = field(default_factory=dict)
    rare_words: Mapping[str, tuple[Line, ...]] = field(default_factory=dict)
    readability: Mapping[str, tuple[Line, ...]] = field(default_factory=dict)
    trees: Mapping[str, tuple[Line, ...]] = field(default_factory=dict)
    stale: Mapping[str, str] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()


def read_properties(release: ReleaseFolder) -> Properties:
    """The analyses of a release; empty if there are none.

    Raises ReleaseError for a file that is no such file: not JSON, another format, a field of another type.
    """
    path = release.path / PROPERTIES
    if not path.is_file():
        return Properties()
    fix = "; analyse the release again"
    try:
        data = json.loads(path.read_bytes().decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ReleaseError(f"{path} is not JSON ({error}){fix}") from None
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        raise ReleaseError(f"{path} has an unknown format; this version reads format {_FORMAT}{fix}")
    try:
        _FILE(data, "")
        return _properties(release, data)
    except ValueError as error:
        raise ReleaseError(f"{path}: {error}{fix}") from None


def by_config(lines: tuple[Line, ...]) -> dict[str, dict[str, Line]]:
    """Config -> split -> line, configs in order of appearance, splits in their usual order."""
    found: dict[str, dict[str, Line]] = {}
    for line in lines:
        found.setdefault(line["config"], {})[line["split"]] = line
    return {
        config: {split: splits[split] for split in SPLITS if split in splits}
        for config, splits in found.items()
    }


def _properties(release: ReleaseFolder, data: Mapping[str, Any]) -> Properties:
    stale = {
        name: reason for name, hashes in data["rows"].items() if (reason := _stale(release, name, hashes))
    }
    fresh = [name for name in release.placed_configs if name in data["rows"] and name not in stale]
    order = {name: place for place, name in enumerate(fresh)}

    def kept(lines: list[Line], where: str) -> tuple[Line, ...]:
        for line in lines:
            if line["config"] not in data["rows"]:
                raise ValueError(f"{where} names config {show(line['config'])}, which rows does not have")
        chosen = [line for line in lines if line["config"] in order]
        for line in chosen:
            _check_rows(release, line, where)
        return tuple(sorted(chosen, key=lambda line: order[line["config"]]))

    def by_column(key: str) -> dict[str, tuple[Line, ...]]:
        columns = {column: kept(lines, f"{key}.{column}") for column, lines in (data.get(key) or {}).items()}
        return {column: lines for column, lines in columns.items() if lines}

    divergence = data.get("divergence") or {}
    found = Properties(
        resources=data["resources"],
        structure=divergence.get("structure"),
        structure_summary=divergence.get("summary"),
        divergence=kept(divergence.get("rows") or [], "divergence.rows"),
        novel_compounds=kept(data.get("novel_compounds") or [], "novel_compounds"),
        composition=by_column("composition"),
        lengths=by_column("lengths"),
        rare_words=by_column("rare_words"),
        readability=by_column("readability"),
        trees=by_column("trees"),
    )
    unknown = tuple(name for name in release.placed_configs if name not in data["rows"])
    return replace(found, stale=stale, unknown=unknown)


def _stale(release: ReleaseFolder, config: str, hashes: Mapping[str, str]) -> str | None:
    if config not in release.placed_configs:
        return "the config is gone"
    facts = release.config(config)["splits"]
    changed = [split for split in {**hashes, **facts} if hashes.get(split) != _hash(facts, split)]
    return f"the rows of {', '.join(changed)} have changed" if changed else None


def _check_rows(release: ReleaseFolder, line: Line, where: str) -> None:
    """Raise ValueError for a line that speaks of more rows than its split has."""
    counted = [line.get("rows", 0), sum(rows for _, rows in line.get("histogram", ()))]
    facts = release.config(line["config"])["splits"]
    if "split" in line and max(counted) > facts.get(line["split"], {}).get("rows", 0):
        raise ValueError(
            f"{where} counts {max(counted)} rows in {line['config']}/{line['split']}, which has fewer"
        )


def _hash(facts: Mapping[str, Any], split: str) -> str | None:
    return facts[split].get("content_hash") if split in facts else None


_AVERAGE = checks.record(mean=checks.number, median=checks.number)
_CELL = {"config": checks.text, "split": checks.split, "rows": checks.count}
_DIVERGENCE = checks.record(
    config=checks.text,
    evaluation=checks.split,
    train_rows=checks.count,
    evaluation_rows=checks.count,
    compound=checks.number,
    atom_symbols=checks.number,
    atom_set=checks.number,
    atom_tokens=checks.number,
    train_unparsed=checks.optional(checks.count),
    evaluation_unparsed=checks.optional(checks.count),
)
_NOVEL = checks.record(**_CELL, with_novel=checks.count, distinct_novel=checks.optional(checks.count))
_LENGTHS = checks.record(
    **_CELL,
    mean=checks.number,
    median=checks.number,
    quartiles=checks.list_of(checks.number, 2),
    histogram=checks.list_of(checks.list_of(checks.count, 2)),
)
_RARE_WORDS = checks.record(
    config=checks.text,
    split=checks.split,
    words=checks.count,
    rare=checks.count,
    share=checks.number,
    null=checks.optional(
        checks.record(
            draws=checks.count,
            mean=checks.number,
            low=checks.number,
            high=checks.number,
            percentile=checks.number,
        )
    ),
)
_FILE = checks.record(
    rows=checks.mapping_of(checks.mapping_of(checks.text)),
    resources=checks.mapping_of(checks.anything),
    divergence=checks.optional(
        checks.record(
            structure=checks.text, summary=checks.optional(checks.text), rows=checks.list_of(_DIVERGENCE)
        )
    ),
    composition=checks.optional(
        checks.mapping_of(checks.list_of(checks.record(**_CELL, counts=checks.mapping_of(checks.count))))
    ),
    novel_compounds=checks.optional(checks.list_of(_NOVEL)),
    lengths=checks.optional(checks.mapping_of(checks.list_of(_LENGTHS))),
    rare_words=checks.optional(checks.mapping_of(checks.list_of(_RARE_WORDS))),
    readability=checks.optional(
        checks.mapping_of(checks.list_of(checks.record(**_CELL, mean=checks.number, median=checks.number)))
    ),
    trees=checks.optional(
        checks.mapping_of(
            checks.list_of(
                checks.record(
                    **_CELL,
                    of=checks.optional(checks.count),
                    max_depth=_AVERAGE,
                    mean_depth=_AVERAGE,
                    yngve=_AVERAGE,
                )
            )
        )
    ),
)

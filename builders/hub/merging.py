"""What becomes of a release that was changed here and on the Hub: a three-way merge of manifests.

A unit is a config, or one table of config `scores` (named `scores/TABLE`): it is taken whole from one side.
Everything is pure; files follow their units.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from ...errors import PublishError, show
from ...hashing import canonical_json
from ...publication import Publication, Withdrawal
from ...release import configs_hash
from ..audit import SEVERITIES
from ..constituents import CONSTITUENTS, FOLLOWING, collected

Manifest = Mapping[str, Any]
Origin = Literal["both", "local", "head"]

SCORES = "scores"
_SHOWN = 5
_ABSENT = object()
_ALIKE = "; make it the Hub's, or build on the newest version"
# What all units of one release must agree on: the manifest says each of these once.
_MAKING: dict[str, Callable[[Manifest], Any]] = {
    "builder": lambda manifest: manifest["dataset"].get("builder"),
    "source": lambda manifest: manifest["source"].get("fingerprint"),
    "method": lambda manifest: manifest["method"],
    "choices": lambda manifest: manifest["choices"],
}


@dataclass(frozen=True)
class Merged:
    """The manifest that both sides together give; its publication has the head's version and changelog.

    `origins` says of every unit which side has it as it stands there.
    """

    manifest: dict[str, Any]
    origins: Mapping[str, Origin]

    def only_from(self, side: Origin) -> list[str]:
        """Units that stand as only this side has them."""
        return [name for name, origin in self.origins.items() if origin == side]


def merge(base: Manifest | None, head: Manifest | None, local: Manifest) -> Merged:
    """The local release with what the head has and the local one never had, or did not change.

    `base` is the manifest that both were made from: {} for a repository that held no release, None if it is
    not known. `head` is the one on the Hub, None if there is none. What only one side changed or removed
    since the base is taken from it; without a base the head's other units are kept and the local ones win.

    Raises PublishError for what was changed on both sides, for another data set than the head's, and for
    units of both sides that were made from other sources or by other rules.
    """
    if not head:
        published = without_history(Publication.of(local))
        return Merged(published.put_into(local), dict.fromkeys(units(local), "local"))
    if base is None:
        _require_same_data_set(head, local)
    chosen = three_way_all(None if base is None else units(base), units(head), units(local))
    chosen.refuse("", "; build on the newest version (benchwright build --into), or take the Hub's")
    manifest = _facts(base, head, local)
    _require_same_making(manifest, head, local, chosen)
    _require_score_tables(head, chosen)
    _require_same_columns(chosen)
    manifest[SCORES] = _tables(base, head, local, chosen)
    manifest["configs"] = _configs(base, head, local, chosen)
    manifest["audit"] = _audit(base, head, local, chosen)
    publication = _publications(base, head, local)
    _require_taken_back(publication, manifest["configs"], head)
    living = {
        old: new
        for old, new in publication.aliases.items()
        if old not in manifest["configs"] and new in manifest["configs"]
    }
    # As the next version will have it: where nothing changed, the manifest is the one there.
    noted = None if publication.configs_hash is None else configs_hash(manifest["configs"])
    publication = replace(publication, aliases=living, configs_hash=noted)
    return Merged(publication.put_into(manifest), chosen.origins)


def units(manifest: Manifest) -> dict[str, Any]:
    """Unit -> all that the manifest says of it, except whether it is the default."""
    found: dict[str, Any] = {}
    for name, entry in manifest.get("configs", {}).items():
        if entry["kind"] != SCORES:
            found[name] = {key: value for key, value in entry.items() if key != "default"}
            continue
        for table, facts in entry["splits"].items():
            described = manifest[SCORES].get(table)
            found[f"{SCORES}/{table}"] = [described, facts, entry["features"]]
    return found


def without_history(publication: Publication) -> Publication:
    """The errata of a release that goes where no version of it stands yet."""
    withdrawn = tuple(replace(entry, version=None) for entry in publication.withdrawn)
    return Publication(aliases=publication.aliases, withdrawn=withdrawn)


@dataclass(frozen=True)
class Choice:
    """What a three-way merge gives, name by name, and what both sides changed differently."""

    values: Mapping[str, Any]
    origins: Mapping[str, Origin]
    conflicts: tuple[str, ...]

    def refuse(self, what: str, fix: str) -> None:
        """Raise PublishError if both sides changed something."""
        if self.conflicts:
            names = listed([what + name for name in self.conflicts])
            raise PublishError(f"{names}: changed both here and on the Hub since the base version{fix}")


def three_way_all(
    base: Mapping[str, Any] | None, head: Mapping[str, Any], local: Mapping[str, Any]
) -> Choice:
    """Merge name by name: what only one side changed, added or removed is as that side has it.

    Without a base, names of either side are kept and the local value wins.
    """
    values: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    conflicts = []
    for name in _ordered(base, head, local):
        before = _ABSENT if base is None else base.get(name, _ABSENT)
        there, here = head.get(name, _ABSENT), local.get(name, _ABSENT)
        if here == there:
            value, origins[name] = there, "both"
        elif here == before or (base is None and here is _ABSENT):
            value, origins[name] = there, "head"
        elif there == before or base is None:
            value, origins[name] = here, "local"
        else:
            conflicts.append(name)
            continue
        if value is _ABSENT:
            del origins[name]
        else:
            values[name] = value
    return Choice(values, origins, tuple(conflicts))


def _ordered(base: Iterable[str] | None, head: Iterable[str], local: Iterable[str]) -> list[str]:
    """Names of both sides: the head's order, unless the local one differs from the base's.

    Names of one side stand behind what they stand behind there. Merging a merge again changes nothing.
    """
    there, here = list(head), list(local)
    before = [] if base is None else list(base)
    common = {*here, *before} if base is None else {*here} & {*before}
    moved = [name for name in here if name in common] != [name for name in before if name in common]
    order, others = (here, there) if moved else (there, here)
    order = list(order)
    for position, name in enumerate(others):
        if name not in order:
            order.insert(order.index(others[position - 1]) + 1 if position else 0, name)
    return order


def _value(base: Any, head: Any, local: Any, *, based: bool) -> Any:
    """The head's value where only the head changed it, else the local one."""
    return head if based and local == base else local


def _facts(base: Manifest | None, head: Manifest, local: Manifest) -> dict[str, Any]:
    """All keys of the manifest that say something of the whole release."""
    merged = {
        key: _value(
            (base or {}).get(key), head.get(key), local.get(key, head.get(key)), based=base is not None
        )
        for key in dict.fromkeys([*local, *head])
        if key != "publication"
    }
    before = None if base is None else base.get("dataset", {})
    return {**merged, "dataset": _data_set(before, head["dataset"], local["dataset"])}


def _data_set(base: Manifest | None, head: Manifest, local: Manifest) -> dict[str, Any]:
    """What is said of the data set. Sides may hold different parts of a collection: its constituents are
    merged one by one, and what follows from them follows anew, unless a side says otherwise by hand.
    """
    there, here = _constituents(head), _constituents(local)
    found = three_way_all(None if base is None else _constituents(base), there, here)
    found.refuse(f"dataset.{CONSTITUENTS}.", _ALIKE)
    anew = {CONSTITUENTS, *FOLLOWING} if there and here and found.values and there != here else set()
    if anew:
        for side, constituents in ((head, there), (local, here)):
            follows = collected(side, constituents)
            anew -= {name for name in FOLLOWING if side[name] != follows[name]}
    facts = three_way_all(
        None if base is None else _without(base, anew), _without(head, anew), _without(local, anew)
    )
    facts.refuse("dataset.", _ALIKE)
    if not anew:
        return dict(facts.values)
    follows = collected(facts.values, found.values)
    return {**facts.values, **{name: follows[name] for name in follows if name in anew}}


def _constituents(data_set: Manifest) -> Mapping[str, Any]:
    return data_set.get(CONSTITUENTS) or {}


def _without(facts: Manifest, names: Iterable[str]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if name not in names}


def _require_same_data_set(head: Manifest, local: Manifest) -> None:
    here, there = (manifest["dataset"].get("builder") for manifest in (local, head))
    if here != there:
        raise PublishError(
            f"the repository holds a release of {show(there)} and this is one of {show(here)}; choose "
            "another --repo"
        )


def _require_same_making(merged: Manifest, head: Manifest, local: Manifest, chosen: Choice) -> None:
    for origin, manifest, where in (("head", head, "on the Hub"), ("local", local, "here")):
        names = [name for name, side in chosen.origins.items() if side == origin]
        for fact, read in _MAKING.items():
            if names and read(merged) != read(manifest):
                raise PublishError(
                    f"{listed(names)} would stand beside configs of another {fact}: {show(read(manifest))} "
                    f"{where}, {show(read(merged))} else; build all of them alike, or choose another --repo"
                )


def _require_score_tables(head: Manifest, chosen: Choice) -> None:
    """A config of the head that is kept must keep the scores that it was made with."""
    known = units(head)
    for name, origin in chosen.origins.items():
        if origin != "head" or name.startswith(f"{SCORES}/"):
            continue
        table = f"{SCORES}/{chosen.values[name].get('scores')}"
        if table in known and chosen.values.get(table) != known[table]:
            raise PublishError(
                f"config {name!r} of the Hub was made with {table}, which this release changes; build that "
                "config with the new scores, or keep the table"
            )


def _require_same_columns(chosen: Choice) -> None:
    """All score tables of one release have the same columns: those of V-information, if one has them."""
    columns: dict[str, str] = {}
    for name, unit in chosen.values.items():
        if name.startswith(f"{SCORES}/"):
            columns.setdefault(canonical_json(unit[-1]), name)
    if len(columns) > 1:
        raise PublishError(
            f"score tables {listed(columns.values())} have different columns, as one of them has "
            "V-information; build on the newest version (benchwright build --into)"
        )


def _require_taken_back(publication: Publication, configs: Manifest, head: Manifest) -> None:
    """A config that was withdrawn stays away, and a former name means what it was renamed to."""
    why = {entry.config: entry.reason for entry in publication.withdrawn if entry.config is not None}
    back = [name for name in configs if name in why and name not in head["configs"]]
    if back:
        raise PublishError(
            f"config {back[0]!r} was withdrawn ({why[back[0]]}) and would come back; take it out of this "
            "release"
        )
    stays = [name for name in configs if name in why and not _has_withdrawn(head, name)]
    if stays:
        raise PublishError(
            f"config {stays[0]!r} was withdrawn here ({why[stays[0]]}) and still stands on the Hub; withdraw "
            "it from the newest version there (benchwright download)"
        )
    for old, new in publication.aliases.items():
        if old in configs and new in configs:
            raise PublishError(
                f"config {old!r} has the former name of config {new!r}; give it another name, or build on "
                "the newest version (benchwright build --into)"
            )


def _has_withdrawn(manifest: Manifest, name: str) -> bool:
    return any(entry.config == name for entry in Publication.of(manifest).withdrawn)


def _tables(base: Manifest | None, head: Manifest, local: Manifest, chosen: Choice) -> dict[str, Any]:
    """What the manifest says of score tables: that of published ones follows their rows."""
    tables = three_way_all(None if base is None else base.get(SCORES, {}), head[SCORES], local[SCORES])
    merged = dict(tables.values)
    for name, unit in chosen.values.items():
        if name.startswith(f"{SCORES}/") and unit[0] is not None:
            merged[name.removeprefix(f"{SCORES}/")] = unit[0]
    return merged


def _configs(base: Manifest | None, head: Manifest, local: Manifest, chosen: Choice) -> dict[str, Any]:
    """Every config's entry, taken whole from one side; exactly one is the default."""
    before = None if base is None else base.get("configs", {})
    there, here = head["configs"], local["configs"]
    defaults = [_default(side) for side in (before or {}, there, here)]
    # Who does not know the head's default cannot have meant to change it.
    known = base is not None or defaults[1] in here
    default = _value(*defaults, based=base is not None) if known else defaults[1]
    entries: dict[str, Any] = {}
    for name in _ordered(before, there, here):
        if name in chosen.values:
            entries[name] = (here if chosen.origins[name] == "local" else there)[name]
        elif (here.get(name) or there[name])["kind"] == SCORES:
            prefix = f"{name}/"
            splits = {
                unit.removeprefix(prefix): facts[1]
                for unit, facts in chosen.values.items()
                if unit.startswith(prefix)
            }
            sides = [{**side.get(name, {}), "splits": splits} for side in (before or {}, there, here)]
            entry = _value(*sides, based=base is not None) if name in here and name in there else None
            if splits:
                entries[name] = entry or {**(here.get(name) or there[name]), "splits": splits}
    if default not in entries:
        default = next((name for name in defaults if name in entries), next(iter(entries), None))
    return {name: {**entry, "default": name == default} for name, entry in entries.items()}


def _default(configs: Mapping[str, Any]) -> str | None:
    return next((name for name, entry in configs.items() if entry.get("default")), None)


def _audit(base: Manifest | None, head: Manifest, local: Manifest, chosen: Choice) -> dict[str, Any]:
    """Findings of the rows as they stand: those of a config come from the side that it comes from."""
    if base is not None and local["audit"] == base.get("audit"):
        first, second, mine = head["audit"], local["audit"], {"both", "head"}
    else:
        first, second, mine = local["audit"], head["audit"], {"both", "local"}
    merged, known = _parts(chosen.values), _parts((local if first is local["audit"] else head)["configs"])
    findings = []
    for audit, own in ((first, True), (second, False)):
        for finding in audit["findings"]:
            unit, part = _unit_of(finding), finding.get("part")
            origin = chosen.origins.get(unit) if unit else None
            of_rows = unit is None and part in merged and (part in known) == own
            if of_rows or (origin is not None and (origin in mine) == own):
                findings.append(finding)
    order: dict[str, int] = {}
    for finding in (*first["findings"], *second["findings"]):
        order.setdefault(finding["id"], len(order))
    findings.sort(key=lambda finding: order[finding["id"]])
    if findings == first["findings"]:
        return dict(first)
    ids = {finding["id"] for finding in findings}
    accepted = sorted({*first["accepted"], *second["accepted"]} & ids)
    counts = {severity: sum(f["severity"] == severity for f in findings) for severity in SEVERITIES}
    return {"accepted": accepted, "findings": findings, "counts": counts}


def _parts(entries: Mapping[str, Any]) -> set[str | None]:
    """The parts of the source that configs divide."""
    configs = [entry for entry in entries.values() if isinstance(entry, Mapping)]
    return {entry.get("part") for entry in configs if entry["kind"] == "split"}


def _unit_of(finding: Mapping[str, Any]) -> str | None:
    """The unit that a finding of the audit is about; None for one about the rows of the source."""
    if finding["code"] == "unscored":
        return f"{SCORES}/{finding['splits'][0]}"
    config: str | None = finding["config"]
    return config


def _publications(base: Manifest | None, head: Manifest, local: Manifest) -> Publication:
    """The head's version and history with the errata of both sides; `foreign` is left to the card."""
    there, here = Publication.of(head), Publication.of(local)
    before = None if base is None else Publication.of(base).aliases
    aliases = three_way_all(before, there.aliases, here.aliases)
    aliases.refuse("alias ", "; make it the Hub's")
    known = {_withdrawn(entry) for entry in there.withdrawn}
    new = [replace(entry, version=None) for entry in here.withdrawn if _withdrawn(entry) not in known]
    yanked = {**there.yanked, **(here.yanked if here.repo in (None, there.repo) else {})}
    return Publication(
        repo=there.repo,
        version=there.version,
        changelog=there.changelog,
        aliases=aliases.values,
        withdrawn=(*there.withdrawn, *new),
        yanked=yanked,
        configs_hash=there.configs_hash,
    )


def _withdrawn(entry: Withdrawal) -> tuple[Any, ...]:
    return entry.reason, entry.uids, entry.config


def listed(names: Iterable[str]) -> str:
    """Names for a message, the first few of them."""
    names = list(names)
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more

"""The card's YAML header: what the Hub shows and what `load_dataset` reads rows by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import yaml

from ..errors import ReleaseError, redact
from ..hashing import canonical_json, sha256_text
from ..release import ReleaseFolder
from .licences import licence_fields

TAG = "benchwright"
_BY_NAME = "default"

# The Hub's names for numbers of rows (dataset card metadata), each with its upper limit.
SIZE_CATEGORIES = (
    (10**3, "n<1K"),
    (10**4, "1K<n<10K"),
    (10**5, "10K<n<100K"),
    (10**6, "100K<n<1M"),
    (10**7, "1M<n<10M"),
    (10**8, "10M<n<100M"),
    (10**9, "100M<n<1B"),
    (10**10, "1B<n<10B"),
    (10**11, "10B<n<100B"),
    (10**12, "100B<n<1T"),
)

_UNUSUAL_BREAKS = re.compile("[\n\r\x85\u2028\u2029]")


class _HeaderDumper(yaml.SafeDumper):
    """Quotes whatever any YAML version would read as something else than the string it is.

    PyYAML writes YAML 1.1, where `1e3` and `0o17` are strings; the Hub reads them as numbers. Strings
    with line breaks are written on one line, so that none can look like the end of the header.
    """

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = '"' if _UNUSUAL_BREAKS.search(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_HeaderDumper.add_representer(str, _represent_text)
_HeaderDumper.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$"),
    list("-+.0123456789"),
)
_HeaderDumper.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^0(o[0-7]+|x[0-9a-fA-F]+)$"), ["0"])
_HeaderDumper.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^[yYnN]$"), list("yYnN"))


def plain(value: Any) -> Any:
    """`value` in YAML's own types: tuples, sets and arrays as lists, numpy scalars as Python's.

    Raises TypeError for anything else (an object would need a tag that safe readers refuse).
    """
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(plain(item) for item in value)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    raise TypeError(f"no YAML form for {type(value).__name__} {value!r}")


def to_yaml(metadata: Mapping[str, Any] | list[Any]) -> str:
    """Metadata as YAML, keys in their order, one line per scalar."""
    return yaml.dump(
        plain(metadata), Dumper=_HeaderDumper, sort_keys=False, allow_unicode=True, width=float("inf")
    )


def size_category(rows: int) -> str:
    """The Hub's name for a number of rows."""
    return next((name for limit, name in SIZE_CATEGORIES if rows < limit), "n>1T")


def rows_fingerprint(config: Mapping[str, Any]) -> str:
    """One hash over names, content hashes and score hashes of a config's splits.

    `datasets` keys its cache of a local folder on folder name, config and README text, not on the rows;
    with this hash in the README a rebuilt folder is read anew.
    """
    splits = [
        [name, split["content_hash"], split.get("scores_hash")] for name, split in config["splits"].items()
    ]
    return sha256_text(canonical_json(splits))


def card_metadata(release: ReleaseFolder) -> dict[str, Any]:
    """The whole header as plain data.

    Former names of configs stand beside the present ones, with the same files; entries of configs that
    benchwright did not make stand last. Raises ReleaseError where readers would fail or silently read
    something else: no or several default configs, a config without rows, a former name that cannot be kept.
    """
    _check_readable(release)
    dataset = _redacted(release.dataset)
    languages = list(dataset.get("languages") or [])
    totals = [sum(s["rows"] for s in entry["splits"].values()) for entry in _row_configs(release)]
    metadata: dict[str, Any] = {
        "language": languages,
        **licence_fields(dataset),
        "pretty_name": dataset["pretty_name"],
        "tags": list(dict.fromkeys([TAG, *(dataset.get("tags") or [])])),
        "annotations_creators": list(dataset.get("annotations_creators") or []),
        "multilinguality": (["monolingual"] if len(languages) == 1 else ["multilingual"])
        if languages
        else [],
        "size_categories": _in_order(size_category(total) for total in totals),
        "source_datasets": list(dataset.get("source_datasets") or []),
        "task_categories": list(dataset.get("task_categories") or []),
        "task_ids": list(dataset.get("task_ids") or []),
        "configs": [*_config_entries(release), *_foreign(release, "configs")],
        "dataset_info": [*dataset_info(release), *_foreign(release, "dataset_info")],
    }
    return plain({key: value for key, value in metadata.items() if value not in ([], "", None)})


def _redacted(value: Any) -> Any:
    """What the manifest says in free text; names of configs and paths of files are never altered."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {key: _redacted(item) for key, item in value.items()}
    return [_redacted(item) for item in value] if isinstance(value, (list, tuple)) else value


def dataset_info(release: ReleaseFolder) -> list[dict[str, Any]]:
    """Features, splits and sizes of every config, in the form that `datasets` itself writes.

    Former names of configs follow, each with what its present config has.
    """
    from datasets import DatasetInfo, SplitDict, SplitInfo
    from datasets.info import DatasetInfosDict
    from huggingface_hub import DatasetCardData

    infos = []
    for name, entry in release.configs.items():
        splits = SplitDict()
        for split, facts in entry["splits"].items():
            splits.add(SplitInfo(split, num_bytes=facts["num_bytes"], num_examples=facts["rows"]))
        info = DatasetInfo(
            features=release.features(name),
            splits=splits,
            download_size=sum(facts["bytes"] for facts in entry["splits"].values()),
            dataset_size=sum(facts["num_bytes"] for facts in entry["splits"].values()),
        )
        holder = DatasetCardData()
        DatasetInfosDict({name: info}).to_dataset_card_data(holder)
        infos.append({"config_name": name, **holder["dataset_info"]})
    by_name = {info["config_name"]: info for info in infos}
    return [
        *infos,
        *({**by_name[name], "config_name": old} for old, name in release.publication.aliases.items()),
    ]


def unnamed_config(release: ReleaseFolder) -> str:
    """The config that `load_dataset` reads when none is named.

    To `datasets` a config of the name `default` is the default without saying so, and two defaults are an
    error: an earlier config of others, or a former name, keeps the place.
    """
    if _BY_NAME in (*release.publication.aliases, *foreign_configs(release)):
        return _BY_NAME
    return next(name for name, entry in release.configs.items() if entry.get("default"))


def foreign_configs(release: ReleaseFolder) -> list[str]:
    """Names of configs in the Hub repository that benchwright did not make."""
    return [str(entry["config_name"]) for entry in _foreign(release, "configs")]


def _foreign(release: ReleaseFolder, key: str) -> list[dict[str, Any]]:
    """Entries of configs that others made, as they stood; none is the default, for ours has one."""
    ours = {*release.configs, *release.publication.aliases}
    return [
        {field: value for field, value in entry.items() if field != "default"}
        for entry in release.publication.foreign.get(key, ())
        if str(entry.get("config_name") or "") not in {"", *ours}
    ]


def _config_entries(release: ReleaseFolder) -> list[dict[str, Any]]:
    unnamed = unnamed_config(release)
    entries = {
        name: _config_entry(name, entry, default=name == unnamed) for name, entry in release.configs.items()
    }
    former = []
    for old, name in release.publication.aliases.items():
        entry = {field: value for field, value in entries[name].items() if field != "default"}
        described = f"former name of {name}; {entry['description']}"
        former.append({**entry, "config_name": old, "description": described})
    return [*entries.values(), *former]


def _config_entry(name: str, entry: Mapping[str, Any], default: bool) -> dict[str, Any]:
    data_files = [
        {"split": split, "path": facts["files"][0] if len(facts["files"]) == 1 else list(facts["files"])}
        for split, facts in entry["splits"].items()
    ]
    flag = {"default": True} if default else {}
    return {
        "config_name": name,
        "description": f"rows {rows_fingerprint(entry)}",
        "data_files": data_files,
        **flag,
    }


def _row_configs(release: ReleaseFolder) -> list[dict[str, Any]]:
    return list(release.placed_configs.values()) or list(release.configs.values())


def _check_readable(release: ReleaseFolder) -> None:
    defaults = [name for name, entry in release.configs.items() if entry.get("default")]
    if len(defaults) != 1:
        found = ", ".join(defaults) or "none"
        raise ReleaseError(
            f"{release.path}: exactly one config must be the default, got {found}; build it again"
        )
    if _BY_NAME in release.configs and defaults != [_BY_NAME]:
        raise ReleaseError(
            f"{release.path}: a config is named {_BY_NAME!r}, but the default is {defaults[0]!r}: readers "
            "would find two defaults; rename it"
        )
    for name, entry in release.configs.items():
        empty = [split for split, facts in entry["splits"].items() if not facts["rows"]] or (
            [] if entry["splits"] else ["every split"]
        )
        if empty:
            raise ReleaseError(
                f"{release.path}: config {name!r} has no rows in {', '.join(empty)}: readers could "
                "not load it; leave the split out of the release, with its reason"
            )
    for old, name in release.publication.aliases.items():
        if old in release.configs or name not in release.configs:
            problem = "is a config" if old in release.configs else f"stands for {name!r}, which is no config"
            raise ReleaseError(
                f"{release.path}: the former name {old!r} {problem}; take it out of publication.aliases"
            )


def _in_order(names: Iterable[str]) -> list[str]:
    found = set(names)
    return [name for name in [*(name for _, name in SIZE_CATEGORIES), "n>1T"] if name in found]

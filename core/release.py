"""Reading a release folder: the one view of it that audit, cards, eval, verify and rebuild share."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from .errors import ReleaseError, show
from .hashing import canonical_json, sha256_text
from .publication import Publication
from .tasks import Task

if TYPE_CHECKING:
    from datasets import Features

MANIFEST = "manifest.json"
SPLITS = ("train", "validation", "test")
FORMAT = 1
WITHOUT_TEXT = "without_text"
"""Key of the entry of a config whose files have no text: its `features` and `splits` with the text."""
_KINDS = ("split", "table", "scores")
_DEPTH = 64
_CONFIG_NAME = re.compile(r"\w[\w.-]*", re.ASCII)
_SPLIT_NAME = re.compile(r"\w+(\.\w+)*", re.ASCII)


class ReleaseFolder:
    """A finished release. Raises ReleaseError if `path` is none: its manifest, written last, means whole.

    `manifest` is given only for a release that is still being made, whose manifest is not on disk yet.
    """

    def __init__(self, path: str | Path, manifest: dict[str, Any] | None = None) -> None:
        self.path = Path(path)
        if manifest is not None:
            self.__dict__["manifest"] = manifest
        elif not (self.path / MANIFEST).is_file():
            raise ReleaseError(
                f"{self.path} is not a release: it has no {MANIFEST}; make one with `benchwright build`"
            )

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """Build facts; see DESIGN.md, Release folder. Raises ReleaseError for one that cannot be used."""
        path = self.path / MANIFEST
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise ReleaseError(f"{path} is not JSON ({error}); build the release again") from None
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise ReleaseError(f"{path} has an unknown format; this version reads format {FORMAT}")
        try:
            _check_shape(data)
        except ValueError as error:
            raise ReleaseError(f"{path}: {error}; build or download the release again") from None
        return data

    @property
    def dataset(self) -> dict[str, Any]:
        """Name, licence, citation and Hub metadata of the data set."""
        return self.manifest["dataset"]

    @property
    def publication(self) -> Publication:
        """Its version, history and errata on the Hub; an empty one if it was never published."""
        return Publication.of(self.manifest)

    @property
    def is_as_published(self) -> bool:
        """Whether its configs are those of the version that it names; they may have their text besides."""
        published = self.publication
        if published.version is None or published.configs_hash is None:
            return published.version is not None
        try:
            return published.configs_hash == configs_hash(self.configs)
        except ValueError:  # NaN, as no published manifest has it.
            return False

    @property
    def configs(self) -> dict[str, dict[str, Any]]:
        """Config name -> its entry in the manifest, in the builder's order."""
        return self.manifest["configs"]

    @property
    def placed_configs(self) -> dict[str, dict[str, Any]]:
        """The configs that a splitter made (neither `scores` nor side tables)."""
        return {name: entry for name, entry in self.configs.items() if entry["kind"] == "split"}

    def config(self, name: str) -> dict[str, Any]:
        """One config's entry. Raises ReleaseError for an unknown name."""
        if name not in self.configs:
            raise ReleaseError(f"{self.path} has no config {name!r}; it has {', '.join(self.configs)}")
        return self.configs[name]

    def task(self, config: str) -> Task:
        """The task of a placed config."""
        return Task.from_json(self.config(config)["task"])

    def splits(self, config: str) -> list[str]:
        """Names of the splits of a config."""
        return list(self.config(config)["splits"])

    def features(self, config: str) -> Features:
        """The declared `datasets.Features`."""
        from datasets import Features

        try:
            return Features.from_dict(self.config(config)["features"])
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            where = f"{self.path / MANIFEST}: configs.{config}.features"
            raise ReleaseError(f"{where} cannot be read ({error}); build the release again") from None

    @property
    def is_stripped(self) -> bool:
        """Whether the text of the corpus was taken out; `benchwright hydrate` puts it back."""
        return any(WITHOUT_TEXT in entry for entry in self.configs.values())

    def rows_hash(self, config: str, split: str) -> str | None:
        """Content hash of a split's rows with their text, whether it stands here or not; None without it."""
        entry = self.configs.get(config, {"splits": {}})
        facts = entry.get(WITHOUT_TEXT, entry)["splits"].get(split)
        return None if facts is None else facts["content_hash"]

    def files(self, config: str, split: str) -> list[Path]:
        """Parquet files of one split, in order."""
        return [self._inside(name) for name in self.config(config)["splits"][split]["files"]]

    def table(self, config: str, split: str, columns: list[str] | None = None) -> pa.Table:
        """Rows of one split, in file order (source order)."""
        return pa.concat_tables([read_parquet(file, columns) for file in self.files(config, split)])

    def assignment(self, config: str) -> pa.Table:
        """uid, split, position, score, row_digest of every row of a placed config."""
        return read_parquet(self.assignment_file(config))

    def assignment_file(self, config: str) -> Path:
        """The parquet file of `assignment`."""
        return self._inside(self.config(config)["assignment"]["file"])

    def results(self) -> Iterator[dict[str, Any]]:
        """Every stored result, ordered by path."""
        for path in sorted((self.path / "results").glob("*/*.json")):
            yield json.loads(path.read_text(encoding="utf-8"))

    def _inside(self, name: str) -> Path:
        if leads_outside(name):
            raise ReleaseError(f"{self.path / MANIFEST} names a file outside the release: {name!r}")
        return self.path / PurePosixPath(name)


def leads_outside(name: str) -> bool:
    """Whether `name` can mean something else than a file inside a folder.

    >>> [leads_outside(name) for name in ("random/test.parquet", "../test.parquet", "/etc/passwd", "")]
    [False, True, True, True]
    """
    path = PurePosixPath(name)
    return not path.parts or path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name


def configs_hash(configs: Mapping[str, Mapping[str, Any]]) -> str:
    """`sha256:<hex>` of the entries of a manifest's configs, whatever files their rows stand in.

    A release without its text and the one that has it again have the same.
    """
    return sha256_text(canonical_json({name: _without_files(entry) for name, entry in configs.items()}))


def _without_files(entry: Mapping[str, Any]) -> dict[str, Any]:
    whole = entry.get(WITHOUT_TEXT, entry)
    splits = {
        split: [facts["rows"], whole["splits"][split].get("content_hash"), facts.get("scores_hash")]
        for split, facts in entry["splits"].items()
    }
    rest = {key: value for key, value in entry.items() if key != WITHOUT_TEXT}
    return {**rest, "features": whole["features"], "splits": splits}


def read_parquet(path: Path, columns: list[str] | None = None) -> pa.Table:
    """One parquet file of a release. Raises ReleaseError if it is missing or cannot be read."""
    try:
        return pq.read_table(path, columns=columns)
    except FileNotFoundError:
        raise ReleaseError(f"{path} is missing; build or download the release again") from None
    except (OSError, pa.ArrowException) as error:
        raise ReleaseError(
            f"{path} cannot be read as parquet ({error}); build or download the release again"
        ) from None


def _check_shape(manifest: dict[str, Any]) -> None:
    """Raise ValueError unless what readers index has its type: a downloaded manifest may be anyone's."""
    _check_depth(manifest)
    _field(manifest, "dataset", dict, "dataset")
    for name, entry in _field(manifest, "configs", dict, "configs").items():
        where = f"configs.{name}"
        _check_config_name(name, "a config")
        _field(manifest["configs"], name, dict, where)
        if "made_as" in entry:
            _check_config_name(_field(entry, "made_as", str, f"{where}.made_as"), f"{where}.made_as")
        if entry.get("kind") not in _KINDS:
            raise ValueError(
                f"{where}.kind must be one of {', '.join(_KINDS)}, got {show(entry.get('kind'))}"
            )
        _field(entry, "features", dict, f"{where}.features")
        splits = _field(entry, "splits", dict, f"{where}.splits")
        for split in splits:
            _check_split_shape(splits, split, f"{where}.splits.{split}")
        if entry["kind"] == "split":
            _field(entry, "task", dict, f"{where}.task")
            assignment = _field(entry, "assignment", dict, f"{where}.assignment")
            _field(assignment, "file", str, f"{where}.assignment.file")
            _check_withdrawn_shape(entry, where)
        if WITHOUT_TEXT in entry:
            whole = _field(entry, WITHOUT_TEXT, dict, f"{where}.{WITHOUT_TEXT}")
            _field(whole, "features", dict, f"{where}.{WITHOUT_TEXT}.features")
            hashes = _field(whole, "splits", dict, f"{where}.{WITHOUT_TEXT}.splits")
            for split in splits:
                facts = _field(hashes, split, dict, f"{where}.{WITHOUT_TEXT}.splits.{split}")
                _field(facts, "content_hash", str, f"{where}.{WITHOUT_TEXT}.splits.{split}.content_hash")

    scores = manifest.get("scores")
    for table in scores if isinstance(scores, dict) else ():
        if not _SPLIT_NAME.fullmatch(table):
            raise ValueError(
                f"a score table is named {show(table)}, but only letters, digits and _ may be used"
            )
    _check_former_names(Publication.of(manifest), manifest["configs"])


def _check_former_names(publication: Publication, configs: dict[str, Any]) -> None:
    """Former names lead to configs, and a build gives configs the present names: both become file names."""
    for old, present in publication.aliases.items():
        _check_config_name(old, "a former name of a config")
        if old in configs:
            raise ValueError(f"the former name {show(old)} is a config, too")
        if present not in configs:
            raise ValueError(f"the former name {show(old)} stands for {show(present)}, which is no config")
    for entry in publication.withdrawn:
        if entry.config is not None:
            _check_config_name(entry.config, "a withdrawn config")


def _check_config_name(name: Any, what: str) -> None:
    if not isinstance(name, str) or not _CONFIG_NAME.fullmatch(name):
        raise ValueError(f"{what} is named {show(name)}, but only letters, digits and _ . - may be used")


def _check_withdrawn_shape(entry: dict[str, Any], where: str) -> None:
    """What stands under `withdrawn` are three lists of texts of one length; splits are known or empty."""
    if "withdrawn" not in entry:
        return
    record = _field(entry, "withdrawn", dict, f"{where}.withdrawn")
    lists = [
        _field(record, key, list, f"{where}.withdrawn.{key}") for key in ("uids", "splits", "content_ids")
    ]
    texts = all(isinstance(item, str) for items in lists for item in items)
    if not texts or len({len(items) for items in lists}) != 1 or not {*lists[1]} <= {*SPLITS, ""}:
        raise ValueError(f"{where}.withdrawn must list uids with their splits and content ids")


def _check_depth(manifest: dict[str, Any]) -> None:
    level: list[Any] = [manifest]
    for _ in range(_DEPTH):
        lists = [value for value in level if isinstance(value, list)]
        mappings = [value.values() for value in level if isinstance(value, dict)]
        level = [item for values in (*lists, *mappings) for item in values]
        if not level:
            return
    raise ValueError(f"it is nested more than {_DEPTH} deep, as no release is")


def _check_split_shape(splits: dict[str, Any], split: str, where: str) -> None:
    if not _SPLIT_NAME.fullmatch(split):
        raise ValueError(
            f"{where}: a split is named {show(split)}, but only letters, digits and _ may be used"
        )
    facts = _field(splits, split, dict, where)
    files = _field(facts, "files", list, f"{where}.files")
    if not files or not all(isinstance(file, str) for file in files):
        raise ValueError(f"{where}.files must list file names, got {show(files)}")
    if isinstance(facts.get("rows"), bool) or _field(facts, "rows", int, f"{where}.rows") < 0:
        raise ValueError(f"{where}.rows must be 0 or more, got {show(facts['rows'])}")


def _field(parent: dict[str, Any], key: str, kind: type, where: str) -> Any:
    value = parent.get(key)
    if not isinstance(value, kind):
        raise ValueError(f"{where} must be of type {kind.__name__}, got {show(value)}")
    return value

"""What a release says of its rows beside them: analyses, results, harness tasks and the card."""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..atomic import write_text
from ..cards import README, hand_written, write_card
from ..cards.harness import export_texts
from ..errors import BenchwrightWarning
from ..eval import refresh_index
from ..eval.results import INDEX, withhold_answers
from ..release import ReleaseFolder
from .analyse import PROPERTIES, analyse, is_stale, split_hashes
from .release import ReleaseWriter

RESULTS = "results"
_PARTS_OF_OTHER_DATA = ("rare_words", "readability", "trees")


def describe(
    writer: ReleaseWriter,
    manifest: dict[str, Any],
    *,
    name: str,
    earlier: Path | None = None,
    trees_from: Path | None = None,
    renamed: Mapping[str, str] | None = None,
    same_rows: bool = False,
    withhold: bool = False,
) -> None:
    """Analyse the rows, export harness tasks and write the card of a release that is being made.

    `name` is the folder's name as the card shows it. What people added to the release at `earlier` outlives
    its rows: sections written by hand come back in the new card; results come back too, marked stale where
    the rows that they were measured on have changed, and so do analyses of the same rows by other data.
    `renamed` maps names of its configs to those that they have now. `trees_from` is a source whose files
    hold constituency trees of the texts. `same_rows` says that the rows are those of `earlier`, only with
    other columns or names; `withhold` that answers which may be text of the corpus are taken out. Nothing
    is analysed where rows lack their text, and they are not asked about.
    """
    view, names = writer.view(manifest), renamed or {}
    if earlier is not None:
        writer.write_text(README, hand_written(earlier))
        if (earlier / RESULTS).is_dir():
            with writer.adding(RESULTS):
                _copy_results(earlier / RESULTS, writer.folder / RESULTS, names)
                if withhold:
                    withhold_answers(view)
                refresh_index(view)
    text, lost = not view.is_stripped, []
    with writer.adding(PROPERTIES):
        known = None if earlier is None else _copy_properties(earlier, view, names, same_rows)
        if text and not (same_rows and known and not is_stale(view, known)):
            found = analyse(view, source=trees_from)
            lost = [part for part in _PARTS_OF_OTHER_DATA if known and part in known and part not in found]
    for path, content in export_texts(view).items():
        writer.write_text(path, content)
    with writer.adding(README):
        written = write_card(view, name=name)
    notes = [*writer.notes, *written.notes]
    if lost:
        notes.append(
            f"{PROPERTIES}: {', '.join(lost)} were those of other rows and are left out; run "
            "`benchwright analyse` with their data again"
        )
    for note in notes:
        warnings.warn(note, BenchwrightWarning, stacklevel=3)


def _copy_results(source: Path, target: Path, renamed: Mapping[str, str]) -> None:
    """Copy stored results; those of renamed configs speak of the new names."""
    shutil.copytree(source, target, dirs_exist_ok=True)
    if renamed and (target / INDEX).is_file():
        _rename_in_index(target / INDEX, renamed)
    for old, new in renamed.items():
        folder = target / old
        if not folder.is_dir():
            continue
        for path in sorted(folder.iterdir()):
            moved = target / new / path.name
            if path.suffix == ".json":
                content = json.loads(path.read_text(encoding="utf-8"))
                text = json.dumps({**content, "config": new}, indent=2, ensure_ascii=False, allow_nan=False)
                write_text(moved, text + "\n")
            else:
                moved.parent.mkdir(exist_ok=True)
                shutil.copyfile(path, moved)
        shutil.rmtree(folder)


def _rename_in_index(path: Path, renamed: Mapping[str, str]) -> None:
    """What the index says of rows that have no text here cannot be found out again."""
    try:
        index = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return
    write_text(path, json.dumps(_renamed_lines(index, renamed), ensure_ascii=False))


def _copy_properties(
    source: Path, view: ReleaseFolder, renamed: Mapping[str, str], same_rows: bool
) -> dict[str, Any] | None:
    """Copy the analyses under the present names of configs; what they hold, None without usable ones."""
    try:
        found = json.loads((source / PROPERTIES).read_text(encoding="utf-8"))
        fresh = same_rows and not is_stale(ReleaseFolder(source), found)
        found["rows"] = {renamed.get(name, name): hashes for name, hashes in found["rows"].items()}
    except (OSError, ValueError, RecursionError, AttributeError, KeyError, TypeError):
        return None
    if fresh:
        found["rows"] = split_hashes(view)
    text = json.dumps(_renamed_lines(found, renamed), ensure_ascii=False, indent=1, allow_nan=False)
    write_text(view.path / PROPERTIES, text + "\n")
    return dict(found)


def _renamed_lines(value: Any, renamed: Mapping[str, str]) -> Any:
    """`value` with the new names wherever an object says of which config it speaks."""
    if isinstance(value, list):
        return [_renamed_lines(item, renamed) for item in value]
    if not isinstance(value, dict):
        return value
    config = value.get("config")
    changed: dict[str, Any] = {"config": renamed.get(config, config)} if isinstance(config, str) else {}
    if isinstance(drawn := value.get("random_configs"), list):
        changed["random_configs"] = [renamed.get(name, name) for name in map(str, drawn)]
    return {**{key: _renamed_lines(item, renamed) for key, item in value.items()}, **changed}


def release_name(folder: Path) -> str:
    """What readers call a release folder."""
    return folder.resolve().name


def other_files(release: ReleaseFolder) -> list[str]:
    """Files in a release folder that people put there: all that no build, evaluation or card writes."""
    made = {"assignments", "analyses", "figures", "harness", RESULTS, README, "manifest.json", "eval.yaml"}
    # The last two stand there while a publication brings the folder up to date, or was killed at that.
    made |= {*release.configs, ".publishing", ".publishing.lock"}
    paths = (path.relative_to(release.path) for path in sorted(release.path.rglob("*")) if path.is_file())
    return [path.as_posix() for path in paths if path.parts[0] not in made]


def files_of(entries: Iterable[Mapping[str, Any]]) -> list[str]:
    """Every file that entries of a manifest name: rows, and assignments."""
    names = []
    for entry in entries:
        names += [file for facts in entry["splits"].values() for file in facts["files"]]
        if entry["kind"] == "split":
            names.append(entry["assignment"]["file"])
    return names

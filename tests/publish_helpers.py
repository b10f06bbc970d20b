"""Small releases to publish, and how tests change them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
from release_helpers import SPECS, disturbed, source_table, write_release

from benchwright.builders.base import ConfigSpec
from benchwright.builders.hub.publish import PublishReport, publish
from benchwright.builders.release import manifest_text
from benchwright.cards import render_card
from benchwright.publication import Publication
from benchwright.release import ReleaseFolder
from benchwright.splitting.base import Sizes

REPO = "acme/made"


def made(
    folder: Path,
    configs: Sequence[str] = ("ll_split", "random"),
    *,
    source: pa.Table | None = None,
    seed: int = 7,
    specs: Sequence[ConfigSpec] = SPECS,
    manifest: Callable[[dict[str, Any]], None] = lambda manifest: None,
) -> ReleaseFolder:
    """A release of made-up rows with its scores; `seed` is that of config `random`, the default.

    `manifest` may change the manifest before the card is written.
    """
    source = source_table() if source is None else source
    sizes = Sizes(source.num_rows - 20, 8, 12)
    specs = [
        replace(
            spec,
            default=spec.name == configs[-1],
            parameters=spec.parameters | {"sizes": sizes} | ({"seed": seed} if spec.name == "random" else {}),
        )
        for spec in specs
        if spec.name in configs
    ]
    write_release(folder, source=source, specs=specs)

    def complete(facts: dict[str, Any]) -> None:
        facts["scores"]["lm_prompt"] |= {
            "rows": source.num_rows,
            "scored": source.num_rows - 1,
            "overlength": 1,
        }
        facts["source"] |= {"location": "sample", "revision": None, "notes": []}
        facts["dataset"] |= {"summary": "Made-up rows.", "redistribute": "text", "tags": []}
        facts["audit"]["counts"] = {"error": 0, "warning": 0, "known": 0, "info": 0}
        manifest(facts)

    return edit(folder, complete)


def edit(folder: Path, change: Callable[[dict[str, Any]], None]) -> ReleaseFolder:
    """Change a release's manifest, and write its card anew."""
    facts = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    change(facts)
    (folder / "manifest.json").write_text(manifest_text(facts), encoding="utf-8")
    release = ReleaseFolder(folder)
    (folder / "README.md").write_text(render_card(release), encoding="utf-8")
    return release


def errata(folder: Path, **changes: Any) -> ReleaseFolder:
    """Change a release's publication."""

    def change(facts: dict[str, Any]) -> None:
        publication = replace(Publication.of(facts), **changes)
        facts.pop("publication", None)
        facts |= publication.put_into({})

    return edit(folder, change)


def write_section(folder: Path, text: str, name: str = "notes") -> None:
    """Write a hand-written section of the card, in place of what stands there."""
    path = folder / "README.md"
    begin, end = f"<!-- user:begin {name} -->\n", f"<!-- user:end {name} -->"
    head, _, rest = path.read_text(encoding="utf-8").partition(begin)
    path.write_text(head + begin + text + "\n" + end + rest.partition(end)[2], encoding="utf-8")


def send(folder: Path | ReleaseFolder, repo: str = REPO, **options: Any) -> PublishReport:
    """Publish without loading in the end, which takes longest; the repository is made if need be."""
    options = {"create": True, "load": False, **options}
    return publish(folder, repo=repo, **options)


class Killed(BaseException):
    """Nothing that a program catches."""


@contextmanager
def killed_at(operation: int) -> Iterator[None]:
    """Nothing changes the disk any more from that operation on, as if the process had ended there."""

    def kill(number: int) -> None:
        if number >= operation:
            raise Killed

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **options: Any) -> Any:
            count[0] += 1
            kill(count[0])
            return function(*arguments, **options)

        return run

    with disturbed(kill) as count, ExitStack() as stack:
        for place, name in ((shutil, "copyfile"), (shutil, "rmtree"), (Path, "unlink"), (Path, "rmdir")):
            stack.enter_context(patch.object(place, name, counted(getattr(place, name))))
        yield

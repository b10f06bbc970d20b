"""The card of a release against its manifest: the seal, and the header that readers load rows by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..cards import README
from ..cards.seal import seal_differences
from ..cards.yaml_header import card_metadata
from ..errors import ReleaseError
from ..release import MANIFEST, ReleaseFolder
from .comparison import Difference
from .hub._safety import read_yaml_header


def card_differences(release: ReleaseFolder) -> Iterator[Difference]:
    """Where README.md disagrees with the manifest or with its own seal."""
    path = release.path / README
    try:
        # As bytes: reading text would turn every kind of line end into the same one.
        text = path.read_bytes().decode("utf-8")
        header = read_yaml_header(text, str(path)) or {}
    except FileNotFoundError:
        yield Difference("card", "missing; write it with `benchwright card`", README)
        return
    except UnicodeDecodeError as error:
        yield Difference("card", f"it is not UTF-8 (byte {error.start}); write it again", README)
        return
    except ReleaseError as error:
        yield Difference("card", str(error), README)
        return
    try:
        expected = card_metadata(release)
    except ReleaseError as error:
        yield Difference("card", str(error), MANIFEST)
        return
    for key in ("configs", "dataset_info"):
        yield from _entry_differences(key, header.get(key), expected[key])
    for message in seal_differences(text, release.manifest):
        yield Difference("card", message, README)


def _entry_differences(key: str, stated: Any, expected: list[dict[str, Any]]) -> Iterator[Difference]:
    """`stated` and `expected` describe one config an entry, in the form of README.md's `configs`."""
    if not isinstance(stated, list) or not all(isinstance(item, dict) for item in stated):
        yield Difference("card", f"its header has no list {key!r}; write it again", README)
        return
    by_name = {str(item.get("config_name")): item for item in stated}
    if len(by_name) != len(stated):
        yield Difference("card", f"its {key} name a config twice", README)
    for item in expected:
        name = item["config_name"]
        if name not in by_name:
            yield Difference("card", f"its {key} lack the config", README, name)
        elif by_name[name] != item:
            found = by_name[name]
            wrong = [field for field in {**item, **found} if found.get(field) != item.get(field)]
            message = f"its {key} disagree with the manifest in {', '.join(map(str, wrong))}"
            yield Difference("card", message, README, name)
    known = {item["config_name"] for item in expected}
    for name in by_name:
        if name not in known:
            yield Difference("card", f"its {key} name a config that the manifest lacks", README, name)

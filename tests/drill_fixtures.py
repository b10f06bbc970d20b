"""What the drills of publishing share: the folders to publish, and the scenes to disturb."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from drills import Client, Scene

# Every run of pytest reads this file: what builds and publishes is imported where it is used.


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    from drills import build

    place = tmp_path_factory.mktemp("folders")
    return [build(place / name, changed) for name, changed in (("first", False), ("changed", True))]


@pytest.fixture(scope="module", params=["classic", "xet"])
def drilled(
    request: pytest.FixtureRequest, folders: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Client, list[Scene]]]:
    """A client, and the scenes: a first publication and an update."""
    from drills import Client, first_scene, update_scene

    place = tmp_path_factory.mktemp(request.param)
    client = Client(folders[0], xet=request.param == "xet")
    first = first_scene(place / "first", client, folders[0], xet=request.param == "xet")
    yield client, [first, update_scene(place / "update", client, first, folders[1])]
    client.close()

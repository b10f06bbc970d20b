"""Older versions of `datasets`, each in a virtual environment of its own, read every config of a release.

The environments are made once, in the cache folder, and kept.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest
import readers_release
import release_helpers as helpers
from conftest import USER_CACHE
from hub_fixtures import RunningHub

from benchwright.builders.hub.publish import publish
from benchwright.release import ReleaseFolder

pytestmark = pytest.mark.interop

REPO = "acme/spider"
VERSIONS = {
    "4.0.0": ("huggingface_hub==0.36.2", "pyarrow==21.0.0"),
    "3.6.0": ("huggingface_hub==0.36.2", "pyarrow==21.0.0"),
}
# Runs in the old environment, which knows nothing of this package.
READ = """
import json, sys
from datasets import disable_progress_bars, get_dataset_config_names, load_dataset

def told(data):
    return {
        split: {"rows": list(part), "features": part.features.to_dict()} for split, part in data.items()
    }

disable_progress_bars()
place, revision, out = sys.argv[1:]
found = {}
for name in get_dataset_config_names(place, revision=revision or None):
    found[name] = {
        "loaded": told(load_dataset(place, name, revision=revision or None)),
        "streamed": told(load_dataset(place, name, revision=revision or None, streaming=True)),
    }
unnamed = load_dataset(place, revision=revision or None)
with open(out, "w") as file:
    json.dump({"configs": found, "unnamed": told(unnamed)}, file)
"""


@pytest.fixture(scope="module", params=VERSIONS)
def old_python(request: pytest.FixtureRequest) -> Path:
    """The interpreter of an environment with that version of `datasets`."""
    version = request.param
    folder = USER_CACHE / "tools" / f"datasets-{version}"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    # Written last: an installation that was interrupted is made again.
    done = folder / "installed"
    wanted = "\n".join([f"datasets=={version}", *VERSIONS[version]])
    if not done.is_file() or done.read_text(encoding="utf-8") != wanted:
        venv.create(folder, clear=True)
        pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-compile"]
        subprocess.run([*pip, *wanted.splitlines()], check=True)
        done.write_text(wanted, encoding="utf-8")
    return python


@pytest.fixture(scope="module")
def spider(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return readers_release.build_release(tmp_path_factory.mktemp("original") / "spider")


def read(python: Path, place: str, revision: str, folder: Path, environment: dict[str, str]) -> Any:
    out = folder / "read.json"
    home = {"HF_HOME": str(folder / "old_home"), "PYTHONPATH": ""}
    done = subprocess.run(
        [python, "-c", READ, place, revision, out],
        env={**environment, **home},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(out.read_text(encoding="utf-8"))


def plain(feature: Any) -> Any:
    """A feature as every version means it: `Sequence`, `List` and a list of one are the same for values."""
    if isinstance(feature, list):
        return [plain(feature[0])]
    kind = feature.get("_type")
    if kind in ("Sequence", "List", "LargeList"):
        return [plain(feature["feature"])]
    if kind == "ClassLabel":
        return {"names": feature["names"]}
    if kind == "Value":
        return feature["dtype"]
    return {name: plain(item) for name, item in feature.items()}


def assert_read(found: Any, release: ReleaseFolder) -> None:
    assert set(found["configs"]) == set(release.configs)
    for config, ways in found["configs"].items():
        features = plain(release.features(config).to_dict())
        expected = {split: release.table(config, split).to_pylist() for split in release.splits(config)}
        for way, splits in ways.items():
            assert {split: part["rows"] for split, part in splits.items()} == expected, (config, way)
            for part in splits.values():
                assert plain(part["features"]) == features, (config, way)
    default = next(name for name, entry in release.configs.items() if entry["default"])
    assert found["unnamed"] == found["configs"][default]["loaded"]


def test_every_config_of_a_folder_loads(old_python: Path, spider: Path, tmp_path: Path) -> None:
    """All kinds of columns that a release may have, and the folder of a whole release."""
    everything = helpers.write_release(tmp_path / "everything").path
    for folder in (everything, spider):
        found = read(old_python, str(folder), "", tmp_path, dict(os.environ))
        assert_read(found, ReleaseFolder(folder))


def test_every_config_loads_from_the_hub_at_a_tag(
    old_python: Path, spider: Path, hub: RunningHub, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(spider, tmp_path / "spider"))
    assert publish(folder, repo=REPO, create=True, load=False).verified
    published = ReleaseFolder(folder)
    hub.repository(REPO).plant({"README.md": b"# Something else\n"}, "a later commit")
    found = read(old_python, REPO, "1.0.0", tmp_path, hub.environment())
    assert_read(found, published)

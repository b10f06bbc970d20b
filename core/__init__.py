"""benchwright: challenge datasets from source corpora, evaluated and ready for the Hugging Face Hub.

The Python API is what the command line calls. Making releases: `build`, `split`, `demo`. Checking them:
`verify`, `rebuild`, `rescore`, `audit`, `overlap`, `diff`, `outdated`. What is added: `evaluate`,
`write_card`. Results for others: `export`. Releases on the Hub: `publish`, `download`; taking back what was
published: `withdraw`, `rename`, `yank`. Text that may not be passed on: `strip`, `hydrate`. Everything is
imported at first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_API = {
    "audit": "benchwright.builders.audit:audit",
    "build": "benchwright.builders.build:build",
    "demo": "benchwright.builders.demo:demo",
    "diff": "benchwright.builders.diff:diff",
    "download": "benchwright.builders.hub.living:download",
    "evaluate": "benchwright.builders.hub.living:evaluate",
    "explain": "benchwright.builders.explaining:explain",
    "export": "benchwright.builders.exports:export",
    "hydrate": "benchwright.builders.hydrate:hydrate",
    "outdated": "benchwright.builders.hub.outdated:outdated",
    "overlap": "benchwright.builders.hub.living:overlap",
    "publish": "benchwright.builders.hub.publish:publish",
    "rebuild": "benchwright.builders.rebuild:rebuild",
    "rename": "benchwright.builders.errata:rename",
    "rescore": "benchwright.builders.rescore:rescore",
    "split": "benchwright.builders.build:split",
    "strip": "benchwright.builders.hydrate:strip",
    "verify": "benchwright.builders.verify:verify",
    "withdraw": "benchwright.builders.errata:withdraw",
    "write_card": "benchwright.cards:write_card",
    "yank": "benchwright.builders.errata:yank",
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

"""A corpus in memory, for tests of searching."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchwright.builders.corpora.base import CorpusCounts
from benchwright.hashing import canonical_json, sha256_text


@dataclass(frozen=True)
class MadeDocument:
    """One document."""

    document_id: str
    text: str


@dataclass
class MadeCorpus:
    """Texts under a name; `passes` counts how often they were gone through."""

    name: str
    texts: Sequence[str]
    passes: int = field(default=0, compare=False)
    counts: CorpusCounts = field(default_factory=CorpusCounts, compare=False)

    @property
    def fingerprint(self) -> str:
        """Of the texts alone."""
        return sha256_text(canonical_json(list(self.texts)))

    @property
    def identity(self) -> Mapping[str, Any]:
        """What a manifest says."""
        return {"fingerprint": self.fingerprint}

    def __iter__(self) -> Iterator[MadeDocument]:
        self.passes += 1
        for number, text in enumerate(self.texts):
            yield MadeDocument(f"{self.name}:{number}", text)

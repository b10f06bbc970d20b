"""What scores need to know of a corpus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from ...errors import UsageError, show


class Document(Protocol):
    """One document of a corpus."""

    @property
    def document_id(self) -> str: ...

    @property
    def text(self) -> str: ...


class Counts(Protocol):
    """What the newest iteration has left out: records that are no documents, and bad ones, by reason."""

    @property
    def skipped(self) -> Mapping[str, int]: ...

    @property
    def dropped(self) -> Mapping[str, int]: ...


class Corpus(Protocol):
    """Documents that can be iterated again and again, always the same in the same order.

    `identity` is JSON-able and says what the corpus is made of, without a path of this machine.
    """

    @property
    def name(self) -> str: ...

    @property
    def identity(self) -> Mapping[str, Any]: ...

    @property
    def fingerprint(self) -> str: ...

    @property
    def counts(self) -> Counts: ...

    def __iter__(self) -> Iterator[Document]: ...

    def shards(self, n: int) -> Sequence[Corpus]: ...


def check_corpora(corpora: Sequence[Corpus]) -> None:
    """Raise UsageError for no corpus, and for two of one name."""
    names = [corpus.name for corpus in corpora]
    if not names:
        raise UsageError("there is no corpus to search; give --corpus")
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"two corpora are called {show(name)}; rename one of the files or folders")

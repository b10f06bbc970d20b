"""What both constructions share: an instance for which there is no query, with the reason."""

from __future__ import annotations

from dataclasses import dataclass

# Reasons are short and stable: they are counted in the manifest.
NO_PREDICATE = "no predicate in the sentence"
NO_CONTENT = "no content word in the sentence"
NO_PRONOUN = "no word at the pronoun's place"
NO_OPTION = "no option found in the text"
NO_CONTEXT_PREDICATE = "no predicate about the options"
NO_QUERY_PREDICATE = "no predicate about the pronoun"
ONE_PREDICATE = "one predicate holds pronoun and options"


@dataclass(frozen=True)
class NoQuery:
    """An instance without a query; false in conditions. `reason` is one of this module's constants."""

    reason: str

    def __bool__(self) -> bool:
        return False


def word_set(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())

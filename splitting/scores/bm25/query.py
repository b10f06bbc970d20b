"""What is searched in a corpus for one instance of a test set: an ordered phrase and content words.

A query is a value, never a string in a query language: `(`, `"`, `AND`, `OR`, `~` and `*` are words like any
other, and words without a letter or digit vanish in the analyzer as they do in documents. METHODS part D.2
and D.3; the paper's reading (section 3) by the same fields.
"""

from __future__ import annotations

from dataclasses import dataclass

from ....errors import UsageError


@dataclass(frozen=True)
class OverlapQuery:
    """One instance's query; words are raw, the engine's analyzer turns them into terms.

    `phrase`: the predicates' words in order. `gaps`: for each word but the last the largest distance to the
    next one in the document, counted in kept terms (1 = adjacent), len(phrase) - 1 numbers. The published
    construction has 10 everywhere; the paper has 1 inside a predicate and 10 from the last word of Pred_C
    to the first of Pred_Q. A word that the analyzer drops (a stop word) takes no place, as in documents: of
    the two gaps around it the larger one holds. A word that becomes several terms (`great-grandfather`)
    keeps them in order, at most `inner_gap` apart. A repeated word is scored once for each time it stands
    in the phrase.

    `content`: content words, scored where a document has them; equal ones count once. A word that becomes
    several terms (`20,000`) counts where all of them are in the document, in any place. `content_required`:
    only documents with at least one of them are hits (published); else they only add to the score (paper).

    `may_vanish`: what happens if the analyzer leaves nothing of the phrase, or nothing of required content.
    False: there is nothing to find, no hit. True: that part puts no condition (as in the published code,
    whose query parser removes empty parts); if both are empty there is no hit.
    """

    phrase: tuple[str, ...]
    gaps: tuple[int, ...]
    content: tuple[str, ...]
    content_required: bool
    inner_gap: int = 1
    may_vanish: bool = False

    def __post_init__(self) -> None:
        if len(self.gaps) != max(0, len(self.phrase) - 1):
            raise UsageError(f"a phrase of {len(self.phrase)} words has {len(self.gaps)} gaps, not one less")
        if any(not 1 <= gap < 2**31 for gap in (*self.gaps, self.inner_gap)):
            raise UsageError(
                f"gaps are distances from 1 up, got {self.gaps} and {self.inner_gap} inside words"
            )
        for word in (*self.phrase, *self.content):
            if not isinstance(word, str):
                raise UsageError(f"words of a query are strings, got {word!r}")

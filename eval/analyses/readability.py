"""How hard texts are to read: the Flesch-Kincaid grade (2210.06799, Figure 11).

Source of the formula: Kincaid et al., "Derivation of New Readability Formulas" (1975).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import numpy as np

from ...text.words import sentence_split

# Letters with apostrophes between them; the parts of "well-known" are two words, numbers are none.
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_SENTENCE_END = re.compile(r"[.?!].")
_VOWELS = re.compile(r"[aeiouy]+")
_TWO_VOWELS = re.compile(r"(?<![cgst])i[aou]|eo")
_SILENT = re.compile(r"(?:[^aeiouyl]e|[aeiouy]le|[^aeiouydt]ed|[^aeioucgslxyz](?<!ch)(?<!sh)es)$")


def flesch_kincaid_grade(words: int, sentences: int, syllables: int) -> float:
    """0.39 words per sentence + 11.8 syllables per word - 15.59: a school year of the United States.

    >>> round(flesch_kincaid_grade(words=6, sentences=1, syllables=6), 2)
    -1.45
    """
    return 0.39 * words / sentences + 11.8 * syllables / words - 15.59


def estimated_syllables(word: str) -> int:
    """Syllables of a word that no dictionary has, by its spelling; `word` in lower case.

    Runs of vowels (with y) count one, `ia`, `io`, `iu` (not after c, g, s, t) and `eo` two; a silent `e`,
    `ed` or `es` at the end counts none. At least 1.

    >>> [estimated_syllables(word) for word in ("snowglobe", "table", "laxation", "videos", "zipped")]
    [2, 2, 3, 3, 1]
    """
    runs = len(_VOWELS.findall(word)) + len(_TWO_VOWELS.findall(word)) - bool(_SILENT.search(word))
    return max(1, runs)


def grades(texts: Iterable[str], syllables: Mapping[str, int]) -> np.ndarray:
    """The grade of every text, float64 of shape (texts,); NaN for a text without a word.

    `syllables` maps words in lower case to their number of syllables; other words are estimated. Sentences
    are those of NLTK's Punkt model, words are letters with apostrophes between them.
    """
    known: dict[str, int] = {}
    found = []
    for text in texts:
        words = _WORD.findall(text.lower().replace("’", "'"))
        for word in words:
            if word not in known:
                known[word] = syllables[word] if word in syllables else estimated_syllables(word)
        total = sum(map(known.__getitem__, words))
        found.append(flesch_kincaid_grade(len(words), _sentences(text), total) if words else np.nan)
    return np.array(found, dtype=np.float64)


def _sentences(text: str) -> int:
    # Punkt cuts after . ? or ! only, so that most short texts need not be given to it.
    return len(sentence_split(text)) if _SENTENCE_END.search(text.strip()) else 1

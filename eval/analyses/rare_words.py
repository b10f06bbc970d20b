"""How many words of a split are rare, against what chance would give (2210.06799, Figures 3 and 7).

Words are the NLTK tokens of a text that consist of letters alone, lower-cased.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...text.words import word_tokenize

RARE_PER_MILLION = 1.0


class TextWords(NamedTuple):
    """Words and rare words of each text, arrays of int64 and shape (texts,)."""

    words: np.ndarray
    rare: np.ndarray

    def take(self, places: np.ndarray) -> TextWords:
        """The counts of some texts."""
        return TextWords(self.words[places], self.rare[places])


def rare_words(
    per_million: Mapping[str, float], english: Collection[str], limit: float = RARE_PER_MILLION
) -> frozenset[str]:
    """Words that the frequency list has at most `limit` times per million and that are English words.

    `per_million` and `english` are in lower case. A word that the frequency list lacks is not rare but
    unknown: names and misspellings that a word list happens to have are not counted.

    >>> sorted(rare_words({"the": 29449.2, "zymurgy": 0.02, "qwx": 0.02}, {"the", "zymurgy", "zyzzyva"}))
    ['zymurgy']
    """
    return frozenset(
        word for word, frequency in per_million.items() if frequency <= limit and word in english
    )


def count_words(texts: Iterable[str], rare: Collection[str]) -> TextWords:
    """Count the words of every text, and those of them that stand in `rare`."""
    counts = []
    for text in texts:
        words = [token.lower() for token in word_tokenize(text) if token.isalpha()]
        counts.append((len(words), sum(word in rare for word in words)))
    return TextWords(*np.array(counts, dtype=np.int64).reshape(-1, 2).T)


def random_shares(pool: TextWords, size: int, draws: int, seed: int) -> np.ndarray:
    """Shares of rare words in random choices of `size` rows out of `pool`: float64, shape (draws,).

    A choice without words has share 0. Rows of equal counts are drawn together, from a hypergeometric
    distribution; the outcome depends on which rows there are, not on their order.
    """
    factor = int(pool.rare.max()) + 1
    codes, counts = np.unique(pool.words * factor + pool.rare, return_counts=True)
    kinds = np.stack([codes // factor, codes % factor], axis=1)
    generator = np.random.default_rng(seed)
    drawn = generator.multivariate_hypergeometric(counts, size, size=draws, method="marginals")
    words, rare = (drawn @ kinds).T
    return rare / np.maximum(words, 1)


def rare_word_share(rows: TextWords, pool: TextWords, draws: int, seed: int) -> dict[str, Any] | None:
    """The share of rare words in `rows`, beside random choices of as many rows out of `pool`.

    `null` has the mean of the random shares, the bounds of their middle 95 % and the percentile (0 to 100) of
    the observed share among them; random shares equal to it count half. None if the rows have no words.
    """
    words, rare = int(rows.words.sum()), int(rows.rare.sum())
    if not words:
        return None
    share = rare / words
    random = random_shares(pool, len(rows.words), draws, seed)
    low, high = np.percentile(random, (2.5, 97.5)).tolist()
    below, equal = int((random < share).sum()), int((random == share).sum())
    null = {
        "draws": draws,
        "mean": float(random.mean()),
        "low": low,
        "high": high,
        "percentile": 100 * (below + equal / 2) / draws,
    }
    return {"words": words, "rare": rare, "share": share, "null": null}

"""Text and SQL analysis that needs no model."""

from .words import sentence_split, word_count, word_counts, word_tokenize

__all__ = ["sentence_split", "word_count", "word_counts", "word_tokenize"]

"""Text corpora that test sets are searched for in: documents one by one, from files or the Hub."""

from .base import Corpus, CorpusCounts, CorpusDocument
from .opening import FORMS, open_corpus

__all__ = ["FORMS", "Corpus", "CorpusCounts", "CorpusDocument", "open_corpus"]

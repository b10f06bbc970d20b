"""Builder of Winograd-style test sets and their subsets by overlap with corpora."""

from .builder import WinogradBuilder

__all__ = ["WinogradBuilder"]

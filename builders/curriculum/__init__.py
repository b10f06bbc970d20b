"""Curriculum: 36 linguistic phenomena as natural language inference, published and recast."""

from .phenomena import CATEGORIES, PHENOMENA, Phenomenon

__all__ = ["CATEGORIES", "PHENOMENA", "Phenomenon"]

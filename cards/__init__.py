"""Dataset cards: a release's README.md, made from its manifest, rows and results."""

from __future__ import annotations

from .card import WrittenCard, render_card, write_card
from .yaml_header import card_metadata, rows_fingerprint, to_yaml

__all__ = ["WrittenCard", "card_metadata", "render_card", "rows_fingerprint", "to_yaml", "write_card"]

"""Dataset cards: a release's README.md, made from its manifest, rows and results."""

from __future__ import annotations

from .card import README, WrittenCard, hand_written, render_card, write_card
from .seal import seal, seal_differences
from .user_sections import merge_user_sections
from .yaml_header import card_metadata, rows_fingerprint, to_yaml

__all__ = [
    "README",
    "WrittenCard",
    "card_metadata",
    "hand_written",
    "merge_user_sections",
    "render_card",
    "rows_fingerprint",
    "seal",
    "seal_differences",
    "to_yaml",
    "write_card",
]

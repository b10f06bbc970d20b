"""Tokenised text put back into the spelling of plain text: WikiText, the Brown corpus, the Penn Treebank.

Spaces are a guess: what stood in the original is not recorded. So nothing is undone unless it is asked for.
"""

from __future__ import annotations

import re

# WikiText writes `@-@`, `@,@` and `@.@` for marks inside a word or number.
_INSIDE = re.compile(r" @([-,.])@ ")
_HEADING = re.compile(r"\s*((?:= )+)(.*?\S)((?: =)+)\s*")
_OPENING = re.compile(r"([(\[{£$]|``) ")
_CLOSING = re.compile(r" ([,.;:!?%)\]}]|''|n't|'(?:s|re|ve|ll|d|m))(?!\w)", re.IGNORECASE)
_QUOTED = re.compile(r'" ([^"]*?) ?"(?!\w)')


def detokenized(text: str) -> str:
    """Text without the spaces that a tokenizer has put around marks, and a heading without its marks.

    >>> detokenized(" = = The red @-@ tipped lobster = = ")
    'The red-tipped lobster'
    >>> detokenized("It weighs 0 @.@ 7 kg ( 1 lb ) , he said , but it does n't `` bite '' .")
    'It weighs 0.7 kg (1 lb), he said, but it doesn\\'t "bite".'
    """
    heading = _HEADING.fullmatch(text)
    if heading is not None and heading[1].count("=") == heading[3].count("="):
        text = heading[2]
    text = _INSIDE.sub(r"\1", text)
    text = _OPENING.sub(r"\1", _CLOSING.sub(r"\1", text))
    return _QUOTED.sub(r'"\1"', text.replace("``", '"').replace("''", '"'))

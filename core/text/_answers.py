"""Answers as the rules for slots read them."""

from __future__ import annotations

from dataclasses import dataclass

from ._answer_forms import fault_of, is_adverbial_clause, verb_phrase
from ._statement_articles import takes_article


@dataclass(slots=True)
class Answer:
    """An answer as one line, and what does not depend on the slot.

    A gold answer is drawn as the wrong one of other questions, so this is found once for all of them.

    `lows`: its words in lower case. `first`: the first one bare and in lower case. `tags`: empty where no
    rule reads them. `fault`, `form`, `is_adverbial` and `takes_article`: as the functions give them that are
    named so.
    """

    text: str
    words: list[str]
    lows: list[str]
    first: str
    tags: tuple[str, ...]
    fault: str | None
    form: str
    is_adverbial: bool
    takes_article: bool


def read_answer(answer: str, tags: tuple[str, ...]) -> Answer:
    """The facts of an answer that has a word, from the tags of its words."""
    words = answer.split()
    text = " ".join(words)
    return Answer(
        text=text,
        words=words,
        lows=text.lower().split() if text.isascii() else [word.lower() for word in words],
        first=words[0].strip("\"'“”‘’(").lower(),
        tags=tags,
        fault=fault_of(text, words, tags),
        form=verb_phrase(words, tags),
        is_adverbial=is_adverbial_clause(words),
        takes_article=takes_article(text),
    )

"""Stage 1 of mining: sentences of a comment that have the shape of a pronoun problem."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ...text.words import sentence_split, word_tokenize
from ..base import Method
from .words import CONNECTIVE, CONNECTIVE_PUBLISHED, PRONOUN, PRONOUN_ANY_CASE, NounTest

QUOTED = "comment with quotation marks"
ARTICLE = "comment with an article of a law"
NO_CONNECTIVE = "no connective"
NO_END = "no final . ! ? or ;"
NO_CAPITAL = "does not begin with A to Z"
TOO_SHORT = "fewer than 11 words"
TOO_LONG = "more than 33 words"
SYMBOLS = "digit, +, = or <"
TOO_MANY_TOKENS = "more than 30 tokens"
NO_PATTERN = "no two candidates, connective and pronoun in this order"
EARLY_PRONOUN = "pronoun before the second candidate or the connective"
SAME_CANDIDATE = "both candidates are the same word"

_MOST_TOKENS = 30
_BLANKS = range(10, 33)
_WORD = re.compile(r"\w+")
_SYMBOL = re.compile(r"[+=\d<]")
_ARTICLE = re.compile(r".*\bart\.\s*\d+")
_SPACE = re.compile(r"\s+")
# The passes before the tests of whole comments, and those after them, in this order.
_BEFORE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\{\{\{?.*?\}\}\}?", re.DOTALL), ""),
    (re.compile(r"\{(.*?)\}"), r"\1"),
    (re.compile(r"<br>"), " "),
    (re.compile(r"[^\x00-\x7F]"), ""),
    (re.compile(r"\(.*?\)", re.DOTALL), ""),
    (re.compile(r"\n=+References.*$"), ""),
    (re.compile(r"^=.*$", re.MULTILINE), ""),
    (re.compile(r"^\*.*?$", re.MULTILINE), ""),
)
_AFTER: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\sM\.A\.\s"), " MA "),
    (re.compile(r"\[\s*\[(.*?)(?:\|[^\]]+?)?\]\s*\]"), r"\1"),
    (re.compile(r":\d+"), ""),
    (re.compile(r"^[\d*=~#:].*?$", re.MULTILINE), ""),
    (_SPACE, " "),
)


@dataclass
class Found:
    """Sentences kept of some comments, in order, with their tokens, and how many were not, by reason.

    `sentences` counts those of comments that were not dropped as a whole.
    """

    kept: list[tuple[str, list[str]]] = field(default_factory=list)
    comments: int = 0
    sentences: int = 0
    dropped_comments: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)


def clean_comment(text: str, method: Method = "corrected") -> tuple[str, str | None]:
    """The text of a comment without markup, lists, parentheses and characters beyond ASCII, in one line.

    With the reason why the whole comment is of no use, if it is none: a quotation mark, which confuses the
    splitting of sentences, or an article of a law. The published method sees the latter in the first line
    only, and takes the escapes of the dumps (`&gt;`) for text, whose semicolons would be connectives.
    """
    if method == "corrected":
        text = html.unescape(text)
    for pattern, replacement in _BEFORE:
        text = pattern.sub(replacement, text)
    if '"' in text:
        return "", QUOTED
    if (_ARTICLE.match if method == "published" else _ARTICLE.search)(text):
        return "", ARTICLE
    for pattern, replacement in _AFTER:
        text = pattern.sub(replacement, text)
    return text, None


def fault_of_shape(sentence: str, method: Method = "corrected") -> str | None:
    """Why a sentence is not looked at more closely, judged by its characters alone; None if it is."""
    connective = CONNECTIVE_PUBLISHED if method == "published" else CONNECTIVE
    if not connective.search(sentence):
        return NO_CONNECTIVE
    if not sentence or sentence[-1] not in ".!?;":
        return NO_END
    if not "A" <= sentence[0] <= "Z":
        return NO_CAPITAL
    blanks = sentence.count(" ")
    if blanks not in _BLANKS:
        return TOO_SHORT if blanks < _BLANKS.start else TOO_LONG
    return SYMBOLS if _SYMBOL.search(sentence) else None


def fault_of_pattern(sentence: str, candidates: frozenset[str], method: Method = "corrected") -> str | None:
    """Why a sentence has not the pattern candidate, candidate, connective, pronoun; None if it has.

    Corrected: two different candidates stand before a connective, no pronoun in any case stands before that
    connective, and one follows it. Published: the last two candidates before the last connective that has
    a pronoun after it are taken; they must differ, and no pronoun in any case may stand before the second.
    """
    if method == "published":
        return _fault_of_greedy_match(sentence, candidates)
    first = PRONOUN_ANY_CASE.search(sentence)
    last = max((match.start() for match in PRONOUN.finditer(sentence)), default=-1)
    ends = [match for match in CONNECTIVE.finditer(sentence) if match.end() <= last]
    if first is None or not ends:
        return NO_PATTERN
    usable = [match.start() for match in ends if match.end() <= first.start()]
    if not usable:
        return EARLY_PRONOUN
    words = {word for word, start in _candidates(sentence, candidates) if start + len(word) <= usable[-1]}
    return None if len(words) > 1 else NO_PATTERN


def fault_of_repetition(
    sentence: str, candidates: frozenset[str], method: Method = "corrected"
) -> str | None:
    """The pattern whose last member is not a pronoun but one of the candidates again (mode `noun`).

    Published: what must occur again is all text up to the second candidate, which hardly ever does, or the
    first candidate (a wrong group number).
    """
    connective = CONNECTIVE_PUBLISHED if method == "published" else CONNECTIVE
    found = _candidates(sentence, candidates)
    fault = NO_PATTERN
    for first, (earlier, _) in reversed(list(enumerate(found))):
        for later, start in reversed(found[first + 1 :]):
            end = start + len(later)
            match = connective.search(sentence, end)
            again = sentence[:end] if method == "published" else later
            if match is None or not any(_stands_in(sentence, text, match.end()) for text in (again, earlier)):
                continue
            if earlier != later:
                return None
            fault = SAME_CANDIDATE
            if method == "published":
                return fault
    return fault


def _stands_in(sentence: str, text: str, start: int) -> bool:
    return re.compile(rf"\b{re.escape(text)}\b").search(sentence, start) is not None


def _fault_of_greedy_match(sentence: str, candidates: frozenset[str]) -> str | None:
    """What the greedy expression of the published code finds, without its backtracking."""
    last = max((match.start() for match in PRONOUN.finditer(sentence)), default=-1)
    connective = max(
        (match.start() for match in CONNECTIVE_PUBLISHED.finditer(sentence) if match.end() <= last),
        default=-1,
    )
    found = [
        (word, start) for word, start in _candidates(sentence, candidates) if start + len(word) <= connective
    ]
    if len(found) < 2:
        return NO_PATTERN
    (first, _), (second, start) = found[-2:]
    if PRONOUN_ANY_CASE.search(sentence[: start + len(second)]):
        return EARLY_PRONOUN
    return SAME_CANDIDATE if first == second else None


def _candidates(sentence: str, candidates: frozenset[str]) -> list[tuple[str, int]]:
    """Every candidate word of a sentence and where it begins."""
    return [(m.group(), m.start()) for m in _WORD.finditer(sentence) if m.group() in candidates]


def find_sentences(
    comments: Sequence[str],
    nouns: NounTest,
    method: Method = "corrected",
    *,
    pattern: Callable[[str, frozenset[str], Method], str | None] = fault_of_pattern,
) -> Found:
    """The sentences of comments with the pattern of a pronoun problem (stage 1).

    With `pattern=fault_of_repetition` those of the published code's other mode.
    """
    found = Found(comments=len(comments))
    shaped: list[tuple[str, list[str]]] = []
    for comment in comments:
        text, reason = clean_comment(comment, method)
        if reason is not None:
            found.dropped_comments[reason] += 1
            continue
        for part in sentence_split(text):
            sentence = part.strip()
            found.sentences += 1
            reason = fault_of_shape(sentence, method)
            words = word_tokenize(sentence) if reason is None else []
            if len(words) > _MOST_TOKENS:
                reason = TOO_MANY_TOKENS
            if reason is None:
                shaped.append((sentence, words))
            else:
                found.dropped[reason] += 1
    candidates = nouns.candidates([words for _, words in shaped])
    for (sentence, words), own in zip(shaped, candidates, strict=True):
        reason = pattern(sentence, own, method)
        if reason is None:
            found.kept.append((sentence, words))
        else:
            found.dropped[reason] += 1
    return found

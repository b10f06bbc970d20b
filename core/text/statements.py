"""Declarative sentences from questions and their answers, by rules over part-of-speech tags.

"When did Tesla move to New York?" + "1884" -> "Tesla moved to New York in 1884."

Only the wh-phrase and a "do" leave the question; the answer stands in the statement as it was given, but for
a full stop at its end. A few function words are added (articles, "in 1884", "because"), and a verb agrees
with its new subject. Casing is kept: one letter changes, the first of a lower-case word of ours or of the
question that now opens the sentence, and only if the question began with a capital itself. Runs of white
space become single spaces. The task is that of Demszky, Guu and Liang (2018, arXiv:1809.02922); the rules
are our own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from ._answers import Answer, read_answer
from ._questions import Question, low_word, tagged_question, tagger_words
from ._statement_answers import fill, names_a_work, polar, sentence
from ._statement_frames import frame
from ._statement_gaps import Frame, YesNo
from ._word_sets import AUXILIARIES, WH_WORDS
from .tagging import load_tagger

if TYPE_CHECKING:
    from .tagging import Tagger

_TAGGED_SLOTS = frozenset({"reason", "manner", "doing", "count", "subject", "sort", "happening", "which"})
_SENTENCE_STARTS = frozenset({"He", "She", "It", "They", "This", "These", "His", "Her", "Its", "Their"})
_CONTRACTION = re.compile(r"(?i)^(what|who|where|when|how|why|that)['’](s|re|d)\b")
_FULL = {"s": "is", "re": "are", "d": "did"}
_END_MARKS = re.compile(r"\?[\s?!.]*$|[\s?!]+$")


@dataclass(frozen=True, slots=True)
class Statement:
    """A declarative sentence; `rule` names the rule that made it, `lost` the question's words left out."""

    text: str
    rule: str
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NoStatement:
    """No rule fits. `reason` is a short stable phrase to count by; false in a condition."""

    reason: str

    def __bool__(self) -> bool:
        return False


def statement(question: str, answer: str, *, tagger: Tagger | None = None) -> Statement | NoStatement:
    """The declarative sentence that a question and its answer make.

    Yes/no questions take the answers yes, no, true and false. Without `tagger`, `load_tagger()` is asked,
    with its errors. For many questions `statements` is faster.
    """
    return statements([question], [answer], tagger=tagger)[0]


def statements(
    questions: Sequence[str], answers: Sequence[str], *, tagger: Tagger | None = None
) -> list[Statement | NoStatement]:
    """`statement` for every pair, in order. Equal questions are read once.

    Raises ValueError for unequal lengths.
    """
    tagger = tagger or load_tagger()
    frames = _frames(dict.fromkeys(questions), tagger)
    asked = [(q, frames[q], a) for q, a in zip(questions, answers, strict=True)]
    known = _answers([(frame, a) for _, frame, a in asked if isinstance(frame, Frame)], tagger)
    return [_made(q, frame, a, known.get(a)) for q, frame, a in asked]


def _frames(questions: Iterable[str], tagger: Tagger) -> dict[str, Frame | YesNo | str]:
    words = {question: _words(question) for question in questions}
    parts = {question: tagger_words(split) for question, split in words.items()}
    tagged = tagger.tag([pieces for pieces, _ in parts.values()])
    return {
        question: _checked(tagged_question(words[question], tags, parts[question][1]))
        for question, tags in zip(words, tagged, strict=True)
    }


def _words(question: str) -> list[str]:
    text = _END_MARKS.sub("", question.strip())
    found = _CONTRACTION.match(text)
    if found:
        text = f"{found[1]} {_FULL[found[2].lower()]}{text[found.end() :]}"
    words = text.split()
    if words and len(words[-1]) > 2 and words[-1].endswith(".") and words[-1].count(".") == 1:
        words[-1] = words[-1][:-1]
    return words


def _checked(question: Question) -> Frame | YesNo | str:
    words, lows = question.words, question.lows
    asks = ["?" in word for word in words]
    if any(asks) and any(word[-1] == "?" for word in words):
        return "several_questions"
    for i, (before, low) in enumerate(pairwise(lows), 1):
        if low in WH_WORDS and before in WH_WORDS and words[i].islower():
            return "two_wh_words"
        if low == before and low in AUXILIARIES:
            return "doubled_auxiliary"
    if len(lows) > 2 and lows[-2] == "and" and lows[-1] in ("why", "how", "when"):
        return "several_questions"
    made = frame(question)
    if isinstance(made, str):
        return made
    asks_inside = any(asks[:-1])
    if asks_inside and isinstance(made, Frame) and made.rule not in ("subject", "equative", "in_place"):
        return "several_questions"
    if isinstance(made, Frame) and made.rule != "subject" and _two_sentences(question):
        return "several_sentences"
    held = (made.before, made.after, made.noun) if isinstance(made, Frame) else (made.yes,)
    kept = [low_word(word) for text in (*held, *made.lost) for word in text.replace("|", " ").split()]
    return made if _all_kept(lows, kept) else "words_lost"


def _two_sentences(question: Question) -> bool:
    """Whether a sentence that asks nothing follows what is asked."""
    return any(
        word[-1] == "." and after in _SENTENCE_STARTS and WH_WORDS.isdisjoint(question.lows[i:])
        for i, (word, after) in enumerate(pairwise(question.words), 1)
    )


def _all_kept(words: Sequence[str], kept: list[str]) -> bool:
    """Whether each of `words` stands in `kept`, as often as in `words`; takes them out of it."""
    for word in words:
        if word not in kept:
            return False
        kept.remove(word)
    return True


def _answers(asked: Sequence[tuple[Frame, str]], tagger: Tagger) -> dict[str, Answer]:
    """The answers with a word, each read once; tagged are those whose tags a rule may read."""
    tagged = dict.fromkeys(a for frame, a in asked if frame.slot in _TAGGED_SLOTS or " " in a)
    parts = [tagger_words(answer.split()) for answer in tagged]
    found = tagger.tag([pieces for pieces, _ in parts], margins=False)
    tags = {
        answer: tuple([one.tags[i] for i in starts])
        for answer, one, (_, starts) in zip(tagged, found, parts, strict=True)
    }
    distinct = dict.fromkeys(answer for _, answer in asked)
    return {answer: read_answer(answer, tags.get(answer, ())) for answer in distinct if answer.strip()}


def _takes_clauses(frame: Frame) -> bool:
    """Whether a clause can fill the slot: a reason, or the title of a work."""
    head = " ".join(frame.noun.split(" of ")[0].split()[-1:])
    return frame.slot == "reason" or (frame.slot == "which" and names_a_work(head))


def _made(
    question: str, frame: Frame | YesNo | str, given: str, answer: Answer | None
) -> Statement | NoStatement:
    """The statement of one pair; `answer` is there where a frame takes it."""
    if not given.strip():
        return NoStatement("empty_answer")
    if isinstance(frame, str):
        return NoStatement(frame)
    cased = question.strip()[:1].isupper()
    if isinstance(frame, YesNo):
        text = polar(frame, given)
        if text is None:
            return NoStatement("answer_not_yes_or_no")
        return Statement(sentence(text, capital=cased), "yes_no", frame.lost)
    assert answer is not None
    fault = answer.fault
    if fault is not None and not (fault == "answer_is_a_clause" and _takes_clauses(frame)):
        return NoStatement(fault)
    text = fill(frame, answer)
    if text is None:
        return NoStatement("answer_does_not_fit")
    starts_with_answer = not frame.before and text.startswith(answer.text[:10])
    return Statement(sentence(text, capital=cased and not starts_with_answer), frame.rule, frame.lost)

"""What kind of phrase an answer is, and which answers no frame of a statement takes."""

from __future__ import annotations

import re

from ._verbs import base_form, is_known_verb, is_past_tense
from ._word_sets import (
    ADVERBIAL_STARTS,
    AUXILIARIES,
    SUBORDINATORS,
    TIME_NOUNS,
    TIME_WORDS,
    WH_WORDS,
)

_CLAUSE_STARTS = frozenset(["PRP", "NN", "NNS", "NNP", "NNPS", "DT", "PRP$", "JJ", "EX"])
_CLAUSE_STOPS = frozenset(["WDT", "WP", "WRB"])
_OPEN_OBJECT = frozenset(["DT", "PRP$", "PRP", "CD"])
_IZE = re.compile(r"(?!exerc|merchand|enterpr|franch|expert|prem|prom|disg)[a-z]{4,}i[sz]e")
_TWO_SENTENCES = re.compile(r"[a-z)\]][.!?] [A-Z]\w+ [a-z]")
_MARKS = re.compile(r'["()\[\]“”]')
_PAIRED = (("(", ")"), ("[", "]"), ("“", "”"))
_FINITE_HELPERS = AUXILIARIES - {"might", "will", "may", "can"}
_ADVERBIAL_CLAUSE_STARTS = (WH_WORDS | SUBORDINATORS) - {"what", "which", "who"}
_CONTRACTED = frozenset(["there's", "it's", "that's", "he's", "she's", "they're", "we're", "you're", "i'm"])
_LETTERS = re.compile(r"[a-z]+")


def fault_of(answer: str, words: list[str], tags: tuple[str, ...]) -> str | None:
    """Why no statement can hold an answer: a reason code, None where nothing speaks against it.

    A reason may be a clause of its own; that is for the caller to allow.
    """
    if _MARKS.search(answer) and _is_fragment(answer):
        return "answer_is_a_fragment"
    if len(words) < 3:
        return None
    if _TWO_SENTENCES.search(answer):
        return "answer_is_several_sentences"
    return "answer_is_a_clause" if is_clause(words, tags) else None


def _is_fragment(answer: str) -> bool:
    """Whether a quotation or a bracket is opened or closed only."""
    return answer.count('"') % 2 == 1 or any(
        answer.count(left) != answer.count(right) for left, right in _PAIRED
    )


def is_clause(words: list[str], tags: tuple[str, ...]) -> bool:
    """Whether an answer of three words or more is a sentence of its own ("they contain striated muscle").

    A form of "be", "have" or "do" or a modal counts wherever it stands, another verb only right after the
    subject: further on a plural noun is too often taken for one. With a capital it is a name ("Cy Do").
    """
    if words[0].lower().replace("’", "'") in _CONTRACTED:
        return True
    if tags[:1] == ("RB",):
        words, tags = words[1:], tags[1:]
    if len(tags) < 3 or tags[0] not in _CLAUSE_STARTS:
        return False
    simple = True
    for i, word in enumerate(words):
        low = word.lower()
        helps = not word[0].isupper() and (low in AUXILIARIES or tags[i] == "MD")
        if i and helps and words[i - 1].lower() != "to":
            return low not in ("might", "will", "may") or tags[i] == "MD"
        if i and simple and word.islower() and _is_verb(low, tags[i], tags[i + 1 : i + 2]):
            return True
        if tags[i] in _CLAUSE_STOPS or low == "that" or word[-1] in ",;:" or word[0] in '(["':
            return False
        simple = simple and tags[i] not in ("IN", "CC", "VBG", "TO")
    return False


def _is_verb(word: str, tag: str, after: tuple[str, ...]) -> bool:
    """Whether a word right after a subject is its verb; a past tense only with an object or a particle."""
    if tag == "VBD":
        return is_past_tense(word) and after[:1] in ((), ("DT",), ("PRP$",), ("NNP",), ("CD",), ("RP",))
    return (tag == "VBP" and is_known_verb(word)) or (tag == "VBZ" and base_form(word) is not None)


def verb_phrase(words: list[str], tags: tuple[str, ...]) -> str:
    """ "base" for "maximise profit", "finite" for "extended the bell" or "has two states", else ""."""
    if len(tags) < 2:
        return ""
    first = words[0]
    if tags[0] == "RB":
        first, tags = words[1], tags[1:]
        if len(tags) < 2:
            return ""
    if first.lower() in _FINITE_HELPERS:
        return "finite"
    if tags[:2] == ("MD", "VB"):
        return "finite"
    opens_object = tags[1] in _OPEN_OBJECT
    if tags[0] == "VBZ" and (opens_object or tags[1] in ("CC", "TO")):
        return "finite"
    if tags[0] == "NNS" and tags[1] in ("TO", "DT", "PRP$") and is_known_verb(base_form(first) or ""):
        return "finite"
    if tags[0] in ("VBD", "VBN") and (opens_object or tags[1] == "TO") and is_past_tense(first):
        return "finite"
    verbal = tags[0] in ("VB", "VBP") and tags[1] not in ("RB", "VBZ", "VBD")
    if (verbal and is_known_verb(first)) or (first.islower() and _IZE.fullmatch(first)):
        return "base"
    return "base" if tags[0] == "NN" and is_known_verb(first) and tags[1] in ("DT", "PRP$") else ""


def is_adverbial_clause(words: list[str]) -> bool:
    """Whether an answer is a clause for an adverbial alone ("where the plane is low", "when it rains")."""
    return len(words) > 1 and words[0] in _ADVERBIAL_CLAUSE_STARTS


def may_be_time(answer: str) -> bool:
    """Whether an answer can say when: a number, a word of time, or an adverbial of its own."""
    low = answer.lower()
    if any(map(str.isdigit, low)):
        return True
    words = _LETTERS.findall(low)
    return (
        low == answer
        or not words
        or words[0] in ADVERBIAL_STARTS
        or any(
            word in TIME_NOUNS or word in TIME_WORDS or word.removesuffix("s") in TIME_NOUNS for word in words
        )
        or words[0].endswith("ing")
    )

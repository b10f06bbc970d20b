"""What an answer needs in front of it: articles and prepositions; and what verb agrees with it."""

from __future__ import annotations

import re

from ._verbs import base_form, is_known_verb, is_past_tense, third_person
from ._word_sets import (
    ADVERBIAL_STARTS,
    AUXILIARIES,
    COUNTABLE,
    DETERMINERS,
    HEADS_WITH_THE,
    NAMES_WITH_THE,
    PLURALS,
    POSSESSIVES,
    PREPOSITIONS,
    TAILS_WITH_THE,
)

_MONTH = r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
_DAY = re.compile(
    rf"(?i)(?:.*\b{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?\b|\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}\b|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b).*"
)
_DECADE = re.compile(
    r"(?i)(?:(?:early|late|mid|the|and|to|or|\d{1,2}(?:st|nd|rd|th))[ -])*"
    r"(?:\d{4}'?s|\d0s|"
    r"(?:\d{1,2}(?:st|nd|rd|th)|first|second|third|[a-z-]+th)[ -]centur(?:y|ies)(?: .*)?)\b.*"
)
ORDINAL = re.compile(
    r"(?i)(?:(?:the|early|late|mid) )*(?:\d{1,2}(?:st|nd|rd|th)|first|second|third|fourth|\w+teenth)"
)
_CLOCK = re.compile(
    r"(?i)(?:\d{1,2}(?::\d\d)?\s?(?:am|pm|a\.m\.|p\.m\.|o'clock)|\d{1,2}:\d\d|noon|midnight|night|christmas|"
    r"easter|dawn|dusk)\b.*"
)
_ON = re.compile(
    r"\b(?:street|avenue|road|coast|river|island|floor|mount|mountain|hill|bank|side|planet|continent|st)\W*$",
    re.I,
)
_AT = re.compile(
    r"\b(?:university|school|college|stadium|airport|station|hotel|museum|hall|palace|arena|institute|academy|"
    r"laboratory|theatre|theater|field|center|centre|court|bowl|polytechnic|conference|beach)\W*$",
    re.I,
)
_NTH = re.compile(r"(?i)(?:first|second|third|fourth|fifth|last|final|middle|early|late) [a-z]+\b(?!.*\d)")
_REGNAL = re.compile(r"(?i)\b[ivx]{1,4} of\b")
_NO_ARTICLE = re.compile(
    r"(?:fear|lack|freedom|loss|more|less|most|half|because|instead|out|plenty|dozens|hundreds|thousands|millions|"
    r"much|many|some|use|control|evidence|advocacy|knowledge|one|two|three|parts?|all|none|members?|types?|kinds?)\b"
)
_DECADE_ALONE = re.compile(r"\d{4}s")
_OF_PHRASE = re.compile(r"(?:[a-z-]+ ){1,3}of (?:the|a|an|[A-Z])")
_AT_TIME = re.compile(r"(?i)the (?:end|time|beginning|start|age)\b")
_ENDS_PLACE = re.compile(r", | (?:in|near|on)\b")
_PLURAL_ENDING = re.compile(r"(?<!ic)s$")
_PLURAL_PASTS = {"was": "were", "wasn't": "weren't"}
_SINGULAR_FORMS = {"are": "is", "were": "was", "have": "has"}
_NO_ARTICLE_AFTER = DETERMINERS | {"called", "named", "as", "titled", "entitled", "nicknamed"}
_DETERMINED = DETERMINERS | POSSESSIVES
_ENDS_HEAD = PREPOSITIONS | {"or", "and"}
_IN_NAMES = frozenset(["of", "and", "the", "for", "in", "on", "to"])
_ACRONYMS = re.compile(r"[A-Z]{2,}s")
FRONT_NAMING = re.compile(r"\b(?:name|names|term|word|title|nickname|symbol|phrase|motto|called|named)\b")


def agreeing(after: str, words: list[str], tags: tuple[str, ...], *, named: bool) -> str:
    """A singular verb made plural where the answer is ("What runs ..." + "stairs"); names do not say."""
    verb, _, rest = after.partition(" ")
    made = _PLURAL_PASTS.get(verb) or base_form(verb)
    if made is None or not _is_plural(words, tags):
        return after
    common = words[-1].islower() or _ACRONYMS.fullmatch(words[-1]) is not None
    if named and not common and "and" not in words and tags[0] not in ("DT", "JJ", "CD"):
        return after
    return f"{made} {rest}".strip()


def singular(after: str, words: list[str], tags: tuple[str, ...]) -> str:
    """A plural verb made singular where the answer is one common noun ("causes are" + "lack of rain")."""
    verb, _, rest = after.partition(" ")
    made = _SINGULAR_FORMS.get(verb) or (third_person(verb) if is_known_verb(verb) else "")
    ends = (i for i, tag in enumerate(tags) if i and (tag in ("IN", "TO") or words[i][0] == "("))
    head = next(ends, len(tags)) - 1
    one = (
        words[head].lower() not in PLURALS
        and tags[:1] in (("NN",), ("JJ",), ("DT",))
        and tags[head] == "NN"
        and "CC" not in tags
    )
    if not made or not one or is_past_tense(verb):
        return after
    return f"{made} {rest}".strip()


def _is_plural(words: list[str], tags: tuple[str, ...]) -> bool:
    """Whether the head of an answer is a plural common noun, or two of its heads are joined by "and"."""
    head = ""
    if _ACRONYMS.fullmatch(words[-1]):
        return True
    one = words[0].lower() in ("a", "an") or words[-1] in TAILS_WITH_THE
    for i, (word, tag) in enumerate(zip(words, tags, strict=False)):
        if (head and tag in ("IN", "TO", "WDT", "WP", "VBG", "VBN")) or word.startswith("("):
            break
        if tag == "CC" and word == "and" and head:
            if not one or words[i + 1 : i + 2] in (["a"], ["an"], ["the"]):
                return True
            continue
        plural = _PLURAL_ENDING.search(word.rstrip(",;")) is not None or word.lower() in PLURALS
        head = (
            ("NNS" if plural else "NN")
            if tag == "NNS"
            else tag
            if tag in ("NN", "NNP", "NNPS", "CD")
            else head
        )
        if word[-1] in ",;" and "and" not in words:
            break
    return head == "NNS"


def allows_article(before: str) -> bool:
    """Whether "the" can stand after the words of a frame."""
    return before.rpartition(" ")[2].lower() not in _NO_ARTICLE_AFTER


def takes_article(answer: str) -> bool:
    """Whether a name takes "the" and has none ("United States", "Bureau of Mines")."""
    words = answer.rstrip(".").split()
    if not words:
        return False
    if answer.islower() and (judged := _takes_article_in_lower_case(answer, words)) is not None:
        return judged
    if answer in NAMES_WITH_THE:
        return True
    if words[0].lower() in DETERMINERS:
        return False
    if _DECADE_ALONE.fullmatch(answer) or (_DECADE.fullmatch(answer) and "the" not in words):
        return True
    if _OF_PHRASE.match(answer) and not _NO_ARTICLE.match(answer) and not _REGNAL.search(answer):
        return (
            words[0] not in _DETERMINED
            and words[0] not in PREPOSITIONS
            and not words[0].endswith(("ing", "ed", "s"))
        )
    end = next((i for i in range(1, len(words)) if words[i] in _ENDS_HEAD), len(words))
    if (
        words[end - 1] in COUNTABLE
        and "the" not in words
        and "'" not in answer
        and not any(map(str.isdigit, words[0]))
        and end < 5
    ):
        return words[0].lower() not in _DETERMINED and "and" not in words
    return words[0].lower() not in POSSESSIVES and _is_name_with_article(words)


def _takes_article_in_lower_case(answer: str, words: list[str]) -> bool | None:
    """`takes_article` for a name that may have lost its capitals; None where it looks like none."""
    cased = [word if word in ("of", "and", "in") else word.capitalize() for word in words]
    if " ".join(cased) in NAMES_WITH_THE or (words[1:2] == ["of"] and cased[0] in HEADS_WITH_THE):
        return True
    if len(words) > 1 and cased[-1] in TAILS_WITH_THE and words[0] not in _DETERMINED:
        return "of" not in words and words[0] not in PREPOSITIONS and "'s" not in answer
    return None


def _is_name_with_article(words: list[str]) -> bool:
    """Whether words are the name of a kind that has "the", by its first word or by its last one."""
    if len(words) < 2 or not all(w[:1].isupper() or w.isdigit() or w in _IN_NAMES for w in words):
        return False
    if words[1] == "of":
        return words[0] in HEADS_WITH_THE
    return words[-1] in TAILS_WITH_THE and "of" not in words


def is_people(words: list[str]) -> bool:
    """Whether an answer is a people named by an adjective ("Scotch Irish", "Dutch")."""
    return words[-1].endswith(("ish", "ench", "utch", "nese", "uese")) and all(w[:1].isupper() for w in words)


def place_preposition(answer: str, first: str) -> str:
    if first in ADVERBIAL_STARTS or ORDINAL.fullmatch(answer) or first.endswith(("ward", "wards")):
        return ""
    head = _ENDS_PLACE.split(answer, maxsplit=1)[0]
    if _ON.search(head):
        return "on"
    return "at" if _AT.search(head) else "in"


def time_preposition(answer: str, first: str) -> str:
    if (
        first in ADVERBIAL_STARTS and first not in ("early", "late", "about", "approximately", "around")
    ) or answer.lower().endswith(" ago"):
        return ""
    if _CLOCK.fullmatch(answer):
        return "at"
    if _DAY.fullmatch(answer):
        return "on"
    if _DECADE.fullmatch(answer):
        return "in" if first == "the" else "in the"
    if _AT_TIME.match(answer):
        return "at"
    return "in the" if _NTH.match(answer) else "in"


def reason_word(first: str, answer: str, tags: tuple[str, ...]) -> str:
    if answer.lower().startswith(("a result of", "the result of", "part of", "a way")):
        return "as"
    if first in (
        "because",
        "to",
        "due",
        "for",
        "since",
        "so",
        "in",
        "as",
        "out",
        "by",
        "from",
        "after",
        "if",
        "when",
        "through",
        "with",
    ):
        return ""
    if tags[:1] in (("VB",), ("VBP",), ("NN",)) and is_known_verb(first) and tags[1:2] not in ((), ("IN",)):
        return "to"
    if has_verb(answer, tags):
        return "because"
    return "to" if tags and tags[0] == "VB" else "because of"


def has_verb(answer: str, tags: tuple[str, ...]) -> bool:
    for i, word in enumerate(answer.split()):
        if i and tags[i] in ("WDT", "WP", "WRB"):
            return False
        if (
            i
            and (tags[i] in ("VBD", "VBZ", "VBP", "MD") or word.lower() in AUXILIARIES)
            and word.lower() != "that"
        ):
            return not (tags[i - 1] in ("WDT", "IN") and answer.split()[i - 1].lower() == "that")
    return False


def manner_word(first: str, tags: tuple[str, ...]) -> str | None:
    if first in PREPOSITIONS or first in ("via", "because", "due", "to", "so", "when"):
        return ""
    tag = tags[0] if tags else ""
    if (tag in ("RB", "JJ") and len(tags) == 1) or first.endswith("ly"):
        return ""
    if tag in ("VB", "VBD", "VBP", "VBZ") or tags == ("VBN",):
        return None
    return "by"

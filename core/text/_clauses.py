"""Where a question's clause has its subject, its verb and a gap."""

from __future__ import annotations

import re
from dataclasses import replace

from ._questions import Question
from ._verbs import base_form, is_known_verb, is_past_participle, is_past_tense, past_tense, third_person
from ._word_sets import (
    ADVERBS,
    AUXILIARIES,
    CAUSING,
    COMPOUND,
    DETERMINERS,
    FINITE,
    NO_BOUNDARY,
    NOMINAL,
    NOT_BEFORE,
    OPENERS,
    PREPOSITIONS,
    PRONOUNS,
    SUBORDINATORS,
    TIME_WORDS,
)

_ADVERB = re.compile(r"\w{4,}ly")
_TIMES = frozenset(["day", "days", "week", "weeks", "month", "months", "year", "years", "decades"])
# how far from a base form a word may be that is taken for one
_UNLIKELY = -30_000
_DOUBTFUL = -16_000
# the tagger never scores words that it knows as something else only ("last")
_KNOWN_OTHERWISE = -12_000


def main_verb(q: Question, start: int) -> int | None:
    """The base form that an auxiliary at `start - 1` governs, after a subject of at least one word.

    The word nearest to a base form wins; a noun after a determiner or a preposition is an unlikely one. None
    where the rest has nothing like a verb.
    """
    return _best_verb(q, start)[0]


def has_clear_verb(q: Question, start: int) -> bool:
    """Whether the main verb is more than a noun that could be one."""
    return _best_verb(q, start)[1] > _DOUBTFUL


def _best_verb(q: Question, start: int) -> tuple[int | None, int]:
    if q.tags[start] == "PRP" and start + 1 < len(q):
        place = next(
            (i for i in range(start + 1, len(q)) if q.tags[i] != "RB" or is_known_verb(q.lows[i])), None
        )
        return place, 0
    best, place = _UNLIKELY, None
    for i in range(start + 1, len(q)):
        score = _base_score(q, i) + _verb_context(q, start, i)
        if score > best:
            best, place = score, i
    return place, best


def inflected_verb(q: Question, start: int) -> int | None:
    """A past tense where a base form should stand ("did the gallery opened")."""
    for i in range(start + 1, len(q)):
        if (
            q.tags[i] == "VBD"
            and is_past_tense(q.lows[i])
            and not is_known_verb(q.lows[i])
            and q.tags[i - 1] in NOMINAL | {"RB"}
        ):
            return i
    return None


def _base_score(q: Question, i: int) -> int:
    known = is_known_verb(q.lows[i])
    if q.lows[0] == "does" and q.tags[i] == "VBZ" and is_known_verb(base_form(q.lows[i]) or ""):
        # "how long does the storm lasts"
        return -2000
    if q.tags[i] in ("VB", "VBP"):
        known_score = 0 if q.tags[i] == "VB" else -300
        return known_score if known else -6000 if q.tags[i] == "VB" else -12_000
    if q.lows[i] in AUXILIARIES - {"have", "do"} or not q.lows[i][:1].isalpha():
        return 10 * _UNLIKELY
    if q.base[i] < 2 * _UNLIKELY:
        return _KNOWN_OTHERWISE + 8000 if known else 10 * _UNLIKELY
    bonus = 8000 if known else 4000 if q.lows[i].endswith(("ize", "ise", "ify", "ate")) else -4000
    return min(q.base[i] + bonus, -500)


def _verb_context(q: Question, start: int, i: int) -> int:
    """What speaks against a verb at `i`, in the tagger's thousandths."""
    low, before, word = q.lows[i], q.lows[i - 1], q.words[i]
    if (
        before in ("to", "the", "a", "an")
        or (low.endswith("ing") and not is_known_verb(low))
        or low in PREPOSITIONS - {"like"}
        or not word[-1:].isascii()
    ):
        return 10 * _UNLIKELY
    score = 4000 if q.tag(i + 1) == "TO" and q.tags[i - 1] in NOMINAL and is_known_verb(low) else 0
    if q.is_quoted(i):
        score -= 10_000
    if q.tags[i] == "NN" and not is_known_verb(low) and is_known_verb(q.low(i + 1)):
        score -= 4000  # "does birth certificate count"
    if word.islower() and q.words[i - 1][:1].isupper() and q.tag(i + 1) in ("NNP", "NNPS"):
        # a particle of a name ("Claus von Stauffenberg")
        score -= 8000 if q.tags[i] in ("NNP", "IN", "FW") else 0
    if any(q.lows[k] in CAUSING and q.is_nominal(k - 1) for k in range(start + 1, i)):
        score -= 8000  # "does the river help the forest grow"
    if q.low(i + 1) == "of" and low not in (
        "consist",
        "think",
        "die",
        "approve",
        "dispose",
        "speak",
        "dream",
    ):
        score -= 3000
    if q.tags[i - 1] in ("DT", "PRP$", "POS") or before in DETERMINERS - PRONOUNS or "'s" in before:
        score -= 4000
    if q.tags[i] in ("VB", "VBP") and q.tags[i - 1] == "RB" and before.endswith("ly") and q.is_nominal(i - 2):
        score += 4000  # "did the slave trade negatively impact"
    if before in ("and", "or", "&"):
        score -= 3000
    if before in PREPOSITIONS:
        score -= 8000
    if q.commas[i] and i + 1 < len(q):
        score -= 1000
    score -= 1500 * sum(low in PREPOSITIONS and low != "of" for low in q.lows[start + 2 : i])
    if word != word.lower() or q.tags[i] in ("CD", "NNS", "VBZ"):
        score -= 3000
        if q.tags[i] == "NNS" and q.lows[0] in ("did", "do") and base_form(low) is not None:
            score -= 6000  # "did the river capture streams"
    if any(q.is_relative(k) for k in range(start + 1, i)):
        score -= 500
    if any(q.lows[k] in AUXILIARIES for k in range(start + 1, i)):
        score -= 6000
    if q.tag(i + 1) in ("NN", "NNS", "VB", "VBP") and q.tags[i] not in ("VB", "VBP"):
        score -= 3000
    return score


def have_participle(q: Question, start: int) -> int | None:
    """The participle that `has`, `have` or `had` at `start - 1` governs."""
    best, place = -4000, None
    for i in range(start + 1, len(q)):
        low = q.lows[i]
        if not (is_past_participle(low) or (is_past_tense(low) and q.tags[i] == "VBD")):
            continue
        score = 0 if q.tags[i] in ("VBN", "VBD") else q.participle[i]
        if score > best:
            best, place = score, i
    return place


def is_participle(q: Question, i: int) -> bool:
    """Whether a word can be the participle of a passive or a progressive."""
    if q.tags[i] == "VBG":
        return q.lows[i].endswith("ing")
    if q.tags[i] == "VBN" or (
        q.tags[i] in ("VBD", "JJ", "VB", "VBP", "NN") and is_past_participle(q.lows[i])
    ):
        return is_past_participle(q.lows[i])
    return False


def predicate_start(q: Question, start: int, *, openers: bool = True) -> int | None:
    """Where the predicate of "be SUBJECT PREDICATE" begins; the subject begins at `start`.

    The first of: a second noun phrase, a participle, an adjective that no noun follows, an adverb; a
    preposition only if none of these comes after it. None where the rest is one noun phrase.
    """
    if q.low(start) in PRONOUNS and (
        q.tags[start] in ("PRP", "EX")
        or q.tag(start + 1) not in NOMINAL | {"JJ"}
        or (start + 1 < len(q) and is_past_participle(q.lows[start + 1]))
    ):
        return start + 1 if start + 1 < len(q) else None
    if openers:
        same = next((i for i in range(start + 2, len(q)) if q.lows[i - 1 : i + 1] == ["the", "same"]), None)
        if same is not None and q.lows[same - 2] not in NO_BOUNDARY:
            return same - 1
    preposition = None
    gerund = q.tags[start] == "VBG"
    negated = next((i for i in range(start + 1, len(q) - 1) if q.lows[i] == "not"), None)
    if negated is not None and is_participle(q, negated + 1):
        return negated + 1
    for i in range(start + 1 + gerund, len(q)):
        if _is_inside(q, i):
            continue
        if q.is_relative(i) and q.tags[i] != "IN" and q.is_nominal(i - 1):
            return _after_relative(q, i)
        if _opens_predicate(q, start, i, openers):
            return i
        if (
            preposition is None
            and q.lows[i] in PREPOSITIONS - {"of"}
            and q.tags[i] in ("IN", "TO", "RP", "RB")
        ):
            preposition = i
    last = len(q) - 1
    if (preposition is None or gerund) and last > start and q.tags[last] in ("JJ", "VBN", "RB"):
        return None if q.lows[last - 1] in NO_BOUNDARY else last
    return preposition


def _is_inside(q: Question, i: int) -> bool:
    """Whether the word before shows that a phrase goes on at `i`."""
    before = q.lows[i - 1]
    if before in NO_BOUNDARY or before in ("be", "being") or q.is_quoted(i):
        return True
    if is_participle(q, i) and q.tags[i - 1] in ("JJ", "JJS", "CD") and q.tag(i + 1) in ("JJ", "NN", "NNS"):
        # "the first organized indoor game"
        return True
    if q.tags[i] in ("NN", "VB") and i + 1 < len(q) and q.tag(i + 1) != "VBG" and is_participle(q, i + 1):
        # "the rate forecast provided"
        return True
    return "'s" in before and not (is_participle(q, i) and q.low(i + 1) in PREPOSITIONS)


def _opens_predicate(q: Question, start: int, i: int, openers: bool) -> bool:
    low, tag, before = q.lows[i], q.tags[i], q.tags[i - 1]
    gerund = before == "VBG" and not any(tag in NOMINAL for tag in q.tags[start:i])
    after_noun = before not in NOT_BEFORE or i == start + 1 or gerund
    quoted = q.words[i][0] in "\"'“‘`"
    if low in DETERMINERS and (after_noun or q.low(i + 1) == "same") and not quoted and not q.commas[i - 1]:
        return True
    if low == "part" and q.low(i + 1) == "of":
        return True
    if openers and after_noun and low in OPENERS:
        modifies = (before == "JJ" and q.low(i + 1) not in PREPOSITIONS) or (
            tag == "JJ" and _noun_follows(q, i)
        )
        if low == "same" or not modifies:
            return True
    if is_participle(q, i) and not _is_reduced(q, i):
        noun = any(q.tags[k] in NOMINAL for k in range(start, i))
        return noun or q.tags[i] != "VBG" or q.tag(i + 1) != "DT"
    if tag == "CD" and "." in low and before in ("NN", "NNS") and q.tag(i + 1) in ("NN", "NNS"):
        # "was the length of the tour 2.5 months"
        return True
    if tag == "RB" and i + 1 < len(q) and (is_participle(q, i + 1) or q.tags[i + 1] == "RB"):
        return False
    if tag == "NN" and after_noun and low.endswith("ant") and (q.tag(i + 1), q.tag(i + 2)) == ("TO", "VB"):
        return True  # "hesitant to buy"
    if tag == "JJR" and q.low(i + 1) == "than" and is_past_participle(q.lows[-1]):
        # "was the exemption for clothing less than $50 reversed"
        return False
    return (
        tag in ("JJ", "JJR", "RB", "RBR", "RBS") and after_noun and before != "JJ" and not _noun_follows(q, i)
    )


def _noun_follows(q: Question, i: int) -> bool:
    while i + 1 < len(q) and q.tags[i + 1] in ("JJ", "CC", "VBN", "VBG", "RB"):
        i += 1
    return i + 1 < len(q) and q.tags[i + 1] in NOMINAL | {"POS"}


def _is_reduced(q: Question, i: int) -> bool:
    """Whether a participle is the subject's ("the book written by X published in"): another follows."""
    for k in range(i + 2, len(q)):
        if q.commas[k - 1] or q.lows[k] in (
            "and",
            "that",
            "who",
            "which",
            "to",
            "or",
            "when",
            "while",
            "after",
        ):
            return False
        ends = k + 1 == len(q) or q.lows[k + 1] in PREPOSITIONS
        if is_participle(q, k) and q.tags[k] != "VBG" and q.tags[k - 1] in NOMINAL and ends:
            return True
    return False


def _after_relative(q: Question, i: int) -> int | None:
    """Past a relative clause in a subject: the next participle, adjective or noun phrase after its verb."""
    verb = next((k for k in range(i + 1, len(q)) if q.tags[k] in FINITE or q.lows[k] in AUXILIARIES), None)
    if verb is None:
        return None
    for k in range(verb + 2, len(q)):
        if q.lows[k - 1] in PREPOSITIONS | DETERMINERS:
            continue
        if is_participle(q, k) or (q.lows[k] in DETERMINERS and q.is_nominal(k - 1)) or q.lows[k] in OPENERS:
            return k
    return None


def stranded(q: Question, verb: int) -> int | None:
    """The preposition that has lost its noun phrase ("known for", "invite members of to serve")."""
    if q.lows[-1] in PREPOSITIONS and len(q) - 1 > verb:
        return len(q) - 1
    for i in range(verb + 1, len(q) - 1):
        low, after = q.lows[i], q.lows[i + 1]
        if low not in PREPOSITIONS or (low == "to" and q.tag(i + 1) == "VB"):
            continue
        if (low, after) in COMPOUND:
            continue
        infinitive = after == "to" and q.tag(i + 2) == "VB"
        if (
            q.commas[i]
            or infinitive
            or (after in PREPOSITIONS and after != "to" and low not in ("as", "like"))
        ):
            return i
        if after in SUBORDINATORS or after in ADVERBS:
            return i
    return None


def adjunct_place(q: Question, verb: int, *, before_time: bool) -> int:
    """Where an adverbial goes: the end, before a subordinate clause, and before a time with `before_time`."""
    for i in range(verb + 1, len(q)):
        low = q.lows[i]
        if low == "that":
            # what follows belongs to the clause that opens here
            return len(q)
        quoted = i + 1 < len(q) and q.commas[i] and not is_participle(q, i) and q.words[i + 1][0] in "\"'“‘"
        if quoted and i + 2 < len(q) and q.words[-1][-1] in "\"'”’":
            return i + 1
        if low in SUBORDINATORS and q.tag(i) in ("WRB", "IN", "CS"):
            return i
        times = low in ("during", "after", "before", "since", "until") and q.lows[i - 1] not in _TIMES
        if before_time and (times or is_time_phrase(q, i)):
            return i
    return len(q)


def is_time_phrase(q: Question, i: int) -> bool:
    """Whether a preposition and a date begin here: "in 1990", "on May 3", "by the 1950s"."""
    if q.lows[i] not in ("in", "on", "by", "around"):
        return False
    after = q.low(i + 1) if q.low(i + 1) not in ("the", "late", "early", "mid") else q.low(i + 2)
    return re.fullmatch(r"1\d{3}s?|20\d\d", after) is not None or after in TIME_WORDS


def opens_noun_phrase(q: Question, i: int) -> bool:
    """Whether an adjective, adverb or participle modifies a noun that follows."""
    while i < len(q) and q.tags[i] in ("JJ", "RB", "VBN", "VBG", "JJR", "JJS", "CC", "RBS", "RBR"):
        i += 1
    return i < len(q) and q.tags[i] in NOMINAL and q.lows[i - 1] not in PREPOSITIONS


def finite_before(q: Question, end: int) -> bool:
    return any(q.tags[i] in FINITE or q.lows[i] in AUXILIARIES for i in range(end))


def subject_text(q: Question, verb: int) -> tuple[str, list[str]]:
    """The subject from word 1, and the adverbs between it and the verb."""
    end = verb
    while (
        end - 1 > 1
        and q.words[end - 1].isalpha()
        and q.tags[end - 1] in ("RB", "RBS", "RBR")
        and (
            q.lows[end - 1] in ADVERBS
            or (_ADVERB.fullmatch(q.lows[end - 1]) and q.tags[end - 2] not in ("DT", "IN", "CC", "JJ"))
        )
    ):
        end -= 1
    return q.text(1, end), q.words[end:verb]


def is_doubtful(q: Question, verb: int | None) -> bool:
    """Whether a main verb may rather be a noun of the subject ("did the stock market crash caused")."""
    if verb is None:
        return True
    if q.tags[verb] in ("VB", "VBP"):
        return False
    return not is_known_verb(q.lows[verb]) or q.tag(verb + 1) in ("NN", "NNS")


def _is_inflected(q: Question, auxiliary: int, verb: int) -> bool:
    """Whether a verb has the ending of its auxiliary already ("does the color darkens")."""
    low = q.lows[verb]
    if is_known_verb(low):
        return False
    did = q.lows[auxiliary] == "did"
    if is_past_tense(low) and (q.tags[verb] == "VBD" or (did and low.endswith("ed"))):
        return True
    return not did and q.tags[verb] in ("VBZ", "NNS") and base_form(low) is not None


def inflected(q: Question, auxiliary: int, verb: int) -> str:
    """The main verb as the auxiliary had it: did invent -> invented. What is around the word stays."""
    word, low = q.words[verb], q.lows[verb]
    base = base_form(low) if q.lows[auxiliary] == "does" and not is_known_verb(low) else None
    several = q.lows[auxiliary + 1] in ("many", "most", "these", "those") and q.lows[auxiliary] == "does"
    if several or (base is not None and is_known_verb(base)):
        return word
    place = word.lower().find(low)
    given = word[place : place + len(low)]
    if q.lows[auxiliary] == "do" or low == "used" or place < 0 or _is_inflected(q, auxiliary, verb):
        return word
    made = past_tense(given) if q.lows[auxiliary] == "did" else third_person(given)
    return word[:place] + made + word[place + len(low) :]


def with_inflected(q: Question, verb: int) -> tuple[Question, int, tuple[str, ...]]:
    """The clause without its "do": the verb and those joined to it inflected, where the first group of verbs
    ends, and the forms that are gone ("did X catch and kill" -> "X caught and killed").
    """
    words, gone = list(q.words), []
    for i in _joined_verbs(q, verb):
        words[i] = inflected(q, 0, i)
        gone += [q.words[i]] if words[i] != q.words[i] else []
    last = verb
    while q.low(last + 1) in ("and", "or") and words[last + 2 : last + 3] != q.words[last + 2 : last + 3]:
        last += 2
    return replace(q, words=words), last, tuple(gone)


def _joined_verbs(q: Question, verb: int) -> list[int]:
    """The verbs that an auxiliary governs: the main verb and, in its own clause, those after "and"."""
    found = [verb]
    for i in range(verb + 1, len(q) - 1):
        low, tag = q.lows[i], q.tags[i + 1]
        if low == "that" or low in SUBORDINATORS or q.is_relative(i) or (low == "to" and tag == "VB"):
            break
        adjacent = i == found[-1] + 1 and tag in ("NN", "VBP")
        if low in ("and", "or") and is_known_verb(q.lows[i + 1]) and (tag == "VB" or adjacent):
            found.append(i + 1)
    return found


def main_auxiliary(q: Question, start: int) -> int | None:
    """The auxiliary of the main clause; words between a wh-phrase and it belong to the phrase."""
    for i in range(start, len(q)):
        if q.lows[i] in AUXILIARIES and not (i > start and any(q.is_relative(k) for k in range(start, i))):
            return i
    return next((i for i in range(len(q) - 2, start, -1) if q.lows[i] in AUXILIARIES), None)

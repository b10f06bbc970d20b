"""Questions as words with tags, and where their clauses have subjects, verbs and gaps."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ._verbs import is_known_verb, is_past_participle, is_past_tense
from .tagging import TaggedWords

BE = frozenset("is are was were am isn't aren't wasn't weren't".split())
DO = frozenset("do does did don't doesn't didn't".split())
HAVE = frozenset("has have had hasn't haven't hadn't".split())
MODALS = frozenset(
    """can could will would shall should may might must can't cannot couldn't won't wouldn't shouldn't mustn't
    mightn't""".split()
)
AUXILIARIES = BE | DO | HAVE | MODALS
WH_WORDS = frozenset("what which who whom whose where when why how".split())
PREPOSITIONS = frozenset(
    """about above across after against along among amongst around as at before behind below beneath beside
    besides between beyond by despite during for from in inside into near of off on onto out outside over per
    since through throughout to toward towards under underneath until up upon via with within without down
    alongside like than concerning regarding""".split()
)
SUBORDINATORS = frozenset("when while because if although though unless whereas once whenever".split())
RELATIVE = frozenset("who which that whom whose where when".split())
PRONOUNS = frozenset("i you he she it we they there this these those that".split())
DETERMINERS = frozenset(
    """a an the one any another some this that these those its his her their my your our no every each all both
    either neither""".split()
)
NOMINAL = frozenset("NN NNS NNP NNPS PRP CD FW $".split())
FINITE = frozenset("VBD VBZ VBP MD".split())
_TIME_WORDS = frozenset(
    """january february march april may june july august september october november december monday tuesday
    wednesday thursday friday saturday sunday""".split()
)
_ADVERBS = frozenset("instead today now later again originally initially currently recently first most".split())
# prepositions that follow another one as part of it: "out of", "up to"
_COMPOUND = frozenset(
    [("out", "of"), ("up", "to"), ("up", "with"), ("away", "from"), ("because", "of"), ("due", "to"), ("off", "of")]
    + [("out", "for"), ("from", "under"), ("down", "to"), ("down", "from"), ("in", "between"), ("up", "for")]
    + [("such", "as"), ("as", "of"), ("back", "to"), ("over", "to"), ("up", "in"), ("out", "in"), ("on", "to")]
)
# adjectives and nouns that open a predicate right after a bare noun
_NOT_BEFORE = frozenset("IN CC DT TO PRP$ MD RB VBG VBN POS".split())
_NO_BOUNDARY = PREPOSITIONS | DETERMINERS | {"and", "or", "&", "to"}
_OPENERS = frozenset(
    """same similar different equal equivalent identical related legal illegal considered allowed able available
    true false real alive dead still also always really actually currently only necessarily ever not now
    required supposed worth open safe good bad possible free married bigger larger smaller
    older younger better worse faster longer shorter higher lower stronger heavier called known named based""".split()
)
# how far from a base form a word may be that is taken for one
_UNLIKELY = -30_000
_DOUBTFUL = -9_000
# the tagger never scores words that it knows as something else only ("last")
_KNOWN_OTHERWISE = -12_000
_EDGE = "\"'“”‘’()[]{},.;:!?`«»*"
_POSSESSIVE = re.compile(r"(?i)(.+)(['’]s)")


@dataclass(slots=True)
class Question:
    """Words of a question, parallel lists: as written, bare and lower-case, tagged, and whether a comma follows."""

    words: list[str]
    lows: list[str]
    tags: list[str]
    base: list[int]
    participle: list[int]
    commas: list[bool]

    def __len__(self) -> int:
        return len(self.words)

    def text(self, start: int, end: int | None = None) -> str:
        """The words `start:end` as they were written, joined by single spaces."""
        return " ".join(self.words[start:end])

    def tag(self, index: int) -> str:
        """The tag of a word, "" past the end."""
        return self.tags[index] if index < len(self.tags) else ""

    def low(self, index: int) -> str:
        """A word without its punctuation in lower case, "" past the end."""
        return self.lows[index] if index < len(self.lows) else ""

    def is_nominal(self, index: int) -> bool:
        """Whether a word can end a noun phrase."""
        return self.tags[index] in NOMINAL

    def is_relative(self, index: int) -> bool:
        """Whether a word can open a relative clause; a capital makes it part of a name ("Doctor Who")."""
        return self.lows[index] in RELATIVE and self.words[index][:1].islower()

    def part(self, start: int, end: int | None = None) -> Question:
        """The words `start:end` as a question of their own."""
        where = slice(start, end)
        return Question(
            self.words[where],
            self.lows[where],
            self.tags[where],
            self.base[where],
            self.participle[where],
            self.commas[where],
        )


@lru_cache(65_536)
def bare(word: str) -> str:
    """A word without quotes, brackets and punctuation at its edges; itself where nothing is left."""
    return word.strip(_EDGE) or word


def tagger_words(words: Iterable[str]) -> tuple[list[str], list[int]]:
    """The words as the tagger knows them (Treebank), and for each of `words` the number of its first part."""
    parts: list[str] = []
    starts = []
    for word in words:
        core = bare(word)
        starts.append(len(parts))
        possessive = _POSSESSIVE.fullmatch(core)
        parts += [possessive[1], "'s"] if possessive else [core]
        if word[-1] in ",;:" and word != core:
            parts.append(",")
    return parts, starts


def tagged_question(words: list[str], tagged: TaggedWords, starts: Sequence[int]) -> Question:
    """A question from its words and the tags of `tagger_words`."""
    return Question(
        words,
        [bare(word).lower().replace("’", "'") for word in words],
        [tagged.tags[i] for i in starts],
        [tagged.base_verb[i] for i in starts],
        [tagged.participle[i] for i in starts],
        [word[-1] in ",;:" for word in words],
    )


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
        place = next((i for i in range(start + 1, len(q)) if q.tags[i] != "RB" or is_known_verb(q.lows[i])), None)
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
        if q.tags[i] == "VBD" and is_past_tense(q.lows[i]) and not is_known_verb(q.lows[i]) and q.tags[i - 1] in NOMINAL | {"RB"}:
            return i
    return None


def _base_score(q: Question, i: int) -> int:
    known = is_known_verb(q.lows[i])
    if q.tags[i] in ("VB", "VBP"):
        known_score = 0 if q.tags[i] == "VB" else -300
        return known_score if known else -4000 if q.tags[i] == "VB" else -8000
    if q.lows[i] in AUXILIARIES - {"have", "do"} or not q.lows[i][:1].isalpha():
        return 10 * _UNLIKELY
    if q.base[i] < 2 * _UNLIKELY:
        return _KNOWN_OTHERWISE + 8000 if known else 10 * _UNLIKELY
    bonus = 8000 if known else 4000 if q.lows[i].endswith(("ize", "ise", "ify", "ate")) else 0
    return min(q.base[i] + bonus, -500)


def _verb_context(q: Question, start: int, i: int) -> int:
    """What speaks against a verb at `i`, in the tagger's thousandths."""
    low, before, word = q.lows[i], q.lows[i - 1], q.words[i]
    if before == "to" or (low.endswith("ing") and not is_known_verb(low)) or low in PREPOSITIONS - {"like"} or not word[-1:].isascii():
        return 10 * _UNLIKELY
    score = 0
    if q.low(i + 1) == "of" and low not in ("consist", "think", "die", "approve", "dispose", "speak", "dream"):
        score -= 3000
    if q.tags[i - 1] in ("DT", "PRP$", "POS") or before in DETERMINERS - PRONOUNS or "'s" in before:
        score -= 4000
    if before in ("and", "or", "&"):
        score -= 3000
    if before in PREPOSITIONS:
        score -= 8000
    if q.commas[i] and i + 1 < len(q):
        score -= 1000
    if word != word.lower() or q.tags[i] in ("CD", "NNS", "VBZ"):
        score -= 3000
    if any(q.is_relative(k) for k in range(start + 1, i)):
        score -= 500
    if any(q.lows[k] in AUXILIARIES for k in range(start + 1, i)):
        score -= 6000
    if q.tag(i + 1) in ("NN", "NNS", "VB", "VBP") and q.tags[i] not in ("VB", "VBP"):
        score -= 3000
    return score


def have_participle(q: Question, start: int) -> int | None:
    """The participle that `has`, `have` or `had` at `start - 1` governs, after a subject of at least one word."""
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
    if q.tags[i] == "VBN" or (q.tags[i] in ("VBD", "JJ", "VB", "VBP", "NN") and is_past_participle(q.lows[i])):
        return is_past_participle(q.lows[i])
    return False


def predicate_start(q: Question, start: int, *, openers: bool = True) -> int | None:
    """Where the predicate of "be SUBJECT PREDICATE" begins; the subject begins at `start`.

    The first of: a second noun phrase, a participle, an adjective that no noun follows, an adverb; a
    preposition only if none of these comes after it. None where the rest is one noun phrase.
    """
    if q.low(start) in PRONOUNS and (q.tags[start] in ("PRP", "EX") or q.tag(start + 1) not in NOMINAL | {"JJ"}):
        return start + 1 if start + 1 < len(q) else None
    preposition, before = None, ""
    if openers:
        same = next((i for i in range(start + 1, len(q) - 1) if q.lows[i] == "the" and q.lows[i + 1] == "same"), None)
        if same is not None and q.lows[same - 1] not in _NO_BOUNDARY:
            return same
    for i in range(start + 1, len(q)):
        low, tag, before = q.lows[i], q.tags[i], q.lows[i - 1]
        if before in _NO_BOUNDARY or ("'s" in before and not (is_participle(q, i) and q.low(i + 1) in PREPOSITIONS)):
            continue
        after_noun = q.tags[i - 1] not in _NOT_BEFORE or i == start + 1
        if q.is_relative(i) and tag != "IN" and q.is_nominal(i - 1):
            return _after_relative(q, i)
        if low in DETERMINERS and (after_noun or q.low(i + 1) == "same") and not q.commas[i - 1]:
            return i
        if low == "part" and q.low(i + 1) == "of":
            return i
        if openers and after_noun and low in _OPENERS:
            adjective = tag == "JJ" and low != "same" and _noun_follows(q, i)
            if low == "same" or not (q.tags[i - 1] == "JJ" or adjective):
                return i
        if is_participle(q, i) and not _is_reduced(q, i):
            return i
        if tag == "RB" and i + 1 < len(q) and (is_participle(q, i + 1) or q.tags[i + 1] == "RB"):
            continue
        if tag in ("JJ", "JJR", "RB", "RBR") and after_noun and q.tags[i - 1] != "JJ" and not _noun_follows(q, i):
            return i
        if preposition is None and (low in PREPOSITIONS and low != "of") and tag in ("IN", "TO", "RP", "RB"):
            preposition = i
    if preposition is None and len(q) > start + 1 and q.tags[-1] in ("JJ", "VBN", "RB") and before not in _NO_BOUNDARY:
        return len(q) - 1
    return preposition


def _noun_follows(q: Question, i: int) -> bool:
    while i + 1 < len(q) and q.tags[i + 1] in ("JJ", "CC", "VBN", "VBG", "RB"):
        i += 1
    return i + 1 < len(q) and q.tags[i + 1] in NOMINAL | {"POS"}


def _is_reduced(q: Question, i: int) -> bool:
    """Whether a participle belongs to the subject ("the book written by X published in ..."): another follows."""
    for k in range(i + 2, len(q)):
        if q.commas[k - 1] or q.lows[k] in ("and", "that", "who", "which", "to", "or", "when", "while", "after"):
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
        if is_participle(q, k) or (q.lows[k] in DETERMINERS and q.is_nominal(k - 1)) or q.lows[k] in _OPENERS:
            return k
    return None


def stranded(q: Question, verb: int) -> int | None:
    """The preposition after a verb that has lost its noun phrase ("known for", "invite members of to serve")."""
    if q.lows[-1] in PREPOSITIONS and len(q) - 1 > verb:
        return len(q) - 1
    for i in range(verb + 1, len(q) - 1):
        low, after = q.lows[i], q.lows[i + 1]
        if low not in PREPOSITIONS or (low == "to" and q.tag(i + 1) == "VB"):
            continue
        if (low, after) in _COMPOUND:
            continue
        infinitive = after == "to" and q.tag(i + 2) == "VB"
        if q.commas[i] or infinitive or (after in PREPOSITIONS and after != "to" and low not in ("as", "like")):
            return i
        if after in SUBORDINATORS or after in _ADVERBS:
            return i
    return None


def adjunct_place(q: Question, verb: int, *, before_time: bool) -> int:
    """Where an adverbial goes: the end, before a subordinate clause, and before a time with `before_time`."""
    for i in range(verb + 1, len(q)):
        low = q.lows[i]
        if low in SUBORDINATORS and q.tag(i) in ("WRB", "IN", "CS"):
            return i
        if before_time and (low in ("during", "after", "before", "since", "until") or is_time_phrase(q, i)):
            return i
    return len(q)


def is_time_phrase(q: Question, i: int) -> bool:
    """Whether a preposition and a date begin here: "in 1990", "on May 3", "by the 1950s"."""
    if q.lows[i] not in ("in", "on", "by", "around"):
        return False
    after = q.low(i + 1) if q.low(i + 1) not in ("the", "late", "early", "mid") else q.low(i + 2)
    return re.fullmatch(r"1\d{3}s?|20\d\d", after) is not None or after in _TIME_WORDS

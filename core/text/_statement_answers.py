"""Fitting an answer into the slot of a frame: prepositions, units, polarity."""

from __future__ import annotations

import re

from ._questions import AUXILIARIES, DETERMINERS, PREPOSITIONS, SUBORDINATORS
from ._statement_frames import Frame, YesNo
from ._verbs import base_form, is_past_tense

YES = frozenset({"yes", "true"})
NO = frozenset({"no", "false"})
_MONTH = r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
_DAY = re.compile(rf"(?i)(?:.*\b{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?\b|\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}\b|(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b).*")
_DECADE = re.compile(r"(?i)(?:(?:early|late|mid|mid-|the|and|to|or|\d{1,2}(?:st|nd|rd|th))[ -])*(?:\d{4}'?s|\d0s|\d{1,2}(?:st|nd|rd|th)[ -]centur(?:y|ies)(?: .*)?)\b.*")
_ORDINAL = re.compile(r"(?i)(?:(?:the|early|late|mid) )*(?:\d{1,2}(?:st|nd|rd|th)|first|second|third|fourth|\w+teenth)")
_ADJECTIVE = re.compile(r"(?:ist|ite|ic|al|ory|ary|ive|ese|ish|ous|able|ible|ful|less)$")
_PLAIN_ADJECTIVE = re.compile(r"(?:ical|ional|atic|ific|etic|ative|uous|eous|ious|ary|ular|less|ible|able)$")
_PERSON = re.compile(r"(?:ist|ian|or|er|man|woman|ant)$")
_CLOCK = re.compile(r"(?i)(?:\d{1,2}(?::\d\d)?\s?(?:am|pm|a\.m\.|p\.m\.|o'clock)|\d{1,2}:\d\d|noon|midnight|night|christmas|easter|dawn|dusk)\b.*")
_ADVERBIAL_STARTS = PREPOSITIONS | SUBORDINATORS | frozenset(
    """here there abroad home everywhere somewhere worldwide nationwide today yesterday tomorrow tonight now currently
    annually every each last next early late recently shortly soon immediately once always never all this ago because
    to due so thanks through via upstairs downstairs outdoors indoors overseas online north south east west almost
    nearly just only right approximately about""".split()
)
_ON = re.compile(r"\b(?:street|avenue|road|coast|river|island|floor|mount|mountain|hill|bank|side|planet|continent|st)\W*$", re.I)
_AT = re.compile(
    r"\b(?:university|school|college|stadium|airport|station|hotel|museum|hall|palace|arena|institute|academy|"
    r"laboratory|theatre|theater|field|center|centre|court|bowl|polytechnic|conference|beach)\W*$",
    re.I,
)
_ENDS_SENTENCE = re.compile(r"[.!?…][\"'”’)\]]*$")
_ABBREVIATION = re.compile(r"(?:^|[\s.(])(?:[A-Za-z]|Jr|Sr|Dr|St|Inc|Ltd|Co|Corp|No|etc|vs|Mt)\.$")
_NUMBER = re.compile(
    r"(?i)(?:.*[\d%½¼¾]|(?:.*\b)?(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty(?:-\w+)?|"
    r"hundred|thousand|million|billion|trillion|many|few|several|dozen|half|none|no|all|most|some))\W*$"
)
_UNIT = re.compile(r"(?i)[\d,.\- –]*\d\s?(?:years?|yrs?|months?|days?|feet|foot|ft|met(?:er|re)s?|m|km|cm|mm|inch(?:es)?|miles?|yards?|\w*met(?:er|re)s?)\.?$")
_SOME = {
    "any": "some", "anyone": "someone", "anything": "something", "anybody": "somebody", "anywhere": "somewhere",
    "ever": "at some time", "yet": "already",
}
_POLAR_WORD = re.compile(r"(?i)\b(?:any|anyone|anything|anybody|anywhere|ever|yet)\b(?! (?:other than|more|longer))")
_NAMES_WITH_THE = frozenset(
    ["United States", "United Kingdom", "Netherlands", "Philippines", "Bahamas", "Soviet Union", "European Union"]
    + ["US", "UK", "USA", "U.S.", "U.K.", "EU", "UN", "NFL", "NBA", "CIA", "FBI", "BBC", "USSR", "Vatican", "Bronx"]
)
_POSSESSIVES = frozenset("one two three four five my your his her its their our some any no each every many".split())
# singular count nouns: "church conference" -> "the church conference"
_COUNTABLE = frozenset(
    """system method process conference party movement army government church council committee company university
    school college empire king queen president minister parliament court law act treaty war battle attack river sea
    ocean lake mountain island city country state region team club group band organization organisation agency
    association union model machine engine device instrument technique approach strategy
    program programme project series species family tribe dynasty kingdom republic revolution rebellion reformation
    crust core mantle atmosphere moon sun earth equator sky wall bridge tower building station airport museum
    library theatre theater stadium hospital hotel market street road bank industry economy virus
    wheel pump boiler piston valve cylinder turbine constitution
    assembly senate commission board department ministry bureau navy fleet regiment brigade legion version unit crisis event design
    style document agreement contract book novel film movie tournament championship festival ceremony structure vehicle
    car ship boat plane rocket satellite computer network alphabet antenna battery""".split()
)
_REGNAL = re.compile(r"(?i)\b[ivx]{1,4} of\b")
_BEFORE_THE = frozenset(["", "in", "at", "on", "to", "because of"])
_NO_ARTICLE = re.compile(
    r"(?:fear|lack|freedom|loss|more|less|most|half|because|instead|out|plenty|dozens|hundreds|thousands|millions|"
    r"much|many|some|use|control|evidence|advocacy|knowledge|one|two|three|parts?|all|none|members?|types?|kinds?)\b"
)
_TAILS_WITH_THE = frozenset(
    """Empire Kingdom Dynasty Republic Union Party Bureau Committee Commission Association Council Act Treaty River
    Sea Ocean Canal War Church Senate Army Navy Conference League Institute Foundation Agency Government Academy
    Mountains Islands Desert Peninsula Valley Plan Revolution Movement Reformation States Period Era Age Declaration Constitution
    Calendar Papers Articles Accords Wars Cup Prize Broncos Panthers Steelers
    Patriots Cowboys Bears Cardinals Seahawks Crusade Renaissance Alps Rebellion Orchestra Museum Games""".split()
)
_HEADS_WITH_THE = frozenset(
    """University Bank Bureau Department Ministry Treaty Battle House Church Republic Kingdom Party Institute School
    Board Court City Declaration Edict Siege Act Society College Gulf Isle Bay Duke Duchy Bishop Archbishop King Queen
    Prince President Tower Museum Academy Council Order State""".split()
)
_FREE = frozenset("in on at during between before after since until around throughout where when".split())
_REPEATABLE = frozenset(
    "in on at by for from to of with during through because as about after before until since between around near".split()
)


def fill(frame: Frame, answer: str, answer_tags: tuple[str, ...] = ()) -> str | None:
    """The statement's words without a final full stop; None where the answer does not fit the slot."""
    before, after = frame.before, frame.after
    lead = ""
    trail = ""
    slot = frame.slot
    words = answer.split()
    first = words[0].strip("\"'“”‘’(").lower()
    if slot == "happening":
        subject, tail = frame.noun.split("|")
        if answer_tags[:1] not in (("VB",), ("VBP",), ("NN",)) or first in DETERMINERS:
            return _join(answer, after)
        return _join(subject, _bare_answer(answer, last=not tail), tail)
    if slot == "doing":
        return _doing(frame, answer, first, answer_tags)
    if slot == "place":
        lead, trail = _place_preposition(answer, first), frame.noun
    elif slot == "subject":
        after = _agreeing(after, words, answer_tags, named=bool(frame.noun))
    elif slot == "article":
        lead = "" if first in DETERMINERS or first[:1].isdigit() else "an" if first[:1] in "aeiou" else "a"
    elif slot == "goal":
        lead = "" if first in _ADVERBIAL_STARTS else "to"
    elif slot == "time":
        lead = _time_preposition(answer, first)
    elif slot == "dated":
        before, lead = _dated(before, answer, first)
        if _ORDINAL.fullmatch(answer):
            lead, trail = lead if first == "the" else f"{lead} the", frame.noun
    elif slot == "reason":
        if answer_tags[:1] in (("VBN",), ("VBD",)) and not _has_verb(answer, answer_tags):
            return None
        lead = _reason_word(first, answer, answer_tags)
    elif slot == "manner":
        fitting = _manner_word(first, answer_tags)
        if fitting is None:
            return None
        lead = fitting
    elif slot == "duration":
        lead = "for" if not (first in _ADVERBIAL_STARTS - {"about", "approximately", "over", "almost", "nearly", "around", "under", "up", "just", "only", "less", "more"}) else ""
    elif slot == "count":
        trail = _counted(answer, frame.noun, answer_tags)
    elif slot == "sort":
        trail = frame.noun if _is_adjective(answer, answer_tags) else ""
    elif slot == "which":
        if _ORDINAL.fullmatch(answer):
            lead, trail = "" if first == "the" else "the", frame.noun
        elif len(words) == 1 and answer.islower() and _PLAIN_ADJECTIVE.search(answer):
            trail = frame.noun
    elif slot == "role":
        person = len(words) < 4 and answer.islower() and (_PERSON.search(answer) or words[-1] in _COUNTABLE)
        lead = "" if not person or first in DETERMINERS else "an" if first[:1] in "aeiou" else "a"
    elif slot == "measure":
        trail = _measured(answer, frame.noun)
    elif slot == "possessive":
        return _join(before, _possessive(answer), f"{frame.noun} {after}".strip())
    elif slot == "share":
        trail = "" if " of " in f" {answer} " else frame.noun
        if re.fullmatch(r"[\d.,]+", answer):
            trail = f"percent {trail}"
    if not lead:
        before = _without_repeated(before, first)
    if not lead and _FRONT_NAMING.search(before):
        return _join(before, _bare_answer(answer, last=not (trail or after)), f"{trail} {after}".strip())
    if slot in ("noun", "subject", "place", "goal", "dated", "which", "role", "reason") and lead in _BEFORE_THE and _needs_article(answer, before):
        lead = f"{lead} the".strip()
    return _join(before, f"{lead} {_bare_answer(answer, last=not (trail or after))}".strip(), f"{trail} {after}".strip())


def is_clause(answer: str, tags: tuple[str, ...]) -> bool:
    """Whether an answer of four words or more is a sentence of its own ("they contain striated muscle")."""
    if len(tags) < (3 if tags[:1] == ("PRP",) else 4) or tags[0] not in ("PRP", "NN", "NNS", "NNP", "NNPS", "DT", "PRP$", "JJ"):
        return False
    for i, word in enumerate(answer.split()):
        if tags[i] in ("WDT", "WP", "WRB", "IN", "VBG", "TO", "CC") or word[-1] in ",;:" or word[0] in "([\"":
            return False
        if i and (tags[i] in ("VBZ", "VBP", "MD") or (tags[i] == "VBD" and word.lower() in AUXILIARIES)):
            return True
    return False


def polar(frame: YesNo, answer: str) -> str | None:
    """The statement that a yes or a no makes; None for any other answer."""
    word = answer.strip(" .!").lower()
    if word in YES:
        if frame.lost and frame.lost[0].lower() in ("can", "could", "may"):
            # "you can use any lane": any is free choice here
            return frame.yes
        return _POLAR_WORD.sub(lambda m: _SOME[m[0].lower()], frame.yes)
    if word not in NO:
        return None
    subject = re.match(r"(?i)any(?= \w+)( of)?", frame.no)
    if subject:
        return ("none" if subject[1] else "no") + frame.yes[3:]
    return frame.no


def sentence(text: str, *, capital: bool) -> str:
    """A full stop at the end, and a capital at the start of a lower-case word of the question."""
    first = text.split(" ", 1)[0].strip("\"'“”‘’(")
    if capital and first.islower() and (first.isalpha() or "'" in first or "-" in first):
        place = text.find(first)
        text = text[:place] + text[place].upper() + text[place + 1 :]
    text = text.rstrip(" ,;:")
    return text if _ENDS_SENTENCE.search(text) else text + "."


_FRONT_NAMING = re.compile(r"\b(?:name|names|term|word|title|nickname|symbol|phrase|motto|called|named)\b")


def _agreeing(after: str, words: list[str], tags: tuple[str, ...], *, named: bool) -> str:
    """A singular verb made plural where the answer is ("What runs ..." + "stairs"); names do not say."""
    verb, _, rest = after.partition(" ")
    made = {"was": "were", "wasn't": "weren't"}.get(verb) or base_form(verb)
    if made is None or not _is_plural(words, tags):
        return after
    if named and "and" not in words and tags[0] not in ("DT", "JJ", "CD"):
        return after
    return f"{made} {rest}".strip()


def _is_plural(words: list[str], tags: tuple[str, ...]) -> bool:
    """Whether the head of an answer is a plural common noun, or two of its heads are joined by "and"."""
    head = ""
    for word, tag in zip(words, tags, strict=False):
        if tag in ("IN", "TO", "WDT", "WP", "VBG", "VBN", "(") or word.startswith("("):
            break
        if tag == "CC" and word == "and" and head:
            return True
        plural = word.rstrip(",;").endswith("s") or word.lower() in ("people", "men", "women", "children", "algae", "police")
        head = ("NNS" if plural else "NN") if tag == "NNS" else tag if tag in ("NN", "NNP", "NNPS", "CD") else head
        if word[-1] in ",;" and "and" not in words:
            break
    return head == "NNS"


def _needs_article(answer: str, before: str) -> bool:
    """Whether a name takes "the" and has none ("United States", "Bureau of Mines")."""
    words = answer.rstrip(".").split()
    if before.rsplit(" ", 1)[-1].lower() in DETERMINERS | {"called", "named", "as", "titled", "entitled", "nicknamed"}:
        return False
    if answer in _NAMES_WITH_THE:
        return True
    if words[0].lower() in DETERMINERS:
        return False
    if re.match(r"(?:[a-z-]+ ){1,3}of (?:the|a|an|[A-Z])", answer) and not _NO_ARTICLE.match(answer) and not _REGNAL.search(answer):
        return words[0] not in DETERMINERS | _POSSESSIVES | PREPOSITIONS and not words[0].endswith(("ing", "ed", "s"))
    if words[-1] in _COUNTABLE and "of" not in words and "'" not in answer and not any(c.isdigit() for c in words[0]) and len(words) < 5:
        return words[0].lower() not in DETERMINERS | _POSSESSIVES and "'s" not in words[0] and "and" not in words
    if words[0].lower() in _POSSESSIVES:
        return False
    if len(words) < 2 or not all(w[:1].isupper() or w.isdigit() or w in ("of", "and", "the", "for", "in", "on", "to") for w in words):
        return False
    return words[0] in _HEADS_WITH_THE if "of" in words[1:2] else words[-1] in _TAILS_WITH_THE and "of" not in words


def _join(*parts: str) -> str:
    text = " ".join(part for part in parts if part)
    return re.sub(r" (?=, )", "", text)


def _bare_answer(answer: str, *, last: bool) -> str:
    """Without a trailing full stop inside a statement, unless it belongs to an abbreviation."""
    answer = answer.rstrip(" ,;:")
    if last or not answer.endswith(".") or answer.endswith("..") or _ABBREVIATION.search(answer):
        return answer
    return answer[:-1]


def _without_repeated(before: str, first: str) -> str:
    """Drop the frame's last preposition where the answer brings its own ("in" + "in 1995")."""
    head, _, last = before.rpartition(" ")
    if last.lower() == first and first in _REPEATABLE:
        return head
    if first in _FREE and last.lower() in ("in", "on", "at", "during"):
        return head
    return before


def _place_preposition(answer: str, first: str) -> str:
    if first in _ADVERBIAL_STARTS:
        return ""
    if _ON.search(answer):
        return "on"
    return "at" if _AT.search(answer) else "in"


def _time_preposition(answer: str, first: str) -> str:
    if first in _ADVERBIAL_STARTS and first not in ("early", "late", "about", "approximately", "around") or answer.lower().endswith(" ago"):
        return ""
    if _CLOCK.fullmatch(answer):
        return "at"
    if _DAY.fullmatch(answer):
        return "on"
    if _DECADE.fullmatch(answer):
        return "in" if first == "the" else "in the"
    if re.match(r"(?i)the (?:end|time|beginning|start|age)\b", answer):
        return "at"
    return "in"


def _dated(before: str, answer: str, first: str) -> tuple[str, str]:
    """A wh-phrase such as "what year": the preposition follows from the answer, "in" at the least."""
    head, _, given = before.rpartition(" ")
    lead = _time_preposition(answer, first)
    if given in ("in", "on", "at") and (lead or first in PREPOSITIONS):
        return head, lead
    return before, ""


def _reason_word(first: str, answer: str, tags: tuple[str, ...]) -> str:
    if answer.lower().startswith(("a result of", "the result of", "part of", "a way")):
        return "as"
    if first in ("because", "to", "due", "for", "since", "so", "in", "as", "out", "by", "from", "after", "if", "when", "through", "with"):
        return ""
    if _has_verb(answer, tags):
        return "because"
    return "to" if tags and tags[0] == "VB" else "because of"


def _has_verb(answer: str, tags: tuple[str, ...]) -> bool:
    for i, word in enumerate(answer.split()):
        if i and tags[i] in ("WDT", "WP", "WRB"):
            return False
        if i and (tags[i] in ("VBD", "VBZ", "VBP", "MD") or word.lower() in AUXILIARIES) and word.lower() != "that":
            return not (tags[i - 1] in ("WDT", "IN") and answer.split()[i - 1].lower() == "that")
    return False


def _manner_word(first: str, tags: tuple[str, ...]) -> str | None:
    if first in PREPOSITIONS or first in ("via", "because", "due", "to", "so", "when"):
        return ""
    tag = tags[0] if tags else ""
    if tag in ("RB", "JJ") and len(tags) == 1 or first.endswith("ly"):
        return ""
    if tag in ("VB", "VBD", "VBP", "VBZ"):
        return None
    return "by"


def _counted(answer: str, noun: str, tags: tuple[str, ...]) -> str:
    low = answer.lower()
    if not noun or re.search(r"[$£€¥]", answer):
        return ""
    if re.fullmatch(r"(?:.* )?(?:dozens|hundreds|thousands|millions|billions|scores|tens)", low):
        return f"of {noun}"
    if low in ("half", "a quarter", "a third", "one third", "two thirds"):
        return f"of {noun}"
    last = noun.split()[-1].lower()
    stem = last[:-1] if last.endswith("s") else last
    if noun.lower().startswith("of ") and " of " not in low:
        return noun
    if re.search(rf"\b{re.escape(stem)}", low):
        return ""
    return noun if _NUMBER.fullmatch(answer) else ""


def _is_adjective(answer: str, tags: tuple[str, ...]) -> bool:
    return len(tags) <= 3 and (tags[-1:] in (("JJ",), ("VBN",)) or _ADJECTIVE.search(answer) is not None)


def _measured(answer: str, word: str) -> str:
    if re.search(rf"\b{re.escape(word)}\b", answer.lower()):
        return ""
    if word == "old" and re.fullmatch(r"[\w-]+", answer) and _NUMBER.fullmatch(answer):
        return "years old"
    return word if _UNIT.fullmatch(answer) else ""


def _possessive(answer: str) -> str:
    if answer.endswith(("'s", "’s", "s'", "s’")) or answer.lower() in ("his", "her", "their", "its", "my", "our", "your"):
        return answer
    return answer + ("'" if answer.endswith("s") and not answer.istitle() else "'s")


def _doing(frame: Frame, answer: str, first: str, tags: tuple[str, ...]) -> str:
    """ "What did X do": a verb phrase takes the place of "do", a noun phrase is its object."""
    subject, auxiliary, _ = frame.noun.split("|")
    tag = tags[0] if tags else ""
    body = _bare_answer(answer, last=not frame.after)
    if auxiliary and (is_past_tense(first) and auxiliary == "did" or tag == "VBZ"):
        return _join(subject, body, frame.after)
    if not auxiliary:
        head = frame.before.rsplit(" ", 1)[0]
        return _join(head, body, frame.after)
    if tag in ("VB", "VBP"):
        return _join(subject, auxiliary, body, frame.after)
    return _join(frame.before, body, frame.after)

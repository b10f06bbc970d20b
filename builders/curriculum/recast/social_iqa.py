"""Social IQa: a situation, a question of a few patterns, and three answers.

Source: "Social IQa: Commonsense Reasoning about Social Interactions" (1904.09728).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from ....faults import FaultLog
from ...sources.files import SourceFolder
from ...sources.records import Record
from ._labels import LABEL, LabelledRecords
from .base import Item, PairCollector, Recast, RecastRows, SplitRecords, recast_records
from .rules import choices_to_pairs, filled, joined

CORPUS = "social_iqa"
RULE = "question_frame"
RULE_OF_PHRASES = "question_and_choices"
_FILES = {"train": ("train.jsonl", "train-labels.lst"), "dev": ("dev.jsonl", "dev-labels.lst")}
_VERSION_1_4 = {"train": ("socialIQa_v1.4_trn.jsonl",), "dev": ("socialIQa_v1.4_dev.jsonl",)}
_ANSWERS = ("answerA", "answerB", "answerC")
_NUMBERS: dict[str | int, int] = {"1": 0, "2": 1, "3": 2}
_LETTERS: dict[str | int, int] = {"A": 0, "B": 1, "C": 2}

_NEXT = re.compile(r"What will (.+?) want to do( .+?)?\s*\?")
_BEFORE = re.compile(r"What (does|do|did) (.+?) need to do( .+?)?\s*\?")
_WHY = re.compile(r"Why did (.+?) do (this|that|it)( .+?)?\s*\?")
_FEEL = re.compile(r"How would (.+?) feel( .+?)?\s*\?")
_DESCRIBE = re.compile(r"How would (you|one|people) describe (.+?)\s*\?")
_HAPPEN = re.compile(r"What will happen to (.+?)( next)?\s*\?")
_DO = re.compile(r"What will (.+?) do( .+?)?\s*\?")
_FIRST = re.compile(r"[^\W\d_]+")
# An answer that begins with one of these is no bare verb, so that no frame with "to" or "will" takes it.
_NO_VERB = (
    "a an the he she it they we you i his her their this that there was were is are am had has did does felt "
    "got went because if would will could should wanted needed so very not like as mad happy sad upset angry"
)
_NO_VERBS = frozenset(_NO_VERB.split())
# "need", "feed", "embed": verbs that only look like past forms.
_LIKE_PAST = frozenset(
    {"need", "feed", "embed", "speed", "proceed", "succeed", "heed", "breed", "bed", "shed", "wed"}
)
_NO_FEELING = frozenset(
    [
        "a",
        "an",
        "the",
        "he",
        "she",
        "it",
        "they",
        "we",
        "i",
        "was",
        "were",
        "felt",
        "feel",
        "would",
        "will",
        "to",
    ]
)
_NO_DESCRIPTION = frozenset(
    ["he", "she", "they", "was", "were", "is", "are", "wanted", "to", "because", "would"]
)


def recast_social_iqa(root: Path, faults: FaultLog) -> RecastRows:
    """Read `train.jsonl`, `dev.jsonl` and their `-labels.lst`, or version 1.4's `_trn` and `_dev` files.

    Fields: `context`, `question`, `answerA` to `answerC`; a label is 1 to 3, the field `correct` of version
    1.4 a letter. An item's id is its row. Raises SourceError and SourceErrors as the readers do.
    """
    folder = SourceFolder(root)
    named = any(folder.find(name) for names in _VERSION_1_4.values() for name in names)
    source: SplitRecords | LabelledRecords
    if named:
        source = SplitRecords(root, _VERSION_1_4, faults, expected=tuple(_VERSION_1_4))
    else:
        source = LabelledRecords(root, _FILES, faults)
    pairs = PairCollector(CORPUS, RULE, faults)
    recast_records(source, pairs, _item)
    return pairs.finish(source.files, source.notes)


def _item(split: str, record: Record) -> Item:
    correct = record.label(LABEL, _NUMBERS) if LABEL in record.fields else record.label("correct", _LETTERS)
    context, question = record.text("context"), filled("question", record.text("question"))
    answers = [filled(name, record.text(name)) for name in _ANSWERS]
    sentences = framed(question, answers)
    if sentences is None:
        premise = joined(context=context, question=question)
        return Item(str(record.row), choices_to_pairs(premise, answers, correct), rule=RULE_OF_PHRASES)
    return Item(str(record.row), choices_to_pairs(context, sentences, correct))


def framed(question: str, answers: list[str]) -> list[str] | None:
    """The answers in the sentence that the question asks to complete; None unless all of them fit.

    All or none: else the form of a hypothesis could give its label away.

    >>> framed("What will Kai want to do next?", ["go home", "to eat"])
    ['Kai will want to go home next.', 'Kai will want to eat next.']
    """
    for pattern, fill in _FRAMES:
        match = pattern.fullmatch(question)
        if match:
            groups = [group or "" for group in match.groups()]
            sentences = [fill(groups, _begun(answer)) for answer in answers]
            filled_in = [_closed(sentence) for sentence in sentences if sentence is not None]
            return filled_in if len(filled_in) == len(answers) else None
    return None


def _begun(answer: str) -> str:
    """The answer without its final stop; a first word that is capitalised like a sentence's is not."""
    text = answer.removesuffix(".")
    first = _FIRST.match(text)
    if first is None or len(first.group()) < 2 or first.group()[1:] != first.group()[1:].lower():
        return text
    return text[0].lower() + text[1:]


def _closed(sentence: str) -> str:
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."


def _first_word(text: str) -> str:
    match = _FIRST.match(text)
    return match.group().lower() if match else ""


def _bare_verb(answer: str) -> str | None:
    """The answer without "to", if it can follow "to"."""
    text = answer.removeprefix("to ")
    first = _first_word(text)
    past = first.endswith("ed") and first not in _LIKE_PAST
    return None if not first or first in _NO_VERBS or past or first.endswith("ing") else text


def _next(groups: list[str], answer: str) -> str | None:
    verb = _bare_verb(answer)
    return None if verb is None else f"{groups[0]} will want to {verb}{groups[1]}"


def _before(groups: list[str], answer: str) -> str | None:
    verb, needs = _bare_verb(answer), {"does": "needs", "do": "need", "did": "needed"}[groups[0]]
    return None if verb is None else f"{groups[1]} {needs} to {verb}{groups[2]}"


def _why(groups: list[str], answer: str) -> str | None:
    if answer.startswith("because "):
        return f"{groups[0]} did {groups[1]}{groups[2]} {answer}"
    verb = _bare_verb(answer)
    return None if verb is None else f"{groups[0]} did {groups[1]}{groups[2]} to {verb}"


def _feel(groups: list[str], answer: str) -> str | None:
    return None if _first_word(answer) in _NO_FEELING else f"{groups[0]} would feel {answer}{groups[1]}"


def _describe(groups: list[str], answer: str) -> str | None:
    if _first_word(answer) in _NO_DESCRIPTION:
        return None
    who = groups[0][0].upper() + groups[0][1:]
    return f"{who} would describe {groups[1]} as {answer.removeprefix('as ').removeprefix('like ')}"


def _happen(groups: list[str], answer: str) -> str | None:
    verb = _bare_verb(answer.removeprefix("will "))
    return None if verb is None else f"{groups[0]} will {verb}{groups[1]}"


_FRAMES: tuple[tuple[re.Pattern[str], Callable[[list[str], str], str | None]], ...] = (
    (_NEXT, _next),
    (_BEFORE, _before),
    (_WHY, _why),
    (_FEEL, _feel),
    (_DESCRIBE, _describe),
    (_HAPPEN, _happen),
    (_DO, _happen),
)

SOCIAL_IQA = Recast(
    phenomenon="socialqa",
    corpus=CORPUS,
    files=(
        "train-labels.lst",
        "dev-labels.lst",
        *(name for names in _VERSION_1_4.values() for name in names),
    ),
    rule=(
        "The situation is the premise of each answer, put in the sentence that the question asks to "
        "complete; where one does not fit, situation and question are the premise of the answers as they are."
    ),
    recaster=recast_social_iqa,
    differs=(
        "Frames are grammatical (the release has 'Ash do this to ...', 'will want to wanted ...'), keep all "
        "of the question, and leave the answers' casing."
    ),
)

"""WordNetQA: which word is a hypernym or a hyponym of another in its context.

Source: "What Does My QA Model Know? Devising Controlled Probes using Expert Knowledge" (1912.13337). Format:
github.com/yakazimir/semantic_fragments, data_mcqa/README.md: hypernymy and hyponymy, each with train.jsonl,
dev.jsonl and test.jsonl of id, question (stem, choices of text and label), answerKey and notes (with
surface_form). The folder `wordnet_qa` holds these two folders.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from ....faults import FaultLog
from ...sources.records import Record
from ._paths import PathRecords, drawn
from .base import ENTAILED, NOT_ENTAILED, Item, Pair, PairCollector, Recast, RecastRows, recast_records

_FRAMES = {
    "hypernymy": "{term} is best characterized as a kind or type of {choice}",
    "hyponymy": "a specific type of {term} is {choice}",
}
_RULE = "context_and_choice"
# The context is everything up to the last quotation mark with a comma; what follows asks about a term.
_STEM = re.compile(r"[^']*'(?P<context>.+)', (?P<frame>.+)", re.DOTALL)
_TERM = re.compile(r"'(.+?)'(?![\w'])")


def _names(task: str) -> dict[str, tuple[str, ...]]:
    return {split: (f"{task}/{split}.jsonl",) for split in ("train", "dev", "test")}


def recast_wordnet_qa(root: Path, faults: FaultLog, *, task: str) -> RecastRows:
    """Two pairs a question: its context, and the correct or one wrong choice in a sentence of one form.

    Hypernymy: `TERM is best characterized as a kind or type of CHOICE`; hyponymy: `a specific type of TERM is
    CHOICE`. The wrong choice is drawn by a hash of the question's id and the choice.
    """
    source = PathRecords(root, _names(task), faults)
    pairs = PairCollector("wordnet_qa", _RULE, faults)

    def item(split: str, record: Record) -> Item:
        name = record.filled_text("id")
        stem, answer, others = _question(record)
        context, term = _context_and_term(record, stem)
        wrong = drawn(sorted(others), answer, f"{task}:{split}:{name}")
        if wrong is None:
            fix = "give a choice that says something else than the correct one"
            raise record.fault("no wrong choice", "question", value=others, fix=fix)
        statements = [_FRAMES[task].format(term=term, choice=choice) for choice in (answer, wrong)]
        made = [
            Pair(context, statements[0], ENTAILED, answer),
            Pair(context, statements[1], NOT_ENTAILED, answer, wrong),
        ]
        return Item(f"{task}:{name}", made)

    recast_records(source, pairs, item)
    return pairs.finish(source.files, source.notes)


def _question(record: Record) -> tuple[str, str, list[str]]:
    """Stem, correct choice and other choices, without white space around them. Raises SourceError."""
    question = record.fields.get("question")
    if not isinstance(question, dict) or not isinstance(question.get("choices"), list):
        raise record.fault("wrong type", "question", value=question, fix="give a stem and a list of choices")
    stem = Record(record.path, record.row, record.line, question).filled_text("stem")
    choices = [_choice(record, choice) for choice in question["choices"]]
    key = record.text("answerKey")
    correct = [text for text, label in choices if label == key]
    if len(correct) != 1:
        fix = f"name one of the choices once: {', '.join(label for _, label in choices)}"
        raise record.fault("no choice with that label", "answerKey", value=key, fix=fix)
    return stem, correct[0], [text for text, label in choices if label != key]


def _choice(record: Record, choice: object) -> tuple[str, str]:
    if not isinstance(choice, dict):
        raise record.fault("wrong type", "choices", value=choice, fix="give each choice a text and a label")
    fields = Record(record.path, record.row, record.line, choice)
    return fields.filled_text("text").strip(), fields.text("label")


def _context_and_term(record: Record, stem: str) -> tuple[str, str]:
    """What the stem quotes: the context, and the term that it asks about. Raises SourceError."""
    match = _STEM.fullmatch(stem)
    notes = record.fields.get("notes")
    noted = notes.get("surface_form") if isinstance(notes, dict) else None
    if match is not None:
        frame = match.group("frame")
        if isinstance(noted, str) and f"'{noted}'" in frame:
            return match.group("context"), noted
        quoted = _TERM.search(frame)
        if quoted is not None:
            return match.group("context"), quoted.group(1)
    fix = "quote a context and, after a comma, the term: `In 'CONTEXT', the word 'TERM' is ...`"
    raise record.fault("a stem of another form", "stem", value=stem, fix=fix)


def _recast(task: str, form: str) -> Recast:
    return Recast(
        phenomenon=task,
        corpus="wordnet_qa",
        files=tuple(name for names in _names(task).values() for name in names),
        rule=f"The context of a question, and the correct or a wrong choice in the form `{form}`.",
        recaster=partial(recast_wordnet_qa, task=task),
        differs=(
            "Labels are those of the questions (the released ones look random); the published splits; one "
            "form of words for all stems; wrong choices are drawn anew."
        ),
    )


HYPERNYMY = _recast("hypernymy", "TERM is best characterized as a kind or type of CHOICE")
HYPONYMY = _recast("hyponymy", "a specific type of TERM is CHOICE")

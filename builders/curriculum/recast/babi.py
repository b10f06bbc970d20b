"""bAbI task 17: where things stand to each other.

Source: "Towards AI-Complete Question Answering: A Set of Prerequisite Toy Tasks" (1502.05698). Format:
tasks_1-20_v1-2 (github.com/facebookarchive/bAbI-tasks, README): lines `NUMBER TEXT`, numbered from 1 in each
story; a question has two more tab-separated fields, the answer and the numbers of the supporting lines. The
folder `babi` holds qa17_positional-reasoning_train.txt and qa17_positional-reasoning_test.txt (or, from
en-valid, qa17_train.txt, qa17_valid.txt, qa17_test.txt); of the archive's folders, en-10k comes before en.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ....faults import FaultLog
from ...sources.files import InputFile
from ...sources.records import Record
from ._paths import Lines, PathRecords
from .base import ENTAILED, NOT_ENTAILED, Item, Pair, PairCollector, Recast, RecastRows, recast_records
from .rules import capitalised

_RULE = "question_to_statement"
_PUBLISHED = "qa17_positional-reasoning_{}.txt"
_NAMES = {
    "train": (
        f"en-10k/{_PUBLISHED.format('train')}",
        f"en/{_PUBLISHED.format('train')}",
        _PUBLISHED.format("train"),
        "qa17_train.txt",
    ),
    "dev": ("qa17_valid.txt",),
    "test": (
        f"en-10k/{_PUBLISHED.format('test')}",
        f"en/{_PUBLISHED.format('test')}",
        _PUBLISHED.format("test"),
        "qa17_test.txt",
    ),
}
_LABELS: dict[str | int, str] = {"yes": ENTAILED, "no": NOT_ENTAILED}
_LINE = re.compile(r"([0-9]{1,9}) (\S.*)")
_QUESTION = re.compile(r"Is (the .+?) (above|below|to the left of|to the right of) (the .+?)\s*\?\s*")


def recast_babi(root: Path, faults: FaultLog) -> RecastRows:
    """One pair a question: the lines of the story before it, and the question as a statement.

    "Is the X above the Y?" becomes "The X is above the Y". Yes is entailed, no is not. The questions of one
    story are one group.
    """
    source = PathRecords(root, _NAMES, faults, read=_Questions, expected=("train", "test"))
    pairs = PairCollector("babi", _RULE, faults)

    def item(_split: str, record: Record) -> Item:
        question = record.filled_text("question")
        match = _QUESTION.fullmatch(question)
        if match is None:
            fix = "ask `Is the A above|below|to the left of|to the right of the B?`"
            raise record.fault("not a question of task 17", "question", value=question, fix=fix)
        first, relation, second = match.groups()
        pair = Pair(
            " ".join(record.texts("facts")),
            capitalised(f"{first} is {relation} {second}"),
            record.label("answer", _LABELS),
        )
        story = str(record.fields["story"])
        return Item(f"{story}:{record.fields['number']}", [pair], story)

    recast_records(source, pairs, item)
    return pairs.finish(source.files, source.notes)


class _Questions:
    """Iterates over the questions of a file: records with question, answer, facts, story and number.

    A story whose lines are not numbered 1, 2, 3, ... is a fault, once; its further lines are passed over.
    """

    def __init__(self, file: InputFile, faults: FaultLog) -> None:
        self.file, self.faults = file, faults
        self.rows = 0

    def __iter__(self) -> Iterator[Record]:
        story, expected, broken = 0, 1, False
        facts: list[str] = []
        for line in Lines(self.file, self.faults):
            match = _LINE.fullmatch(line.fields["text"])
            number = int(match.group(1)) if match else 0
            if number == 1:
                story, expected, broken, facts = story + 1, 1, False, []
            if broken:
                continue
            if match is None or number != expected:
                fault = line._replace(row=self.rows).fault(
                    "line out of order",
                    value=line.fields["text"],
                    fix="number the lines of each story 1, 2, 3, ...",
                )
                self.faults.bad(fault)
                self.rows += 1
                broken = True
                continue
            expected += 1
            text, *rest = match.group(2).split("\t")
            if not rest:
                facts.append(text.strip())
                continue
            fields = {
                "question": text,
                "answer": rest[0].strip(),
                "facts": list(facts),
                "story": story,
                "number": number,
            }
            yield Record(line.path, self.rows, line.line, fields)
            self.rows += 1


BABI = Recast(
    phenomenon="spatial",
    corpus="babi",
    files=tuple(name for names in _NAMES.values() for name in names if "/" not in name),
    rule="The story and the question as a statement (`The X is above the Y`); yes is entailed, no is not.",
    recaster=recast_babi,
    differs='Validation hypotheses are in word order (the release has "The is pink rectangle to ...").',
)

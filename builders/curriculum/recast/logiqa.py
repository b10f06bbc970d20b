"""LogiQA: a text, a question and four options, in blocks of eight lines.

Source: "LogiQA: A Challenge Dataset for Machine Reading Comprehension with Logical Reasoning" (2007.08124).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ....faults import FaultLog
from ...sources.files import InputFile
from ...sources.records import Record, text_lines
from ._collecting import recast_files
from .base import Item, PairCollector, Recast, RecastRows
from .rules import choices_to_pairs, joined

CORPUS = "logiqa"
RULE = "question_and_choices"
_FILES = {"train": ("Train.txt",), "dev": ("Eval.txt",), "test": ("Test.txt",)}
_LETTERS = ("a", "b", "c", "d")
_LETTER_OF_OPTION = re.compile(r"^\s*[A-D]\s*[.．、:：]\s*")
_LINES = 7


def recast_logiqa(root: Path, faults: FaultLog) -> RecastRows:
    """Read `Train.txt`, `Eval.txt` and `Test.txt`.

    A block is an empty line, the letter of the answer (a to d), the text, the question, and the options,
    which begin with `A.` to `D.`; the letters are taken off. A block of other lines is a fault. An item's id
    is the number of its block. Raises SourceError and SourceErrors as the readers do.
    """
    return recast_files(root, _FILES, _Blocks, PairCollector(CORPUS, RULE, faults), _item)


class _Blocks:
    """Iterates over records with the field `lines`, one a block; afterwards `rows` is their number.

    A block begins with a letter alone, at the beginning of the file or after an empty line.
    """

    def __init__(self, file: InputFile) -> None:
        self.file = file
        self.rows = 0

    def __iter__(self) -> Iterator[Record]:
        start, lines, before = 1, list[str](), ""
        for number, line in text_lines(self.file):
            text = line.strip()
            if not before and text.lower() in _LETTERS:
                yield from self._block(start, lines)
                start, lines = number, []
            lines.append(text)
            before = text
        yield from self._block(start, lines)

    def _block(self, start: int, lines: list[str]) -> Iterator[Record]:
        while lines and not lines[-1]:
            lines.pop()
        if lines:
            yield Record(self.file.shown, self.rows, start, {"lines": lines})
            self.rows += 1


def _item(split: str, record: Record) -> Item:
    lines = record.texts("lines")
    if len(lines) != _LINES or lines[0].lower() not in _LETTERS:
        fix = "a block is an empty line, a letter from a to d, the text, the question and four options"
        raise record.fault("not a block of eight lines", value=len(lines) + 1, fix=fix)
    letter, context, question, *options = lines
    choices = [_LETTER_OF_OPTION.sub("", option) for option in options]
    premise = joined(context=context, question=question)
    correct = _LETTERS.index(letter.lower())
    key = f"{CORPUS}:{split}:{record.row}"
    return Item(str(record.row), choices_to_pairs(premise, choices, correct, wrong=1, key=key))


LOGIQA = Recast(
    phenomenon="logiqa",
    corpus=CORPUS,
    files=("Train.txt", "Eval.txt", "Test.txt"),
    rule="Text and question are the premise of the correct option (entailed) and of one wrong option.",
    recaster=recast_logiqa,
    differs="The question is kept; the release drops it.",
)

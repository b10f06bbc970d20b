"""WinoGrande: sentences with a blank that one of two names fills.

Source: "WinoGrande: An Adversarial Winograd Schema Challenge at Scale" (1907.10641).
"""

from __future__ import annotations

from pathlib import Path

from ....faults import FaultLog
from ...sources.records import Record
from ...sources.winograd_records import BLANK, has_answer, parse_blank
from .base import Item, Pair, PairCollector, Recast, RecastRows, SplitRecords, recast_records
from .pronouns import fill_blank, sentence_around
from .rules import ENTAILED, NOT_ENTAILED

CORPUS = "winogrande"
RULE = "blank_filled"
NO_ANSWER = "no answer"
_FILES = {
    "train": ("train_xl.jsonl", "train_l.jsonl", "train_m.jsonl", "train_s.jsonl", "train_xs.jsonl"),
    "dev": ("dev.jsonl",),
}


def recast_winogrande(root: Path, faults: FaultLog) -> RecastRows:
    """Read the largest training file that is there (`train_xl.jsonl` to `train_xs.jsonl`) and `dev.jsonl`.

    Fields: `qID` (twins differ in the last digit: they form a group), `sentence` with one `_`, `option1`,
    `option2`, `answer` ("1" or "2"; records without one are filtered). Raises SourceError and SourceErrors as
    the readers do.
    """
    source = SplitRecords(root, _FILES, faults, expected=tuple(_FILES))
    pairs = PairCollector(CORPUS, RULE, faults)
    recast_records(source, pairs, _item)
    return pairs.finish(source.files, source.notes)


def _item(split: str, record: Record) -> Item | str:
    if not has_answer(record):
        return NO_ANSWER
    item = parse_blank(record)
    sentence = item.sentence
    start, end = sentence_around(sentence, sentence.index(BLANK))
    return Item(
        item.name,
        [
            Pair(
                sentence,
                fill_blank(sentence[start:end], BLANK, option),
                ENTAILED if number == item.correct else NOT_ENTAILED,
            )
            for number, option in enumerate(item.options)
        ],
        group_id=item.twins,
    )


WINOGRANDE = Recast(
    phenomenon="coreference",
    corpus=CORPUS,
    files=(*_FILES["train"], *_FILES["dev"]),
    rule="The hypothesis is the sentence with an option in place of the blank; the right option is entailed.",
    recaster=recast_winogrande,
    differs=(
        "The premise is the whole text with its blank and the hypothesis its whole sentence; the release "
        "cuts the text at the blank, so that premises end in the middle and twins have the same one."
    ),
)

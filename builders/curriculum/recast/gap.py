"""GAP: paragraphs of Wikipedia with a pronoun and two names, by character offsets.

Source: "Mind the GAP: A Balanced Corpus of Gendered Ambiguous Pronouns" (1810.05201).
"""

from __future__ import annotations

import re
from pathlib import Path

from ....faults import FaultLog
from ...sources.records import Record
from .base import Item, Pair, PairCollector, Recast, RecastRows, SplitRecords, recast_records
from .pronouns import replaced_by_each, sentence_around
from .rules import ENTAILED, NOT_ENTAILED, filled

CORPUS = "gap"
RULE = "pronoun_replaced"
_FILES = {
    "train": ("gap-development.tsv",),
    "dev": ("gap-validation.tsv",),
    "test": ("gap-test.tsv",),
}
_OFFSET = re.compile(r"[0-9]{1,9}")
_COREFERENT: dict[str | int, bool] = {"TRUE": True, "True": True, "FALSE": False, "False": False}


def recast_gap(root: Path, faults: FaultLog) -> RecastRows:
    """Read `gap-development.tsv` (as training data), `gap-validation.tsv` and `gap-test.tsv`.

    Columns: `ID`, `Text`, `Pronoun`, `Pronoun-offset` (Unicode code points from 0), `A`, `A-offset`,
    `A-coref` (TRUE or FALSE), the same for `B`, `URL`. Quotation marks are text. A pronoun that does not
    stand at its offset is a fault. Raises SourceError and SourceErrors as the readers do.
    """
    source = SplitRecords(root, _FILES, faults)
    pairs = PairCollector(CORPUS, RULE, faults)
    recast_records(source, pairs, _item)
    return pairs.finish(source.files, source.notes)


def _item(split: str, record: Record) -> Item:
    text, pronoun = record.filled_text("Text"), filled("Pronoun", record.text("Pronoun"))
    offset = record.text("Pronoun-offset")
    place = int(offset) if _OFFSET.fullmatch(offset) else -1
    if place < 0 or text[place : place + len(pronoun)] != pronoun:
        fix = "count Unicode code points of the unchanged text"
        raise record.fault(
            "the pronoun does not stand at its offset", "Pronoun-offset", value=offset, fix=fix
        )
    start, end = sentence_around(text, place, len(pronoun))
    names = (record.text("A"), record.text("B"))
    hypotheses = replaced_by_each(text[start:end], place - start, pronoun, names)
    return Item(
        record.text("ID"),
        [
            Pair(text, hypothesis, ENTAILED if record.label(f"{name}-coref", _COREFERENT) else NOT_ENTAILED)
            for name, hypothesis in zip("AB", hypotheses, strict=True)
        ],
    )


GAP = Recast(
    phenomenon="coreference",
    corpus=CORPUS,
    files=tuple(name for names in _FILES.values() for name in names),
    rule=(
        "The hypothesis is the pronoun's sentence with a name in place of the pronoun; entailed if the "
        "pronoun stands for it."
    ),
    recaster=recast_gap,
    differs=(
        "Names are put at the pronoun's offset; in the release some stand elsewhere in a word. "
        "gap-development is train, gap-validation is validation, gap-test is test."
    ),
)

"""MRPC: sentence pairs that are paraphrases or not, as they are.

Source: "Automatically Constructing a Corpus of Sentential Paraphrases" (Dolan and Brockett, 2005).
"""

from __future__ import annotations

from pathlib import Path

from ....faults import FaultLog
from ...sources.files import SourceFolder
from ...sources.records import Record
from .base import (
    ENTAILED,
    NOT_ENTAILED,
    Item,
    Pair,
    PairCollector,
    Recast,
    RecastRows,
    SplitRecords,
    recast_records,
)

CORPUS = "mrpc"
RULE = "paraphrase"
_PUBLISHED = {"train": ("msr_paraphrase_train.txt",), "test": ("msr_paraphrase_test.txt",)}
_GLUE = {"train": ("train.tsv",), "dev": ("dev.tsv",), "test": ("msr_paraphrase_test.txt",)}
_QUALITY: dict[str | int, str] = {"1": ENTAILED, "0": NOT_ENTAILED, 1: ENTAILED, 0: NOT_ENTAILED}


def recast_mrpc(root: Path, faults: FaultLog) -> RecastRows:
    """Read `msr_paraphrase_train.txt` and `msr_paraphrase_test.txt`, or GLUE's `train.tsv` and `dev.tsv`.

    Tab-separated with a header (`Quality`, `#1 ID`, `#2 ID`, `#1 String`, `#2 String`), perhaps with a byte
    order mark; quotation marks are text and often have no partner. GLUE's two files are a division of the
    published training file, so the latter is not read beside them; GLUE's test file has no labels and is
    not read. An item's id is its row. Raises SourceError and SourceErrors as the readers do.
    """
    glue = SourceFolder(root).find("train.tsv") is not None
    source = SplitRecords(root, _GLUE if glue else _PUBLISHED, faults, expected=("train",))
    pairs = PairCollector(CORPUS, RULE, faults)
    recast_records(source, pairs, _item)
    return pairs.finish(source.files, source.notes)


def _item(split: str, record: Record) -> Item:
    label = record.label("Quality", _QUALITY)
    pair = Pair(record.text("#1 String").strip(), record.text("#2 String").strip(), label)
    return Item(str(record.row), [pair])


MRPC = Recast(
    phenomenon="syntactic_variation",
    corpus=CORPUS,
    files=("msr_paraphrase_train.txt", "msr_paraphrase_test.txt", "train.tsv", "dev.tsv"),
    rule="The first sentence is the premise, the second the hypothesis; a paraphrase is entailed.",
    recaster=recast_mrpc,
)

"""HellaSwag: the beginning of a description and four endings.

Source: "HellaSwag: Can a Machine Really Finish Your Sentence?" (1905.07830).
"""

from __future__ import annotations

from pathlib import Path

from ....faults import FaultLog
from ...sources.records import Record
from .base import Item, PairCollector, Recast, RecastRows, SplitRecords, recast_records
from .rules import capitalised, choices_to_pairs, filled

CORPUS = "hellaswag"
RULE = "choices"
_FILES = {"train": ("hellaswag_train.jsonl",), "dev": ("hellaswag_val.jsonl",)}
_LABELS: dict[str | int, int] = {spelling: n for n in range(4) for spelling in (n, str(n))}


def recast_hellaswag(root: Path, faults: FaultLog) -> RecastRows:
    """Read `hellaswag_train.jsonl` and `hellaswag_val.jsonl`; the test file has no labels and is not read.

    Fields: `ind`, `ctx`, `ctx_a`, `ctx_b` (the noun phrase that begins an unfinished last sentence, or
    empty), `endings` (four), `label` (0 to 3), `source_id` (video or article: its items form one group).
    Raises SourceError and SourceErrors as the readers do.
    """
    source = SplitRecords(root, _FILES, faults, expected=tuple(_FILES))
    pairs = PairCollector(CORPUS, RULE, faults)
    recast_records(source, pairs, _item)
    return pairs.finish(source.files, source.notes)


def _item(split: str, record: Record) -> Item:
    endings = record.texts("endings")
    if len(endings) != 4:
        raise record.fault("not four endings", "endings", value=len(endings), fix="give four")
    premise = record.text("ctx")
    unfinished = record.optional_text("ctx_b")
    if unfinished is not None and record.text("ctx_a").strip():
        premise = record.text("ctx_a")
        start = capitalised(filled("ctx_b", unfinished))
        endings = [f"{start} {filled('ending', ending)}" for ending in endings]
    number = record.fields.get("ind", record.row)
    key = f"{CORPUS}:{split}:{number}"
    pairs = choices_to_pairs(premise, endings, record.label("label", _LABELS), wrong=1, key=key)
    return Item(str(number), pairs, group_id=record.optional_text("source_id"))


HELLASWAG = Recast(
    phenomenon="hellaswag",
    corpus=CORPUS,
    files=("hellaswag_train.jsonl", "hellaswag_val.jsonl"),
    rule="The context is the premise of the true ending (entailed) and of one false ending.",
    recaster=recast_hellaswag,
    differs=(
        "Both endings of an item are kept together (the release draws items independently), and a last "
        "sentence that the context leaves unfinished begins the hypothesis."
    ),
)

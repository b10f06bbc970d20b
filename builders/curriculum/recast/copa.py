"""COPA: a premise and two alternatives for its cause or effect, in XML.

Source: "Choice of Plausible Alternatives: An Evaluation of Commonsense Causal Reasoning" (Roemmele, Bejan and
Gordon, 2011).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from ....faults import FaultLog
from ...base import SourceFile
from ...sources.records import Record
from ...sources.splits import missing_notes
from ...sources.xml_records import XmlRecords
from .base import Item, Pair, PairCollector, Recast, RecastRows, corpus_files, recast_records
from .rules import ENTAILED, NOT_ENTAILED, cause_or_effect, filled

CORPUS = "copa"
RULE = "cause_or_effect"
_FILES = {"dev": ("copa-dev.xml",), "test": ("copa-test.xml",)}
_TEXTS = ("p", "a1", "a2")
_LOWER_CASE = re.compile(r"(?<![\w.])[a-z]+")


def recast_copa(root: Path, faults: FaultLog) -> RecastRows:
    """Read `copa-dev.xml` and `copa-test.xml`.

    An `item` has the attributes `id`, `asks-for` (cause or effect) and `most-plausible-alternative` (1 or 2),
    and the elements `p`, `a1`, `a2`. Raises SourceError and SourceErrors as the readers do.
    """
    found = corpus_files(root, _FILES)
    files: list[SourceFile] = []
    items: list[tuple[str, Record]] = []
    for split, file in found.items():
        records = XmlRecords(file, "item")
        items.extend((split, record) for record in records)
        files.append(file.describe(records.rows))
    common = _common_words(record for _, record in items)
    pairs = PairCollector(CORPUS, RULE, faults)
    recast_records(items, pairs, lambda split, record: _item(record, common))
    return pairs.finish(files, missing_notes(found, ("dev", "test")))


def _common_words(records: Iterable[Record]) -> frozenset[str]:
    """Words that the corpus has in lower case: as the first word of an alternative they are no names."""
    texts = [text for record in records for name in _TEXTS for text in record.fields.get(name, ())]
    return frozenset(_LOWER_CASE.findall("\n".join(texts)))


def _item(record: Record, common: frozenset[str]) -> Item:
    premise, *choices = (filled(name, record.texts(name)[0]) for name in _TEXTS)
    asks_for = record.label("@asks-for", {"cause": "cause", "effect": "effect"})
    correct = record.label("@most-plausible-alternative", {"1": 0, "2": 1})
    return Item(
        record.text("@id"),
        [
            Pair(
                premise,
                cause_or_effect(premise, choice, asks_for, common=common),
                ENTAILED if number == correct else NOT_ENTAILED,
            )
            for number, choice in enumerate(choices)
        ],
    )


COPA = Recast(
    phenomenon="cosmoqa",
    corpus=CORPUS,
    files=("copa-dev.xml", "copa-test.xml"),
    rule=(
        'The hypothesis joins the premise and an alternative by "because" (asked for the cause) or "so" '
        "(asked for the effect); the more plausible alternative is entailed."
    ),
    recaster=recast_copa,
    differs="The released task was not made from COPA, which asks for causes and effects as Cosmos QA does.",
    released=False,
)

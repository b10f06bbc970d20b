"""The Winograd Schema Challenge as XML, and its NLI form WNLI as tab-separated files.

Sources: "The Winograd Schema Challenge" (Levesque, Davis and Morgenstern, 2012); WNLI is a task of GLUE
(1804.07461).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ....faults import FaultLog
from ...sources.files import SourceFolder
from ...sources.records import Record
from ...sources.winograd_records import parse_schema, same_options
from ...sources.xml_records import XmlRecords
from .base import Item, Pair, PairCollector, Recast, RecastRows, SplitRecords, recast_records
from .pronouns import replaced_by_each, sentence_around, with_determiner
from .rules import ENTAILED, NOT_ENTAILED, filled

CORPUS = "wsc"
RULE = "pronoun_replaced"
RULE_OF_WNLI = "as_published"
PRONOUN_AS_CANDIDATE = "a candidate is a pronoun"
COLLECTION = "WSCollection.xml"
_WNLI = {"train": ("train.tsv",), "dev": ("dev.tsv",)}
_PRONOUNS = frozenset({"he", "she", "it", "they", "him", "her", "them"})


def recast_wsc(root: Path, faults: FaultLog) -> RecastRows:
    """Read `WSCollection.xml`, or GLUE's `train.tsv` and `dev.tsv` of WNLI where it is not there.

    A `schema` of the collection has `text` (`txt1`, `pron`, `txt2`), `answers/answer` (two) and
    `correctAnswer`, a letter with or without a full stop; white space is that of the XML layout and is
    collapsed. It has no splits: all of it is a test set. A candidate gets the determiner back that it has in
    the text; schemas with a pronoun as a candidate are filtered, for nothing would be replaced. Twins, which
    follow each other with the same candidates, form a group. WNLI has the columns `index`, `sentence1`,
    `sentence2`, `label` (1 is entailed). Raises SourceError and SourceErrors as the readers do.
    """
    file = SourceFolder(root).find(COLLECTION)
    pairs = PairCollector(CORPUS, RULE, faults)
    if file is None:
        source = SplitRecords(root, _WNLI, faults, expected=tuple(_WNLI))
        recast_records(source, pairs, _wnli_item)
        return pairs.finish(source.files, source.notes)
    records = XmlRecords(file, "schema")
    recast_records(_with_groups(records), pairs, _schema_item)
    return pairs.finish([file.describe(records.rows)])


def _wnli_item(split: str, record: Record) -> Item:
    label = record.label("label", {"1": ENTAILED, "0": NOT_ENTAILED})
    premise, hypothesis = (filled(name, record.text(name)) for name in ("sentence1", "sentence2"))
    return Item(str(record.row), [Pair(premise, hypothesis, label)], rule=RULE_OF_WNLI)


def _with_groups(records: XmlRecords) -> Iterator[tuple[str, Record]]:
    """The schemas with the field `group`: the row of the first one of those that share their candidates."""
    first, shared = 0, frozenset[str]()
    for record in records:
        answers = same_options(record.fields.get("answers/answer", []))
        if answers != shared:
            first, shared = record.row, answers
        record.fields["group"] = str(first)
        yield "test", record


def _schema_item(split: str, record: Record) -> Item | str:
    schema = parse_schema(record)
    text, place, pronoun = schema.text, schema.pronoun_loc, filled("pron", schema.pronoun)
    before = text[:place]
    answers = [with_determiner(before, filled("answer", answer)) for answer in schema.answers]
    if not _PRONOUNS.isdisjoint([answer.lower() for answer in answers]):
        return PRONOUN_AS_CANDIDATE
    start, end = sentence_around(text, place, len(pronoun))
    hypotheses = replaced_by_each(text[start:end], place - start, pronoun, answers)
    return Item(
        str(record.row),
        [
            Pair(text, hypothesis, ENTAILED if number == schema.correct else NOT_ENTAILED)
            for number, hypothesis in enumerate(hypotheses)
        ],
        group_id=record.text("group"),
    )


WSC = Recast(
    phenomenon="coreference",
    corpus=CORPUS,
    files=(COLLECTION, "train.tsv", "dev.tsv"),
    rule=(
        "The hypothesis is the sentence with a candidate in place of its pronoun; the right candidate is "
        "entailed. WNLI pairs are taken as they are."
    ),
    recaster=recast_wsc,
    differs="All of a sentence is kept; the release has hand-written clauses of some.",
)

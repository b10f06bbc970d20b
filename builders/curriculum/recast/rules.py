"""Pure rules that turn items of a corpus into premise-hypothesis pairs.

Source: "Curriculum: A Broad-Coverage Benchmark for Linguistic Phenomena in Natural Language Understanding"
(2204.06283, Section 3): choices that are declarative become hypotheses with the context as premise; phrases
become hypotheses with context and question as premise; a free-response answer gives the entailed hypothesis
and another answer of its type the one that is not entailed (see `substitution`). No rule drops or changes a
character of a text but for what its docstring says; an empty component is refused.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple, TypeVar

from punkt.data import english

Value = TypeVar("Value")

# The labels of `tasks.BINARY_NLI` and `tasks.RECAST_NLI`.
ENTAILED, NOT_ENTAILED = "entailed", "not-entailed"
ENTAILMENT, NEUTRAL, CONTRADICTION = "entailment", "neutral", "contradiction"

SEED = 42
# Words that are no names, whatever their place.
_NO_NAMES = (
    "a an the this that these those my your his her its our their some any no every each both all another "
    "many most several few more other others one two three four five he she it they we you who there here "
    "everyone everybody everything someone somebody something anyone anybody anything nobody nothing people "
    "when if because after before as while since although though in on at by for from of with without to and "
    "but or so"
)
NO_NAMES = frozenset(_NO_NAMES.split())
# What Punkt has seen in lower case in its newspapers: flags of `nltk.tokenize.punkt`.
_SEEN_IN_LOWER_CASE = 16 | 32 | 64
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_APOSTROPHE = re.compile("['’]")
_OPENING = re.compile(r"[\"'“‘(\[]*")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_TRAILING_ZEROS = re.compile(r"(?<=\d)\.0+(?![\d.])")
_FIGURES = re.compile(r"[\d%$£€]")
# A point or a minus sign of a number is part of it; `%`, `$`, `£` and `€` tell amounts from numbers.
_LETTERS_AND_FIGURES = re.compile(r"(?:[^\W_]+|[%$£€]+|(?<=\d)\.(?=\d)|-(?=\d))+")
_LETTERS = re.compile(r"[^\W_]+")
_ARTICLES = frozenset({"a", "an", "the"})
# Normalising takes no letter away but those of articles, so texts that differ in these are never the same.
_IN_NO_ARTICLE = "sorild"


class EmptyComponentError(ValueError):
    """A part of a premise or hypothesis has no text; `component` names it."""

    def __init__(self, component: str, text: str) -> None:
        super().__init__(f"empty {component}")
        self.component, self.text = component, text


class Pair(NamedTuple):
    """One premise and hypothesis with a label's name.

    `answer` is the gold answer that a statement was made from, `substituted` the wrong one that stands in its
    place: both None where nothing was substituted.
    """

    premise: str
    hypothesis: str
    label: str
    answer: str | None = None
    substituted: str | None = None


def filled(component: str, text: str) -> str:
    """`text` without white space around it. Raises EmptyComponentError if nothing is left."""
    content = text.strip()
    if content:
        return content
    raise EmptyComponentError(component, text)


def joined(**parts: str) -> str:
    """Named parts of one text, in order, with a space between them and none around.

    Raises EmptyComponentError for a part without text: a join would hide that it is missing.

    >>> joined(context="Lu sings.", question="Who sings?")
    'Lu sings. Who sings?'
    """
    return " ".join([filled(name, text) for name, text in parts.items()])


def stable_number(*parts: str, seed: int = SEED) -> int:
    """A number below 2**64 that depends on the seed and the parts alone, equal in every process."""
    return int.from_bytes(_hash(parts, seed).digest(), "big")


def turned(items: Sequence[Value], key: str) -> list[Value]:
    """The items from the one on that a hash of `key` names, then those before it."""
    start = stable_number(key) % len(items) if items else 0
    return [*items[start:], *items[:start]]


def fingerprint(*texts: str) -> str:
    """16 hexadecimal digits that depend on the texts alone: a group of rows that share them."""
    return _hash(texts, SEED).hexdigest()


def _hash(parts: tuple[str, ...], seed: int) -> blake2b:
    hashed = _begun(seed).copy()
    text = "\x1f".join(parts)
    hashed.update(text.encode() if text.isascii() else text.encode("utf-8", "surrogatepass"))
    return hashed


@lru_cache(maxsize=8)
def _begun(seed: int) -> blake2b:
    # A copy of a hash that has begun takes a quarter of the time of a new one.
    return blake2b(f"{seed}\x1f".encode(), digest_size=8)


def normalised(text: str) -> str:
    """Text by which two answers are the same: case, articles, punctuation and white space do not count.

    Numbers are compared by value: thousands separators and zeros after the point do not count.

    >>> normalised("The 1,000.0 Days!") == normalised("1000 days")
    True
    """
    lower = text.lower()
    if _FIGURES.search(lower):
        if "," in lower:
            lower = _THOUSANDS.sub("", lower)
        if ".0" in lower:
            lower = _TRAILING_ZEROS.sub("", lower)
        words = _LETTERS_AND_FIGURES.findall(lower)
    else:
        words = _LETTERS.findall(lower)
    return " ".join([word for word in words if word not in _ARTICLES])


def says_the_same(first: str, second: str) -> bool:
    """Whether two texts are equal when `normalised`.

    >>> says_the_same("The 1,000.0 Days!", "1000 days"), says_the_same("a man", "a woman")
    (True, False)
    """
    one, other = first.lower(), second.lower()
    for letter in _IN_NO_ARTICLE:
        if one.count(letter) != other.count(letter):
            return False
    return normalised(first) == normalised(second)


def choices_to_pairs(
    premise: str, choices: Sequence[str], correct: int, *, wrong: int | None = None, key: str = ""
) -> list[Pair]:
    """Every choice as a hypothesis of one premise: the correct one entailed, the others not.

    `wrong` is the number of wrong choices to take (None: all), drawn by a hash of `key` from the sorted
    choices, so that neither their order nor that of the rows matters. When some are drawn, one that says the
    same as the correct choice is never among them. Pairs are in the order of the choices. Raises
    EmptyComponentError for an empty text, ValueError for a `correct` that is no choice.

    >>> [pair.label for pair in choices_to_pairs("It rained.", ["It was dry.", "It was wet."], 1)]
    ['not-entailed', 'entailed']
    """
    premise = filled("premise", premise)
    hypotheses = [choice.strip() for choice in choices]
    if not all(hypotheses):
        raise EmptyComponentError("choice", choices[hypotheses.index("")])
    if not 0 <= correct < len(hypotheses):
        raise ValueError(f"no choice {correct} among {len(hypotheses)}")
    taken: Iterable[int] = range(len(hypotheses))
    if wrong is not None:
        taken = sorted([correct, *_drawn(hypotheses, correct, wrong, key)])
    return [
        Pair(premise, hypotheses[number], ENTAILED if number == correct else NOT_ENTAILED) for number in taken
    ]


def _drawn(hypotheses: Sequence[str], correct: int, wrong: int, key: str) -> list[int]:
    """Numbers of wrong choices: in the order of their texts, from a place that the key gives on."""
    others = [number for number in range(len(hypotheses)) if number != correct]
    others.sort(key=hypotheses.__getitem__)
    drawn: list[int] = []
    for number in turned(others, key):
        if len(drawn) >= wrong:
            break
        if not says_the_same(hypotheses[number], hypotheses[correct]):
            drawn.append(number)
    return drawn


def capitalised(text: str) -> str:
    """`text` with its first letter in upper case; marks that open a quotation or bracket may stand before.

    A first word that has its own casing (`iPhone`, `eBay`) is left as it is.

    >>> capitalised("'the trophy is large"), capitalised("iPhones sell.")
    ("'The trophy is large", 'iPhones sell.')
    """
    if "A" <= text[:1] <= "Z":
        return text
    opening = _OPENING.match(text)
    start = opening.end() if opening else 0
    word = _WORD.match(text, start)
    if word is None or word.group()[1:] != word.group()[1:].lower():
        return text
    return text[:start] + text[start : start + 1].upper() + text[start + 1 :]


def in_mid_sentence(text: str, common: Collection[str] = ()) -> str:
    """`text` as it stands inside a sentence: its first word in lower case if it is no name.

    Determiners, pronouns and the like, plurals that newspapers have in lower case, and the words of `common`
    (given in lower case) are known to be no names; any other first word keeps its capital.

    >>> in_mid_sentence("The sun was rising."), in_mid_sentence("NASA hired Al.")
    ('the sun was rising.', 'NASA hired Al.')
    """
    if "a" <= text[:1] <= "z":
        return text
    word, is_no_name = _first_word(text.partition(" ")[0])
    return text[0].lower() + text[1:] if is_no_name or word in common else text


@lru_cache(maxsize=1 << 14)
def _first_word(opening: str) -> tuple[str | None, bool]:
    """The word that a text begins with, in lower case, and whether it is known to be no name.

    None for a text that begins with something else, or with a word that has its own casing.
    """
    match = _WORD.match(opening)
    if match is None or match.group()[1:] != match.group()[1:].lower():
        return None, False
    word = match.group().lower()
    stem = _APOSTROPHE.split(word)[0]
    plural = stem.endswith("s") and english.ORTHO_CONTEXT.get(stem, 0) & _SEEN_IN_LOWER_CASE
    return word, stem in NO_NAMES or bool(plural)


def without_final_stop(text: str) -> str:
    """`text` without the full stop that ends it, if it does; other marks are kept."""
    return text[:-1].rstrip() if text.endswith(".") and not text.endswith("..") else text


def cause_or_effect(premise: str, choice: str, asks_for: str, *, common: Collection[str] = ()) -> str:
    """One sentence: the premise, "because" (for a cause) or "so" (for an effect), and the choice.

    The final stop of the premise goes; the first word of the choice is put in lower case as
    `in_mid_sentence` does. Raises EmptyComponentError for an empty text.

    >>> cause_or_effect("It was dark.", "The sun had set.", "cause")
    'It was dark because the sun had set.'
    """
    first = without_final_stop(filled("premise", premise))
    second = in_mid_sentence(filled("choice", choice), common)
    return f"{first} because {second}" if asks_for == "cause" else f"{first}, so {second}"


def swapped(pair: Pair, label: str) -> Pair:
    """The pair with premise and hypothesis exchanged, under another label."""
    return pair._replace(premise=pair.hypothesis, hypothesis=pair.premise, label=label)

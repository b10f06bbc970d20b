"""Clauses of a dependency parse: the connective between two of them, their text, their content words."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from benchwright.text.parsing import ParsedSentence

from .base import word_set

CONNECTIVES = word_set(
    "after although and as because before but however if lest or since so than that then though til till "
    "unless until when whenever where whereas wherever whether while yet why how who whom which whose"
)
_MODIFIERS = word_set("as even ever exactly just long only right so such though")
_OPEN_CLASS = ("NN", "VB", "JJ", "RB", "CD", "FW")
_NO_CONTENT = frozenset(("aux", "auxpass", "neg", "mark", "det"))
_WORD = re.compile(r"\w")


def connective_tokens(parsed: ParsedSentence, context_verb: int, query_verb: int) -> list[int]:
    """What joins two clauses: a subordinator or relative word, else a conjunction, else `;` or `:`.

    A subordinator at the beginning of the text counts as well ("Because ..., ..."), and so does the
    conjunction that a second sentence begins with. Empty where there is none.
    """
    context, query = _sides(parsed, context_verb, query_verb)
    for verb in (*query, *context[-1:]):
        marks = [t for t in parsed.children(verb) if _is_mark(parsed, t, verb)]
        if marks:
            return _with_modifiers(parsed, marks[0])
    first, last = sorted((context_verb, query_verb))
    later = query if last == query_verb else context
    for verb in later:
        if parsed.labels[verb] == "conj":
            joining = [
                t for t in parsed.children(parsed.heads[verb]) if t < verb and parsed.labels[t] == "cc"
            ]
            if joining:
                return _with_modifiers(parsed, joining[-1])
    # such as `so`, which parsers hang on the verb after it as an adverb
    for verb in dict.fromkeys((last, *later)):
        for token in parsed.children(verb):
            if first < token < last and parsed.words[token].lower() in CONNECTIVES:
                return _with_modifiers(parsed, token)
    return [t for t in range(first + 1, last) if parsed.words[t] in (";", ":", "--")][-1:]


def path_below(parsed: ParsedSentence, lower: int, upper: int) -> int:
    """The token directly below `upper` on the way up from `lower`, which stands under it."""
    while parsed.heads[lower] != upper:
        lower = parsed.heads[lower]
    return lower


def _sides(parsed: ParsedSentence, first: int, second: int) -> tuple[list[int], list[int]]:
    """For both verbs the tokens from the verb up to, without, where their paths meet."""
    paths = [[verb, *parsed.ancestors(verb)] for verb in (first, second)]
    shared = set(paths[0]) & set(paths[1])
    up, down = ([t for t in path if t not in shared] for path in paths)
    return up, down


def _is_mark(parsed: ParsedSentence, token: int, verb: int) -> bool:
    word = parsed.words[token].lower()
    if parsed.labels[token] == "mark":
        return word != "to"
    return token < verb and word in CONNECTIVES and parsed.tags[token] in ("WRB", "WP", "WDT", "WP$")


def _with_modifiers(parsed: ParsedSentence, token: int) -> list[int]:
    """With what belongs to it: "even though", "so that", "as if"."""
    start, end = token, token + 1
    while start and parsed.words[start - 1].lower() in _MODIFIERS and parsed.tags[start - 1] in ("RB", "IN"):
        start -= 1
    while end < len(parsed) and parsed.labels[end] == "mark":
        end += 1
    return list(range(start, end))


def clause_text(parsed: ParsedSentence, tokens: Sequence[int], shown: Mapping[int, str]) -> str:
    """The text of tokens in order, spaced as in the text, without punctuation at its ends.

    `shown`: what stands there instead of some tokens.
    """
    tokens = list(tokens)
    while tokens and not _WORD.search(parsed.words[tokens[-1]]):
        del tokens[-1]
    while tokens and not _WORD.search(parsed.words[tokens[0]]):
        del tokens[0]
    parts = [shown.get(t, parsed.words[t]) for t in tokens[:1]]
    for before, token in pairwise(tokens):
        glued = before == token - 1 and parsed.end(before) == parsed.offsets[token]
        word = shown.get(token, parsed.words[token])
        parts.append(word if glued or not word else f" {word}")
    return "".join(parts)


def content_tokens(
    parsed: ParsedSentence, entities: Sequence[Collection[int]], excluded: Collection[int]
) -> tuple[str, ...]:
    """Words that tell what a text is about: those of the entities, then all other of open classes.

    Without auxiliaries, and without what is `excluded`; each word once, as first written.
    """
    of_entities = [t for place in entities for t in place]
    ordered = [*of_entities, *(t for t in range(len(parsed)) if t not in of_entities)]
    words: dict[str, str] = {}
    for token in ordered:
        word = parsed.words[token]
        open_class = parsed.tags[token].startswith(_OPEN_CLASS)
        if token in excluded or not _WORD.search(word) or not open_class:
            continue
        if parsed.labels[token] not in _NO_CONTENT and parsed.lemmas[token] != "be":
            words.setdefault(word.lower(), word)
    return tuple(words.values())

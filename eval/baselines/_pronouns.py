"""Rows of pronoun resolution, and texts with a candidate in place of the pronoun."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...errors import SourceError, UsageError
from ...progress import Progress
from .base import EvaluationData, Predictions, Rows

TASK = "pronoun-resolution"
NOTHING_AFTER, OVERLENGTH, TIED = "nothing after the pronoun", "overlength", "tied"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_POSSESSIVES = frozenset(
    ["my", "your", "his", "its", "our", "their", "whose", "hers", "ours", "theirs", "yours"]
)
_OWN_ENDING = re.compile(r"(['’]s|s['’])$", re.IGNORECASE)
# What may follow `her` where it is an object and not a possessive: "saw her at noon", "told her that ...".
_AFTER_OBJECT = _words(
    """
    a about after again all although an and around as at away back because before but by down during for
    from he her him his home how i if in into it its my no not of off on once or our out over she since
    so some that the their them there they this though through to today too under unless until up very
    was we what when where whether which while who why will with would yesterday you your
    """
)
_DETERMINERS = _words(
    """
    the a an my your his her its our their this that these those some any each every another both all
    one two three several many most no
    """
)
_BLANK = "_"
_OTHER_BLANK = re.compile(r"(?<!\w)_(?!\w)")
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’)\]]*\s*[\"'“‘(\[]*$")
_OPENING = re.compile(r"^\s*[\"'“‘(\[]*$")


@dataclass(frozen=True)
class Filled:
    """A text with a candidate in place of the pronoun: the four parts, one after the other, are the text.

    `ending` is the possessive ending that the candidate takes where the pronoun is a possessive.
    """

    before: str
    candidate: str
    ending: str
    after: str

    @property
    def text(self) -> str:
        """The whole text."""
        return f"{self.before}{self.candidate}{self.ending}{self.after}"

    @property
    def prefix(self) -> str:
        """What stands before the words that follow the pronoun."""
        return f"{self.before}{self.candidate}{self.ending}"


def fill(text: str, pronoun: str, pronoun_loc: int, candidate: str) -> Filled:
    """Put a candidate in place of the pronoun that begins at character `pronoun_loc`.

    The candidate stays as the data write it, determiner or none, but for two things. *Case*: it begins with a
    capital where the pronoun does (`I` apart) or where a sentence begins; elsewhere a determiner that it
    begins with is in lower case, so that a candidate copied from the head of a sentence fits in the middle
    of one, and names keep their capital. *Possessives*: for `his`, `its`, `their` and the like, and for `her`
    before a word that does not begin a phrase of its own, it takes an ending ('s) if it has none.
    A text whose pronoun is a blank (`_`) may have further blanks, which get the candidate as well.

    >>> fill("The sniper shot him because he was bad.", "he", 28, "The sniper").text
    'The sniper shot him because the sniper was bad.'
    >>> fill("Ann sat. She met Eve and her dog.", "her", 25, "Eve").text
    "Ann sat. She met Eve and Eve's dog."
    """
    candidate = candidate.strip()
    before, after = text[:pronoun_loc], text[pronoun_loc + len(pronoun) :]
    shown = _cased(candidate, before, pronoun)
    if pronoun == _BLANK:
        before, after = _in_other_blanks(before, "", candidate), _in_other_blanks(after, before, candidate)
    owns = _is_possessive(pronoun, after) and not _OWN_ENDING.search(candidate)
    return Filled(before, shown, "'s" if owns else "", after)


def _cased(candidate: str, before: str, pronoun: str) -> str:
    if _begins_sentence(before) or (pronoun[:1].isupper() and pronoun != "I"):
        return candidate[:1].upper() + candidate[1:]
    if candidate.split(maxsplit=1)[0].lower() in _DETERMINERS:
        return candidate[:1].lower() + candidate[1:]
    return candidate


def _in_other_blanks(part: str, before: str, candidate: str) -> str:
    """A part of a text with the candidate in every blank of its own; `before` stands before the part."""
    pieces = _OTHER_BLANK.split(part)
    filled = pieces[0]
    for piece in pieces[1:]:
        # A blank before this one has a word in it, which is all that the case depends on.
        filled += _cased(candidate, before + filled, _BLANK) + piece
    return filled


def _begins_sentence(before: str) -> bool:
    return bool(_OPENING.match(before) or _SENTENCE_END.search(before))


def _is_possessive(pronoun: str, after: str) -> bool:
    word = pronoun.lower()
    if word != "her":
        return word in _POSSESSIVES
    following = re.match(r"\s+([^\W\d_]+)", after)
    return following is not None and following[1].lower() not in _AFTER_OBJECT


def filled_rows(data: EvaluationData, rows: Rows) -> Iterator[tuple[Filled, ...]]:
    """For every row its text with each candidate in place of the pronoun, in the order of the options.

    Raises SourceError for a row whose pronoun does not stand where it is said to, that has fewer than two
    candidates or more than the task has labels, or whose label is none of them.
    """
    columns = (rows.inputs[name] for name in ("text", "pronoun", "pronoun_loc", "options"))
    most = len(data.task.labels or ())
    for number, (text, pronoun, place, options) in enumerate(zip(*columns, strict=True)):
        fault = partial(
            SourceError, path=f"{data.config}/{data.split}", row=number, fix="rebuild the release"
        )
        if place < 0 or not pronoun or not text.startswith(pronoun, place):
            raise fault("the pronoun does not stand there", field="pronoun_loc", value=place)
        if not 2 <= len(options) <= most or not all(option and option.strip() for option in options):
            raise fault(f"2 to {most} candidates are needed", field="options", value=options)
        if (data.task.labels or ()).index(rows.gold[number]) >= len(options):
            raise fault("no candidate has this place", field=data.task.target, value=rows.gold[number])
        yield tuple(fill(text, pronoun, place, option) for option in options)


def one_candidate(data: EvaluationData) -> str | None:
    """Why a config cannot be asked which candidate is the best, or None if it can."""
    if any(len(options) < 2 for options in data.evaluation.inputs["options"]):
        return "rows have one candidate, of which the label says whether it is right; there is none to choose"
    return None


def best_candidates(
    data: EvaluationData, rows: Rows, candidates: Sequence[int], scores: np.ndarray, left_out: dict[str, int]
) -> Predictions:
    """The candidate of the highest score for every row; of equal ones the first, and the row is flagged.

    `candidates` is the number of candidates of each row, `scores` (float64) has one for each of them, row
    after row; NaN where the text does not fit the model: such rows are left out. `left_out` counts rows that
    were left out before. Raises UsageError where no row is left.
    """
    labels = data.task.labels or ()
    uids, answers, tied = [], [], set()
    ends = np.cumsum(np.array(candidates, dtype=np.int64))
    for uid, end, number in zip(rows.uids, ends.tolist(), candidates, strict=True):
        of_row = scores[end - number : end]
        if np.isnan(of_row).any():
            continue
        uids.append(uid)
        answers.append(labels[int(of_row.argmax())])
        if (of_row == of_row.max()).sum() > 1:
            tied.add(uid)
    if not uids:
        raise UsageError(f"no row of {data.config}/{data.split} fits the model; take one with more positions")
    overlength = len(rows) - len(uids)
    counts = {**left_out, **({OVERLENGTH: overlength} if overlength else {})}
    return Predictions(uids, answers, counts, {TIED: frozenset(tied)} if tied else {})


def by_row(progress: Progress, candidates: Sequence[int]) -> Progress:
    """Progress by candidates, told as rows: each candidate as its share of a row."""
    total, rows = sum(candidates), len(candidates)
    seen = 0

    def report(done: int) -> None:
        nonlocal seen
        before, seen = seen, seen + done
        progress(seen * rows // total - before * rows // total)

    return report

"""The forms in which Winograd-style test sets are published, each as records that give instances.

A form's stream counts in `rows` what could have become an instance; its `instance` turns one record into an
`Instance` or raises SourceError. No white space or case inside a text is changed, but for the layout of XML.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...errors import SourceError
from ...faults import FaultLog
from .files import InputFile
from .records import Record, Records, text_lines
from .winograd_records import BLANK, blanks_of_pair, parse_blank, parse_schema
from .xml_records import XmlRecords

PAIR_COLUMNS = ("index", "sentence1", "sentence2", "label", "candidate0", "candidate1")
MASK = "[MASK]"
_FILL_IN = "fill it in, or take the record out"
_BOOLEANS: dict[str | int, int] = {"true": 1, "false": 0, "True": 1, "False": 0}
_BRACKETED = re.compile(r"\[(he|she|it|they|him|her|them|his|hers|its|their|theirs)\]", re.IGNORECASE)
_PRONOUNS = {
    "male": ("he", "him", "his"),
    "female": ("she", "her", "hers"),
    "neutral": ("they", "them", "their", "theirs"),
}


class Instance(NamedTuple):
    """One instance: `text[pronoun_loc:]` begins with `pronoun` (`_` where the release has a blank).

    `label` is the number of the right option (of one option: 1 if the pronoun stands for it, else 0), None
    where the release does not say. `source_id` and `twins` are the source's own id and what twins share of
    it, None where it has none.
    """

    text: str
    pronoun: str
    pronoun_loc: int
    options: tuple[str, ...]
    label: int | None
    source_id: str | None = None
    twins: str | None = None
    published_text: str | None = None


class Form(ABC):
    """Iterates over the records of one file; afterwards `rows` is their number, bad ones included."""

    options = (2, 2)
    """The least and largest number of options that an instance has."""

    def __init__(self, file: InputFile, faults: FaultLog) -> None:
        self.file, self.faults = file, faults
        self.rows = 0

    @abstractmethod
    def __iter__(self) -> Iterator[Record]:
        """The records; those that cannot be read go to the fault log."""

    @abstractmethod
    def instance(self, record: Record) -> Instance:
        """The instance of a record. Raises SourceError."""


class XmlForm(Form):
    """`WSCollection.xml` and PDP in the same form (two to six answers): see `parse_schema`."""

    options = (2, 6)

    def __iter__(self) -> Iterator[Record]:
        records = XmlRecords(self.file, "schema")
        yield from records
        self.rows = records.rows

    def instance(self, record: Record) -> Instance:
        schema = parse_schema(record)
        return Instance(schema.text, schema.pronoun, schema.pronoun_loc, schema.answers, schema.correct)


class _RecordsForm(Form):
    def __iter__(self) -> Iterator[Record]:
        records = Records(self.file, self.faults)
        yield from records
        self.rows = records.rows


class BlankForm(_RecordsForm):
    """WinoGrande's JSON Lines, and `wsc-273.jsonl` in the same form: see `parse_blank`."""

    def instance(self, record: Record) -> Instance:
        item = parse_blank(record)
        place = item.sentence.index(BLANK)
        return Instance(item.sentence, BLANK, place, item.options, item.correct, item.name, item.twins)


class BracketForm(_RecordsForm):
    """KnowRef's JSON: `sentence_with_pronoun` has the pronoun in brackets; `correct_candidate` is a name."""

    def instance(self, record: Record) -> Instance:
        sentence = record.filled_text("sentence_with_pronoun")
        found = list(_BRACKETED.finditer(sentence))
        if len(found) != 1:
            fix = "put the one pronoun in brackets: [her]"
            raise record.fault(
                "not one pronoun in brackets", "sentence_with_pronoun", value=sentence, fix=fix
            )
        start, end = found[0].span()
        lead = len(sentence[:start]) - len(sentence[:start].lstrip())
        text = (sentence[:start] + found[0][1] + sentence[end:]).strip()
        options = (record.text("candidate0"), record.text("candidate1"))
        label = record.label("correct_candidate", _numbers_of(options))
        return Instance(text, found[0][1], start - lead, options, label)


def _numbers_of(options: Sequence[str]) -> dict[str | int, int]:
    numbers: dict[str | int, int] = {f"candidate_{number}": number for number in range(len(options))}
    for number, option in reversed(list(enumerate(options))):
        numbers[option] = number
    return numbers


class PairForm(Form):
    """The repository's tab-separated form: two rows an instance, a candidate in place of the pronoun in each.

    `sentence1` of a row ends with its candidate. The places of the pronoun are where the two rows differ;
    `published_text` is `sentence1` and `sentence2` of the first row with nothing between them, which is what
    the published search took. A file without any right candidate has no labels.

    Source: METHODS part D.1.
    """

    def __iter__(self) -> Iterator[Record]:
        pairs = list(self._pairs())
        rows = [row for _, pair in pairs for row in pair]
        # Some files have the space between the two parts, in others it has been cut off.
        self._between = "" if any(row["sentence2"].startswith(" ") for row in rows) else " "
        self._labelled = any(row["label"] != "0" for row in rows)
        for record, (first, second) in pairs:
            yield record._replace(fields={"first": first, "second": second})

    def _pairs(self) -> Iterator[tuple[Record, tuple[dict[str, str], dict[str, str]]]]:
        waiting: Record | None = None
        for record in Records(self.file, self.faults):
            try:
                for name in PAIR_COLUMNS:
                    record.text(name)
            except SourceError as fault:
                self.faults.bad(fault)
                self.rows += 1
                continue
            if waiting is not None and waiting.fields["index"] == record.fields["index"]:
                self.rows += 1
                yield waiting, (waiting.fields, record.fields)
                waiting = None
                continue
            if waiting is not None:
                self._alone(waiting)
            waiting = record
        if waiting is not None:
            self._alone(waiting)

    def _alone(self, record: Record) -> None:
        self.rows += 1
        fix = "an instance has two rows of the same index, one for each candidate"
        self.faults.bad(
            record.fault("a row without its second one", "index", value=record.fields["index"], fix=fix)
        )

    def instance(self, record: Record) -> Instance:
        first, second = record.fields["first"], record.fields["second"]
        candidates = (first["candidate0"], first["candidate1"])
        if (second["candidate0"], second["candidate1"]) != candidates:
            fix = "give both rows of an instance the same candidates"
            raise record.fault(
                "candidates differ between the two rows", "candidate0", value=second["candidate0"], fix=fix
            )
        texts = [row["sentence1"] + self._between + row["sentence2"] for row in (first, second)]
        if candidates[0] == candidates[1]:
            place = len(first["sentence1"]) - len(candidates[0])
            text, blanks = texts[0][:place] + BLANK + texts[0][place + len(candidates[0]) :], [place]
        else:
            found = blanks_of_pair(texts[0], texts[1], candidates)
            if found is None:
                fix = "the rows of an instance differ in the candidate alone, candidate0 first"
                raise record.fault(
                    "the two rows are not one text with a candidate each",
                    "sentence1",
                    value=texts[0],
                    fix=fix,
                )
            text, blanks = found
        lead = len(text) - len(text.lstrip())
        published = first["sentence1"] + first["sentence2"]
        label = self._label(record, first["label"], second["label"])
        return Instance(text.strip(), BLANK, blanks[0] - lead, candidates, label, published_text=published)

    def _label(self, record: Record, *labels: str) -> int | None:
        if not self._labelled:
            return None
        if sorted(labels) != ["0", "1"]:
            fix = "one of the two rows of an instance has label 1, the other 0"
            raise record.fault("not one right candidate", "label", value=", ".join(labels), fix=fix)
        return labels.index("1")


class BlockForm(Form):
    """Text in blocks of four lines and an empty one: sentence, pronoun, candidates with commas, right one.

    So are the training and test files of DPR (`train.c.txt`, `test.c.txt`); in `wsc273.txt` and PDP the
    pronoun is `[MASK]`, which becomes `_`. Of several copies of a pronoun in the sentence, the first one is
    meant: so the repository's tab-separated form of DPR has it.
    """

    options = (2, 6)

    def __iter__(self) -> Iterator[Record]:
        start, lines = 1, list[str]()
        for number, line in text_lines(self.file):
            if line.strip():
                start = start if lines else number
                lines.append(line.removesuffix("\n").removesuffix("\r"))
            elif lines:
                yield from self._block(start, lines)
                lines = []
        if lines:
            yield from self._block(start, lines)

    def _block(self, line: int, lines: list[str]) -> Iterator[Record]:
        names = ("sentence", "pronoun", "candidates", "answer")
        record = Record(self.file.shown, self.rows, line, dict(zip(names, lines, strict=False)))
        self.rows += 1
        if len(lines) == len(names):
            yield record
            return
        fix = "give sentence, pronoun, candidates and the right one on a line each, then an empty line"
        self.faults.bad(record.fault("not four lines", value=len(lines), fix=fix))

    def instance(self, record: Record) -> Instance:
        text, pronoun = record.filled_text("sentence").strip(), record.filled_text("pronoun").strip()
        if pronoun == MASK:
            text, pronoun = text.replace(MASK, BLANK), BLANK
        place = _first_word(text, pronoun)
        if place is None:
            fix = "the second line of a block is a word of the first"
            raise record.fault("the pronoun is not in the sentence", "pronoun", value=pronoun, fix=fix)
        options = tuple(option.strip() for option in record.text("candidates").split(","))
        answer = record.text("answer").strip()
        numbers = [number for number, option in enumerate(options) if option.lower() == answer.lower()]
        if not numbers:
            fix = f"known answers: {', '.join(options)}"
            raise record.fault("unknown answer", "answer", value=answer, fix=fix)
        return Instance(text, text[place : place + len(pronoun)], place, options, numbers[0])


def _first_word(text: str, word: str) -> int | None:
    """Where a word stands first in a text, in its own case if it does so at all."""
    pattern = rf"(?<!\w){re.escape(word)}(?!\w)"
    match = re.search(pattern, text) or re.search(pattern, text, re.IGNORECASE)
    return None if match is None else match.start()


class SpanForm(_RecordsForm):
    """WSC of SuperGLUE and CLUEWSC2020: a candidate and a pronoun by their places, and whether they corefer.

    Fields: `text`, `target` (`span1_text`, `span1_index`, `span2_text`, `span2_index`), `label` (true or
    false, as a name or not; SuperGLUE's test set has none), `idx`. Indexes count words between spaces
    (SuperGLUE) or characters (CLUE): what fits more pronouns of the file is meant. The one option is the
    candidate. Records of one text and pronoun form a group.
    """

    options = (1, 1)

    def __iter__(self) -> Iterator[Record]:
        records = [_with_target(record) for record in super().__iter__()]
        places = [_pronoun_place(record) for record in records]
        by_words, by_characters = (
            sum(place is not None and rule(*place) is not None for place in places)
            for rule in (_by_words, _by_characters)
        )
        self._place = _by_words if by_words >= by_characters else _by_characters
        yield from records

    def instance(self, record: Record) -> Instance:
        text = record.filled_text("text")
        candidate, pronoun = (record.filled_text(f"target.{name}") for name in ("span1_text", "span2_text"))
        index = record.fields.get("target.span2_index")
        if type(index) is not int:
            raise record.fault("wrong type", "target.span2_index", value=index, fix="give a whole number")
        place = self._place(text, pronoun, index)
        if place is None:
            unit = "words between spaces" if self._place is _by_words else "characters of the unchanged text"
            raise record.fault(
                "the pronoun does not stand at its index",
                "target.span2_index",
                value=index,
                fix=f"count {unit} from 0",
            )
        lead = len(text) - len(text.lstrip())
        label = None
        if record.fields.get("label") is not None:
            given = record.fields["label"]
            label = int(given) if type(given) is bool else record.label("label", _BOOLEANS)
        name = record.fields.get("idx")
        source_id = str(name) if type(name) is int else None
        twins = f"{place}:{text}"
        return Instance(text.strip(), pronoun, place - lead, (candidate,), label, source_id, twins)


def _with_target(record: Record) -> Record:
    """The record with the fields of `target` beside its own, under names that faults show."""
    target = record.fields.get("target")
    inner = target.items() if isinstance(target, dict) else ()
    return record._replace(fields=record.fields | {f"target.{name}": value for name, value in inner})


def _pronoun_place(record: Record) -> tuple[str, str, int] | None:
    """Text, pronoun and index of a record, None where one of them is missing or of another type."""
    fields = record.fields
    text, word, index = (fields.get(name) for name in ("text", "target.span2_text", "target.span2_index"))
    if type(text) is str and type(word) is str and type(index) is int:
        return text, word, index
    return None


def _by_characters(text: str, word: str, index: int) -> int | None:
    return index if index >= 0 and word and text.startswith(word, index) else None


def _by_words(text: str, word: str, index: int) -> int | None:
    """The offset of word `index` of a text cut at single spaces, after marks that may open it."""
    words = text.split(" ")
    if not word or not 0 <= index < len(words):
        return None
    start = sum(map(len, words[:index])) + index
    inside = words[index].find(word.split(" ")[0])
    if inside < 0 or any(character.isalnum() for character in words[index][:inside]):
        return None
    place = start + inside
    return place if text.startswith(word, place) else None


class GenderForm(_RecordsForm):
    """WinoGender's `all_sentences.tsv`: `sentid` (`technician.customer.1.male.txt`) and `sentence`.

    The id has the two options (occupation, then participant or "someone"), the number of the right one and
    the gender of the pronoun, which is the only one of its gender in the sentence. Twins are the two
    sentences of the same options and gender.
    """

    def instance(self, record: Record) -> Instance:
        name = record.filled_text("sentid")
        occupation, participant, answer, gender = [*name.removesuffix(".txt").split("."), *[""] * 4][:4]
        if name.count(".") not in (3, 4) or answer not in ("0", "1") or gender not in _PRONOUNS:
            fix = "as in technician.customer.1.male.txt"
            raise record.fault("not an id of WinoGender", "sentid", value=name, fix=fix)
        text = record.filled_text("sentence").strip()
        pattern = rf"\b(?:{'|'.join(_PRONOUNS[gender])})\b"
        found = list(re.finditer(pattern, text, re.IGNORECASE))
        if len(found) != 1:
            fix = f"the sentence has one of {', '.join(_PRONOUNS[gender])}"
            raise record.fault("not one pronoun of the gender", "sentence", value=text, fix=fix)
        twins = f"{occupation}.{participant}.{gender}"
        options = (occupation, participant)
        source_id = name.removesuffix(".txt")
        return Instance(text, found[0].group(), found[0].start(), options, int(answer), source_id, twins)


FORMS: dict[str, type[Form]] = {
    "xml": XmlForm,
    "bracket": BracketForm,
    "span": SpanForm,
    "gender": GenderForm,
    "block": BlockForm,
    "blank": BlankForm,
    "pair": PairForm,
    "masked": BlockForm,
}
"""By name; of copies of one set, the first of these counts: forms with a pronoun come before those without.

`masked` are blocks whose pronoun is `[MASK]`.
"""


def check_instance(record: Record, found: Instance, sizes: tuple[int, int]) -> None:
    """Raise SourceError unless an instance is whole.

    The text is not empty and the pronoun stands at its place; the options are as many as they must be, none
    of them empty; the label is the number of one (0 or 1 where there is one option).
    """
    if not found.text.strip():
        raise record.fault("empty text", "text", value=found.text, fix=_FILL_IN)
    start, end = found.pronoun_loc, found.pronoun_loc + len(found.pronoun)
    if not found.pronoun.strip():
        raise record.fault("empty pronoun", "pronoun", value=found.pronoun, fix=_FILL_IN)
    if start < 0 or found.text[start:end] != found.pronoun:
        raise record.fault(
            "the pronoun does not stand at its place", "pronoun", value=found.pronoun, fix="repair the record"
        )
    least, most = sizes
    if not least <= len(found.options) <= most:
        wanted = f"{least}" if least == most else f"{least} to {most}"
        raise record.fault("wrong number of options", value=len(found.options), fix=f"give {wanted}")
    for option in found.options:
        if not option.strip():
            raise record.fault("empty option", value=option, fix=_FILL_IN)
    if found.label is not None and not 0 <= found.label < max(2, len(found.options)):
        raise record.fault("label out of range", "label", value=found.label, fix="give the right option")

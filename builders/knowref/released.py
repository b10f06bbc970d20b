"""The released KnowRef-60k: hashes of sentences and new names, put together with the user's own sentences.

Source: "An Analysis of Dataset Overlap on Winograd-Style Tasks" (2011.04767) and its repository, whose code
looks each hash up among the problems that were mined from the same dumps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TypeVar

from ...errors import SourceError
from ...faults import FaultLog
from ...text.words import sentence_split, word_tokenize
from ...wording import plural
from ..base import SourceFile
from ..corpora import open_corpus
from ..sources.files import InputFile, SourceFolder
from ..sources.records import Record, Records, read_json_list
from ._stages import FunnelStage
from .cleaning import clean_comment, fault_of_shape
from .order import order_is_sure
from .persons import Problem, SentenceParser, Span, find_problem, sentence_hash
from .swapping import replaced
from .words import GENDER_OF_PRONOUN, PRONOUNS

PARTS = ("train", "dev", "val", "test")
"""The words for parts in names of files, in the order of rows. `dev` is the part to train on."""
NOT_FOUND = "sentence is not in the dumps"
UNCLEAR = "candidates of the sentence are not clear"

_LABELS: Mapping[str | int, int] = {"candidate_0": 0, "candidate_1": 1}
_STRENGTHS: Mapping[str | int, int] = {**{str(n): n for n in range(1, 10)}, **{n: n for n in range(1, 10)}}
_HASH = re.compile(r"[0-9a-f]{56}")
_DUMP = re.compile(r"(?:^|/)RC_[^/]*$|\.(?:bz2|zst)$")
_BLOCK = 256


_Row = TypeVar("_Row")


@dataclass(frozen=True)
class KnowRefFiles:
    """The files of a source by what they hold. `named` are hashed and `texts` readable rows, by part."""

    named: Mapping[str, InputFile]
    texts: Mapping[str, InputFile]
    problems: tuple[InputFile, ...]
    dumps: tuple[InputFile, ...]
    funnel: InputFile | None


@dataclass(frozen=True)
class KnowRefRow:
    """One row: the text with new names, its pronoun (`pronoun_loc` is a character) and the candidates."""

    part: str
    row: int
    text: str
    pronoun: str
    pronoun_loc: int
    options: tuple[str, str]
    label: int
    strength: int
    sha224: str

    @property
    def gender(self) -> str:
        return GENDER_OF_PRONOUN[self.pronoun]


@dataclass(frozen=True)
class KnowRefRows:
    """All rows in the order of PARTS and files; `read` counts records met."""

    rows: list[KnowRefRow]
    files: tuple[SourceFile, ...]
    read: int
    notes: tuple[str, ...]
    funnel: tuple[FunnelStage, ...] = ()


def find_files(root: SourceFolder) -> KnowRefFiles:
    """Sort the files of a source by their names.

    `KnowRef-60K_PART_hashed.json` has hashes, `KnowRef-60K_PART.json` texts (PART: train, dev, val or test);
    `problems.jsonl` and `wp_pronoun_owndump_final_reddit.json` (the published code's) have mined problems;
    `RC_*`, `*.bz2` and `*.zst` are Reddit dumps. Raises SourceError for two files of one part.
    """
    named: dict[str, InputFile] = {}
    texts: dict[str, InputFile] = {}
    problems, dumps = [], []
    funnel = None
    for file in root.files:
        name = PurePosixPath(file.plain_name).name
        if _DUMP.search(name):
            dumps.append(file)
        elif name == "funnel.json":
            funnel = file
        elif name == "problems.jsonl" or "owndump_final" in name:
            problems.append(file)
        elif file.format in ("json", "jsonl") and (part := _part_of(name)) is not None:
            kind = named if "hashed" in name else texts
            if part in kind:
                raise SourceError(
                    f"two files of part {part}", path=root.root, value=file.name, fix="keep one of them"
                )
            kind[part] = file
    return KnowRefFiles(named, texts, tuple(problems), tuple(dumps), funnel)


def _part_of(name: str) -> str | None:
    words = re.split(r"[^a-z]+", name.lower())
    return next((part for part in PARTS if part in words), None)


@dataclass(frozen=True)
class _Named:
    """A released record: the hash of its sentence and the new names by number."""

    part: str
    row: int
    sha224: str
    options: tuple[str, str]
    label: int
    strength: int
    reversed: bool


@dataclass
class _Originals:
    """Sentences that were found again, by hash; `unclear` are those whose candidates were not found."""

    wanted: frozenset[str]
    found: dict[str, tuple[str, tuple[str, str], int, str]] = field(default_factory=dict)
    unclear: dict[str, str] = field(default_factory=dict)
    unsure: set[str] = field(default_factory=set)

    def missing(self, sha224: str) -> bool:
        return sha224 in self.wanted and sha224 not in self.found and sha224 not in self.unclear

    def add(self, sentence: str, names: tuple[str, str], start: int, pronoun: str) -> None:
        self.found[sentence_hash(sentence)] = sentence, names, start, pronoun


def read_hashed(files: KnowRefFiles, faults: FaultLog, parser: SentenceParser | None) -> KnowRefRows:
    """The rows of the hashed files whose sentences are among the problems or in the dumps.

    A sentence of a dump is cleaned as the published stage 1 does and looked up by the hash of its NLTK
    tokens; its candidates are those of the published stage 4, whether or not the parser takes their names for
    persons'. Names are put in by plain replacement, candidate 0 first. Sentences that are not found and those
    whose candidates are not are filtered. `parser` is needed for dumps only. Raises SourceError.
    """
    released, described, read = _rows_of(files.named, _named, faults)
    originals = _Originals(frozenset(record.sha224 for record in released))
    for file in files.problems:
        described.append(file.describe(_from_problems(file, originals, faults)))
    for file in files.dumps:
        described.append(file.describe(_from_dump(file, originals, parser)))
    faults.finish()
    rows = []
    for record in released:
        if record.sha224 in originals.found:
            row = _named_row(record, *originals.found[record.sha224])
            if row is not None:
                rows.append(row)
                continue
        known = record.sha224 in originals.found or record.sha224 in originals.unclear
        faults.filter(UNCLEAR if known else NOT_FOUND)
    return KnowRefRows(rows, tuple(described), read, _notes(released, rows, originals))


def read_texts(files: KnowRefFiles, faults: FaultLog) -> KnowRefRows:
    """The rows of files with texts: those that the published code puts together, or of `import_labels`.

    The pronoun is the first one of the text unless the record says where it stands. Raises SourceError.
    """
    rows, described, read = _rows_of(files.texts, _text_row, faults)
    faults.finish()
    return KnowRefRows(rows, tuple(described), read, ())


def _rows_of(
    files: Mapping[str, InputFile], row_of: Callable[[Record, str], _Row], faults: FaultLog
) -> tuple[list[_Row], list[SourceFile], int]:
    """A row of every good record of the files by part; what the files are, and how many records were read."""
    rows: list[_Row] = []
    described: list[SourceFile] = []
    read = 0
    for part in PARTS:
        if (file := files.get(part)) is None:
            continue
        records = Records(file, faults)
        for record in records:
            try:
                rows.append(row_of(record, part))
            except SourceError as fault:
                faults.bad(fault)
        described.append(file.describe(records.rows))
        read += records.rows
    return rows, described, read


def _named(record: Record, part: str) -> _Named:
    sha224 = record.text("original_sentence_hashed")
    if not _HASH.fullmatch(sha224):
        raise record.fault(
            "no SHA-224 hash", "original_sentence_hashed", value=sha224, fix="give 56 hexadecimal digits"
        )
    return _Named(
        part=part,
        row=record.row,
        sha224=sha224,
        options=_options(record),
        label=record.label("correct_candidate", _LABELS),
        strength=record.label("annotation_strength", _STRENGTHS),
        reversed=record.fields.get("reversed") is True,
    )


def _options(record: Record) -> tuple[str, str]:
    options = record.filled_text("candidate0"), record.filled_text("candidate1")
    if options[0] == options[1]:
        raise record.fault("both candidates have one name", "candidate1", value=options[1], fix="rename one")
    return options


def _named_row(
    record: _Named, sentence: str, names: tuple[str, str], start: int, pronoun: str
) -> KnowRefRow | None:
    """The row of a released record; None where replacing loses a candidate or the pronoun."""
    new = (record.options[1], record.options[0]) if record.reversed else record.options
    text = replaced(sentence, names, new)
    location = len(replaced(sentence[:start], names, new))
    if not text.startswith(pronoun, location) or any(name not in text for name in new):
        return None
    return KnowRefRow(
        record.part,
        record.row,
        text,
        pronoun,
        location,
        record.options,
        record.label,
        record.strength,
        record.sha224,
    )


def _text_row(record: Record, part: str) -> KnowRefRow:
    text, options = record.filled_text("swapped_sentence"), _options(record)
    for name, option in zip(("candidate0", "candidate1"), options, strict=True):
        if option not in text:
            raise record.fault("candidate is not in the sentence", name, value=option, fix="repair the name")
    if "pronoun_loc" in record.fields:
        pronoun, location = record.text("pronoun"), record.fields["pronoun_loc"]
    else:
        location, pronoun = _first_pronoun(text)
    if (
        pronoun not in GENDER_OF_PRONOUN
        or type(location) is not int
        or location < 0
        or not text.startswith(pronoun, location)
    ):
        raise record.fault(
            "no pronoun of a person", "swapped_sentence", value=text, fix="take the record out"
        )
    original = record.optional_text("original_sentence")
    stated = record.optional_text("sentence_sha224")
    return KnowRefRow(
        part,
        record.row,
        text,
        pronoun,
        location,
        options,
        record.label("correct_candidate", _LABELS),
        record.label("annotation_strength", _STRENGTHS),
        stated or sentence_hash(text if original is None else original),
    )


def _first_pronoun(text: str) -> tuple[int, str]:
    """Where the first pronoun of a tokenised text begins, and the pronoun; (-1, "") without one."""
    start = 0
    for word in text.split(" "):
        if word in PRONOUNS:
            return start, word
        start += len(word) + 1
    return -1, ""


def _from_problems(file: InputFile, originals: _Originals, faults: FaultLog) -> int:
    """Look all wanted sentences up among mined problems; the number of problems met."""
    records = Records(file, faults)
    for record in records:
        try:
            sentence = _only(record, "original_sentence")
            if not originals.missing(sentence_hash(sentence)):
                continue
            names = _only(record, "candidate0"), _only(record, "candidate1")
            # The marks around the pronoun are all that the sentence lacks.
            marked = _only(record, "sentence_with_pronoun")
            start = next((i for i, (a, b) in enumerate(zip(sentence, marked, strict=False)) if a != b), -1)
            pronoun = marked[start + 1 :].partition("]")[0] if start >= 0 else ""
            if pronoun not in GENDER_OF_PRONOUN or not sentence.startswith(pronoun, start):
                raise record.fault(
                    "no marked pronoun", "sentence_with_pronoun", value=marked, fix="mine again"
                )
            originals.add(sentence, names, start, pronoun)
        except SourceError as fault:
            faults.bad(fault)
    return records.rows


def _only(record: Record, name: str) -> str:
    """A text, which the published code writes as a list of one."""
    value = record.fields.get(name)
    if isinstance(value, list) and len(value) == 1:
        return Record(record.path, record.row, record.line, {name: value[0]}).filled_text(name)
    return record.filled_text(name)


def _from_dump(file: InputFile, originals: _Originals, parser: SentenceParser | None) -> int:
    """Look all wanted sentences up in a dump, and parse those found; their number."""
    if file.member is not None:
        raise SourceError("a dump inside an archive", path=file.shown, fix="unpack the archive")
    hits: list[str] = []
    for sentence in _sentences(file):
        if originals.missing(sha224 := sentence_hash(sentence)):
            originals.unclear[sha224] = "not parsed"
            hits.append(sentence)
    if hits and parser is None:
        raise SourceError("dumps need a parser", path=file.shown, fix="give one")
    for start in range(0, len(hits), _BLOCK):
        block = hits[start : start + _BLOCK]
        assert parser is not None
        for sentence, parsed in zip(block, parser.parse(block), strict=True):
            problem = find_problem(parsed, "published", persons=False)
            sha224 = sentence_hash(sentence)
            if isinstance(problem, str):
                originals.unclear[sha224] = problem
                continue
            del originals.unclear[sha224]
            originals.add(sentence, problem.names, problem.pronoun[0], problem.text(problem.pronoun))
            if not order_is_sure(*(_tokens(problem, span) for span in problem.persons)):
                originals.unsure.add(sha224)
    return len(hits)


def _sentences(file: InputFile) -> Iterator[str]:
    """The tokenised sentences of a dump that the published stage 1 looks at."""
    for document in open_corpus(file.path, form="reddit", on_bad_row="drop"):
        text, reason = clean_comment(document.text, "published")
        if reason is None:
            for part in sentence_split(text):
                sentence = part.strip()
                if fault_of_shape(sentence, "published") is None:
                    yield " ".join(word_tokenize(sentence))


def _tokens(problem: Problem, span: Span) -> Span:
    start, end = (problem.sentence[:character].count(" ") for character in span)
    return start, end + 1


def _notes(released: Sequence[_Named], rows: Sequence[KnowRefRow], originals: _Originals) -> tuple[str, ...]:
    notes = [f"{len(rows)} of {len(released)} released rows were put together"]
    unsure = sum(row.sha224 in originals.unsure for row in rows)
    if unsure:
        notes.append(
            f"{plural(unsure, 'row')}: which candidate is number 0 depends on how many noun phrases the "
            "published parser saw"
        )
    return tuple(notes)


def read_funnel(file: InputFile) -> tuple[FunnelStage, ...]:
    """The stages of mining and labelling that `import_labels` counted. Raises SourceError."""
    try:
        return tuple(FunnelStage.from_json(stage) for stage in read_json_list(file))
    except (KeyError, TypeError):
        raise SourceError("no funnel of mining", path=file.shown, fix="take the file out") from None

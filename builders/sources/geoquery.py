"""GeoQuery in its published format: geography-multilingual.xml and geobase.

Sources: "Learning to Parse Database Queries Using Inductive Logic Programming" (Zelle and Mooney, 1996) for
the questions; "Improving Text-to-SQL Evaluation Methodology" (1806.09029), whose data release holds the XML
file; "Compositional Generalization and Natural Language Variation" (2010.12725) for what a parser reads and
writes. Of each example only the English question and the FunQL program are read. XML entities are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np
import pyarrow as pa

from ...errors import SourceError, show
from ...faults import FaultLog
from ...text.funql import Term, parse_funql, spaced
from ..base import SourceFile
from .files import InputFile, SourceFolder
from .geobase import Place, read_geobase
from .published_splits import read_published_splits
from .records import Record, cut_short, text_lines

CORPUS_FILE = "geography-multilingual.xml"
# The name that GeoQuery gives to the file, and that of the release with the XML file.
GEOBASE_FILES = ("geobase", "geography-db.txt")
PUBLISHED_EXAMPLES = 880
PUBLISHED_SPLITS = ("standard", "template_1", "tmcd_1", "length_1")

EXAMPLES_SCHEMA = pa.schema(
    [
        ("uid", pa.string()),
        ("question", pa.string()),
        ("query", pa.string()),
        ("source", pa.string()),
        ("target", pa.string()),
        (
            "entities",
            pa.list_(
                pa.struct([("placeholder", pa.string()), ("value", pa.string()), ("type", pa.string())])
            ),
        ),
        ("source_split", pa.string()),
        ("source_index", pa.int32()),
    ]
)

# The elements that are read, and the language that they have to be in.
_FIELDS = {"nl": "en", "mrl": "geo-funql"}

_ENTITIES = frozenset({"cityid", "countryid", "placeid", "riverid", "stateid"})
_KINDS = frozenset({"capital", "city", "lake", "major", "mountain", "place", "river", "state"})
_SETS = frozenset({"exclude", "intersection"})
# Number of arguments that a function has when what it nests is spread out.
_SPREAD = {"largest_one": 2, "smallest_one": 2, "most": 3, "fewest": 3}
_MEASURES = frozenset({"count", "highest", "largest", "longest", "lowest", "shortest", "smallest", "sum"})
_RELATIONS = frozenset(
    {"area_1", "capital_1", "capital_2", "density_1", "elevation_1", "elevation_2", "high_point_1"}
    | {"high_point_2", "higher_2", "len", "loc_1", "loc_2", "longer", "low_point_1", "low_point_2", "lower_2"}
    | {"next_to_1", "next_to_2", "population_1", "size", "traverse_1", "traverse_2"}
)
_FUNCTIONS = _ENTITIES | _KINDS | _SETS | _SPREAD.keys() | _MEASURES | _RELATIONS | {"answer"}
_SEA_LEVEL = "0"
_ENTITY = re.compile(rf"\b(?:{'|'.join(sorted(_ENTITIES))})\([^()]*\)")


@dataclass(frozen=True)
class GeoQuerySource:
    """Examples in the order of their ids, the published divisions of them, and what was read.

    `published_splits` as in `splitting.base.SplitRows`.
    """

    examples: pa.Table
    published_splits: Mapping[str, np.ndarray]
    files: tuple[SourceFile, ...]
    read: int
    notes: tuple[str, ...]


def read_geoquery(root: Path, faults: FaultLog) -> GeoQuerySource:
    """Read a folder (or zip archive) with geography-multilingual.xml, geobase and perhaps nqg_splits.

    Examples with ids from 880 on are filtered: they are no part of the published 880. An example whose id is
    no number or stands twice, that lacks an English question or a FunQL program, or whose program uses other
    functions than GeoQuery's, is a fault. Raises SourceError for files that are missing or cannot be read.
    """
    folder = SourceFolder(root)
    corpus, geobase = folder.find(CORPUS_FILE), _first(folder, GEOBASE_FILES)
    if corpus is None or geobase is None:
        missing = CORPUS_FILE if corpus is None else GEOBASE_FILES[0]
        raise SourceError(
            f"no {missing} (plain or .gz)", path=root, fix="give the folder that holds GeoQuery's files"
        )
    facts = read_geobase(geobase)
    places = {place.unquoted: place for place in facts.places}
    read, known, rows = 0, set[int](), []
    for record in _records(corpus):
        read += 1
        try:
            number = _number(record, known)
            if number < PUBLISHED_EXAMPLES:
                rows.append(_example(record, number, places))
            else:
                faults.filter(f"beyond the {PUBLISHED_EXAMPLES} examples")
        except SourceError as fault:
            faults.bad(fault)
    faults.finish()
    rows.sort(key=lambda row: row["source_index"])
    numbers = [row["source_index"] for row in rows]
    published = read_published_splits(
        folder, PUBLISHED_SPLITS, numbers, {number for number in known if number < PUBLISHED_EXAMPLES}
    )
    return GeoQuerySource(
        pa.Table.from_pylist(rows, schema=EXAMPLES_SCHEMA),
        published.splits,
        (corpus.describe(read), geobase.describe(facts.facts), *published.files),
        read,
        published.notes,
    )


def parser_source(question: str) -> str:
    """The question lower-cased, without punctuation at its end and without the space before an apostrophe."""
    return question.lower().rstrip("?").rstrip(".").rstrip().replace(" '", "")


def parser_target(query: str) -> str:
    """The program without quotation marks and spaces, its nested functions spread out.

    A kind of place becomes a set (`city(all)` is `city`, `city(x)` is `intersection(city,x)`), and functions
    of two or three arguments that nest all but the last (`most(state(loc_1(x)))`) get them side by side.
    Raises ValueError, with the reason, for a program that is no FunQL of GeoQuery.

    >>> parser_target("answer(largest_one(population_1(city(loc_2(stateid('ohio'))))))")
    'answer(largest_one(population_1,intersection(city,loc_2(stateid(ohio)))))'
    """
    try:
        return _spread(parse_funql(query.replace("'", "")))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def mask_entities(
    source: str, target: str, places: Mapping[str, Place]
) -> tuple[str, str, list[dict[str, str]]]:
    """Replace places in a question and its program by `m0`, `m1`, ...: question, program, what was replaced.

    `places` are found by their identifiers without quotation marks. The place with the longest identifier
    comes first, equally long ones in the order of `places`; it is looked for in the question under its
    longest name first, and only whole words count. What the question does not name stays in the program.
    """
    named = set(_ENTITY.findall(target))
    # The order of all places, not that in the program, decides between identifiers of one length.
    found = sorted(
        (place for text, place in places.items() if text in named), key=lambda place: -len(place.identifier)
    )
    entities: list[dict[str, str]] = []
    words = source.split(" ")
    for place in found:
        placeholder = f"m{len(entities)}"
        for alias in sorted(place.aliases, key=lambda alias: -len(alias)):
            at = _position(words, alias.split(" "))
            if at is not None:
                words[at : at + alias.count(" ") + 1] = [placeholder]
                target = target.replace(place.unquoted, placeholder)
                entities.append({"placeholder": placeholder, "value": place.identifier, "type": place.kind})
                break
    return " ".join(words), target, entities


def _example(record: Record, number: int, places: Mapping[str, Place]) -> dict[str, Any]:
    question, query = (record.filled_text(name).strip() for name in ("nl", "mrl"))
    try:
        nested = parser_target(query)
    except ValueError as error:
        raise record.fault("no FunQL of GeoQuery", "mrl", value=query, fix=f"repair it: {error}") from None
    source, target, entities = mask_entities(parser_source(question), nested, places)
    return {
        "uid": f"geoquery:all:{number}",
        "question": question,
        "query": query,
        "source": source,
        "target": spaced(target),
        "entities": entities,
        "source_split": "all",
        "source_index": number,
    }


def _number(record: Record, known: set[int]) -> int:
    """The id of an example, added to those that are `known`."""
    text = record.text("id")
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise record.fault("id is no number", "id", value=text, fix="number the examples from 0")
    number = int(text)
    if number in known:
        raise record.fault("id stands twice", "id", value=text, fix="keep one of the two examples")
    known.add(number)
    return number


def _spread(term: Term) -> str:
    name, arguments = term.name, term.arguments
    if name == _SEA_LEVEL and not arguments:
        return name
    if name in _ENTITIES and arguments:
        return f"{name}({','.join(argument.name for argument in arguments)})"
    expected = 2 if name in _SETS else 1
    if name not in _FUNCTIONS or len(arguments) != expected:
        raise ValueError(f"no function {show(name)} with {len(arguments)} arguments")
    if name in _KINDS:
        inner = arguments[0]
        all_of_it = inner.name == "all" and not inner.arguments
        return name if all_of_it else f"intersection({name},{_spread(inner)})"
    side_by_side = []
    for _ in range(_SPREAD.get(name, 1) - 1):
        (nested,) = arguments
        if len(nested.arguments) != 1:
            raise ValueError(f"{name} has {show(nested.name)} with {len(nested.arguments)} arguments")
        side_by_side.append(nested.name)
        arguments = nested.arguments
    return f"{name}({','.join([*side_by_side, *map(_spread, arguments)])})"


def _position(words: Sequence[str], wanted: Sequence[str]) -> int | None:
    """Where `wanted` stands in `words` for the first time."""
    width = len(wanted)
    starts = range(len(words) - width + 1)
    return next((start for start in starts if words[start : start + width] == wanted), None)


def _first(folder: SourceFolder, names: Sequence[str]) -> InputFile | None:
    return next((file for name in names if (file := folder.find(name)) is not None), None)


class _Examples:
    """Collects the examples of an XML file from the events of a parser."""

    def __init__(self, file: InputFile) -> None:
        self.file = file
        self.found: list[Record] = []
        self.read = 0
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.EntityDeclHandler = self._refuse_entity
        self.parser.StartDoctypeDeclHandler = self._refuse_other_file
        self._fields: dict[str, Any] | None = None
        self._line = 0
        self._tag: str | None = None
        self._text: list[str] = []

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "example":
            self._fields = {"id": attributes["id"]} if "id" in attributes else {}
            self._line = self.parser.CurrentLineNumber
        elif (
            self._fields is not None
            and _FIELDS.get(tag) == attributes.get("lang", "")
            and tag not in self._fields
        ):
            self._tag, self._text = tag, []

    def _characters(self, text: str) -> None:
        if self._tag is not None:
            self._text.append(text)

    def _end(self, tag: str) -> None:
        if self._fields is None:
            return
        if tag == "example":
            self.found.append(Record(self.file.shown, self.read, self._line, self._fields))
            self.read += 1
            self._fields = self._tag = None
        elif tag == self._tag:
            self._fields[tag] = "".join(self._text)
            self._tag = None

    def _refuse_entity(self, name: str, *_: Any) -> None:
        raise self._fault("the file declares XML entities", value=name)

    def _refuse_other_file(self, name: str, system: str | None, public: str | None, _: int) -> None:
        if system is not None or public is not None:
            raise self._fault("the file refers to another one for its document type", value=system)

    def _fault(self, reason: str, value: object) -> SourceError:
        fix = "get the corpus from its publisher: the published file does not"
        return SourceError(
            reason, path=self.file.shown, line=self.parser.CurrentLineNumber, value=value, fix=fix
        )


def _records(file: InputFile) -> Iterator[Record]:
    """The examples with the fields id, nl (English) and mrl (FunQL), as far as they have them."""
    examples = _Examples(file)
    parser = examples.parser
    try:
        for _, text in text_lines(file):
            parser.Parse(text, False)
            yield from examples.found
            examples.found.clear()
    except expat.ExpatError as error:
        raise SourceError(
            f"not valid XML ({expat.ErrorString(error.code)})",
            path=file.shown,
            line=error.lineno,
            fix="repair it or download it again",
        ) from None
    try:
        parser.Parse("", True)
    except expat.ExpatError as error:
        raise cut_short(file, error.lineno) from None
    if not examples.read:
        raise SourceError("no examples", path=file.shown, fix="give GeoQuery's XML file")

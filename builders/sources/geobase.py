"""The places of Geobase, the Prolog facts that GeoQuery's questions are about.

Source: "Learning to Parse Database Queries Using Inductive Logic Programming" (Zelle and Mooney, 1996). Of
each fact only the quoted names are read, and only of facts about places that questions name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ...errors import SourceError
from .files import InputFile
from .records import text_lines

# How many quoted names of each fact are needed; the ones from which places are made stand in `_places`.
_QUOTED_NAMES = {"state": 7, "city": 3, "river": 1, "mountain": 3, "highlow": 4}
_FACT = re.compile(rf"\s*({'|'.join(_QUOTED_NAMES)})\s*\(")
_QUOTED = re.compile(r"'((?:[^']|'')*)'")

# Questions call the only country by all these names; Geobase has no fact about it.
_COUNTRY = ("usa", ("america", "continental us", "united states", "us", "usa", "country"))
# A question names this city, which has no fact either.
_CITY_WITHOUT_FACT = ("springfield", "south dakota", "sd")


@dataclass(frozen=True)
class Place:
    """A place that programs name. `kind` is city, state, river, place or country.

    `identifier` is the FunQL term for it, `cityid('austin','tx')`; `aliases` are what questions call it.
    """

    kind: str
    identifier: str
    aliases: tuple[str, ...]

    @property
    def unquoted(self) -> str:
        """The identifier as it stands in a program without quotation marks."""
        return self.identifier.replace("'", "")


@dataclass(frozen=True)
class Geobase:
    """All places in the order of the facts that first name them, and the number of facts read."""

    places: tuple[Place, ...]
    facts: int


def read_geobase(file: InputFile) -> Geobase:
    """Read the facts, one a line. A city is a place with its state, and one without.

    Raises SourceError for a fact with too few quoted names, and for a file without any fact about a place.
    """
    places: dict[str, Place] = {}
    facts = 0
    for line, text in text_lines(file):
        fact = _FACT.match(text)
        if fact is None:
            continue
        predicate = fact.group(1)
        names = [name.replace("''", "'") for name in _QUOTED.findall(text)]
        if len(names) < _QUOTED_NAMES[predicate]:
            raise SourceError(
                f"a fact about a {predicate} with too few quoted names",
                path=file.shown,
                line=line,
                value=text.strip(),
                fix=f"give at least {_QUOTED_NAMES[predicate]}, or take the fact out",
            )
        facts += 1
        for place in _places(predicate, names):
            places.setdefault(place.identifier, place)
    if not facts:
        raise SourceError("no facts about places", path=file.shown, fix="give GeoQuery's file geobase")
    for place in (*_cities(*_CITY_WITHOUT_FACT), _place("country", *_COUNTRY)):
        places.setdefault(place.identifier, place)
    return Geobase(tuple(places.values()), facts)


def _places(predicate: str, names: list[str]) -> Iterator[Place]:
    if predicate == "state":
        # The name, the abbreviation, the capital and the four largest cities.
        yield _place("state", names[0], (names[0],))
        for city in names[2:7]:
            yield from _cities(city, names[0], names[1])
    elif predicate == "city":
        yield from _cities(names[2], names[0], names[1])
    elif predicate == "river":
        yield _place("river", names[0], (names[0],))
    elif predicate == "mountain":
        yield _place("place", names[2], (names[2],))
    else:
        # The highest and the lowest point of a state.
        for point in names[2:4]:
            yield _place("place", point, (point,))


def _cities(city: str, state: str, abbreviation: str) -> Iterator[Place]:
    yield Place("city", f"cityid('{city}',_)", (city,))
    yield Place("city", f"cityid('{city}','{abbreviation}')", (f"{city} {state}", f"{city} {abbreviation}"))


def _place(kind: str, name: str, aliases: tuple[str, ...]) -> Place:
    return Place(kind, f"{kind}id('{name}')", aliases)

"""Records of XML files: one record an element of a name, in UTF-8, UTF-16 or a single-byte encoding.

Nothing outside the file is read, and files that declare entities are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.parsers import expat

from ...errors import SourceError, show
from .files import InputFile
from .records import Record, cut_short

_BLOCK = 1 << 16


class _Path(dict[str, "_Path"]):
    """A path below an element, with the paths below it by their tags, so that each is put together once."""

    __slots__ = ("around", "path")

    def __init__(self, path: str, around: _Path | None = None) -> None:
        super().__init__()
        self.path = path
        self.around = self if around is None else around

    def __missing__(self, tag: str) -> _Path:
        made = self[tag] = _Path(f"{self.path}/{tag}" if self.path else tag, self)
        return made


class XmlRecords:
    """Iterates over the elements called `tag`; afterwards `rows` is their number.

    A record has its attributes as text under `@NAME`, and under each path below the element (`a/b`)
    the list of the texts of all elements there, as they stand; an element's text is what stands directly in
    it. Elements of that name inside one another are not told apart. The encoding is the one that the file
    declares. Raises SourceError for a file that is no XML, is cut short, declares entities or an encoding
    that cannot be read, or has no such element.
    """

    def __init__(self, file: InputFile, tag: str) -> None:
        self.file, self.tag = file, tag
        self.rows = 0
        self._shown = file.shown
        self._found: list[Record] = []
        self._encoding: str | None = None
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.XmlDeclHandler = self._declaration
        self._parser.EntityDeclHandler = self._refuse_entity
        self._collect_elements()

    def __iter__(self) -> Iterator[Record]:
        try:
            with self.file.open() as stream:
                while block := stream.read(_BLOCK):
                    self._parse(block)
                    yield from self._found
                    self._found.clear()
        except expat.ExpatError as error:
            raise SourceError(
                f"not valid XML ({expat.ErrorString(error.code)})",
                path=self.file.shown,
                line=error.lineno,
                fix="repair it or download it again",
            ) from None
        try:
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise cut_short(self.file, error.lineno) from None
        yield from self._found
        if not self.rows:
            fix = "give the corpus as its publisher has it"
            raise SourceError(f"no element {self.tag!r}", path=self.file.shown, fix=fix)

    def _parse(self, block: bytes) -> None:
        try:
            self._parser.Parse(block, False)
        except (LookupError, ValueError):
            # What pyexpat raises for names that Python does not know, and for encodings of several bytes.
            raise SourceError(
                f"encoding {show(self._encoding)} is not known",
                path=self.file.shown,
                line=1,
                fix="save the file as UTF-8, and let its first line say so",
            ) from None

    def _declaration(self, _version: str, encoding: str | None, _standalone: int) -> None:
        self._encoding = encoding

    def _collect_elements(self) -> None:
        """Have the parser add a record to `_found` for each element. Closures: they run for every tag."""
        parser, wanted, shown, found = self._parser, self.tag, self.file.shown, self._found
        fields: dict[str, Any] = {}
        line, inside = 0, False
        here = _Path("")
        # The pieces of text of all open elements, and where those of each below the record begin: an element
        # that ends takes its own away, so that those of the element around it are together again.
        pieces: list[str] = []
        begins: list[int] = []

        def start(tag: str, attributes: dict[str, str]) -> None:
            nonlocal fields, line, inside, here
            if inside:
                begins.append(len(pieces))
                here = here[tag]
            elif tag == wanted:
                fields = {f"@{name}": value for name, value in attributes.items()}
                line, inside = parser.CurrentLineNumber, True

        def end(tag: str) -> None:
            nonlocal inside, here
            if begins:
                begin = begins.pop()
                own = len(pieces) - begin
                text = pieces.pop() if own == 1 else ""
                if own > 1:
                    text = "".join(pieces[begin:])
                    del pieces[begin:]
                path = here.path
                if path in fields:
                    fields[path].append(text)
                else:
                    fields[path] = [text]
                here = here.around
                return
            pieces.clear()
            if inside:
                found.append(Record(shown, self.rows, line, fields))
                self.rows += 1
                inside = False

        parser.StartElementHandler = start
        parser.EndElementHandler = end
        parser.CharacterDataHandler = pieces.append

    def _refuse_entity(self, name: str, *_: Any) -> None:
        raise SourceError(
            "the file declares XML entities",
            path=self.file.shown,
            line=self._parser.CurrentLineNumber,
            value=name,
            fix="get the corpus from its publisher: the published file does not",
        )

"""Text from data to Markdown that shows it and cannot be changed by it.

Every function returns `Markdown`; the templates pass anything else through `prose`, so that no text reaches
the card bare. Backslashes and pipes become entities instead of being backslash-escaped, because readers of
tables disagree about a backslash before a pipe. Line breaks inside prose and code become blanks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from string import Formatter
from typing import Any

from ..errors import redact

TEXT_LIMIT = 300
LIST_LIMIT = 5

_SPACE = re.compile(r"\s+")
# Controls, line separators that are no line breaks to Markdown, marks that turn the direction of text, and
# halves of characters, which JSON can hold and no file.
_CONTROL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_MARKS = re.compile(r"([`*\[\]~$])|(?<![A-Za-z0-9])(_)|(_)(?![A-Za-z0-9])")
_BLOCK_START = re.compile(r"^(?:([-+](?=\s|$)|-(?=-)|[=#])|(\d+)([.)])(?=\s|$))")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;", "\\": "&#92;"}
_CODE_ENTITIES = {**_ENTITIES, **{mark: f"&#{ord(mark)};" for mark in "`*_[]~$!#{}\"':/@"}}
_CODE_SPAN = re.compile("`([^`]+)`")
_COMMENT_LINE = re.compile(r"^(?=[ \t]*<!--)", re.MULTILINE)
_ADDRESS = re.compile(r"https?://[^\s<>()\[\]\"'`|\\]+")


class Markdown(str):
    """Text that is Markdown already."""

    __slots__ = ()


def one_line(text: object) -> str:
    """Text on one line: white space runs to one blank, control characters out, Hub tokens out."""
    return _SPACE.sub(" ", _CONTROL.sub(" ", redact(str(text)))).strip()


def shorten(text: str, limit: int = TEXT_LIMIT) -> str:
    """At most `limit` characters, an ellipsis standing for what was cut."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def prose(text: object) -> Markdown:
    """Plain text as running Markdown text or a table cell; `Markdown` is returned as it is."""
    if isinstance(text, Markdown):
        return text
    return Markdown(_BLOCK_START.sub(_escape_start, _escaped(one_line(text))))


def sentence(text: object) -> Markdown:
    """Like `prose`, but what stands between two backticks is shown as inline code."""
    pieces = _CODE_SPAN.split(one_line(text))
    shown = "".join(code(piece) if place % 2 else _escaped(piece) for place, piece in enumerate(pieces))
    return Markdown(_BLOCK_START.sub(_escape_start, shown))


def code(text: object) -> Markdown:
    """A name or value as inline code, fit for a table cell too."""
    line = one_line(text)
    if not line or any(mark in line for mark in "`|\\"):
        return Markdown(f"<code>{_replace(line, _CODE_ENTITIES)}</code>")
    return Markdown(f"`{line}`")


def codes(names: Iterable[object]) -> Markdown:
    """Several names as inline code, separated by commas."""
    return Markdown(", ".join(code(name) for name in names))


def fence(text: str, language: str = "") -> Markdown:
    """A fenced block whose fence is longer than any run of backticks in the text."""
    clean = _CONTROL.sub(" ", redact(text).replace("\r\n", "\n").replace("\r", "\n")).strip("\n")
    # A comment at the start of a line could be taken for a marker of a hand-written section.
    clean = _COMMENT_LINE.sub(" ", clean)
    longest = max((len(run) for run in re.findall(r"`+", clean)), default=0)
    ticks = "`" * max(3, longest + 1)
    return Markdown(f"{ticks}{language}\n{clean}\n{ticks}")


def link(text: object, address: str | None) -> Markdown:
    """A link if `address` is an http(s) address without characters that end it, else the text alone."""
    label = prose(text)
    return Markdown(f"[{label}]({address})") if address and _ADDRESS.fullmatch(address) else label


def image(alternative: object, path: str) -> Markdown:
    """An image of the release folder with its alternative text."""
    return Markdown(f"![{prose(alternative)}]({path})")


def record(row: Mapping[str, Any]) -> Markdown:
    """A row as a fenced JSON block, one line per field; long texts and lists are shortened."""
    fields = [
        f"  {json.dumps(name)}: {json.dumps(_shortened(value), ensure_ascii=False)}"
        for name, value in row.items()
    ]
    return fence("{\n" + ",\n".join(fields) + "\n}", "json")


def table(header: Sequence[object], lines: Iterable[Sequence[object]], left: int = 1) -> Markdown:
    """A table of prose or Markdown cells; columns after the first `left` ones are set flush right."""
    rule = [*["---"] * left, *["---:"] * (len(header) - left)]
    rows = [header, [Markdown(cell) for cell in rule], *lines]
    return Markdown("\n".join(f"| {join(row, ' | ')} |" for row in rows))


def folded(summary: object, content: Markdown) -> Markdown:
    """Content that readers unfold, under a line of prose."""
    return Markdown(f"<details>\n<summary>{prose(summary)}</summary>\n\n{content}\n\n</details>")


def compose(template: str, **values: object) -> Markdown:
    """Our own Markdown with data in it: `{name}` is escaped prose, `{name:code}` inline code."""
    return Markdown(_COMPOSER.vformat(template, (), values))


def join(parts: Iterable[object], separator: str = ", ") -> Markdown:
    """Prose or Markdown parts as one piece of Markdown."""
    return Markdown(separator.join(prose(part) for part in parts))


class _Composer(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec == "code":
            return code(value)
        if format_spec == "codes":
            return codes(value)
        return prose(format(value, format_spec) if format_spec else value)


_COMPOSER = _Composer()


def _shortened(value: Any) -> Any:
    if isinstance(value, str):
        return shorten(redact(value))
    if isinstance(value, dict):
        return {key: _shortened(item) for key, item in value.items()}
    if isinstance(value, list):
        kept = [_shortened(item) for item in value[:LIST_LIMIT]]
        return [*kept, f"… {len(value) - LIST_LIMIT} more"] if len(value) > LIST_LIMIT else kept
    return value


def _escaped(line: str) -> str:
    return _MARKS.sub(lambda mark: f"\\{mark.group()}", _replace(line, _ENTITIES))


def _replace(text: str, entities: dict[str, str]) -> str:
    return "".join(entities.get(character, character) for character in text)


def _escape_start(match: re.Match[str]) -> str:
    mark, number, stop = match.groups()
    return f"\\{mark}" if mark else f"{number}\\{stop}"

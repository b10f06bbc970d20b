"""Sections that people write by hand and that a new rendering keeps.

A section stands between two lines of their own, `<!-- user:begin NAME -->` and `<!-- user:end NAME -->`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ..errors import PublishError, ReleaseError

OwnedLine = tuple[str | None, str]
"""A line of a card with the name of the section that it belongs to, if any."""

ABOUT, NOTES = "about", "notes"
EARLIER_CARD = "earlier-card"
SEAL_START = "<!-- benchwright:seal "

HINTS = {
    ABOUT: "<!-- Write about the dataset here; this section is kept when the card is made again. -->",
    NOTES: "<!-- Write notes, known issues and acknowledgements here; this section is kept, too. -->",
}
"""Sections that every card has, with what stands in them until somebody writes there."""

_MARKER = re.compile(r"^<!-- user:(begin|end) ([A-Za-z0-9_-]+) -->[ \t]*$")
_LINE_END = re.compile(r"\r\n|\r|\n")
_HEADER = re.compile(r"\A\s*---[ \t]*\n(?:.*?\n)?---[ \t]*(?:\n|\Z)", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
# What the Hub's own template leaves in a card that nobody filled in.
_TEMPLATE = re.compile(r"\[More Information Needed\]|This dataset card aims to be a base template")


def read_user_sections(text: str, where: str = "README.md") -> dict[str, str]:
    """Name -> text of every section, in order of appearance, exactly as written.

    Raises ReleaseError for a section that is not closed, is closed twice, stands inside another one or
    has a name that is taken, because rendering would lose text.
    """
    lines: dict[str, list[str]] = {}
    for name, line in _lines(text, where):
        if name is not None:
            lines.setdefault(name, []).append(line)
    # The first and the last line of each are its markers.
    return {name: "\n".join(found[1:-1]) for name, found in lines.items()}


def user_section(name: str, text: str) -> str:
    """A section with its markers, as it stands in a card."""
    body = f"{text}\n" if text else ""
    return f"<!-- user:begin {name} -->\n{body}<!-- user:end {name} -->"


def lines_by_owner(text: str, where: str = "README.md") -> list[OwnedLine]:
    """Every line with the section that it or its marker belongs to; None for what stands outside.

    The YAML header is outside, whatever it looks like. Raises ReleaseError as `read_user_sections` does.
    """
    return list(_lines(text, where))


def merge_user_sections(base: str | None, head: str, local: str) -> str:
    """The hand-written sections of a card that was changed here and on the Hub.

    `base` is the card that both were made from (None: there is none), `head` the one on the Hub now, `local`
    the one of the release folder; each a whole README.md. A section that only one of the two changed is
    taken from it, a section that both changed from the one that holds the other's text whole. A `head` or a
    `local` that benchwright did not write becomes the section `earlier-card`, if it says anything, beside the
    sections of `base`; an empty one changes nothing.

    Returns sections with their markers, for `render_card(previous=...)`. Raises PublishError for a section
    that was changed differently on both sides, or for markers that do not match.
    """
    before = {} if base is None or is_foreign(base) else _sections(base, "README.md of the base version")
    there, here = (
        _replaced(text, before) if is_foreign(text) else _sections(text, where)
        for text, where in ((head, "README.md on the Hub"), (local, "README.md of the release"))
    )
    merged = {
        name: _merged(name, *(side.get(name, "") for side in (before, there, here)))
        for name in dict.fromkeys([*here, *there])
    }
    return "\n\n".join(user_section(name, text) for name, text in merged.items() if text)


def is_foreign(text: str) -> bool:
    """Whether a card was not written by benchwright: it has neither markers nor a seal."""
    return not any(_MARKER.match(line) or line.startswith(SEAL_START) for line in _LINE_END.split(text))


def _merged(name: str, base: str, head: str, local: str) -> str:
    if head in (base, local):
        return local
    if local == base:
        return head
    for text, other in ((local, head), (head, local)):
        if _holds(text, other):
            return text
    raise PublishError(
        f"section {name!r} of README.md was changed both here and on the Hub; put the whole text that it has "
        "on the Hub into yours and publish again"
    )


def _holds(text: str, part: str) -> bool:
    """Whether the lines of `part` stand in `text`, one after the other."""
    return bool(part) and f"\n{part}\n" in f"\n{text}\n"


def _sections(text: str, where: str) -> dict[str, str]:
    """Name -> text; empty if nobody has written in the section."""
    try:
        found = read_user_sections(text, where)
    except ReleaseError as error:
        raise PublishError(str(error)) from None
    return {name: "" if body.strip() in ("", HINTS.get(name)) else body for name, body in found.items()}


def _replaced(text: str, before: Mapping[str, str]) -> dict[str, str]:
    """The sections of a card that was replaced by another text as a whole, and that text.

    Whoever did so took nothing back that stood in a section of it.
    """
    body, known = _earlier_card(text), before.get(EARLIER_CARD, "")
    if not body or _holds(known, body):
        return dict(before)
    joined = f"{known}\n\n{body}" if known and not _holds(body, known) else body
    return {**before, EARLIER_CARD: joined}


def _earlier_card(text: str) -> str:
    """The body of a card that others wrote; empty if it holds no more than headings and a template."""
    body = _HEADER.sub("", "\n".join(_LINE_END.split(text))).strip("\n ")
    said = [
        line
        for line in _COMMENT.sub("", body).split("\n")
        if line.strip() and not line.lstrip().startswith("#") and not _TEMPLATE.search(line)
    ]
    return body if said else ""


def _lines(text: str, where: str) -> Iterator[OwnedLine]:
    lines = _LINE_END.split(text)
    header = _HEADER.match("\n".join(lines))
    below = header.group().count("\n") if header else 0
    seen: set[str] = set()
    name: str | None = None
    for number, line in enumerate(lines, start=1):
        marker = _MARKER.match(line) if number > below else None
        kind, found = marker.groups() if marker else ("", "")
        if kind == "begin":
            if name is not None:
                raise _broken(where, number, f"section {found!r} begins inside section {name!r}")
            if found in seen:
                raise _broken(where, number, f"a second section {found!r}")
            seen.add(found)
            name = found
        elif kind == "end" and name != found:
            raise _broken(where, number, f"section {found!r} ends but did not begin")
        yield name, line
        if kind == "end":
            name = None
    if name is not None:
        raise _broken(where, number, f"section {name!r} has no end")


def _broken(where: str, line: int, problem: str) -> ReleaseError:
    return ReleaseError(f"{where}, line {line}: {problem}; pair every `user:begin NAME` with `user:end NAME`")

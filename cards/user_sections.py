"""Sections that people write by hand and that a new rendering keeps.

A section stands between two lines of their own, `<!-- user:begin NAME -->` and `<!-- user:end NAME -->`.
"""

from __future__ import annotations

import re

from ..errors import ReleaseError

_MARKER = re.compile(r"^<!-- user:(begin|end) ([A-Za-z0-9_-]+) -->[ \t]*$")


def read_user_sections(text: str, where: str = "README.md") -> dict[str, str]:
    """Name -> text of every section, in order of appearance, exactly as written.

    Raises ReleaseError for a section that is not closed, is closed twice, stands inside another one or
    has a name that is taken, because rendering would lose text.
    """
    sections: dict[str, str] = {}
    name: str | None = None
    lines: list[str] = []
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        marker = _MARKER.match(line)
        if marker is None:
            lines.append(line)
            continue
        kind, found = marker.groups()
        if kind == "begin":
            if name is not None:
                raise _broken(where, number, f"section {found!r} begins inside section {name!r}")
            if found in sections:
                raise _broken(where, number, f"a second section {found!r}")
            name, lines = found, []
        else:
            if name != found:
                raise _broken(where, number, f"section {found!r} ends but did not begin")
            sections[found] = "\n".join(lines)
            name = None
    if name is not None:
        raise _broken(where, number, f"section {name!r} has no end")
    return sections


def user_section(name: str, text: str) -> str:
    """A section with its markers, as it stands in a card."""
    body = f"{text}\n" if text else ""
    return f"<!-- user:begin {name} -->\n{body}<!-- user:end {name} -->"


def _broken(where: str, line: int, problem: str) -> ReleaseError:
    return ReleaseError(f"{where}, line {line}: {problem}; pair every `user:begin NAME` with `user:end NAME`")

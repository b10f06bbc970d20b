"""Ranges of bytes (RFC 9110): one range a request, as the readers of parquet files ask for."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .messages import FileRange, Request, Response

_RANGE = re.compile(r"bytes=(\d*)-(\d*)", re.ASCII)


def ranged(content: bytes | FileRange, request: Request, headers: Mapping[str, str]) -> Response:
    """`content`, or the part of it that the request's Range header asks for (206), or 416 beyond its end."""
    size = content.length if isinstance(content, FileRange) else len(content)
    headers = {"Content-Type": "application/octet-stream", "Accept-Ranges": "bytes", **headers}
    found = _RANGE.fullmatch(request.headers.get("Range", ""))
    if found is None or found[0] == "bytes=-":
        return Response(200, headers, content)
    if found[1]:
        start, end = int(found[1]), min(int(found[2] or size), size - 1)
    else:
        start, end = max(size - int(found[2]), 0), size - 1
    if start >= size or end < start:
        return Response(416, {**headers, "Content-Range": f"bytes */{size}"})
    part = _part(content, start, end + 1 - start)
    return Response(206, {**headers, "Content-Range": f"bytes {start}-{end}/{size}"}, part)


def _part(content: bytes | FileRange, start: int, length: int) -> bytes | FileRange:
    if isinstance(content, FileRange):
        return FileRange(content.path, content.start + start, length)
    return content[start : start + length]

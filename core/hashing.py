"""Hashes that a rebuild is compared by.

A row digest covers payload values, types and label names; it does not depend on chunking, on the parquet
writer or on the width of string offsets. A split's content hash covers its row digests in order.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

DIGEST_SIZE = 16
_ROWS_PER_BLOCK = 16_384


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spaces; NaN is refused (ValueError)."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def sha256_text(text: str) -> str:
    """`sha256:<hex>` of UTF-8 text."""
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def sha256_file(path: Path) -> str:
    """`sha256:<hex>` of a file's bytes."""
    with path.open("rb") as handle:
        return "sha256:" + hashlib.file_digest(handle, "sha256").hexdigest()


def schema_fingerprint(schema: pa.Schema, labels: dict[str, list[str]] | None = None) -> str:
    """Names and types of columns in order, and the label names of class columns in order."""
    columns = [[field.name, _type_name(field.type)] for field in schema]
    return canonical_json({"columns": columns, "labels": labels or {}})


def row_digests(table: pa.Table, labels: dict[str, list[str]] | None = None) -> np.ndarray:
    """One 16-byte BLAKE2b digest per row over every column of `table`.

    Returns an array of shape (rows, 16), uint8. `labels` gives the class names of integer class columns.
    Raises TypeError for a column type that has no canonical form.
    """
    seed = hashlib.sha256(schema_fingerprint(table.schema, labels).encode()).digest()
    digests = np.empty((table.num_rows, DIGEST_SIZE), dtype=np.uint8)
    blake2b = hashlib.blake2b
    for start in range(0, table.num_rows, _ROWS_PER_BLOCK):
        block = table.slice(start, _ROWS_PER_BLOCK).combine_chunks()
        encoded = _join([_encode(column.combine_chunks()) for column in block.columns], block.num_rows)
        offsets = np.frombuffer(encoded.buffers()[1], dtype=np.int64)[encoded.offset :][
            : block.num_rows + 1
        ].tolist()
        data = memoryview(encoded.buffers()[2] or b"")
        joined = b"".join(
            [
                blake2b(data[begin:end], digest_size=DIGEST_SIZE, key=seed).digest()
                for begin, end in itertools.pairwise(offsets)
            ]
        )
        digests[start : start + block.num_rows] = np.frombuffer(joined, dtype=np.uint8).reshape(
            -1, DIGEST_SIZE
        )
    return digests


def content_hash(digests: np.ndarray) -> str:
    """`sha256:<hex>` of a split: its number of rows and its row digests in order."""
    digest = hashlib.sha256(f"rows:{len(digests)}\n".encode())
    digest.update(np.ascontiguousarray(digests).tobytes())
    return "sha256:" + digest.hexdigest()


def columns_hash(table: pa.Table) -> str:
    """`sha256:<hex>` of whole columns, whatever their chunks; every NaN is equal.

    Of numbers, text or bytes much cheaper than row digests, where no single row has to be told from others.
    Raises TypeError for a column type that has no canonical form.
    """
    digest = hashlib.sha256(f"{schema_fingerprint(table.schema)}\nrows:{table.num_rows}\n".encode())
    for column in table.columns:
        digest.update(column.is_valid().to_numpy().tobytes())
        for values in _column_values(column.type, column.chunks):
            digest.update(np.ascontiguousarray(values).data)
    return "sha256:" + digest.hexdigest()


def _column_values(kind: pa.DataType, chunks: list[pa.Array]) -> Iterator[np.ndarray]:
    """The values of a column, nulls as 0 or empty; for text and bytes all lengths, then all contents."""
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        for chunk in chunks:
            values = pc.fill_null(chunk, 0).to_numpy(zero_copy_only=False)
            if pa.types.is_floating(kind):
                values = np.where(np.isnan(values), values.dtype.type(np.nan), values)
            yield values.astype(values.dtype.newbyteorder("<"), copy=False)
    elif _is_text(kind) or pa.types.is_binary(kind) or pa.types.is_fixed_size_binary(kind):
        encoded = [pc.fill_null(chunk.cast(pa.large_binary()), b"") for chunk in chunks]
        offsets = [np.frombuffer(c.buffers()[1], np.int64)[c.offset : c.offset + len(c) + 1] for c in encoded]
        yield from (np.diff(bounds) for bounds in offsets)
        for chunk, bounds in zip(encoded, offsets, strict=True):
            if len(chunk):
                yield np.frombuffer(chunk.buffers()[2] or b"", np.uint8)[bounds[0] : bounds[-1]]
    else:
        yield from _column_values(pa.binary(), [_encode(chunk) for chunk in chunks])


def content_ids(table: pa.Table, inputs: list[str]) -> pa.Array:
    """32-digit hexadecimal ids over the canonical input fields, whatever the rest of the row says."""
    digests = row_digests(table.select(inputs))
    text = digests.tobytes().hex()
    width = 2 * DIGEST_SIZE
    return pa.array([text[i : i + width] for i in range(0, len(text), width)], pa.string())


def digest_column(digests: np.ndarray) -> pa.Array:
    """Row digests as a fixed-size binary column."""
    buffer = pa.py_buffer(np.ascontiguousarray(digests).tobytes())
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(DIGEST_SIZE), len(digests), [None, buffer])


def stored_digests(column: pa.ChunkedArray) -> np.ndarray:
    """The digests of a `digest_column`, of shape (rows, 16), uint8; zeros where there is none."""
    filled = pc.fill_null(column, bytes(DIGEST_SIZE)).combine_chunks()
    values = np.frombuffer(filled.buffers()[1] or b"", np.uint8)
    return values[filled.offset * DIGEST_SIZE :][: len(filled) * DIGEST_SIZE].reshape(-1, DIGEST_SIZE)


def _type_name(kind: pa.DataType) -> str:
    if pa.types.is_dictionary(kind):
        return _type_name(kind.value_type)
    if _is_text(kind):
        return "string"
    if _is_list(kind):
        return f"list<{_type_name(kind.value_type)}>"
    if pa.types.is_struct(kind):
        return "struct<" + ",".join(f"{field.name}:{_type_name(field.type)}" for field in kind) + ">"
    return str(kind)


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def _is_list(kind: pa.DataType) -> bool:
    return pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)


def _encode(column: pa.Array) -> pa.Array:
    """Each value as self-delimiting bytes: a presence byte, an 8-byte length, the payload."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _encode(column.dictionary_decode())
    if _is_text(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        payload = (
            column.cast(pa.large_string()).cast(pa.large_binary())
            if _is_text(kind)
            else column.cast(pa.large_binary())
        )
        sizes = pc.binary_length(payload)
    elif pa.types.is_boolean(kind):
        payload, sizes = (
            _fixed(pc.fill_null(column, False).cast(pa.uint8()).to_numpy(zero_copy_only=False)),
            None,
        )
    elif pa.types.is_integer(kind):
        payload, sizes = _fixed(pc.fill_null(column, 0).cast(pa.int64()).to_numpy(zero_copy_only=False)), None
    elif pa.types.is_floating(kind):
        values = pc.fill_null(column.cast(pa.float64()), 0.0).to_numpy(zero_copy_only=False).copy()
        values[np.isnan(values)] = np.nan
        payload, sizes = _fixed(values), None
    elif _is_list(kind):
        payload, sizes = _encode_lists(column)
    elif pa.types.is_struct(kind):
        payload = _join([_encode(field) for field in column.flatten()], len(column))
        sizes = pc.binary_length(payload)
    elif pa.types.is_null(kind):
        payload, sizes = pa.array([b""] * len(column), pa.large_binary()), None
    else:
        raise TypeError(f"no canonical form for columns of type {kind}")
    present = column.is_valid().to_numpy(zero_copy_only=False)
    header = np.zeros(len(column), dtype=[("present", "u1"), ("size", "<i8")])
    header["present"] = present
    if sizes is not None:
        header["size"] = np.where(present, pc.fill_null(sizes, 0).to_numpy(zero_copy_only=False), 0)
    empty = pa.scalar(b"", pa.large_binary())
    payload = pc.if_else(pa.array(present), pc.fill_null(payload, empty), empty)
    return _join([_fixed(header), payload], len(column))


def _encode_lists(column: pa.Array) -> tuple[pa.Array, pa.Array]:
    lists = column.cast(pa.large_list(column.type.value_type))
    counts = pc.list_value_length(lists)
    # A slice, or a null over a non-empty range, would leave offsets that do not fit the flattened child.
    offsets = np.concatenate([[0], np.cumsum(pc.fill_null(counts, 0).to_numpy(zero_copy_only=False))])
    child = _encode(pc.list_flatten(lists))
    joined = pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), child)
    return pc.binary_join(joined, pa.scalar(b"", pa.large_binary())), counts


def _fixed(values: np.ndarray) -> pa.Array:
    width = values.dtype.itemsize
    data = np.ascontiguousarray(values).tobytes()
    offsets = np.arange(0, width * len(values) + 1, width, dtype=np.int64)
    return pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(values), [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    )


def _join(columns: list[pa.Array], rows: int) -> pa.Array:
    if not columns:
        return pa.array([b""] * rows, pa.large_binary())
    if len(columns) == 1:
        return columns[0]
    return pc.binary_join_element_wise(*columns, pa.scalar(b"", pa.large_binary()))

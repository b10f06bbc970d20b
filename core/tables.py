"""Arrow tables to parquet files whose bytes depend on the rows and the pyarrow version only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from .atomic import atomic_path

# What datasets writes by itself (HUB.md, Conventions): deduplicating storage and the viewer rely on them.
CONTENT_DEFINED_CHUNKING = {"min_chunk_size": 262_144, "max_chunk_size": 1_048_576, "norm_level": 0}
ROW_GROUP_BYTES = 64 * 2**20
SHARD_BYTES = 500 * 10**6
_ROWS_JUDGED = 8_192


def rows_per_group(table: pa.Table) -> int:
    """A power of two whose row groups stay below 64 MiB uncompressed, from the table alone."""
    mean = max(1, table.nbytes // max(1, table.num_rows))
    rows = 1
    while rows * 2 * mean <= ROW_GROUP_BYTES and rows < 2**17:
        rows *= 2
    return rows


def conform(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The columns of `schema` in its order and types; a column that the table lacks becomes null.

    Raises ValueError for a column that the schema does not know.
    """
    unknown = [name for name in table.column_names if name not in schema.names]
    if unknown:
        raise ValueError(f"columns that the schema does not declare: {', '.join(unknown)}")
    columns = [
        table.column(field.name).cast(field.type)
        if field.name in table.column_names
        else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)


def dictionary_columns(table: pa.Table) -> list[str]:
    """Flat columns whose values recur, judged by the first rows: a dictionary of ids or scores only costs."""
    head = table.slice(0, _ROWS_JUDGED)
    return [
        field.name
        for field in table.schema
        if not pa.types.is_nested(field.type) and 2 * len(head.column(field.name).unique()) <= head.num_rows
    ]


def write_parquet(table: pa.Table, path: Path, metadata: dict[str, str] | None = None) -> None:
    """Write one table atomically: one schema, fixed row groups, zstd, page index, content-defined chunks."""
    if metadata is not None:
        table = table.replace_schema_metadata({**(table.schema.metadata or {}), **metadata})
    table = table.combine_chunks()
    options: dict[str, Any] = {"use_content_defined_chunking": CONTENT_DEFINED_CHUNKING}
    with atomic_path(path) as part:
        pq.write_table(
            table,
            part,
            row_group_size=rows_per_group(table),
            compression="zstd",
            use_dictionary=dictionary_columns(table),
            write_page_index=True,
            write_statistics=True,
            store_schema=True,
            **options,
        )

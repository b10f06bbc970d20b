"""Cleaned configs: `<config>_clean` stands beside a config, without its conflicts, duplicates and leaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from ..splitting.base import SplitRows
from ..tasks import Task
from .base import ConfigSpec

SUFFIX = "_clean"


def clean_spec(spec: ConfigSpec) -> ConfigSpec:
    """The config `<config>_clean`: rows placed as `spec` places them, then cleaned (`CleanSplitter`).

    >>> spec = ConfigSpec("standard", "published", {}, "The published split.", default=True)
    >>> made = clean_spec(spec)
    >>> made.name, made.parameters, made.default
    ('standard_clean', {'of': {'splitter': 'published', 'parameters': {}}}, False)
    """
    return replace(
        spec,
        name=spec.name + SUFFIX,
        splitter="clean",
        parameters={"of": {"splitter": spec.splitter, "parameters": dict(spec.parameters)}},
        summary=f"{spec.summary.rstrip('.')}; without conflicts, duplicates and leaks.",
        default=False,
        reverse_of=None,
        extra=True,
    )


def with_clean(specs: Sequence[ConfigSpec]) -> list[ConfigSpec]:
    """`specs`, then the cleaned config of each that has none yet; a cleaned config has no cleaned one."""
    names = {spec.name for spec in specs}
    made = [clean_spec(spec) for spec in specs if spec.splitter != "clean"]
    return [*specs, *(spec for spec in made if spec.name not in names)]


def with_inputs(rows: SplitRows, table: pa.Table, task: Task) -> SplitRows:
    """`rows` with codes of their inputs and targets, from the `content_id` and target columns of `table`.

    The rows of both stand in the same order.
    """
    columns = {"inputs": "content_id", "targets": task.target}
    codes = {
        name: pc.dictionary_encode(table.column(column).combine_chunks(), null_encoding="encode")
        .indices.to_numpy(zero_copy_only=False)
        .astype("int64")
        for name, column in columns.items()
        if column in table.column_names
    }
    return replace(rows, **codes)

"""Changes made to a release after it was written, by tests of what notices them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from benchwright.builders.comparison import Difference
from benchwright.cards import seal
from benchwright.release import ReleaseFolder
from benchwright.tables import write_parquet

TRAIN = "ll_split/train-00000-of-00001.parquet"
ASSIGNMENT = "assignments/ll_split.parquet"


def change_table(path: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    write_parquet(change(pq.read_table(path)), path)


def change_column(path: Path, name: str, change: Callable[[list[Any]], list[Any]]) -> None:
    def changed(table: pa.Table) -> pa.Table:
        position = table.column_names.index(name)
        field = table.schema.field(position)
        return table.set_column(position, field, pa.array(change(table.column(name).to_pylist()), field.type))

    change_table(path, changed)


def change_manifest(release: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    path = release / "manifest.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    change(data)
    path.write_text(json.dumps(data), encoding="utf-8")


def change_card(release: Path, change: Callable[[str], str]) -> None:
    path = release / "README.md"
    path.write_bytes(change(path.read_bytes().decode()).encode())


def reseal(release: Path) -> None:
    change_card(release, lambda text: seal(text, ReleaseFolder(release).manifest))


def change_header(release: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """As somebody does who can seal a card again."""
    path = release / "README.md"
    header = yaml.safe_load(path.read_text(encoding="utf-8").split("---\n")[1])
    change(header)
    text = seal(f"---\n{yaml.safe_dump(header)}---\n", ReleaseFolder(release).manifest)
    path.write_text(text, encoding="utf-8")


def set_value(row: int, value: Any) -> Callable[[list[Any]], list[Any]]:
    return lambda values: [*values[:row], value, *values[row + 1 :]]


def swap(row: int, other: int) -> Callable[[pa.Table], pa.Table]:
    def swapped(table: pa.Table) -> pa.Table:
        order = list(range(table.num_rows))
        order[row], order[other] = other, row
        return table.take(pa.array(order))

    return swapped


def only(found: list[Difference]) -> Difference:
    assert len(found) == 1, [str(difference) for difference in found]
    return found[0]


def uid_of(release: Path, row: int) -> str:
    return pq.read_table(release / TRAIN).column("uid")[row].as_py()


def lines_said(captured: Any) -> list[str]:
    """Lines of both streams without those of progress, which come where a machine is slow."""
    lines = (captured.out + captured.err).splitlines()
    return [line for line in lines if not line.startswith(("verify: ", "fetching "))]

"""JSON records as Arrow columns, one type each, without guessing."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from ...errors import SourceError
from ...faults import FaultLog
from .records import Record

_INT64 = range(-(2**63), 2**63)
# Real records nest a few levels; parquet readers and this module recurse.
_DEEPEST = 20


class JsonColumns:
    """Values by column, with the type of each column as far as it is known.

    The first record names the columns; every other one must have the same. `rows` and `lines` say where
    the records stand that were added.
    """

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.lines: list[int | None] = []
        self._values: dict[str, list[Any]] | None = None
        self._types: dict[str, pa.DataType] = {}

    @property
    def names(self) -> list[str]:
        """Names of the columns; none before the first record."""
        return list(self._types)

    def add(self, record: Record, faults: FaultLog) -> None:
        """Add one record, or report it."""
        if self._values is None:
            self._values = {name: [] for name in record.fields}
            self._types = dict.fromkeys(record.fields, pa.null())
        try:
            changed = self._new_types(record)
        except SourceError as fault:
            faults.bad(fault)
            return
        self._types.update(changed)
        for name, values in self._values.items():
            values.append(record.fields[name])
        self.rows.append(record.row)
        self.lines.append(record.line)

    def table(self, path: str) -> pa.Table:
        """The records that were added; columns of nulls alone have type null.

        Raises SourceError for a column that mixes fractions with whole numbers which float64 cannot hold.
        """
        columns = {}
        for name, values in (self._values or {}).items():
            try:
                columns[name] = pa.array(values, self._types[name])
            except pa.ArrowInvalid:
                fix = "write its numbers as text"
                raise SourceError(
                    "whole numbers beyond 2**53 among fractions", path=path, field=name, fix=fix
                ) from None
        return pa.table(columns)

    def _new_types(self, record: Record) -> dict[str, pa.DataType]:
        """The columns whose type this record widens. Raises SourceError if the record does not fit."""
        if record.fields.keys() != self._types.keys():
            raise _other_fields(record, list(self._types))
        changed = {}
        for name, value in record.fields.items():
            known = self._types[name]
            try:
                found = _type_of(value)
                if found is known:
                    continue
                wider = _unify(known, found)
            except _UnfitError as error:
                raise record.fault(str(error), name, value=value, fix="repair the value") from None
            if wider is None:
                raise record.fault(
                    "type differs from earlier rows",
                    name,
                    value=value,
                    fix=f"give {_spoken(known)}, as before",
                )
            changed[name] = wider
        return changed


def _other_fields(record: Record, names: list[str]) -> SourceError:
    missing = [name for name in names if name not in record.fields]
    if missing:
        return record.fault(
            "missing field", missing[0], fix="give every record the same fields, null where there is no value"
        )
    unknown = next(name for name in record.fields if name not in names)
    return record.fault(
        "field that the first record lacks",
        unknown,
        value=record.fields[unknown],
        fix="give every record the same fields, null where there is no value",
    )


class _UnfitError(Exception):
    """A JSON value that no column can hold; the message is the reason."""


_NULL, _BOOL, _INT, _FLOAT, _TEXT = pa.null(), pa.bool_(), pa.int64(), pa.float64(), pa.string()


def _type_of(value: Any, depth: int = 0) -> pa.DataType:
    """The Arrow type of a JSON value. Raises _UnfitError."""
    if depth > _DEEPEST:
        raise _UnfitError("nested too deeply")
    if type(value) is str:
        if not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                raise _UnfitError("half a surrogate pair") from None
        return _TEXT
    if value is None:
        return _NULL
    if type(value) is bool:
        return _BOOL
    if type(value) is int:
        if value not in _INT64:
            raise _UnfitError("number beyond 64 bits")
        return _INT
    if type(value) is float:
        if value in (float("inf"), float("-inf")):
            raise _UnfitError("number beyond 64 bits")
        return _FLOAT
    if isinstance(value, list):
        items = _NULL
        for item in value:
            wider = _unify(items, _type_of(item, depth + 1))
            if wider is None:
                raise _UnfitError("list of mixed types")
            items = wider
        return pa.list_(items)
    for name in value:
        # A name is text too, and can hold half a surrogate pair.
        _type_of(name)
    return pa.struct([(name, _type_of(item, depth + 1)) for name, item in value.items()])


def _unify(known: pa.DataType, found: pa.DataType) -> pa.DataType | None:
    """The type that holds values of both, or None. A nested record may lack fields: they are null then."""
    if known == found or pa.types.is_null(found):
        return known
    if pa.types.is_null(known):
        return found
    if {known, found} == {_INT, _FLOAT}:
        return _FLOAT
    if pa.types.is_list(known) and pa.types.is_list(found):
        items = _unify(known.value_type, found.value_type)
        return None if items is None else pa.list_(items)
    if pa.types.is_struct(known) and pa.types.is_struct(found):
        return _unify_structs(known, found)
    return None


def _unify_structs(known: pa.DataType, found: pa.DataType) -> pa.DataType | None:
    fields = {field.name: field.type for field in known}
    for field in found:
        wider = _unify(fields.get(field.name, _NULL), field.type)
        if wider is None:
            return None
        fields[field.name] = wider
    return pa.struct(list(fields.items()))


def _spoken(kind: pa.DataType) -> str:
    names = {_TEXT: "text", _BOOL: "true or false", _INT: "a number", _FLOAT: "a number"}
    return names.get(kind, "a list" if pa.types.is_list(kind) else "an object")

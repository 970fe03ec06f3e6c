"""Internal. JSON_ARRAYAGG and JSON_OBJECTAGG: the values of a group as one string."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from wiesel.columnar.aggregates.lists import kept
from wiesel.columnar.aggregates.registry import AggregateFunction, Spec, register
from wiesel.columnar.aggregates.slots import Column
from wiesel.columnar.functions.json_functions import writer_of
from wiesel.columnar.functions.json_paths import to_json
from wiesel.columnar.functions.registry import Arguments, Signature
from wiesel.columnar.type_rules import is_text
from wiesel.types import logical as t

__all__: list[str] = []

_TEXT = t.VarCharType(2000, False)
"""The result type declared by Flink, whose length is not enforced."""


def _words(spec: Spec) -> tuple[Any, ...]:
    return spec.options[0] if spec.options else ()


def _array_type(arguments: Arguments, may_be_empty: bool) -> Signature:
    if len(arguments.types) != 1:
        raise arguments.refuse("JSON_ARRAYAGG(<VALUE>)")
    writer_of(arguments.types[0])
    return Signature(arguments.types, _TEXT)


def _arrays(spec: Spec, lists: Column) -> Column:
    write, shows_null = writer_of(spec.types[0]), "NULL ON NULL" in _words(spec)
    shown = [[write(value) for value in each if shows_null or value is not None] for each in lists.to_pylist()]
    return pa.array([to_json(values) for values in shown], pa.string())


def _object_type(arguments: Arguments, may_be_empty: bool) -> Signature:
    if len(arguments.types) != 2 or not is_text(arguments.types[0]):
        raise arguments.refuse("JSON_OBJECTAGG(KEY <CHARACTER> VALUE <VALUE>)")
    writer_of(arguments.types[1])
    return Signature(arguments.types, _TEXT)


def _objects(spec: Spec, lists: Column) -> Column:
    write, absent = writer_of(spec.types[1]), "ABSENT ON NULL" in _words(spec)
    found = []
    for rows in lists.to_pylist():
        pairs = {row["0"]: write(row["1"]) for row in rows if row["1"] is not None or not absent}
        found.append(to_json(dict(sorted(pairs.items()))))  # sorted by key, as in Flink
    return pa.array(found, pa.string())


register(AggregateFunction("JSON_ARRAYAGG", _array_type, kept(_arrays, keeps_nulls=True)))
register(AggregateFunction("JSON_OBJECTAGG", _object_type, kept(_objects, keeps_nulls=True, together=True)))

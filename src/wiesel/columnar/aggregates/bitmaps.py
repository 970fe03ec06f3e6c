"""Internal. Aggregates that build bitmaps, of integers or of other bitmaps."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import pyarrow as pa

from wiesel.columnar.aggregates.lists import kept
from wiesel.columnar.aggregates.registry import AggregateFunction, Spec, register
from wiesel.columnar.aggregates.slots import Column
from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.functions.bitmaps import in_order
from wiesel.columnar.functions.registry import Arguments, Signature
from wiesel.types import logical as t
from wiesel.types.logical_bitmap import BitmapType

__all__: list[str] = []

Combine = Callable[[set[int], set[int]], set[int]]


def _register(name: str, taken: type[t.DataType], combine: Combine | None) -> None:
    def type_of(result: t.DataType) -> Callable[[Arguments, bool], Signature]:
        def resolve(arguments: Arguments, may_be_empty: bool) -> Signature:
            if len(arguments.types) != 1 or not isinstance(arguments.types[0], taken):
                raise arguments.refuse(f"{arguments.name}(<{'BITMAP' if taken is BitmapType else 'INT'}>)")
            return Signature(arguments.types, result)

        return resolve

    def sets(lists: Column) -> list[set[int] | None]:
        if combine is None:
            return [set(each) if each else None for each in lists.to_pylist()]
        return [reduce(combine, map(set, each)) if each else None for each in lists.to_pylist()]

    def finish(spec: Spec, lists: Column) -> Column:
        return pa.array([None if each is None else in_order(each) for each in sets(lists)], arrow_type(spec.result))

    def sizes(spec: Spec, lists: Column) -> Column:
        return pa.array([None if each is None else len(each) for each in sets(lists)], pa.int64())

    register(AggregateFunction(f"{name}_AGG", type_of(BitmapType()), kept(finish)))
    register(AggregateFunction(f"{name}_CARDINALITY_AGG", type_of(t.BigIntType()), kept(sizes)))


_register("BITMAP_BUILD", t.IntType, None)
_register("BITMAP_AND", BitmapType, set.intersection)
_register("BITMAP_OR", BitmapType, set.union)
_register("BITMAP_XOR", BitmapType, set.symmetric_difference)

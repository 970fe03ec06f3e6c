"""Internal. Aggregates that keep the values: LISTAGG, COLLECT, ARRAY_AGG; FIRST_VALUE and LAST_VALUE.

Where rows may be taken back, there are two lists: what was added and what was taken back. They are set off against each other whenever
slots have been merged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.aggregates.registry import Accumulator, AggregateFunction, Signs, Spec, nulled, register
from wiesel.columnar.aggregates.slots import Column, Slot, numbers
from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.functions.registry import Arguments, Signature
from wiesel.types import logical as t

__all__: list[str] = []


def _singles(column: Column, chosen: npt.NDArray[np.bool_] | None) -> Column:
    """Return a list of one value, or none where it was not chosen, per row."""
    if chosen is None or chosen.all():
        return pa.ListArray.from_arrays(pa.array(np.arange(len(column) + 1, dtype=np.int32)), column)
    offsets = np.concatenate([[0], np.cumsum(chosen)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), column.filter(pa.array(chosen)))


def _kept(finish: Callable[[Column], Column], keeps_nulls: bool = False) -> Callable[[Spec], Accumulator]:
    """Return what makes accumulators that keep the values of the first operand."""

    def make(spec: Spec) -> Accumulator:
        slot = Slot("list", pa.list_(arrow_type(spec.types[0])), [])

        def prepare(columns: Sequence[Column], signs: Signs) -> list[Column]:
            column = columns[0].cast(slot.type.value_type)
            chosen = None if keeps_nulls or not column.null_count else numbers(column.is_valid())
            if not spec.retracts:
                return [_singles(column, chosen)]
            present = np.ones(len(column), np.bool_) if chosen is None else chosen
            added = present if signs is None else present & (signs > 0)
            return [_singles(column, added), _singles(column, present & ~added)]

        slots = (slot, slot) if spec.retracts else (slot,)
        return Accumulator(slots, prepare, lambda lists: finish(lists[0]), _settled if spec.retracts else None)

    return make


def _settled(slots: list[Column]) -> list[Column]:
    if not len(slots[1].flatten()):
        return slots
    added, removed = slots[0].to_pylist(), slots[1].to_pylist()
    for mine, theirs in zip(added, removed, strict=True):
        for value in list(theirs):
            if value in mine:
                mine.remove(value)
                theirs.remove(value)
    return [pa.array(added, slots[0].type), pa.array(removed, slots[1].type)]


def _is_empty(lists: Column) -> npt.NDArray[np.bool_]:
    return numbers(pc.equal(pc.list_value_length(lists), 0))


# FIRST_VALUE, LAST_VALUE


def _same_type(arguments: Arguments, may_be_empty: bool) -> Signature:
    if len(arguments.types) != 1:
        raise arguments.refuse(f"{arguments.name}(<ANY>)")
    of = arguments.types[0]
    return Signature(arguments.types, of.nullable() if may_be_empty else of)


def _at_end(how: str, place: int) -> Callable[[Spec], Accumulator]:
    def finish(lists: Column) -> Column:
        return pa.array([each[place] if each else None for each in lists.to_pylist()], lists.type.value_type)

    def make(spec: Spec) -> Accumulator:
        if spec.retracts:
            return _kept(finish)(spec)
        slot = Slot(how, arrow_type(spec.result))
        return Accumulator((slot,), lambda columns, signs: [columns[0]], lambda slots: slots[0])

    return make


# LISTAGG


def _text(arguments: Arguments, may_be_empty: bool) -> Signature:
    types = arguments.types
    texts = (t.CharType, t.VarCharType)
    if len(types) not in (1, 2) or not all(isinstance(of, texts) for of in types):
        raise arguments.refuse(f"{arguments.name}(<CHARACTER>), {arguments.name}(<CHARACTER>, <CHARACTER>)")
    return Signature(types, t.VarCharType(t.MAX_LENGTH))


def _text_list(spec: Spec) -> Accumulator:
    separator = str(spec.options[0]) if spec.options else ","

    def finish(lists: Column) -> Column:
        return nulled(pc.binary_join(lists, separator), _is_empty(lists))

    return _kept(finish)(spec)


# COLLECT, ARRAY_AGG


def _array(arguments: Arguments, may_be_empty: bool) -> Signature:
    if len(arguments.types) != 1:
        raise arguments.refuse(f"{arguments.name}(<ANY>)")
    return Signature(arguments.types, t.ArrayType(arguments.types[0]))


def _multiset(arguments: Arguments, may_be_empty: bool) -> Signature:
    if len(arguments.types) != 1:
        raise arguments.refuse(f"{arguments.name}(<ANY>)")
    return Signature(arguments.types, t.MultisetType(arguments.types[0], False))


def _multisets(lists: Column) -> Column:
    counted: list[Any] = [list(Counter(each).items()) for each in lists.to_pylist()]
    return pa.array(counted, pa.map_(lists.type.value_type, pa.int32()))


register(AggregateFunction("FIRST_VALUE", _same_type, _at_end("first", 0)))
register(AggregateFunction("LAST_VALUE", _same_type, _at_end("last", -1)))
register(AggregateFunction("LISTAGG", _text, _text_list, literals=1))
register(AggregateFunction("COLLECT", _multiset, _kept(_multisets)))
register(AggregateFunction("ARRAY_AGG", _array, _kept(lambda lists: nulled(lists, _is_empty(lists)), keeps_nulls=True)))

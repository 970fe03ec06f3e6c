"""Internal. Aggregates that store the values: LISTAGG, COLLECT, ARRAY_AGG; FIRST_VALUE, LAST_VALUE and SINGLE_VALUE.

With retraction there are two lists: the added values and the retracted ones. They are subtracted whenever slots have been merged.
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
from wiesel.columnar.keys import key_values
from wiesel.core.errors import ExpressionError, ProgramError
from wiesel.types import logical as t

__all__ = ["is_empty", "kept", "settled"]


def _singles(column: Column, chosen: npt.NDArray[np.bool_] | None) -> Column:
    """Return lists with the value of each row, empty where it was not chosen."""
    if chosen is None or chosen.all():
        return pa.ListArray.from_arrays(pa.array(np.arange(len(column) + 1, dtype=np.int32)), column)
    offsets = np.concatenate([[0], np.cumsum(chosen)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), column.filter(pa.array(chosen)))


def kept(finish: Callable[[Spec, Column], Column], keeps_nulls: bool = False, together: bool = False) -> Callable[[Spec], Accumulator]:
    """Return the factory of accumulators that store values: those of the first operand, or with ``together`` rows of all operands.

    ``finish`` converts lists to results. Rows whose first operand is NULL are ignored unless ``keeps_nulls``.
    """

    def make(spec: Spec) -> Accumulator:
        types = [arrow_type(of) for of in spec.types]
        names = [str(place) for place in range(len(types))]
        item = pa.struct(list(zip(names, types, strict=True))) if together else types[0]
        slot = Slot("list", pa.list_(item), [])

        def prepare(columns: Sequence[Column], signs: Signs) -> list[Column]:
            first = columns[0].cast(types[0])
            chosen = None if keeps_nulls or not first.null_count else numbers(first.is_valid())
            fitted = [column.cast(of) for column, of in zip(columns, types, strict=True)]
            column = pa.StructArray.from_arrays(fitted, names=names) if together else first
            if not spec.retracts:
                return [_singles(column, chosen)]
            present = np.ones(len(column), np.bool_) if chosen is None else chosen
            added = present if signs is None else present & (signs > 0)
            return [_singles(column, added), _singles(column, present & ~added)]

        slots = (slot, slot) if spec.retracts else (slot,)
        return Accumulator(slots, prepare, lambda lists: finish(spec, lists[0]), settled if spec.retracts else None)

    return make


def settled(slots: list[Column]) -> list[Column]:
    """Return the lists of added and of retracted values without those that are in both."""
    if not len(slots[1].flatten()):
        return slots
    added, removed = slots[0].to_pylist(), slots[1].to_pylist()
    # NaN among the keys is normalised, so that it equals itself.
    for mine, theirs, keys, lost in zip(added, removed, *map(key_values, slots), strict=True):
        known, unknown = list(keys), []
        for value, key in zip(theirs, lost, strict=True):
            if key in known:
                place = known.index(key)
                del known[place], mine[place]
            else:
                unknown.append(value)
        theirs[:] = unknown
    return [pa.array(added, slots[0].type), pa.array(removed, slots[1].type)]


def is_empty(lists: Column) -> npt.NDArray[np.bool_]:
    """Return a mask of the empty lists."""
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
            return kept(lambda spec, lists: finish(lists))(spec)
        slot = Slot(how, arrow_type(spec.result))
        return Accumulator((slot,), lambda columns, signs: [columns[0]], lambda slots: slots[0])

    return make


# SINGLE_VALUE

_WITH_PARTS = (t.ArrayType, t.MapType, t.MultisetType, t.RowType, t.BinaryType, t.VarBinaryType)


def _single_type(arguments: Arguments, may_be_empty: bool) -> Signature:
    if len(arguments.types) != 1 or isinstance(arguments.types[0], _WITH_PARTS):
        raise arguments.refuse(f"{arguments.name}(<BOOLEAN>|<NUMERIC>|<CHARACTER>|<DATE>|<TIME>|<TIMESTAMP>)")
    return _same_type(arguments, may_be_empty)


def _single(spec: Spec, lists: Column) -> Column:
    if numbers(pc.greater(pc.list_value_length(lists), 1)).any():
        raise ExpressionError("SINGLE_VALUE got more than one value", hint="aggregate the values by another function, such as MAX")
    return pa.array([each[0] if each else None for each in lists.to_pylist()], lists.type.value_type)


# LISTAGG


def _text(arguments: Arguments, may_be_empty: bool) -> Signature:
    types = arguments.types
    strings = (t.CharType, t.VarCharType)
    if len(types) not in (1, 2) or not all(isinstance(of, strings) for of in types):
        raise arguments.refuse(f"{arguments.name}(<CHARACTER>), {arguments.name}(<CHARACTER>, <CHARACTER>)")
    return Signature(types, t.VarCharType(t.MAX_LENGTH))


def _text_list(spec: Spec) -> Accumulator:
    separator = str(spec.options[0]) if spec.options else ","

    def finish(lists: Column) -> Column:
        return nulled(pc.binary_join(lists, separator), is_empty(lists))

    return kept(lambda spec, lists: finish(lists))(spec)


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
    counted: list[Any] = [list(Counter(each).items()) for each in key_values(lists)]
    return pa.array(counted, pa.map_(lists.type.value_type, pa.int32()))


register(AggregateFunction("FIRST_VALUE", _same_type, _at_end("first", 0)))
register(AggregateFunction("LAST_VALUE", _same_type, _at_end("last", -1)))
register(AggregateFunction("SINGLE_VALUE", _single_type, kept(_single, keeps_nulls=True)))
register(AggregateFunction("LISTAGG", _text, _text_list, literals=1))
register(AggregateFunction("COLLECT", _multiset, kept(lambda spec, lists: _multisets(lists))))
register(AggregateFunction("ARRAY_AGG", _array, kept(lambda spec, lists: nulled(lists, is_empty(lists)), keeps_nulls=True)))


# LAG: of the rows from the one that it reads to the current one. A default makes the type NOT NULL, as in Flink, so it replaces NULL as
# well.


def _lag_type(arguments: Arguments, may_be_empty: bool) -> Signature:
    raise ProgramError("LAG reads the rows before each row, so it needs OVER", hint="write LAG(...) OVER (ORDER BY the time of the rows)")


def _lagging(spec: Spec, lists: Column) -> Column:
    (back,) = spec.options
    found = []
    for rows in lists.to_pylist():
        value = rows[0]["0"] if len(rows) > back else None
        found.append(rows[-1]["1"] if value is None else value)
    return pa.array(found, arrow_type(spec.result))


register(AggregateFunction("LAG", _lag_type, kept(_lagging, keeps_nulls=True, together=True)))

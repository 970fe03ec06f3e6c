"""Internal. The aggregates of a GROUP BY, with their slots by key: reads, updates and writes those of all groups of a batch at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.aggregates.calls import BoundCall, Input, accumulators, reduced
from wiesel.columnar.aggregates.registry import Accumulator
from wiesel.columnar.aggregates.slots import Column, Slot, merged, numbers
from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.grouping import Groups
from wiesel.core.errors import invariant
from wiesel.runtime.table.aggregate.group_keys import GroupKeys
from wiesel.runtime.table.aggregate.partials import Arguments, Partial, Partials
from wiesel.runtime.table.aggregate.value_multisets import ArrayValues, KeptValues, SeenValues, StateValues
from wiesel.state.backend import StateBackend

__all__ = ["Aggregation", "changed_places", "python_values", "slot_column", "stored_type"]

Values: TypeAlias = tuple[Arguments, int | None]
"""Input of calls with DISTINCT: their arguments and filter."""

COUNT_ROWS = Slot("sum", pa.int64(), 0)
"""The first slot of a group: its number of rows."""


def stored_type(kind: pa.DataType) -> pa.DataType | None:
    """The type as which times are stored: numbers, as Python's times are coarser and slower."""
    if not pa.types.is_temporal(kind):
        return None
    return pa.int32() if kind.bit_width == 32 else pa.int64()  # noqa: PLR2004 - two widths


def python_values(column: Column) -> list[Any]:
    """Return the values of a slot as they are stored."""
    stored = stored_type(column.type)
    column = column if stored is None else column.view(stored)
    if not column.null_count and (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return column.to_numpy().tolist()  # type: ignore[no-any-return]
    return column.to_pylist()  # type: ignore[no-any-return]


def slot_column(slot: Slot, values: Sequence[Any]) -> Column:
    """Return stored values of a slot as a column."""
    stored = stored_type(slot.type)
    return pa.array(values, slot.type) if stored is None else pa.array(values, stored).view(slot.type)


class Aggregation:
    """The aggregates of an operator.

    The slots of a group are a tuple: the number of rows, then the slots of each call in order.
    """

    def __init__(self, calls: Sequence[BoundCall]) -> None:
        self._calls = list(calls)
        self._accumulators = accumulators(calls)
        self._types = [arrow_type(call.spec.result) for call in calls]
        self.slots: list[Slot] = [COUNT_ROWS, *(slot for each in self._accumulators for slot in each.slots)]
        self.empty: tuple[Any, ...] = tuple(slot.empty for slot in self.slots)
        self._distinct: dict[Values, KeptValues] = {}
        self._seen: dict[Arguments, SeenValues] = {}
        self.partials = Partials(calls)
        self._extremes: dict[int, KeptValues] = {}

    def open(self, backend: StateBackend, ttl: Any = None, *, by_place: bool = False) -> None:
        """Open the tables for the values of DISTINCT and of retractable MIN and MAX; ``by_place``: groups have indexes."""

        def kept(name: str) -> Any:
            return backend.table(name, ttl=ttl, kind="map")

        for index, (call, accumulator) in enumerate(zip(self._calls, self._accumulators, strict=True)):
            values = (call.arguments, call.filter)
            if call.distinct and not call.spec.retracts:
                if call.arguments not in self._seen:
                    table = kept(f"distinct-{index}")
                    kinds = [arrow_type(of) for of in call.spec.types]
                    made = ArrayValues(table, kinds) if by_place else StateValues(table, refreshes=ttl is not None)
                    self._seen[call.arguments] = made
            elif call.distinct and values not in self._distinct:
                self._distinct[values] = KeptValues(kept(f"distinct-{index}"))
            elif accumulator.extreme is not None and not call.distinct:
                self._extremes[index] = KeptValues(kept(f"values-{index}"))

    def columns(self, states: Sequence[tuple[Any, ...]]) -> list[Column]:
        """Return the slots of groups as columns."""
        # A list per slot is several times faster than zip(*states), which iterates over all groups for each slot.
        return [slot_column(slot, [state[place] for state in states]) for place, slot in enumerate(self.slots)]

    def states(self, columns: Sequence[Column]) -> list[tuple[Any, ...]]:
        """Return columns of slots as a tuple per group."""
        return list(zip(*map(python_values, columns), strict=True))

    def add(self, keys: GroupKeys, old: Sequence[Column], rows: Input) -> list[Column]:
        """Return the slots of groups after adding rows; ``keys`` are those of the groups."""
        return self._after(keys, old, self.partials.of(rows), rows)

    def merge(self, keys: GroupKeys, old: Sequence[Column], columns: Sequence[Column], groups: Groups) -> list[Column]:
        """Return the slots of groups after partials, which are columns."""
        return self._after(keys, old, self.partials.read(columns, groups), None)

    def new_slots(self, keys: GroupKeys, partial: Partial) -> list[list[Column]]:
        """Return the slots of each call to be added for a partial, for values of DISTINCT only the new ones."""
        changed = self._new_values(keys, partial)
        return [
            reduced(accumulator, changed[call.arguments, call.filter]) if call.distinct else slots
            for call, accumulator, slots in zip(self._calls, self._accumulators, partial.slots, strict=True)
        ]

    def _after(self, keys: GroupKeys, old: Sequence[Column], partial: Partial, rows: Input | None) -> list[Column]:
        """``rows`` are those of the partial; None if it is complete."""
        found: list[Column] = [pa.array(numbers(old[0]) + partial.added)]
        changed = self._new_values(keys, partial)
        place = 1
        for index, (call, accumulator) in enumerate(zip(self._calls, self._accumulators, strict=True)):
            mine = list(old[place : place + len(accumulator.slots)])
            place += len(accumulator.slots)
            values = (call.arguments, call.filter)
            if call.distinct and values in changed:
                found += _added(accumulator, mine, changed[values])
            elif partial.slots[index]:
                found += _merged(accumulator, mine, partial.slots[index])
            else:
                invariant(rows is not None, f"{call.function} needs rows")
                found += self._from_rows(index, keys, mine, cast("Input", rows), changed)
        return found

    def _new_values(self, keys: GroupKeys, partial: Partial) -> dict[Values, Input]:
        """Return the new DISTINCT values of a group, by arguments and filter."""
        found: dict[Values, Input] = {}
        for arguments, (values, bits) in partial.values.items():
            fresh = self._seen[arguments].mark(keys, values, bits)
            for place, condition in enumerate(self.partials.filters[arguments]):
                found[arguments, condition] = values.take(np.flatnonzero(fresh & (1 << place)))
        return found

    def _from_rows(self, index: int, keys: GroupKeys, old: list[Column], rows: Input, changed: dict[Values, Input]) -> list[Column]:
        """Return the slots of a call that needs rows; ``changed`` gets its changed DISTINCT values."""
        call, accumulator = self._calls[index], self._accumulators[index]
        if call.distinct:
            values = (call.arguments, call.filter)
            found = changed[values] = self._distinct[values].update(keys, rows.of(call))
            if accumulator.extreme is None:
                return _added(accumulator, old, found)
            return [self._distinct[values].extremes(keys, accumulator.slots[0], old[0], found)]
        if index in self._extremes:
            kept = self._extremes[index]
            return [kept.extremes(keys, accumulator.slots[0], old[0], kept.update(keys, rows.of(call)))]
        return _added(accumulator, old, rows.of(call))

    def results(self, slots: Sequence[Column]) -> list[Column]:
        """Return the results of groups: a column per call."""
        found: list[Column] = []
        place = 1
        for accumulator, kind in zip(self._accumulators, self._types, strict=True):
            column = accumulator.finish(slots[place : place + len(accumulator.slots)])
            found.append(column if column.type == kind else column.cast(kind))
            place += len(accumulator.slots)
        return found

    def clear(self, key: Any) -> None:
        """Remove the stored values of a group."""
        for kept in (*self._distinct.values(), *self._extremes.values()):
            kept.clear(key)
        for seen in self._seen.values():
            seen.clear(key)

    # Groups with indexes

    def flush(self, keys: Sequence[Any]) -> None:
        """Write new values to keyed state; ``keys`` are those of the groups by index."""
        for seen in self._arrays():
            seen.flush(keys)

    def restore(self, places: Mapping[Any, int]) -> None:
        """Restore the values from keyed state; ``places`` are the indexes of the groups."""
        for seen in self._arrays():
            seen.restore(places)

    def _arrays(self) -> list[ArrayValues]:
        return [seen for seen in self._seen.values() if isinstance(seen, ArrayValues)]


def _added(accumulator: Accumulator, old: list[Column], rows: Input) -> list[Column]:
    """Return the slots of groups after rows."""
    if accumulator.fold is not None:
        return [accumulator.fold(old[0], rows.columns, rows.groups, rows.signs)]
    return _merged(accumulator, old, reduced(accumulator, rows))


def _merged(accumulator: Accumulator, old: list[Column], new: list[Column]) -> list[Column]:
    both = [merged(slot, *each) for slot, *each in zip(accumulator.slots, old, new, strict=True)]
    return both if accumulator.settle is None else accumulator.settle(both)


def changed_places(old: Sequence[Column], new: Sequence[Column], count: int) -> npt.NDArray[np.bool_]:
    """Return for each index whether any of some columns has changed."""
    found = np.zeros(count, np.bool_)
    for before, after in zip(old, new, strict=True):
        found |= _differs(before, after)
    return found


def _differs(before: Column, after: Column) -> npt.NDArray[np.bool_]:
    """Return for each index whether a column has changed; NULL equals NULL."""
    if pa.types.is_nested(after.type):
        return np.array([one != other for one, other in zip(before.to_pylist(), after.to_pylist(), strict=True)], np.bool_)
    different = numbers(pc.fill_null(pc.not_equal(before, after), False))
    if before.null_count or after.null_count:
        different = different | (numbers(before.is_null()) != numbers(after.is_null()))
    return different

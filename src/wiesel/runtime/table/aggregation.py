"""Internal. Several aggregates of groups whose slots are kept by key: reads, changes and writes them for all groups of a batch at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.aggregates.calls import BoundCall, Input, accumulators, reduced
from wiesel.columnar.aggregates.registry import Accumulator
from wiesel.columnar.aggregates.slots import Column, Slot, merged, numbers
from wiesel.columnar.arrow_types import arrow_type
from wiesel.runtime.table.kept_values import KeptValues, SeenValues
from wiesel.state.backend import StateBackend

__all__ = ["Aggregation", "changed_places", "python_values", "slot_column"]

COUNT_ROWS = Slot("sum", pa.int64(), 0)
"""The first slot of a group: how many rows it has."""


def _stored_type(kind: pa.DataType) -> pa.DataType | None:
    """The type as which times are stored: numbers, as Python's times are coarser and slower."""
    if not pa.types.is_temporal(kind):
        return None
    return pa.int32() if kind.bit_width == 32 else pa.int64()  # noqa: PLR2004 - two widths


def python_values(column: Column) -> list[Any]:
    """Return the values of a slot as they are stored."""
    stored = _stored_type(column.type)
    column = column if stored is None else column.view(stored)
    if not column.null_count and (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return column.to_numpy().tolist()  # type: ignore[no-any-return]
    return column.to_pylist()  # type: ignore[no-any-return]


def slot_column(slot: Slot, values: Sequence[Any]) -> Column:
    """Return stored values of a slot as a column."""
    stored = _stored_type(slot.type)
    return pa.array(values, slot.type) if stored is None else pa.array(values, stored).view(slot.type)


class Aggregation:
    """The aggregates of an operator.

    The slots of a group are a tuple: how many rows there are, then the slots of each call in order.
    """

    def __init__(self, calls: Sequence[BoundCall]) -> None:
        self._calls = list(calls)
        self._accumulators = accumulators(calls)
        self._types = [arrow_type(call.spec.result) for call in calls]
        self.slots: list[Slot] = [COUNT_ROWS, *(slot for each in self._accumulators for slot in each.slots)]
        self.empty: tuple[Any, ...] = tuple(slot.empty for slot in self.slots)
        self._distinct: dict[tuple[tuple[int, ...], int | None], KeptValues] = {}
        self._seen: dict[tuple[int, ...], SeenValues] = {}
        self._filters: dict[tuple[int, ...], list[int | None]] = {}
        for call in self._calls:
            if call.distinct and not call.spec.retracts:
                filters = self._filters.setdefault(call.arguments, [])
                if call.filter not in filters:
                    filters.append(call.filter)
        self._extremes: dict[int, KeptValues] = {}

    def open(self, backend: StateBackend, ttl: Any = None) -> None:
        """Take the tables for the values of DISTINCT and of MIN and MAX with rows taken back."""

        def kept(name: str) -> KeptValues:
            table: Any = backend.table(name, ttl=ttl, kind="map")
            return KeptValues(table)

        for index, (call, accumulator) in enumerate(zip(self._calls, self._accumulators, strict=True)):
            values = (call.arguments, call.filter)
            if call.distinct and not call.spec.retracts:
                if call.arguments not in self._seen:
                    table: Any = backend.table(f"distinct-{index}", ttl=ttl, kind="map")
                    self._seen[call.arguments] = SeenValues(table, self._filters[call.arguments], refreshes=ttl is not None)
            elif call.distinct and values not in self._distinct:
                self._distinct[values] = kept(f"distinct-{index}")
            elif accumulator.extreme is not None and not call.distinct:
                self._extremes[index] = kept(f"values-{index}")

    def columns(self, states: Sequence[tuple[Any, ...]]) -> list[Column]:
        """Return the slots of groups as columns."""
        # A list per slot is several times faster than zip(*states), which goes round all groups for each slot.
        return [slot_column(slot, [state[place] for state in states]) for place, slot in enumerate(self.slots)]

    def states(self, columns: Sequence[Column]) -> list[tuple[Any, ...]]:
        """Return columns of slots as a tuple per group."""
        return list(zip(*map(python_values, columns), strict=True))

    def add(self, keys: Sequence[Any], old: Sequence[Column], rows: Input) -> list[Column]:
        """Return the slots of groups after rows; ``keys`` are those of the groups."""
        added = rows.groups.sizes() if rows.signs is None else rows.groups.sizes(rows.signs)
        found: list[Column] = [pa.array(numbers(old[0]) + added)]
        changed: dict[tuple[tuple[int, ...], int | None], Input] = {}
        place = 1
        for index, (call, accumulator) in enumerate(zip(self._calls, self._accumulators, strict=True)):
            mine = list(old[place : place + len(accumulator.slots)])
            place += len(accumulator.slots)
            if call.distinct:
                values = (call.arguments, call.filter)
                if values not in changed and call.arguments in self._seen:
                    filters = self._filters[call.arguments]
                    fresh = self._seen[call.arguments].update(keys, rows, call.arguments)
                    changed.update({(call.arguments, each): found for each, found in zip(filters, fresh, strict=True)})
                elif values not in changed:
                    changed[values] = self._distinct[values].update(keys, rows.of(call))
                found += self._of_distinct(keys, values, accumulator, mine, changed[values])
            elif index in self._extremes:
                kept = self._extremes[index]
                found.append(kept.extremes(keys, accumulator.slots[0], mine[0], kept.update(keys, rows.of(call))))
            else:
                found += _added(accumulator, mine, rows.of(call))
        return found

    def _of_distinct(self, keys: Sequence[Any], values: Any, accumulator: Accumulator, old: list[Column], changed: Input) -> list[Column]:
        if accumulator.extreme is not None and values in self._distinct:
            return [self._distinct[values].extremes(keys, accumulator.slots[0], old[0], changed)]
        return _added(accumulator, old, changed)

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
        """Forget the values that are kept of a group."""
        for kept in (*self._distinct.values(), *self._extremes.values()):
            kept.clear(key)
        for seen in self._seen.values():
            seen.clear(key)


def _added(accumulator: Accumulator, old: list[Column], rows: Input) -> list[Column]:
    """Return the slots of groups after rows."""
    if accumulator.fold is not None:
        return [accumulator.fold(old[0], rows.columns, rows.groups, rows.signs)]
    return _merged(accumulator, old, reduced(accumulator, rows))


def _merged(accumulator: Accumulator, old: list[Column], new: list[Column]) -> list[Column]:
    both = [merged(slot, *each) for slot, *each in zip(accumulator.slots, old, new, strict=True)]
    return both if accumulator.settle is None else accumulator.settle(both)


def changed_places(old: Sequence[Column], new: Sequence[Column], count: int) -> npt.NDArray[np.bool_]:
    """Return for each place whether any of some columns has another value than before."""
    found = np.zeros(count, np.bool_)
    for before, after in zip(old, new, strict=True):
        found |= _differs(before, after)
    return found


def _differs(before: Column, after: Column) -> npt.NDArray[np.bool_]:
    """Return for each place whether a column has another value than before; NULL is equal to NULL."""
    if pa.types.is_nested(after.type):
        return np.array([one != other for one, other in zip(before.to_pylist(), after.to_pylist(), strict=True)], np.bool_)
    different = numbers(pc.fill_null(pc.not_equal(before, after), False))
    if before.null_count or after.null_count:
        different = different | (numbers(before.is_null()) != numbers(after.is_null()))
    return different

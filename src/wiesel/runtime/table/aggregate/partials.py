"""Internal. Partial aggregates of rows without the state of their groups, in the local and the global phase of aggregation.

A partial aggregate of a group is the number of rows, the slots of its calls, and for DISTINCT the distinct values, each with a bit for
every filter that it has passed. In columns, as they cross the exchange, the values of a group are lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.aggregates.calls import BoundCall, Input, accumulators, reduced
from wiesel.columnar.aggregates.slots import Column, numbers
from wiesel.columnar.grouping import Groups, Places, group_by

__all__ = ["Arguments", "Partial", "Partials"]

Arguments = tuple[int, ...]


@dataclass(frozen=True)
class Partial:
    """Partial aggregates of rows.

    Attributes:
        added: Number of rows of each group; negative if more were retracted than added.
        slots: For each call without DISTINCT a column per slot; none for others.
        values: By the arguments of DISTINCT the distinct values, as rows of groups, and their bits.
    """

    added: Places
    slots: list[list[Column]]
    values: dict[Arguments, tuple[Input, Places]]


class Partials:
    """The partials of some calls.

    Attributes:
        filters: By the arguments of DISTINCT over insert-only rows, the filters of its calls: indexes of boolean columns, None for all
            rows. The index of a filter is that of its bit.
    """

    def __init__(self, calls: Sequence[BoundCall]) -> None:
        self._calls = list(calls)
        self._accumulators = accumulators(calls)
        self.filters: dict[Arguments, list[int | None]] = {}
        for call in self._calls:
            if call.distinct and not call.spec.retracts:
                filters = self.filters.setdefault(call.arguments, [])
                if call.filter not in filters:
                    filters.append(call.filter)
        # Other calls need all rows, or the state of their group.
        self._plain = [not call.distinct and not each.needs_state for call, each in zip(self._calls, self._accumulators, strict=True)]

    @property
    def complete(self) -> bool:
        """Return whether partials represent the rows completely."""
        return all(plain or (call.distinct and not call.spec.retracts) for call, plain in zip(self._calls, self._plain, strict=True))

    def of(self, rows: Input) -> Partial:
        """Return the partials of the groups of rows."""
        slots = [
            reduced(accumulator, rows.of(call)) if plain else []
            for call, accumulator, plain in zip(self._calls, self._accumulators, self._plain, strict=True)
        ]
        values = {arguments: _different(rows, arguments, filters) for arguments, filters in self.filters.items()}
        return Partial(rows.groups.sizes(rows.signs), slots, values)

    def spread(self, slots: Sequence[Sequence[Column]], groups: Groups) -> list[list[Column]]:
        """Return slots with a row per group expanded to more groups; ``groups`` maps each row to them."""
        pairs = zip(self._accumulators, slots, strict=True)
        return [[slot.reduce(column, groups) for slot, column in zip(each.slots, mine, strict=False)] for each, mine in pairs]

    # Columns

    def fields(self, types: Sequence[pa.DataType]) -> list[pa.Field]:
        """Return the fields of partials as columns; ``types`` are those of the columns of the rows."""
        found = [pa.int64()]
        found += [slot.type for each, plain in zip(self._accumulators, self._plain, strict=True) if plain for slot in each.slots]
        for arguments in self.filters:
            found += [pa.list_(types[index]) for index in arguments]
            found.append(pa.list_(pa.int64()))
        return [pa.field(f"partial${place}", each) for place, each in enumerate(found)]

    def columns(self, partial: Partial) -> list[Column]:
        """Return partials as columns with a row per group."""
        found = [pa.array(partial.added), *(column for slots in partial.slots for column in slots)]
        for values, bits in partial.values.values():
            order = pa.array(values.groups.order)
            offsets = pa.array(np.concatenate([[0], np.cumsum(values.groups.sizes())]).astype(np.int32))
            found += [pa.ListArray.from_arrays(offsets, column.take(order)) for column in (*values.columns, pa.array(bits))]
        return found

    def read(self, columns: Sequence[Column], groups: Groups) -> Partial:
        """Return the partials of groups, which may have several rows each."""
        left = list(columns)
        added = groups.sizes(numbers(left.pop(0)))
        slots: list[list[Column]] = []
        for accumulator, plain in zip(self._accumulators, self._plain, strict=True):
            mine = [slot.reduce(left.pop(0), groups) for slot in accumulator.slots] if plain else []
            slots.append(mine if accumulator.settle is None or not mine else accumulator.settle(mine))
        values = {}
        for arguments in self.filters:
            mine, left = left[: len(arguments) + 1], left[len(arguments) + 1 :]
            lengths = numbers(pc.list_value_length(mine[-1])).astype(np.int64)
            of = Groups(np.repeat(groups.ids, lengths), groups.count)
            flat = Input([column.flatten() for column in mine[:-1]], of)
            values[arguments] = _united(flat, numbers(mine[-1].flatten()), len(groups) > groups.count)
        return Partial(added, slots, values)


def _different(rows: Input, arguments: Arguments, filters: Sequence[int | None]) -> tuple[Input, Places]:
    """Return one row per group and distinct values, with bits for the filters passed by any row with them."""
    own = Input([rows.columns[index] for index in arguments], rows.groups)
    pairs = own.groups if own.groups.apart else _pairs(own)
    bits = np.zeros(pairs.count, np.int64)
    for place, index in enumerate(filters):
        passed = np.zeros(pairs.count, np.bool_)
        passed[pairs.ids if index is None else pairs.ids[numbers(rows.columns[index].fill_null(False))]] = True
        bits |= passed.astype(np.int64) << place
    return own if own.groups.apart else own.take(pairs.first), bits


def _united(values: Input, bits: Places, again: bool) -> tuple[Input, Places]:
    """Return distinct values; ``again``: whether there may be duplicates."""
    if not again:
        return values, bits
    pairs = _pairs(values)
    found = np.zeros(pairs.count, np.int64)
    np.bitwise_or.at(found, pairs.ids, bits)
    return values.take(pairs.first), found


def _pairs(rows: Input) -> Groups:
    """Return the rows grouped by their group and values."""
    length = len(rows.groups)
    values = group_by(rows.columns, length)
    return group_by([pa.array(rows.groups.ids * max(values.count, 1) + values.ids)], length)

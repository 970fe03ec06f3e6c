"""Internal. Partial aggregates of a batch by key and slice, in the local and the global phase of window aggregation.

In columns, as they cross the exchange: the key, the end of the slice, the number of rows, the slots of calls without DISTINCT, and for each
set of arguments and filter of those with it lists of the distinct values and their counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.aggregates.calls import BoundCall, Input, accumulators, reduced
from wiesel.columnar.aggregates.slots import Column, Slot, numbers
from wiesel.columnar.grouping import Groups, group_by
from wiesel.columnar.row_batch import RowBatch
from wiesel.columnar.windows import Times
from wiesel.runtime.table.aggregate.aggregation import COUNT_ROWS
from wiesel.runtime.table.row_signs import row_signs
from wiesel.runtime.table.window.slice_store import Part
from wiesel.runtime.table.window.spec import WindowSpec

__all__ = ["Sliced", "WindowPartials"]


@dataclass(frozen=True)
class Sliced:
    """Parts with the slice of each row: of the calls without DISTINCT, and of each set of values."""

    plain: tuple[Part, Times]
    values: list[tuple[Part, Times]]


class WindowPartials:
    """Aggregates rows of a batch by key and slice.

    Attributes:
        slots: The number of rows, and the slots of calls without DISTINCT.
    """

    def __init__(self, spec: WindowSpec) -> None:
        self._spec = spec
        self._accumulators = accumulators(spec.calls)
        plain = [slot for call, each in zip(spec.calls, self._accumulators, strict=True) if not call.distinct for slot in each.slots]
        self.slots: list[Slot] = [COUNT_ROWS, *plain]

    def grouped(self, rows: RowBatch, slices: Times) -> list[Column]:
        """Return the grouping columns of rows with these slice ends."""
        return [*(rows.rows.column(index) for index in self._spec.keys), pa.array(slices)]

    def of(self, rows: RowBatch, slices: Times, groups: Groups) -> Sliced:
        """Return the partial aggregates of grouped rows."""
        spec, columns = self._spec, rows.rows.columns
        keys = [columns[index] for index in spec.keys]
        source = Input(columns, groups, row_signs(rows))
        parts = [pa.array(groups.sizes(source.signs))]
        for call, accumulator in zip(spec.calls, self._accumulators, strict=True):
            if not call.distinct:
                parts += reduced(accumulator, source.of(call))
        group_keys, group_slices = keys, slices
        if not groups.apart:
            first = pa.array(groups.first)
            group_keys, group_slices = [key.take(first) for key in keys], slices[groups.first]
        values = []
        for arguments, condition in spec.distinct:
            chosen = source.of(BoundCall("", spec.calls[0].spec, arguments, filter=condition))
            values.append(_counted(group_keys, group_slices, chosen))
        return Sliced(([*group_keys, *parts], group_slices), values)

    # Columns

    @property
    def schema(self) -> pa.Schema:
        """The schema of the columns."""
        spec = self._spec
        types = [*(spec.types[index] for index in spec.keys), pa.int64(), *(slot.type for slot in self.slots)]
        for arguments, _ in spec.distinct:
            types += [*(pa.list_(spec.types[index]) for index in arguments), pa.list_(pa.int64())]
        return pa.schema([pa.field(f"partial${place}", each) for place, each in enumerate(types)])

    def columns(self, sliced: Sliced) -> list[Column]:
        """Return the partial aggregates as columns with a row per key and slice."""
        part, slices = sliced.plain
        width = len(self._spec.keys)
        found = [*part[:width], pa.array(slices), *part[width:]]
        for values, of in sliced.values:
            # The same keys and slices in the same order, some of which have no values.
            both = [pa.concat_arrays(list(each)) for each in zip(part[:width], values[:width], strict=True)]
            ids = group_by([*both, pa.array(np.concatenate([slices, of]))], len(slices) + len(of)).ids[len(slices) :]
            order = pa.array(np.argsort(ids, kind="stable"))
            offsets = pa.array(np.concatenate([[0], np.cumsum(np.bincount(ids, minlength=len(slices)))]).astype(np.int32))
            found += [pa.ListArray.from_arrays(offsets, column.take(order)) for column in values[width:]]
        return found

    def read(self, columns: Sequence[Column]) -> Sliced:
        """Return columns, of one batch or of several, as parts with distinct keys and slices."""
        width, slots = len(self._spec.keys), len(self.slots)
        keys, ends, left = columns[:width], numbers(columns[width]), list(columns[width + 1 + slots :])
        plain = self._united([*keys, *columns[width + 1 : width + 1 + slots]], ends, width, self.slots)
        values = []
        for arguments, _ in self._spec.distinct:
            mine, left = left[: len(arguments) + 1], left[len(arguments) + 1 :]
            places = np.repeat(np.arange(len(ends)), numbers(pc.list_value_length(mine[-1])).astype(np.int64))
            taken = pa.array(places)
            part = [*(key.take(taken) for key in keys), *(column.flatten() for column in mine)]
            values.append(self._united(part, ends[places], width + len(arguments), [COUNT_ROWS]))
        return Sliced(plain, values)

    @staticmethod
    def _united(part: Part, slices: Times, grouped: int, slots: Sequence[Slot]) -> tuple[Part, Times]:
        groups = group_by([*part[:grouped], pa.array(slices)], len(slices))
        if groups.count == len(groups):
            return part, slices
        first = pa.array(groups.first)
        reduced_slots = [slot.reduce(column, groups) for slot, column in zip(slots, part[grouped:], strict=True)]
        return [*(column.take(first) for column in part[:grouped]), *reduced_slots], slices[groups.first]


def _counted(keys: Sequence[Column], slices: Times, rows: Input) -> tuple[Part, Times]:
    """Return the counts of values; ``keys`` and ``slices`` are those of the rows' groups."""
    of: Groups = rows.groups
    values = group_by([pa.array(of.ids), *rows.columns], len(of))
    first = values.first
    places = of.ids[first]
    taken, firsts = pa.array(places), pa.array(first)
    counts = pa.array(values.sizes(rows.signs))
    return [*(key.take(taken) for key in keys), *(column.take(firsts) for column in rows.columns), counts], slices[places]

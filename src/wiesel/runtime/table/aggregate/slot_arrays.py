"""Internal. Slots of many groups as growing arrays, for vectorised access."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wiesel.columnar.aggregates.slots import Column, Slot, numbers
from wiesel.columnar.grouping import Places
from wiesel.runtime.table.aggregate.aggregation import python_values, slot_column, stored_type

__all__ = ["SlotArray"]


class SlotArray:
    """One slot of all groups, by the index of the group.

    Numbers and times are stored as numbers, with a mask if nullable; other values as in state.
    """

    def __init__(self, slot: Slot, size: int) -> None:
        self._slot = slot
        self._stored = stored_type(slot.type) or slot.type
        self._is_number = pa.types.is_integer(self._stored) or pa.types.is_floating(self._stored)
        self._values = self._empty(size)
        self._valid = np.zeros(size, np.bool_) if self._is_number and slot.empty is None else None

    def _empty(self, size: int) -> npt.NDArray[Any]:
        if self._is_number:
            return np.full(size, self._slot.empty or 0, self._stored.to_pandas_dtype())
        values = np.empty(size, np.object_)
        for place in range(size) if self._slot.empty is not None else ():
            values[place] = self._slot.empty
        return values

    def grow(self, size: int) -> None:
        """Ensure capacity for a number of groups."""
        more = size - len(self._values)
        self._values = np.concatenate([self._values, self._empty(more)])
        if self._valid is not None:
            self._valid = np.concatenate([self._valid, np.zeros(more, np.bool_)])

    def take(self, places: Places) -> Column:
        """Return the values of groups."""
        values = self._values[places]
        if not self._is_number:
            return slot_column(self._slot, values.tolist())
        if self._valid is None:
            return pa.array(values, self._slot.type)
        valid = self._valid[places]
        column = pa.array(values, self._stored, mask=None if valid.all() else ~valid)
        return column if self._stored == self._slot.type else column.view(self._slot.type)

    def put(self, places: Places, column: Column) -> None:
        """Set the values of groups."""
        if not self._is_number:
            values = np.empty(len(places), np.object_)
            values[:] = python_values(column)
            self._values[places] = values
            return
        column = column if self._stored == self._slot.type else column.view(self._stored)
        if self._valid is not None:
            self._valid[places] = numbers(column.is_valid())
            column = column.fill_null(0) if column.null_count else column
        self._values[places] = numbers(column)

    def clear(self, places: Places) -> None:
        """Reset groups to their initial values."""
        self._values[places] = self._empty(len(places))
        if self._valid is not None:
            self._valid[places] = False

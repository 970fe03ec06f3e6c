"""Internal. Calls of aggregate functions over the columns of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from wiesel.columnar.aggregates.registry import Accumulator, Signs, Spec, make_accumulator
from wiesel.columnar.aggregates.slots import Column, numbers
from wiesel.columnar.grouping import Groups, Places

__all__ = ["BoundCall", "Input", "accumulators", "reduced"]


@dataclass(frozen=True)
class BoundCall:
    """An aggregate call as executed by operators.

    Attributes:
        function: The function's name.
        spec: Types and options of the call.
        arguments: Indexes of its columns.
        distinct: Count equal arguments once.
        filter: Index of a boolean column: rows where it is not true are ignored.
    """

    function: str
    spec: Spec
    arguments: tuple[int, ...]
    distinct: bool = False
    filter: int | None = None


@dataclass(frozen=True)
class Input:
    """Rows with their groups and signs (inserted or retracted)."""

    columns: Sequence[Column]
    groups: Groups
    signs: Signs = None

    def of(self, call: BoundCall) -> Input:
        """Return the columns of a call for the rows that pass its filter; those of all rows if there are no columns."""
        columns = [self.columns[index] for index in call.arguments]
        if call.filter is None:
            return Input(columns, self.groups, self.signs)
        mask = numbers(self.columns[call.filter].fill_null(False))
        return Input(columns, self.groups, self.signs).take(np.flatnonzero(mask))

    def take(self, places: Places) -> Input:
        """Return some of the rows."""
        taken = pa.array(places)
        signs = None if self.signs is None else self.signs[places]
        return Input([column.take(taken) for column in self.columns], self.groups.take(places), signs)


def accumulators(calls: Sequence[BoundCall]) -> list[Accumulator]:
    """Return the accumulators of calls."""
    return [make_accumulator(call.function, call.spec) for call in calls]


def reduced(accumulator: Accumulator, rows: Input) -> list[Column]:
    """Reduce rows to slots: a column for each, with a value per group."""
    columns = rows.columns or [pa.array(rows.groups.ids)]  # COUNT(*): values that are never NULL
    prepared = accumulator.prepare(columns, rows.signs)
    return [slot.reduce(column, rows.groups) for slot, column in zip(accumulator.slots, prepared, strict=True)]

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
    """A call as operators run it.

    Attributes:
        function: The function's name.
        spec: What it is computed for.
        arguments: Indexes of its columns.
        distinct: Whether equal arguments count once.
        filter: Index of a boolean column: rows where it is not true are left out.
    """

    function: str
    spec: Spec
    arguments: tuple[int, ...]
    distinct: bool = False
    filter: int | None = None


@dataclass(frozen=True)
class Input:
    """Rows with their groups, and whether each is added or taken back."""

    columns: Sequence[Column]
    groups: Groups
    signs: Signs = None

    def of(self, call: BoundCall) -> Input:
        """Return the columns of a call for the rows that pass its filter; without columns those of all rows."""
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
    """Return the slots of rows: a column for each, with a value per group."""
    columns = rows.columns or [pa.array(rows.groups.ids)]  # COUNT(*): nothing that may be NULL
    prepared = accumulator.prepare(columns, rows.signs)
    return [slot.reduce(column, rows.groups) for slot, column in zip(accumulator.slots, prepared, strict=True)]

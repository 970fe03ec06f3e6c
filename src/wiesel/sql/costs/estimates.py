"""Internal. Estimates of a relation's rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from wiesel.types import logical as t

__all__ = ["ColumnEstimate", "Estimate", "distinct_among", "width_of"]

_WIDTH = 12
"""Bytes of a value of which nothing else is known, as in Flink (``FlinkRelMdSize.averageTypeValueSize``)."""

_WIDTHS: tuple[tuple[type[t.DataType], int], ...] = (
    (t.BooleanType, 1),
    (t.TinyIntType, 1),
    (t.SmallIntType, 2),
    (t.IntType, 4),
    (t.FloatType, 4),
    (t.DateType, 4),
    (t.TimeType, 4),
    (t.BigIntType, 8),
    (t.DoubleType, 8),
    (t.DecimalType, 12),
    (t.TimestampType, 12),
    (t.LocalZonedTimestampType, 12),
)


@dataclass(frozen=True)
class ColumnEstimate:
    """Estimated statistics of a column; None for unknown values.

    Attributes:
        distinct: How many different values it has.
        nulls: Which part of the rows has NULL.
        least: The least value as a number.
        greatest: The greatest value as a number.
        width: Bytes of a value.
    """

    distinct: float | None = None
    nulls: float | None = None
    least: float | None = None
    greatest: float | None = None
    width: float = _WIDTH


@dataclass(frozen=True)
class Estimate:
    """Estimated number of rows of a relation, and its column statistics.

    Attributes:
        rows: How many rows.
        columns: Of each column what is known.
        keys: Sets of columns that no two rows have in common.
        known: Whether the number of rows goes back to statistics of all tables; they are guesses else.
    """

    rows: float
    columns: tuple[ColumnEstimate, ...]
    keys: frozenset[frozenset[int]] = frozenset()
    known: bool = True

    @property
    def width(self) -> float:
        """Bytes of a row."""
        return sum(column.width for column in self.columns)

    @property
    def bytes(self) -> float:
        """Bytes of all rows."""
        return self.rows * self.width

    def distinct(self, columns: tuple[int, ...]) -> float | None:
        """Return how many different values some columns have together; None if it is not known."""
        if self.is_unique(columns):
            return max(self.rows, 1.0)
        found = 1.0
        for index in columns:
            each = self.columns[index].distinct
            if each is None:
                return None
            found *= max(each, 1.0)
        return max(min(found, self.rows), 1.0)

    def is_unique(self, columns: tuple[int, ...]) -> bool:
        """Return whether no two rows have the same values in some columns."""
        return any(key <= set(columns) for key in self.keys)

    def of_rows(self, rows: float) -> Estimate:
        """Return the estimate of a part of the rows, chosen without regard to their values."""
        columns = tuple(
            each if each.distinct is None else replace(each, distinct=distinct_among(each.distinct, rows)) for each in self.columns
        )
        return replace(self, rows=rows, columns=columns)


def distinct_among(distinct: float, rows: float) -> float:
    """Return how many of so many values are expected among rows drawn at random.

    The formula is that of Calcite's ``RelMdUtil.numDistinctVals``: each row has each value with the same probability.
    """
    if distinct <= 1 or rows <= 0:
        return min(distinct, max(rows, 0.0))
    return min(distinct * -math.expm1(-rows / distinct), rows)


def width_of(data_type: t.DataType) -> float:
    """Return how many bytes a value of a type has, if nothing else is known."""
    return next((width for kind, width in _WIDTHS if isinstance(data_type, kind)), _WIDTH)

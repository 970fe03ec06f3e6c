"""Statistics of the rows of a table, for the optimizer."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

__all__ = ["ColumnFacts", "ColumnStatistics", "Facts", "TableStatistics", "number_of"]

_EPOCH = datetime.datetime(1970, 1, 1)
_EPOCH_DAY = datetime.date(1970, 1, 1)


@dataclass(frozen=True)
class ColumnStatistics:
    """Statistics of the values of a column; None for unknown values.

    Attributes:
        distinct: How many different values there are, NULL not counted.
        nulls: How many rows have NULL.
        least: The least value as a number (:func:`number_of`).
        greatest: The greatest value as a number.
        average_length: Of strings: how many characters they have on average.
        greatest_length: Of strings: how many the longest has.
        true_count: Of booleans: how many rows are true.
        false_count: Of booleans: how many are false.
    """

    distinct: int | None = None
    nulls: int | None = None
    least: float | None = None
    greatest: float | None = None
    average_length: float | None = None
    greatest_length: int | None = None
    true_count: int | None = None
    false_count: int | None = None


@dataclass(frozen=True)
class TableStatistics:
    """Statistics of a table or of a partition of it.

    Attributes:
        rows: How many rows there are.
        columns: What is known of columns, by their names.
        files: How many files it is in.
        size: How many bytes these have.
        raw_size: How many bytes its rows have in memory.
        properties: What else programs keep with it.
    """

    rows: int
    columns: Mapping[str, ColumnStatistics] = field(default_factory=dict)
    files: int | None = None
    size: int | None = None
    raw_size: int | None = None
    properties: Mapping[str, str] = field(default_factory=dict)

    def updated(self, newer: TableStatistics) -> TableStatistics:
        """Return newer statistics, with what was known of columns that these leave out."""
        return TableStatistics(newer.rows, {**self.columns, **newer.columns})

    @staticmethod
    def of_all(parts: Iterable[TableStatistics]) -> TableStatistics:
        """Return the statistics of the rows of several parts.

        Values may be in several parts: of how many there are in all, what is known is the greatest of the parts.
        """
        found = list(parts)
        names = [name for name in (found[0].columns if found else {}) if all(name in each.columns for each in found)]
        return TableStatistics(
            sum(each.rows for each in found), {name: _of_columns([each.columns[name] for each in found]) for name in names}
        )


def _of_columns(parts: list[ColumnStatistics]) -> ColumnStatistics:
    def of(name: str) -> list[Any] | None:
        values = [getattr(part, name) for part in parts]
        return None if None in values else values

    # The bounds of a part without values are not known, and are no bounds of the others.
    least = [part.least for part in parts if part.least is not None]
    greatest = [part.greatest for part in parts if part.greatest is not None]
    sums = {name: of(name) for name in ("nulls", "true_count", "false_count")}
    most = {name: of(name) for name in ("distinct", "greatest_length", "average_length")}
    return ColumnStatistics(
        least=min(least, default=None),
        greatest=max(greatest, default=None),
        **{name: None if values is None else sum(values) for name, values in sums.items()},
        **{name: None if values is None else max(values) for name, values in most.items()},
    )


def number_of(value: Any) -> float | None:
    """Return a value as a number in its order: days of dates, seconds of times; None if it has none.

    >>> number_of(datetime.date(1970, 1, 3))
    2
    """
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, datetime.datetime):
        return (value.replace(tzinfo=None) - (value.utcoffset() or datetime.timedelta()) - _EPOCH).total_seconds()
    if isinstance(value, datetime.date):
        return (value - _EPOCH_DAY).days
    if isinstance(value, datetime.time):
        return value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6
    return value.total_seconds() if isinstance(value, datetime.timedelta) else None


@dataclass(frozen=True)
class ColumnFacts:
    """Exact statistics of the values of a column.

    Attributes:
        nulls: How many rows have NULL; None if it is not known.
        bounds: The least and the greatest value, as ``pyarrow.scalar`` takes them, both None if there are no values; None if they are
            not known.
    """

    nulls: int | None = None
    bounds: tuple[Any, Any] | None = None


@dataclass(frozen=True)
class Facts:
    """Exact statistics of rows: results may be computed from them.

    Attributes:
        rows: How many there are.
        columns: What is known of columns, by their names.
    """

    rows: int
    columns: Mapping[str, ColumnFacts] = field(default_factory=dict)

    @property
    def statistics(self) -> TableStatistics:
        """The same as statistics."""
        columns = {}
        for name, of in self.columns.items():
            least, greatest = map(number_of, of.bounds or (None, None))
            columns[name] = ColumnStatistics(nulls=of.nulls, least=least, greatest=greatest)
        return TableStatistics(self.rows, columns)

    @staticmethod
    def of_all(parts: Iterable[Facts]) -> Facts:
        """Return what is certain of the rows of several parts."""
        found = list(parts)
        names = [name for name in (found[0].columns if found else ()) if all(name in each.columns for each in found)]
        return Facts(sum(each.rows for each in found), {name: _certain([each.columns[name] for each in found]) for name in names})


def _certain(parts: list[ColumnFacts]) -> ColumnFacts:
    nulls = [part.nulls for part in parts]
    bounds = [part.bounds for part in parts]
    known = None if None in nulls else sum(each for each in nulls if each is not None)
    if any(each is None for each in bounds):
        return ColumnFacts(known)
    least = min((each[0] for each in bounds if each is not None and each[0] is not None), default=None)
    greatest = max((each[1] for each in bounds if each is not None and each[1] is not None), default=None)
    return ColumnFacts(known, (least, greatest))

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
        distinct: Number of distinct values, excluding NULL.
        nulls: Number of NULLs.
        least: The minimum as a number (:func:`number_of`).
        greatest: The maximum as a number.
        average_length: Of strings: average number of characters.
        greatest_length: Of strings: maximal number of characters.
        true_count: Of booleans: number of true values.
        false_count: Of booleans: number of false values.
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
        rows: Number of rows.
        columns: Statistics of columns, by name.
        files: Number of files.
        size: Size of the files in bytes.
        raw_size: Size of the rows in memory, in bytes.
        properties: Further properties stored by programs.
    """

    rows: int
    columns: Mapping[str, ColumnStatistics] = field(default_factory=dict)
    files: int | None = None
    size: int | None = None
    raw_size: int | None = None
    properties: Mapping[str, str] = field(default_factory=dict)

    def updated(self, newer: TableStatistics) -> TableStatistics:
        """Return the newer statistics, completed by those of columns missing in them."""
        return TableStatistics(newer.rows, {**self.columns, **newer.columns})

    @staticmethod
    def of_all(parts: Iterable[TableStatistics]) -> TableStatistics:
        """Return the statistics of the rows of several parts.

        Parts may have common values: the total number of distinct values is estimated by the maximum of the parts.
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

    # The bounds of a part without values are unknown, and do not affect those of the others.
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
        nulls: Number of NULLs; None if unknown.
        bounds: Minimum and maximum, as ``pyarrow.scalar`` accepts them, both None if there are no values; None if unknown.
    """

    nulls: int | None = None
    bounds: tuple[Any, Any] | None = None


@dataclass(frozen=True)
class Facts:
    """Exact statistics of rows: results may be computed from them.

    Attributes:
        rows: Number of rows.
        columns: Statistics of columns, by name.
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
        """Return the exact statistics of the rows of several parts."""
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

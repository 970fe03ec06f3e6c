"""Windows of tables: groups of rows by time (:class:`Tumble`, :class:`Slide`, :class:`Session`), and rows around a row (:class:`Over`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wiesel.core.argument_checks import require_instance
from wiesel.table.expression import Expression

__all__ = ["GroupWindow", "Over", "OverWindow", "Session", "Slide", "Tumble"]


def _expression(given: object, what: str) -> None:
    require_instance(given, Expression, what, "give an expression, such as lit(5).minutes or col('ts')")


@dataclass(frozen=True, eq=False)
class GroupWindow:
    """A window to group by under its alias.

    Attributes:
        kind: Its function in SQL: ``TUMBLE``, ``HOP`` or ``SESSION``.
        lengths: The arguments behind the time, in the order of that function.
        time: The column with the time.
        name: The alias.
    """

    kind: str
    lengths: tuple[Expression[Any], ...]
    time: Expression[Any]
    name: str


class _OnTime:
    """A window of which the alias is missing."""

    def __init__(self, kind: str, lengths: Sequence[Expression[Any]], time: Expression[Any]) -> None:
        _expression(time, "on() takes the column with the time: it")
        self._kind, self._lengths, self._time = kind, tuple(lengths), time

    def alias(self, alias: str) -> GroupWindow:
        """Return the window under a name, by which it is named in ``group_by()`` and ``select()``."""
        require_instance(alias, str, "the alias of a window", "give a text")
        return GroupWindow(self._kind, self._lengths, self._time, alias)


class Tumble:
    """Windows of one length, side by side.

    >>> from wiesel.table.expressions import col, lit
    >>> window = Tumble.over(lit(10).minutes).on(col("ts")).alias("w")
    """

    @classmethod
    def over(cls, size: Expression[Any]) -> TumbleWithSize:
        """Return windows of a length, such as ``lit(10).minutes``, or a number of rows, ``row_interval(10)``."""
        return TumbleWithSize(size)


class TumbleWithSize:
    """Windows of one length, of which the time is missing."""

    def __init__(self, size: Expression[Any]) -> None:
        _expression(size, "the size of a window")
        self._size = size

    def on(self, time_field: Expression[Any]) -> TumbleWithSizeOnTime:
        """Return the windows by the time of a column."""
        return TumbleWithSizeOnTime("TUMBLE", [self._size], time_field)


class TumbleWithSizeOnTime(_OnTime):
    """Windows of one length by the time of a column."""


class Slide:
    """Windows of one length that begin at regular distances, so that they overlap."""

    @classmethod
    def over(cls, size: Expression[Any]) -> SlideWithSize:
        """Return windows of a length."""
        return SlideWithSize(size)


class SlideWithSize:
    """Windows of one length, of which the distance is missing."""

    def __init__(self, size: Expression[Any]) -> None:
        _expression(size, "the size of a window")
        self._size = size

    def every(self, slide: Expression[Any]) -> SlideWithSizeAndSlide:
        """Return windows that begin at a distance from each other."""
        return SlideWithSizeAndSlide(self._size, slide)


class SlideWithSizeAndSlide:
    """Windows of one length and distance, of which the time is missing."""

    def __init__(self, size: Expression[Any], slide: Expression[Any]) -> None:
        _expression(slide, "the slide of a window")
        self._size, self._slide = size, slide

    def on(self, time_field: Expression[Any]) -> SlideWithSizeAndSlideOnTime:
        """Return the windows by the time of a column."""
        return SlideWithSizeAndSlideOnTime("HOP", [self._slide, self._size], time_field)


class SlideWithSizeAndSlideOnTime(_OnTime):
    """Windows of one length and distance by the time of a column."""


class Session:
    """Windows that end where nothing has come for a while."""

    @classmethod
    def with_gap(cls, gap: Expression[Any]) -> SessionWithGap:
        """Return windows with at least a gap between them."""
        return SessionWithGap(gap)


class SessionWithGap:
    """Windows with a gap between them, of which the time is missing."""

    def __init__(self, gap: Expression[Any]) -> None:
        _expression(gap, "the gap between windows")
        self._gap = gap

    def on(self, time_field: Expression[Any]) -> SessionWithGapOnTime:
        """Return the windows by the time of a column."""
        return SessionWithGapOnTime("SESSION", [self._gap], time_field)


class SessionWithGapOnTime(_OnTime):
    """Windows with a gap between them by the time of a column."""


# Rows around a row


@dataclass(frozen=True, eq=False)
class OverWindow:
    """The rows around each row, under an alias.

    Attributes:
        partition: The columns whose values these rows have in common.
        order: The column with their time.
        preceding: How far they reach back; None for all.
        following: How far they reach on; None for the row itself, or its time.
        name: The alias.
    """

    partition: tuple[Expression[Any], ...]
    order: Expression[Any]
    preceding: Expression[Any] | None
    following: Expression[Any] | None
    name: str


class Over:
    """Rows around each row, for aggregates with ``over()``.

    >>> from wiesel.table.expressions import col, row_interval
    >>> window = Over.partition_by(col("user")).order_by(col("ts")).preceding(row_interval(10)).alias("w")
    """

    @classmethod
    def order_by(cls, order_by: Expression[Any]) -> OverWindowPartitionedOrdered:
        """Return all rows in the order of a column."""
        return OverWindowPartitionedOrdered((), order_by)

    @classmethod
    def partition_by(cls, *partition_by: Expression[Any]) -> OverWindowPartitioned:
        """Return the rows with the same values of some columns."""
        return OverWindowPartitioned(partition_by)


class OverWindowPartitioned:
    """Rows with the same values, of which the order is missing."""

    def __init__(self, partition: Sequence[Expression[Any]]) -> None:
        for each in partition:
            _expression(each, "partition_by() takes columns: one of them")
        self._partition = tuple(partition)

    def order_by(self, order_by: Expression[Any]) -> OverWindowPartitionedOrdered:
        """Return the rows in the order of a column."""
        return OverWindowPartitionedOrdered(self._partition, order_by)


class OverWindowPartitionedOrdered:
    """Rows in an order; up to the row itself and those of its time, from the first one on."""

    def __init__(self, partition: tuple[Expression[Any], ...], order: Expression[Any]) -> None:
        _expression(order, "order_by() takes the column with the time: it")
        self._partition, self._order = partition, order

    def alias(self, alias: str) -> OverWindow:
        """Return the rows under a name, for ``over()``."""
        return OverWindow(self._partition, self._order, None, None, alias)

    def preceding(self, preceding: Expression[Any]) -> OverWindowPartitionedOrderedPreceding:
        """Return the rows from a number of rows (``row_interval(10)``) or a length of time (``lit(5).minutes``) before each row on."""
        return OverWindowPartitionedOrderedPreceding(self._partition, self._order, preceding)


class OverWindowPartitionedOrderedPreceding:
    """Rows in an order from one on."""

    def __init__(
        self,
        partition: tuple[Expression[Any], ...],
        order: Expression[Any],
        preceding: Expression[Any],
        following: Expression[Any] | None = None,
    ) -> None:
        _expression(preceding, "preceding() takes an expression: it")
        self._partition, self._order, self._preceding, self._following = partition, order, preceding, following

    def alias(self, alias: str) -> OverWindow:
        """Return the rows under a name, for ``over()``."""
        return OverWindow(self._partition, self._order, self._preceding, self._following, alias)

    def following(self, following: Expression[Any]) -> OverWindowPartitionedOrderedPreceding:
        """Return the rows up to ``CURRENT_ROW`` or ``CURRENT_RANGE``."""
        _expression(following, "following() takes an expression: it")
        return OverWindowPartitionedOrderedPreceding(self._partition, self._order, self._preceding, following)

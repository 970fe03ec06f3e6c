"""Internal. Window functions of the position in a partition: row numbers, ranks, distributions, LEAD and LAG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.aggregates.calls import BoundCall
from wiesel.columnar.aggregates.slots import Column
from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.grouping import Places
from wiesel.runtime.table.over.slots import starts_of_groups

__all__ = ["Partitions", "position_function"]


@dataclass(frozen=True)
class Partitions:
    """Rows in the order of partition and keys.

    Attributes:
        ids: The partition of each row.
        peers: A number for each row, equal for rows of a partition with equal keys.
    """

    ids: Places
    peers: Places

    @cached_property
    def places(self) -> Places:
        """The index of each row."""
        return np.arange(len(self.ids))

    @cached_property
    def starts(self) -> Places:
        """The index of the first row of each row's partition."""
        return starts_of_groups(self.ids)

    @cached_property
    def ends(self) -> Places:
        """The index of the last row of each row's partition."""
        return _ends(self.ids)

    @cached_property
    def first_peers(self) -> Places:
        """The index of the first peer of each row."""
        return starts_of_groups(self.peers)

    @cached_property
    def last_peers(self) -> Places:
        """The index of the last peer of each row."""
        return _ends(self.peers)

    @property
    def sizes(self) -> Places:
        """The number of rows of each row's partition."""
        return self.ends - self.starts + 1


def _ends(sorted_ids: Places) -> Places:
    length = len(sorted_ids)
    return length - 1 - starts_of_groups(sorted_ids[::-1])[::-1]


def _row_number(rows: Partitions, columns: Sequence[Column], call: BoundCall) -> Column:
    return pa.array(rows.places - rows.starts + 1)


def _ranks(rows: Partitions) -> Places:
    return rows.first_peers - rows.starts + 1


def _rank(rows: Partitions, columns: Sequence[Column], call: BoundCall) -> Column:
    return pa.array(_ranks(rows))


def _dense_rank(rows: Partitions, columns: Sequence[Column], call: BoundCall) -> Column:
    count = np.cumsum(rows.first_peers == rows.places)
    return pa.array(count - count[rows.starts] + 1)


def _percent_rank(rows: Partitions, columns: Sequence[Column], call: BoundCall) -> Column:
    return pa.array((_ranks(rows) - 1) / np.maximum(rows.sizes - 1, 1))


def _cume_dist(rows: Partitions, columns: Sequence[Column], call: BoundCall) -> Column:
    return pa.array((rows.last_peers - rows.starts + 1) / rows.sizes)


def _ntile(rows: Partitions, columns: Sequence[Column], call: BoundCall) -> Column:
    """Compute NTILE; the first buckets have one row more, if the rows cannot be distributed evenly."""
    (parts,) = call.spec.options
    small, larger = np.divmod(rows.sizes, parts)
    before = rows.places - rows.starts
    in_larger = larger * (small + 1)
    behind = larger + (before - in_larger) // np.maximum(small, 1)
    return pa.array(np.where(before < in_larger, before // (small + 1), behind) + 1)


def _shifted(direction: int) -> Callable[[Partitions, Sequence[Column], BoundCall], Column]:
    def at(rows: Partitions, columns: Sequence[Column], call: BoundCall) -> Column:
        value, otherwise = columns
        wanted = rows.places + direction * int(call.spec.options[0])
        inside = (wanted >= rows.starts) & (wanted <= rows.ends)
        there = value.take(pa.array(np.where(inside, wanted, 0), mask=~inside))
        return pc.coalesce(there, otherwise.cast(value.type))  # as LAG in streaming mode

    return at


_FUNCTIONS: dict[str, Callable[[Partitions, Sequence[Column], BoundCall], Column]] = {
    "ROW_NUMBER": _row_number,
    "RANK": _rank,
    "DENSE_RANK": _dense_rank,
    "PERCENT_RANK": _percent_rank,
    "CUME_DIST": _cume_dist,
    "NTILE": _ntile,
    "LAG": _shifted(-1),
    "LEAD": _shifted(1),
}


def position_function(call: BoundCall) -> Callable[[Partitions, Sequence[Column]], Column] | None:
    """Return the function that computes a call from the partitions and all columns; None for an aggregate."""
    function = _FUNCTIONS.get(call.function)
    if function is None:
        return None

    def computed(rows: Partitions, columns: Sequence[Column]) -> Column:
        return function(rows, [columns[index] for index in call.arguments], call).cast(arrow_type(call.spec.result))

    return computed

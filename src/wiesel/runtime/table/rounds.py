"""Internal. Changes per row (``wiesel.table.changelog-per-record``): batches are processed in rounds.

Round *k* has the *k*-th row of each key, so that the keys in a round are distinct, and the operator remains vectorised. The results of the
rounds are emitted in the order of their input rows, as in row-by-row processing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from wiesel.columnar.grouping import Places, group_by
from wiesel.columnar.row_batch import RowBatch, concat
from wiesel.core.options import CHANGELOG_PER_RECORD
from wiesel.runtime.operator import OperatorContext
from wiesel.runtime.operators.function_operator import is_batch

__all__ = ["Rounds", "is_per_record", "rounds_of"]


class Rounds:
    """Divides batches into rounds.

    Args:
        columns: The key columns.
        process: Processes the rows of a round; calls :meth:`add` with the results.
        emit: Emits rows.
    """

    def __init__(self, columns: Sequence[int], process: Callable[[RowBatch], None], emit: Callable[[RowBatch], None]) -> None:
        self._columns = list(columns)
        self._process = process
        self._emit = emit
        self._round: Places = np.zeros(0, np.int64)
        self._found: list[RowBatch] = []
        self._owners: list[Places] = []

    def process(self, rows: RowBatch) -> None:
        """Process rows, and emit the results."""
        places = _rounds([rows.rows.column(index) for index in self._columns], len(rows))
        try:
            for self._round in places:
                self._process(rows if len(places) == 1 else rows.take(self._round))
            if self._found:
                found = concat(self._found)
                order = np.argsort(np.concatenate(self._owners), kind="stable")
                self._emit(found if (order[1:] > order[:-1]).all() else found.take(order))
        finally:
            self._found, self._owners = [], []

    def add(self, rows: RowBatch, owners: Places) -> None:
        """Add the results of a round; the owner of a result is its input row in the round."""
        if len(rows):
            self._found.append(rows)
            self._owners.append(self._round[owners])


def _rounds(keys: Sequence[pa.Array], length: int) -> list[Places]:
    """Yield the indexes of the first rows of all keys, those of the second ones, and so on."""
    groups = group_by(keys, length)
    if groups.count == length:
        return [np.arange(length)]
    order = groups.order
    sizes = groups.sizes()
    nth = np.empty(length, np.int64)
    nth[order] = np.arange(length) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    ends = np.cumsum(np.bincount(nth))
    return np.split(np.argsort(nth, kind="stable"), ends[:-1])


def is_per_record(context: OperatorContext) -> bool:
    """Return whether each row has separate changes; not in BATCH mode, which has no changelog."""
    return not is_batch(context) and CHANGELOG_PER_RECORD.parse(context.config.get(CHANGELOG_PER_RECORD.key, False))


def rounds_of(
    context: OperatorContext, columns: Sequence[int], process: Callable[[RowBatch], None], emit: Callable[[RowBatch], None]
) -> Rounds | None:
    """Return the rounds of an operator; None if a key changes once per batch."""
    return Rounds(columns, process, emit) if is_per_record(context) else None

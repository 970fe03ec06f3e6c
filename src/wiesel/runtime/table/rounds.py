"""Internal. Changes of each row (``wiesel.table.changelog-per-record``): batches are processed in rounds.

Round *k* has the *k*-th row of each key, so that in a round no two rows meet, and the operator stays one of columns. What comes of the
rounds is handed on in the order of the rows that it comes of: this is what an operator emits that gets one row after the other.
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
        columns: Those of the key.
        process: Processes the rows of a round; calls :meth:`add` with what comes of them.
        emit: Hands on rows.
    """

    def __init__(self, columns: Sequence[int], process: Callable[[RowBatch], None], emit: Callable[[RowBatch], None]) -> None:
        self._columns = list(columns)
        self._process = process
        self._emit = emit
        self._round: Places = np.zeros(0, np.int64)
        self._found: list[RowBatch] = []
        self._owners: list[Places] = []

    def process(self, rows: RowBatch) -> None:
        """Process rows, and hand on what comes of them."""
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
        """Take what comes of a round; the owner of each row is the row of the round of which it comes."""
        if len(rows):
            self._found.append(rows)
            self._owners.append(self._round[owners])


def _rounds(keys: Sequence[pa.Array], length: int) -> list[Places]:
    """Return the places of the first rows of all keys, those of the second ones, and so on."""
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
    """Return whether each row makes changes of its own; not in BATCH mode, where there are no changes."""
    return not is_batch(context) and CHANGELOG_PER_RECORD.parse(context.config.get(CHANGELOG_PER_RECORD.key, False))


def rounds_of(
    context: OperatorContext, columns: Sequence[int], process: Callable[[RowBatch], None], emit: Callable[[RowBatch], None]
) -> Rounds | None:
    """Return the rounds of an operator; None if a key changes once per batch."""
    return Rounds(columns, process, emit) if is_per_record(context) else None

"""Internal. Partial aggregates of a batch by key and session, within the rows of the batch.

In columns, as they cross the exchange: the key, the session's start and end, the number of rows, and the slots of the calls. Retry
semantics: the local phase has no state.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.aggregates.calls import Input, accumulators, reduced
from wiesel.columnar.aggregates.slots import Column, Slot
from wiesel.columnar.grouping import Groups, Places, group_by
from wiesel.columnar.row_batch import RowBatch
from wiesel.columnar.window_zones import WindowZone
from wiesel.columnar.windows import Times, milliseconds
from wiesel.core.errors import UserFunctionError
from wiesel.core.ids import MIN_TIMESTAMP
from wiesel.runtime.table.base import TableOperator
from wiesel.runtime.table.window.spec import WindowSpec

__all__ = ["LocalSessionAggregateOperator", "SessionPartials", "local_session_aggregate_operator", "session_times"]


class SessionPartials:
    """Aggregates rows of a batch by key and session.

    Attributes:
        slots: The slots of all calls.
    """

    def __init__(self, spec: WindowSpec) -> None:
        self._spec = spec
        self._gap = spec.window.size
        self._accumulators = accumulators(spec.calls)
        self.slots: list[Slot] = [slot for each in self._accumulators for slot in each.slots]

    @property
    def schema(self) -> pa.Schema:
        """The schema of the columns."""
        types = [*(self._spec.types[index] for index in self._spec.keys), *[pa.int64()] * 3, *(slot.type for slot in self.slots)]
        return pa.schema([pa.field(f"partial${place}", each) for place, each in enumerate(types)])

    def of(self, rows: RowBatch, times: Times) -> list[Column]:
        """Return the partial aggregates of rows with their times."""
        columns = rows.rows.columns
        key_columns = [columns[index] for index in self._spec.keys]
        keys = group_by(key_columns, len(rows))
        order, sessions = self._sessions(keys.ids, times)
        groups = Groups(np.empty(len(rows), np.int64), int(sessions[-1]) + 1)
        groups.ids[order] = sessions
        starts, lasts = np.full(groups.count, np.iinfo(np.int64).max), np.full(groups.count, MIN_TIMESTAMP)
        np.minimum.at(starts, groups.ids, times)
        np.maximum.at(lasts, groups.ids, times)
        source, first = Input(columns, groups), pa.array(groups.first)
        called = zip(self._spec.calls, self._accumulators, strict=True)
        slots = [column for call, each in called for column in reduced(each, source.of(call))]
        bounds = [pa.array(each) for each in (starts, lasts + self._gap, groups.sizes())]
        return [*(key.take(first) for key in key_columns), *bounds, *slots]

    def _sessions(self, keys: Places, times: Times) -> tuple[Places, Places]:
        """Return the rows sorted by key and time, and the number of each row's session within the batch."""
        order = np.lexsort((times, keys))
        sorted_keys, sorted_times = keys[order], times[order]
        begins = (sorted_keys[1:] != sorted_keys[:-1]) | (sorted_times[1:] - sorted_times[:-1] > self._gap)
        return order, np.concatenate([[0], np.cumsum(begins)])


def session_times(spec: WindowSpec, zone: WindowZone, rows: RowBatch) -> Times:
    """Return the local time of each row.

    Raises:
        UserFunctionError: If a row has no time.
    """
    column = rows.rows.column(spec.time)
    if column.null_count:
        raise UserFunctionError("the event time of a row in a window is NULL", hint="filter such rows out")
    return zone.local(milliseconds(column))


class LocalSessionAggregateOperator(TableOperator):
    """Local aggregation of sessions before the exchange."""

    def __init__(self, spec: WindowSpec) -> None:
        self._spec = spec
        self._partials = SessionPartials(spec)

    def open(self) -> None:
        """Initialise the time zone."""
        super().open()
        self._zone = WindowZone(self._spec.schema.types[-1], self.session.time_zone)

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Emit a row per key and session of a batch."""
        columns = self._partials.of(rows, session_times(self._spec, self._zone, rows))
        self.emit_rows(RowBatch(pa.RecordBatch.from_arrays(columns, schema=self._partials.schema)))


def local_session_aggregate_operator(params: dict[str, Any], payload: dict[str, Any]) -> LocalSessionAggregateOperator:
    """Return the operator of a spec."""
    return LocalSessionAggregateOperator(payload["spec"])

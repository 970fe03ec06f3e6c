"""Internal. Base of the fast window operators, which access state once per batch and delegate unusual cases to the general operator."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from operator import length_hint
from typing import Any, TypeAlias

from wiesel.core.ids import MAX_TIMESTAMP
from wiesel.runtime.windows.operator import WindowOperator
from wiesel.spi.windows.time_assigners import no_timestamp_error
from wiesel.state.key_context import NO_KEY
from wiesel.wire.batch import Batch

__all__ = ["BatchedWindowOperator", "Records"]

Records: TypeAlias = Iterable[tuple[Any, Any, int]]
"""Value, key, timestamp."""


class BatchedWindowOperator(WindowOperator):
    """A window operator that buffers the changes of a batch in dicts until ``_write_back``.

    This is not observable, as time does not advance and no snapshot is taken within a batch. Supports windows of event time with the
    trigger that fires at their end.
    """

    @abstractmethod
    def _add_all(self, records: Records) -> None:
        """Add records to their windows. An exception concerns the record taken last; another call continues after it."""

    @abstractmethod
    def _write_back(self) -> None:
        """Write the changes of the batch to state, and clear them."""

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Process records; results of late ones are emitted once, at the end."""
        values, timestamps = batch.values, self._times(batch)
        if timestamps is None:
            super().process_batch(batch, input_index)
            return
        keys: Any = [0] * len(values) if batch.keys is None else batch.keys
        source = iter(values)
        records = zip(source, keys, timestamps)  # noqa: B905 - the lists of a batch are equally long; strict costs per record
        try:
            while True:
                try:
                    self._add_all(records)
                    return
                except Exception as raised:  # noqa: BLE001 - whatever a user's function raises is about its record
                    error = raised
                index = len(values) - length_hint(source) - 1
                if timestamps[index] is None:
                    error = no_timestamp_error(self.assigner, values[index])
                self._failed(error, values[index], None if batch.timestamps is None else batch.timestamps[index])
        finally:
            self._write_back()
            self.key_context.key = NO_KEY
            self.results.flush()

    def _times(self, batch: Batch) -> list[Any] | None:
        """Return the times of records for window assignment; None for records without."""
        return batch.timestamps

    def process_generally(self, value: Any, key: Any, timestamp: int) -> None:
        """Process one record by the general operator, after writing back earlier changes."""
        self._write_back()
        self.key_context.key = key
        self._process(value, key, timestamp)

    def set_timers(self, key: Any, namespace: tuple[int, int]) -> None:
        """Set the timers of a new window: for its end, and for the end of the allowed lateness."""
        register = self.timers.event_timers.register
        end = namespace[1] - 1
        register(end, key, namespace)
        if self.lateness_ms and end + self.lateness_ms < MAX_TIMESTAMP:
            register(end + self.lateness_ms, key, namespace)

    def delete_timers(self, key: Any, namespace: tuple[int, int]) -> None:
        """Remove the timers of a window that has become another one."""
        delete = self.timers.event_timers.delete
        end = namespace[1] - 1
        delete(end, key, namespace)
        if self.lateness_ms:
            delete(end + self.lateness_ms, key, namespace)

"""Internal. The operator of overlapping windows that share slices: a record is added once, whatever the number of its windows.

State, per key (the layout differs from that of the other window operators):

* table ``window-slices``, by slice: its value;
* tables ``window-slice-aggregates`` and ``window-slice-positions``: see ``slice_queue``;
* timers ``event`` (or ``processing``): without namespace, when the next window of the key fires; by slice, when it is dropped; by window,
    when the user's function is to clear its state.

Operator state ``window-slices`` has an entry per subtask: size, slide and offset of the slices, and the watermark (or clock) at the
snapshot. After a restore the watermark is received again: until it has caught up, records may belong to windows that have fired.
"""

from __future__ import annotations

from typing import Any

from wiesel.core.ids import MAX_TIMESTAMP, MIN_TIMESTAMP
from wiesel.runtime.operator import OperatorSnapshot
from wiesel.runtime.windows.contents import WindowContents, make_contents
from wiesel.runtime.windows.fast import EventTimeWindowOperator
from wiesel.runtime.windows.layout import AGGREGATES, POSITIONS, SLICES, check_slices
from wiesel.runtime.windows.results import FailedWindow
from wiesel.runtime.windows.slice_queue import SliceQueue
from wiesel.runtime.windows.slices import Slice, Slices
from wiesel.runtime.windows.spec import WindowSpec
from wiesel.spi.windows.time_assigners import SlidingEventTimeWindows, SlidingProcessingTimeWindows, no_timestamp_error
from wiesel.spi.windows.triggers import EventTimeTrigger, ProcessingTimeTrigger
from wiesel.spi.windows.window import TimeWindow

__all__ = ["SharedSlicesOperator", "cannot_share", "shares"]


_TRIGGERS: dict[type, type] = {SlidingEventTimeWindows: EventTimeTrigger, SlidingProcessingTimeWindows: ProcessingTimeTrigger}


def cannot_share(spec: WindowSpec) -> tuple[str, str] | None:
    """Return the reason why the windows of a spec cannot share slices, and a hint; None if they can."""
    if type(spec.assigner) not in _TRIGGERS:
        return f"only sliding windows of time share slices, not those of {spec.assigner!r}", "use SlidingEventTimeWindows"
    if type(spec.trigger) is not _TRIGGERS[type(spec.assigner)]:
        return f"windows with trigger {type(spec.trigger).__name__} cannot share slices", "leave out trigger()"
    if spec.evictor is not None:
        return "windows with an evictor store all their records, so they cannot share slices", "leave out evictor()"
    if spec.incremental_kind is None:
        what = f"{spec.function_kind}() needs all records of a window, so its windows cannot share slices"
        return what, "aggregate first: aggregate(function, window_function) or reduce(function, window_function)"
    return None


def shares(spec: WindowSpec) -> bool:
    """Return whether :class:`SharedSlicesOperator` runs a spec: without overlaps there is nothing to share."""
    return spec.share_slices and bool(spec.assigner._slide < spec.assigner._size)


class SharedSlicesOperator(EventTimeWindowOperator):
    """The window operator for specs that satisfy :func:`shares`.

    Usual cases are processed as in the fast operator, with slices instead of windows. Windows fire one after the other: a timer for the
    first one that contains a slice, then each sets that of the next, as long as that is not empty.
    """

    def __init__(self, spec: WindowSpec) -> None:
        super().__init__(spec)
        assigner = spec.assigner
        self._slices = Slices(assigner._size, assigner._slide, assigner._offset)
        self._step = self._slices.step
        self._geometry = (assigner._size, assigner._slide, assigner._offset)

    def open(self) -> None:
        """Restore the queues."""
        super().open()
        backend = self.context.backend
        contents: Any = self.contents
        aggregates = make_contents(backend, self.spec, AGGREGATES).table
        function = type(self.spec.incremental).__name__
        self._queue = SliceQueue(self._slices, contents, aggregates, backend.table(POSITIONS), not self.lateness_ms, function)
        self._process = self._process_unusual_record
        self._own_entry = backend.operator_state.get_union_list(SLICES)
        self._fired_before = max((entry[3] for entry in self._own_entry), default=MIN_TIMESTAMP)
        if self.context.restored_checkpoint_id:
            check_slices(self.context, self.spec, [tuple(entry[:3]) for entry in self._own_entry], self._geometry)

    def _make_contents(self) -> WindowContents:
        return make_contents(self.context.backend, self.spec, SLICES)

    def snapshot_state(self, checkpoint_id: int, timestamp_ms: int = 0) -> OperatorSnapshot | None:
        """Note the watermark."""
        reached = self._reached()
        # At the end of time all windows have fired, and no key has a position.
        self._own_entry[:] = [(*self._geometry, MIN_TIMESTAMP if reached == MAX_TIMESTAMP else reached)]
        return super().snapshot_state(checkpoint_id, timestamp_ms)

    def _reached(self) -> int:
        """Return the time up to which windows may have fired."""
        return max(self._fired_before, self.timers.current_watermark)

    # Input

    def _open_panes(self, start: int) -> list[Any]:
        piece = self._slices.slice_of(start)
        panes: list[Any] = []
        if start <= MIN_TIMESTAMP or self._slices.first_end(piece) - 1 <= self._reached():
            self._unusual.add(start)
        else:
            panes.append((self._touched.setdefault(piece, {}), piece))
        self._panes[start] = panes
        return panes

    def set_timers(self, key: Any, namespace: Slice) -> None:
        """Set the timers of a new slice: for the end of the first window that contains it, and for its cleanup."""
        self._register(self._slices.first_end(namespace) - 1, key)
        self._set_cleanup(key, namespace, self._slices.last_end(namespace))

    def _register(self, timestamp: int, key: Any) -> None:
        self.timers.event_timers.register(timestamp, key)

    def _set_cleanup(self, key: Any, namespace: Any, end: int) -> None:
        cleanup = end - 1 + self.lateness_ms
        if self.lateness_ms and cleanup < MAX_TIMESTAMP:
            self.timers.event_timers.register(cleanup, key, namespace)

    def _process_unusual_record(self, value: Any, key: Any, timestamp: int | None) -> None:
        """Process a record some or all of whose windows may have fired."""
        if timestamp is None or timestamp <= MIN_TIMESTAMP:
            raise no_timestamp_error(self.assigner, value)
        slices, queue = self._slices, self._queue
        piece = slices.slice_of(timestamp)
        first, last = slices.first_end(piece), slices.last_end(piece)
        position = queue.position(key)
        # The key's own windows show its progress until the watermark has caught up after a restore.
        reached = self.timers.current_watermark if position is None else max(self.timers.current_watermark, position.end - 1)
        if min(last - 1 + self.lateness_ms, MAX_TIMESTAMP) <= reached:
            self._drop_late(value, timestamp)
            return
        self.contents.add(key, piece, value)
        self._set_cleanup(key, piece, last)
        following = max(first, slices.end_from(reached + 2))
        if following <= last:
            self._register(following - 1, key)
        if position is not None and piece[1] <= position.end:
            queue.spoil(key, position.end, max(position.last, piece[0]))
        earliest = max(first, slices.end_from(reached + 2 - self.lateness_ms))
        fired = range(earliest, min(last + 1, following), slices.slide)
        if fired:
            self._fire_again(key, piece, fired, timestamp)

    def _fire_again(self, key: Any, piece: Slice, ends: range, timestamp: int) -> None:
        for end, aggregate in reversed(list(zip(ends, self._queue.around(key, piece, ends), strict=True))):
            self._fire_window(key, end, aggregate, timestamp)

    # Time

    def _on_event_time(self, timestamp: int, key: Any, namespace: Any) -> None:
        if namespace is None:
            self._fire_next(key, timestamp + 1)
        elif namespace[1] - namespace[0] == self._slices.size:
            self.evaluation.clear(TimeWindow(*namespace), namespace)
        else:
            self.contents.clear(key, namespace)

    def _fire_next(self, key: Any, end: int) -> None:
        queue = self._queue
        window = (end - self._slices.size, end)
        try:
            aggregate, position = queue.aggregate(key, end)
        except Exception as error:  # noqa: BLE001 - whatever a user's function raises is about this window
            self._failed(error, FailedWindow(key, TimeWindow(*window), end - 1), end - 1)
            queue.spoil(key, end, queue.last_slice(key, *window))
            position = queue.position(key)  # type: ignore[assignment]
        else:
            self._fire_window(key, end, aggregate, end - 1)
        if queue.advance(key, position):
            self._register(end - 1 + self._slices.slide, key)

    def _fire_window(self, key: Any, end: int, aggregate: Any, timestamp: int) -> None:
        """Emit the results of a window that ends at ``end``."""
        namespace = (end - self._slices.size, end)
        try:
            contents = self.contents.shown(aggregate)  # type: ignore[attr-defined]
            if contents is not None and self._passes_through:
                self.results.add(contents, timestamp)
            elif contents is not None:
                self.results.add(self.evaluation.evaluate(key, TimeWindow(*namespace), namespace, contents), timestamp)
        except Exception as error:  # noqa: BLE001 - whatever a user's function raises is about this window
            self._failed(error, FailedWindow(key, TimeWindow(*namespace), timestamp), timestamp)
        if not self.evaluation.needs_clear:
            return
        if self.lateness_ms:
            self._set_cleanup(key, namespace, end)
        else:
            self.evaluation.clear(TimeWindow(*namespace), namespace)

"""Internal. The fast window operator: tumbling and sliding windows of event time with their usual trigger.

There are no decisions per record: window starts are arithmetic, lateness and firing are checked once per window and batch, and state is
read and written once per key, window and batch. Unusual cases (late records, records without a timestamp) are processed by the general
operator, which has the same state layout.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wiesel.core.ids import MAX_TIMESTAMP, MIN_TIMESTAMP
from wiesel.runtime.windows.batched import BatchedWindowOperator, Records
from wiesel.runtime.windows.contents import AggregatingContents, ListContents, ReducingContents
from wiesel.runtime.windows.evaluation import PassThrough
from wiesel.runtime.windows.results import FailedWindow
from wiesel.runtime.windows.spec import WindowSpec
from wiesel.spi.windows.time_assigners import SlidingEventTimeWindows, TumblingEventTimeWindows
from wiesel.spi.windows.triggers import EventTimeTrigger
from wiesel.spi.windows.window import TimeWindow

__all__ = ["EventTimeWindowOperator", "is_fast"]

_Pane = tuple[dict[Any, Any], tuple[int, int]]
"""Changes of this batch to a window by key: its new state, or the elements to be added to a list. And the window's namespace."""


def is_fast(spec: WindowSpec) -> bool:
    """Return whether :class:`EventTimeWindowOperator` supports a spec."""
    assigner = spec.assigner
    if type(spec.trigger) is not EventTimeTrigger:
        return False
    # If the size is a multiple of the slide, all timestamps between two starts are in the same windows.
    return type(assigner) is TumblingEventTimeWindows or (
        type(assigner) is SlidingEventTimeWindows and assigner._size % assigner._slide == 0
    )


class EventTimeWindowOperator(BatchedWindowOperator):
    """The window operator for specs that satisfy :func:`is_fast`."""

    def __init__(self, spec: WindowSpec) -> None:
        super().__init__(spec)
        assigner = spec.assigner
        self._size: int = assigner._size
        # Windows begin at multiples of it.
        self._step: int = getattr(assigner, "_slide", assigner._size)
        self._offset: int = assigner._offset
        # Of the present batch: state by window and key, and by the start of the last window of a timestamp all of its windows.
        self._touched: dict[tuple[int, int], dict[Any, Any]] = {}
        self._panes: dict[int, list[_Pane]] = {}
        self._unusual: set[int] = set()

    def open(self) -> None:
        """Choose the loop for the kind of contents."""
        super().open()
        self._passes_through = isinstance(self.evaluation, PassThrough)
        self._loop: Callable[[Records], None] = self._add_to_lists
        if isinstance(self.contents, AggregatingContents):
            self._loop = self._add_to_accumulators
        elif isinstance(self.contents, ReducingContents):
            self._loop = self._add_to_reduced

    # Input

    def _add_all(self, records: Records) -> None:
        self._loop(records)

    def _add_to_accumulators(self, records: Records) -> None:
        contents: Any = self.contents
        offset, step, panes_of, first = self._offset, self._step, self._panes, self._first
        create, add = contents.create, contents.add_to
        for value, key, timestamp in records:
            start = timestamp - (timestamp - offset) % step
            panes = panes_of.get(start)
            if panes is None:
                panes = self._open_panes(start)
            if not panes:
                self._process_unusual(start, value, key, timestamp)
            for states, namespace in panes:
                state = states.get(key)
                if state is None:
                    state = first(states, key, namespace)
                    if state is None:
                        state = create()
                states[key] = add(value, state)

    def _add_to_reduced(self, records: Records) -> None:
        contents: Any = self.contents
        offset, step, panes_of, first = self._offset, self._step, self._panes, self._first
        reduce = contents.reduce
        for value, key, timestamp in records:
            start = timestamp - (timestamp - offset) % step
            panes = panes_of.get(start)
            if panes is None:
                panes = self._open_panes(start)
            if not panes:
                self._process_unusual(start, value, key, timestamp)
            for states, namespace in panes:
                state = states.get(key)
                if state is None:
                    state = first(states, key, namespace)
                states[key] = value if state is None else reduce(state, value)

    def _add_to_lists(self, records: Records) -> None:
        offset, step, panes_of, set_timers = self._offset, self._step, self._panes, self.set_timers
        for value, key, timestamp in records:
            start = timestamp - (timestamp - offset) % step
            panes = panes_of.get(start)
            if panes is None:
                panes = self._open_panes(start)
            if not panes:
                self._process_unusual(start, value, key, timestamp)
            for states, namespace in panes:
                added = states.get(key)
                if added is None:
                    set_timers(key, namespace)
                    states[key] = [value]
                else:
                    added.append(value)

    def _open_panes(self, last_start: int) -> list[_Pane]:
        """Find the windows of timestamps between this start and the next; none if the general operator is needed."""
        size, lateness, watermark = self._size, self.lateness_ms, self.timers.current_watermark
        panes: list[_Pane] = []
        unusual = last_start <= MIN_TIMESTAMP
        for start in range(last_start, last_start - size, -self._step):
            end = start + size - 1
            if end + lateness <= watermark:
                continue
            unusual = unusual or end <= watermark
            namespace = (start, start + size)
            panes.append((self._touched.setdefault(namespace, {}), namespace))
        if unusual:
            self._unusual.add(last_start)
            panes = []
        self._panes[last_start] = panes
        return panes

    def _first(self, states: dict[Any, Any], key: Any, namespace: tuple[int, int]) -> Any:
        """Return the state of a key and window not accessed in this batch yet; set the timers of a new one."""
        state = None if key in states else self.contents.table.get(key, namespace)
        if state is None:
            self.set_timers(key, namespace)
        return state

    def _process_unusual(self, start: int, value: Any, key: Any, timestamp: int) -> None:
        """Process a record that is late, or in a window that has fired, or otherwise requires the general operator."""
        if start in self._unusual:
            self.process_generally(value, key, timestamp)
        else:
            self._skipped(value, timestamp)

    def _write_back(self) -> None:
        """Write the changes of the batch to state."""
        contents: Any = self.contents
        if isinstance(contents, ListContents):
            extend = contents.table.extend
            for namespace, states in self._touched.items():
                for key, added in states.items():
                    extend(key, added, namespace)
        else:
            put, remove = contents.table.put, contents.table.remove
            for namespace, states in self._touched.items():
                for key, state in states.items():
                    if state is None:
                        remove(key, namespace)
                    else:
                        put(key, state, namespace)
        self._touched.clear()
        self._panes.clear()
        self._unusual.clear()

    # Time

    def _on_event_time(self, timestamp: int, key: Any, namespace: Any) -> None:
        end = namespace[1] - 1
        try:
            if timestamp == end:
                contents = self.contents.get(key, namespace)
                if contents is not None and self._passes_through:
                    self.results.add(contents, timestamp)
                elif contents is not None:
                    self.results.add(self.evaluation.evaluate(key, TimeWindow(*namespace), namespace, contents), timestamp)
        except Exception as error:  # noqa: BLE001 - whatever a user's function raises is about this window
            self._failed(error, FailedWindow(key, TimeWindow(*namespace), timestamp), timestamp)
        if timestamp == min(end + self.lateness_ms, MAX_TIMESTAMP):
            self.contents.clear(key, namespace)
            if self.lateness_ms:
                self.timers.event_timers.delete(end, key, namespace)
            if self.evaluation.needs_clear:
                self.evaluation.clear(TimeWindow(*namespace), namespace)

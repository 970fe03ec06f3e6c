"""Internal. The window operator for windows with an evictor: all elements are stored, with their timestamps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from operator import is_
from typing import Any

from wiesel.core.errors import ProgramError
from wiesel.core.ids import MIN_TIMESTAMP
from wiesel.core.metrics import MetricGroup
from wiesel.runtime.timer_service import InternalTimerService
from wiesel.runtime.windows.contents import CONTENTS, WindowContents
from wiesel.runtime.windows.operator import WindowOperator
from wiesel.runtime.windows.spec import WindowSpec
from wiesel.spi.functions import user_callable
from wiesel.spi.windows.evictor import Evictor, TimestampedValue
from wiesel.state.backend import ListTable
from wiesel.types.typeinfo import ListTypeInfo, PickledBytesTypeInfo, TupleTypeInfo
from wiesel.types.types import Types

__all__ = ["EvictingWindowOperator"]


class TimestampedContents(WindowContents):
    """All elements with their timestamps, in order of arrival. ``timestamp``: that of the next element."""

    table: ListTable
    timestamp = MIN_TIMESTAMP

    def add(self, key: Any, namespace: Any, value: Any) -> None:
        self.table.append(key, (value, self.timestamp), namespace)

    def get(self, key: Any, namespace: Any) -> list[Any] | None:
        return [TimestampedValue(*element) for element in self.table.get(key, namespace) or ()] or None

    def merge(self, key: Any, target: Any, sources: Iterable[Any]) -> None:
        for namespace in sources:
            elements = self.table.get(key, namespace)
            if elements:
                self.table.extend(key, elements, target)
            self.table.remove(key, namespace)

    def replace(self, key: Any, namespace: Any, elements: list[TimestampedValue]) -> None:
        """Set the elements."""
        if elements:
            self.table.put(key, [tuple(e) for e in elements], namespace)
        else:
            self.table.remove(key, namespace)


class _Context(Evictor.EvictorContext):
    def __init__(self, timers: InternalTimerService, metrics: MetricGroup) -> None:
        self._timers = timers
        self._metrics = metrics

    def get_current_processing_time(self) -> int:
        return self._timers.current_processing_time()

    def get_metric_group(self) -> Any:
        return self._metrics

    def get_current_watermark(self) -> int:
        return self._timers.current_watermark


class EvictingWindowOperator(WindowOperator):
    """Lets an evictor remove elements before and after each evaluation, and stores the remaining ones.

    A reduce or aggregate function is applied to the elements when the window is evaluated.
    """

    contents: TimestampedContents

    def __init__(self, spec: WindowSpec) -> None:
        super().__init__(spec)
        self.evictor = spec.evictor

    def open(self) -> None:
        """Restore the elements."""
        super().open()
        self._evictor_context = _Context(self.timers, self.context.metrics)
        self._combine = _combination(self.spec)
        add = self._process

        def process(value: Any, key: Any, timestamp: int | None) -> None:
            self.contents.timestamp = MIN_TIMESTAMP if timestamp is None else timestamp
            add(value, key, timestamp)

        self._process = process

    def _make_contents(self) -> TimestampedContents:
        element = self.spec.input_type or PickledBytesTypeInfo()
        serializer = ListTypeInfo(TupleTypeInfo([element, Types.LONG()])).create_serializer()
        return TimestampedContents(self.context.backend.table(CONTENTS, serializer=serializer, kind="list"))

    def _evaluate(self, key: Any, window: Any, namespace: Any, state_window: Any, contents: list[Any], timestamp: int | None) -> None:
        elements = list(contents)
        self._evict("evict_before", elements, window)
        given = self._combine([e.value for e in elements])
        if given is not None:
            super()._evaluate(key, window, namespace, state_window, given, timestamp)
        self._evict("evict_after", elements, window)
        if len(elements) != len(contents) or not all(map(is_, elements, contents)):
            self.contents.replace(key, state_window, elements)

    def _evict(self, method: str, elements: list[TimestampedValue], window: Any) -> None:
        returned = getattr(self.evictor, method)(elements, len(elements), window, self._evictor_context)
        if returned is not None:
            raise ProgramError(
                f"{method} of {self.evictor!r} returned {returned!r}",
                hint=f"{method} changes the given list (elements[:] = ...) and returns nothing",
                operator=self.context.name,
            )


def _combination(spec: WindowSpec) -> Callable[[list[Any]], list[Any] | None]:
    """Return the function that computes the window function's input from the elements; None if there is none."""
    if spec.incremental_kind is None:
        return lambda values: values
    if spec.incremental_kind == "reduce":
        function = user_callable(spec.incremental, "reduce")
        return lambda values: [reduce(function, values)] if values else None
    return lambda values: _aggregated(spec.incremental, values)


def _aggregated(function: Any, values: list[Any]) -> list[Any] | None:
    accumulator = function.create_accumulator()
    for value in values:
        accumulator = function.add(value, accumulator)
    result = function.get_result(accumulator)
    return None if result is None else [result]

"""Internal. Results of a window operator: collected over a batch or a watermark, then emitted together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Any, NamedTuple

from wiesel.runtime.isolation import isolated
from wiesel.runtime.operator import Output
from wiesel.runtime.results import ResultCollector
from wiesel.runtime.user_code import FailedCall
from wiesel.wire.batch import Batch

__all__ = ["FailedWindow", "WindowResults"]


class FailedWindow(NamedTuple):
    """Replaces the record in errors of a function that evaluates a window."""

    key: Any
    window: Any
    timestamp: int

    @property
    def subject(self) -> str:
        """Return the line of a message about it."""
        return f"with {self.window!r} of key {self.key!r}"


FailedCall.register(FailedWindow)


class WindowResults:
    """Collects results and late records in order; ``flush`` emits them."""

    def __init__(self, output: Output, collector: ResultCollector, late_tag: str | None, object_reuse: bool) -> None:
        self._output = output
        self._collector = collector
        self._late_tag = late_tag
        self._settle: Callable[[Any], Any] | None = None if object_reuse else isolated
        self.values: list[Any] = []
        self.timestamps: list[Any] = []
        self._late: list[Any] = []
        self._late_timestamps: list[Any] = []

    def add(self, results: Iterable[Any] | None, timestamp: int | None) -> None:
        """Add the results of one evaluation; those of a generator before it raises are included."""
        if results is None:
            return
        values = self.values
        try:
            values.extend(results if self._settle is None else map(self._settle, results))
        finally:
            self.timestamps.extend(repeat(timestamp, len(values) - len(self.timestamps)))

    def add_late(self, value: Any, timestamp: int | None) -> None:
        """Add a late record for the side output."""
        self._late.append(value)
        self._late_timestamps.append(timestamp)

    def flush(self) -> None:
        """Emit all results.

        Raises:
            TypeMismatchError: If a result does not have its declared type; earlier ones have been emitted.
        """
        if self._late and self._late_tag is not None:
            late, self._late = self._late, []
            timestamps, self._late_timestamps = self._late_timestamps, []
            self._output.emit_side(self._late_tag, Batch(late, timestamps))
        if self.values:
            values, self.values = self.values, []
            timestamps, self.timestamps = self.timestamps, []
            self._collector.emit(values, timestamps)

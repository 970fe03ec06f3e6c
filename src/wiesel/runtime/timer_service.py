"""Internal. Timers of an operator: stored in its state backend, fired in the order of their times.

Retry semantics: timers are part of the backend's snapshot; a timer that fired after the checkpoint fires again after a restore. The current
watermark is not restored: it starts at ``MIN_TIMESTAMP`` and is received from upstream.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from wiesel.core.errors import StateAccessError
from wiesel.core.ids import MAX_TIMESTAMP, MIN_TIMESTAMP
from wiesel.core.logs import get_logger
from wiesel.runtime.operator import OperatorContext
from wiesel.runtime.user_code import as_time, caller_location
from wiesel.spi.timers import TimerService
from wiesel.state.backend import VOID
from wiesel.state.key_context import KeyContext

__all__ = ["InternalTimerService", "KeyedTimerService", "NonKeyedTimerService", "TimerTarget"]

_log = get_logger("wiesel.timers")

TimerTarget = Callable[[int, Any, Any], None]
"""Called when a timer fires with (timestamp, key, namespace); the key context is set."""


class InternalTimerService:
    """Event-time and processing-time timers of one operator, each by (timestamp, key, namespace).

    ``open`` must be called after the backend's state is restored. While a target runs it may register and delete timers; those due fire in
    the same round.
    """

    def __init__(
        self, context: OperatorContext, key_context: KeyContext, on_event_time: TimerTarget, on_processing_time: TimerTarget
    ) -> None:
        self._context = context
        self._key_context = key_context
        self._on_event_time = on_event_time
        self._on_processing_time = on_processing_time
        self._asked_for: int | None = None
        self._has_warned = False
        self.current_watermark = MIN_TIMESTAMP

    def open(self) -> None:
        """Initialise the queues from the backend, and schedule the first restored processing timer."""
        self.event_timers = self._context.backend.timers("event")
        self.processing_timers = self._context.backend.timers("processing")
        self._ask()

    def current_processing_time(self) -> int:
        """Return the clock in ms."""
        return self._context.clock.now_ms()

    def register_event_time_timer(self, timestamp: int, namespace: Any = VOID) -> None:
        """Add a timer of the current key."""
        self.event_timers.register(timestamp, self._key_context.key, namespace)

    def delete_event_time_timer(self, timestamp: int, namespace: Any = VOID) -> None:
        """Remove a timer of the current key."""
        self.event_timers.delete(timestamp, self._key_context.key, namespace)

    def register_processing_time_timer(self, timestamp: int, namespace: Any = VOID) -> None:
        """Add a timer of the current key, and have the task call when it is due."""
        self.processing_timers.register(timestamp, self._key_context.key, namespace)
        if self._asked_for is None or timestamp < self._asked_for:
            self._asked_for = timestamp
            self._context.register_processing_timer(timestamp)

    def delete_processing_time_timer(self, timestamp: int, namespace: Any = VOID) -> None:
        """Remove a timer of the current key."""
        self.processing_timers.delete(timestamp, self._key_context.key, namespace)

    def advance_watermark(self, watermark: int) -> None:
        """Fire the event timers up to ``watermark``; targets see it as the current watermark."""
        self.current_watermark = watermark
        key_context, target = self._key_context, self._on_event_time
        for timestamp, key, namespace in self.event_timers.pop_until(watermark):
            key_context.key = key
            target(timestamp, key, namespace)

    def advance_processing_time(self, now_ms: int) -> None:
        """Fire the processing timers up to ``now_ms`` and schedule the next one."""
        self._asked_for = None
        key_context, target = self._key_context, self._on_processing_time
        for timestamp, key, namespace in self.processing_timers.pop_until(now_ms):
            key_context.key = key
            target(timestamp, key, namespace)
        self._ask()

    def end_key(self) -> None:
        """Fire the timers of a complete key in BATCH mode, those of processing time last; then reset the time."""
        if len(self.event_timers) or len(self.processing_timers):
            self.advance_watermark(MAX_TIMESTAMP)
            self.advance_processing_time(MAX_TIMESTAMP)
            self.current_watermark = MIN_TIMESTAMP

    def end_key_of_user(self) -> None:
        """End a key like ``end_key``, for timers of a user's function.

        As in Flink timers registered meanwhile are ignored: otherwise a function that always registers another would never end.
        """
        with self.event_timers.quiesced(self._ignored), self.processing_timers.quiesced(self._ignored):
            self.end_key()

    def _ignored(self, timestamp: int) -> None:
        if not self._has_warned:
            self._has_warned = True
            _log.warning(
                "operator %r: a timer for %d was registered when a timer fired, and is ignored, as all such timers in BATCH mode: "
                "the key is at its end",
                self._context.name,
                timestamp,
            )

    def _ask(self) -> None:
        earliest = self.processing_timers.next_timestamp()
        if earliest is not None and (self._asked_for is None or earliest < self._asked_for):
            self._asked_for = earliest
            self._context.register_processing_timer(earliest)


class KeyedTimerService(TimerService):
    """The timer service of functions on keyed streams: timers without a namespace."""

    def __init__(self, internal: InternalTimerService, key_context: KeyContext) -> None:
        self._internal = internal
        self._key_context = key_context
        self._event = internal.event_timers
        self._processing = internal.processing_timers

    def current_processing_time(self) -> int:
        return self._internal.current_processing_time()

    def current_watermark(self) -> int:
        return self._internal.current_watermark

    def register_processing_time_timer(self, timestamp: int) -> None:
        self._internal.register_processing_time_timer(as_time(timestamp, "the time of a timer"))

    def register_event_time_timer(self, timestamp: int) -> None:
        self._event.register(as_time(timestamp, "the time of a timer"), self._key_context.key)

    def delete_processing_time_timer(self, timestamp: int) -> None:
        self._processing.delete(timestamp, self._key_context.key)

    def delete_event_time_timer(self, timestamp: int) -> None:
        self._event.delete(timestamp, self._key_context.key)


class NonKeyedTimerService(TimerService):
    """A timer service without keys, which returns the time and rejects timers."""

    def __init__(self, context: OperatorContext) -> None:
        self._context = context
        self.watermark = MIN_TIMESTAMP

    def current_processing_time(self) -> int:
        return self._context.clock.now_ms()

    def current_watermark(self) -> int:
        return self.watermark

    def register_processing_time_timer(self, timestamp: int) -> None:
        self._refuse("Setting")

    def register_event_time_timer(self, timestamp: int) -> None:
        self._refuse("Setting")

    def delete_processing_time_timer(self, timestamp: int) -> None:
        self._refuse("Deleting")

    def delete_event_time_timer(self, timestamp: int) -> None:
        self._refuse("Deleting")

    def _refuse(self, what: str) -> NoReturn:
        raise StateAccessError(
            f"{what} timers is only supported on keyed streams: operator {self._context.name!r}, at {caller_location()}",
            hint="call key_by(...) before process(...) and use a KeyedProcessFunction",
            operator=self._context.name,
            location=caller_location(),
        )

"""Internal. Threads of source readers under simulation: a thread does one step whenever the scheduler says so.

The scheduler waits for the step, so that a run with clients that do not block is a function of program and seed. From a step that takes
too long it goes on without its result, which it takes when it is there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

__all__ = ["Patience", "SteppedFetcher"]

_MOST_S, _LEAST_S = 0.5, 0.02


class Patience:
    """Waiting times of the scheduler for the steps of a task: short behind one that was not over in time, and longer with each that is."""

    def __init__(self) -> None:
        self._seconds = _MOST_S

    def wait(self, event: threading.Event) -> bool:
        """Wait for the end of a step; return whether it has come."""
        in_time = event.wait(self._seconds)
        self._seconds = min(_MOST_S, 2 * self._seconds) if in_time else _LEAST_S
        return in_time


class SteppedFetcher:
    """See ``SourceReaderContext.start_fetcher``.

    Args:
        step: Does one step.
        finish: Called at the end of the thread.
        now_ms: The virtual clock.
        patience: That for the task, in all attempts.
    """

    def __init__(
        self, step: Callable[[], int | None], finish: Callable[[], None], now_ms: Callable[[], int], patience: Patience
    ) -> None:
        self._step = step
        self._finish = finish
        self._now_ms = now_ms
        self._patience = patience
        self._due_ms: int | None = now_ms()
        self._resumed = False
        self._running = False
        self._ended = False
        self._wait_ms: int | None = None
        self._begin, self._done = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="wiesel-fetcher", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            while self._begin.wait() and not self._ended:
                self._begin.clear()
                self._wait_ms = self._step()
                self._done.set()
        finally:
            self._finish()
            self._done.set()

    # What the reader calls.

    def resume(self) -> None:
        """Have the next step done now."""
        self._resumed = True
        if not self._running:
            self._due_ms = self._now_ms()

    def end(self) -> None:
        """Have the thread end behind the step that it is doing."""
        self._ended = True
        self._begin.set()

    def join(self, timeout_s: float) -> bool:
        """Wait until the thread has ended; return whether it has."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    # What the scheduler calls.

    @property
    def ready(self) -> bool:
        """Return whether a step can begin, or one that was not waited for has ended."""
        if self._ended:
            return False
        if self._running:
            return self._done.is_set()
        return self._due_ms is not None and self._due_ms <= self._now_ms()

    def step(self) -> None:
        """Do a step, or take the result of one that was not waited for."""
        if not self._running:
            self._running, self._resumed = True, False
            self._done.clear()
            self._begin.set()
            if not self._patience.wait(self._done):
                return
        self._running = False
        if self._resumed:
            self._due_ms = self._now_ms()
        else:
            self._due_ms = None if self._wait_ms is None else self._now_ms() + self._wait_ms

    def hurry(self) -> bool:
        """Have the next step done without time passing, if one is to come with the time; return whether it is."""
        waits = not self._running and self._due_ms is not None and self._due_ms > self._now_ms()
        if waits:
            self._due_ms = self._now_ms()
        return waits

    def next_deadline_ms(self) -> int | None:
        """Return when the next step is due (ms), or None."""
        return None if self._running or self._ended else self._due_ms

    @property
    def waits_outside(self) -> bool:
        """Return whether a step is being done that the scheduler does not wait for."""
        return self._running and not self._ended and not self._done.is_set()

    def wait_outside(self, timeout_s: float) -> None:
        """Wait, in real time, for the step."""
        self._done.wait(timeout_s)

"""Internal. A stepped event loop with a given clock, for asynchronous requests in simulations."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import math
import selectors
from collections.abc import Callable
from typing import Any

from wiesel.runtime.event_loop import Waker

__all__ = ["SteppedEventLoop"]


class _ClockedLoop(asyncio.SelectorEventLoop):
    """Uses a given clock, and reports pending and due work."""

    def __init__(self, now_ms: Callable[[], int], selector: selectors.BaseSelector) -> None:
        self._now_ms = now_ms
        self.has_ready = False
        self.in_threads = 0
        self.deadlines: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._numbers = itertools.count()
        super().__init__(selector)

    def time(self) -> float:
        return self._now_ms() / 1e3

    def call_soon(self, callback: Any, *args: Any, context: Any = None) -> asyncio.Handle:  # type: ignore[override]
        self.has_ready = True
        return super().call_soon(callback, *args, context=context)

    def call_soon_threadsafe(self, callback: Any, *args: Any, context: Any = None) -> asyncio.Handle:  # type: ignore[override]
        self.has_ready = True
        return super().call_soon_threadsafe(callback, *args, context=context)

    def call_at(self, when: float, callback: Any, *args: Any, context: Any = None) -> asyncio.TimerHandle:  # type: ignore[override]
        handle = super().call_at(when, callback, *args, context=context)
        heapq.heappush(self.deadlines, (when, next(self._numbers), handle))
        return handle

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:  # type: ignore[override]
        self.in_threads += 1
        future = super().run_in_executor(executor, func, *args)
        future.add_done_callback(self._left_thread)
        return future

    def _left_thread(self, _: Any) -> None:
        self.in_threads -= 1

    def run_once(self) -> None:
        """Run ready and due callbacks."""
        self.has_ready = False
        super().call_soon(self.stop)
        self.run_forever()


class SteppedEventLoop(Waker):
    """The requests of one operator under simulation.

    Args:
        now_ms: The clock.
        on_results: The function to call in the task after ``wake``.
        post: Queues a call into the task.
    """

    def __init__(self, now_ms: Callable[[], int], on_results: Callable[[], None], post: Callable[[Callable[[], None]], None]) -> None:
        self._now_ms = now_ms
        super().__init__(on_results, post)
        self._selector = selectors.DefaultSelector()
        self._loop = _ClockedLoop(now_ms, self._selector)

    # Interface of the operator

    def submit(self, work: Callable[[asyncio.AbstractEventLoop], None]) -> None:
        """Have ``work`` called by the loop."""
        self._loop.call_soon(work, self._loop)

    def close(self) -> None:
        """Cancel all requests and end the loop."""
        if self._loop.is_closed():
            return
        self._outside_of_other_loops(self._end)

    def _end(self) -> None:
        loop = self._loop
        for task in asyncio.all_tasks(loop):
            task.cancel()
        for _ in range(3):  # a cancelled request may have to clean up, but gets no time for it
            loop.run_once()
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()

    # Interface of the owner

    @property
    def ready(self) -> bool:
        """Return whether there is work to do now."""
        if self._loop.is_closed():
            return False
        due = self.next_deadline_ms()
        return self._loop.has_ready or (due is not None and due <= self._now_ms())

    def step(self) -> None:
        """Run ready and due callbacks."""
        self._outside_of_other_loops(self._loop.run_once)
        deadlines, now_s = self._loop.deadlines, self._loop.time() + 1e-9
        while deadlines and deadlines[0][0] <= now_s:
            heapq.heappop(deadlines)

    def next_deadline_ms(self) -> int | None:
        """Return when a request waits for the time to pass, or None."""
        deadlines = self._loop.deadlines
        while deadlines and deadlines[0][2].cancelled():
            heapq.heappop(deadlines)
        return math.ceil(deadlines[0][0] * 1e3 - 1e-6) if deadlines else None

    @property
    def waits_outside(self) -> bool:
        """Return whether a request waits for an event outside of the clock: a connection, a thread."""
        # The loop's own wakeup pipe is always registered.
        return not self._loop.is_closed() and (self._loop.in_threads > 0 or len(self._selector.get_map()) > 1)

    def wait_outside(self, timeout_s: float) -> None:
        """Wait in real time until an external event has occurred, and let the loop process it."""
        self._selector.select(timeout_s)
        self._loop.has_ready = True

    def _outside_of_other_loops(self, call: Callable[[], None]) -> None:
        """Call a function that runs the loop, even if the thread runs another one (a notebook's)."""
        other = asyncio._get_running_loop()
        asyncio._set_running_loop(None)
        try:
            call()
        finally:
            asyncio._set_running_loop(other)

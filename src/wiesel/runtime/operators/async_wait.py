"""Internal. The operator of asynchronous functions: concurrent requests, results in the order of the records or of completion.

State: operator list ``async-in-flight`` with ``(record, timestamp)`` of all requests whose results were not emitted, and of waiting
records; after a restore they are requested first.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import repeat
from typing import Any

from wiesel.core.errors import ProgramError, invariant
from wiesel.core.user_frames import user_traceback
from wiesel.runtime.async_queue import Event, OrderedQueue, Request, RequestQueue, UnorderedQueue
from wiesel.runtime.isolation import isolated
from wiesel.runtime.operator import OperatorSnapshot
from wiesel.runtime.operators.function_operator import FunctionOperator, object_reuse
from wiesel.runtime.user_code import raise_failure
from wiesel.spi.async_functions import AsyncRetryStrategy
from wiesel.wire.batch import Batch
from wiesel.wire.events import IterationBarrier

__all__ = ["async_wait_operator"]

_STATE = "async-in-flight"


@contextmanager
def _without_exit() -> Iterator[None]:
    """Convert the user's ``sys.exit()`` to a failure of its request: it would end the loop, and requests would wait forever."""
    try:
        yield
    except (SystemExit, GeneratorExit) as left:
        raise RuntimeError(f"the function raised {left!r}") from left


class _Requests:
    """The event loop's side: starts requests with retries and timeouts. All methods run in the loop's thread.

    At most ``capacity`` requests run concurrently. Further ones are started as soon as one ends, without the mailbox thread.
    """

    def __init__(self, function: Any, timeout_s: float, strategy: AsyncRetryStrategy[Any], copied: bool, capacity: int) -> None:
        self._function = function
        self._timeout_s = timeout_s
        self._strategy = strategy
        self._copied = copied
        self._capacity = capacity
        self._ready: deque[Request] = deque()
        self._count = 0
        self.closed = False
        predicate = strategy.get_retry_predicate()
        self._retry_result = predicate.result_predicate()
        self._retry_error = predicate.exception_predicate()
        self._running: set[asyncio.Task[None]] = set()
        self.settled: deque[Request] = deque()
        self.wake: Any = None

    def begin(self, requests: Iterable[Request], loop: asyncio.AbstractEventLoop) -> None:
        """Start requests, as far as the capacity allows immediately."""
        self._ready.extend(requests)
        self._begin_ready(loop)

    def _begin_ready(self, loop: asyncio.AbstractEventLoop) -> None:
        while self._ready and self._count < self._capacity and not self.closed:
            self._count += 1
            request = self._ready.popleft()
            task = loop.create_task(self._serve(request, loop))
            # The loop itself does not prevent garbage collection of tasks.
            self._running.add(task)
            task.add_done_callback(self._running.discard)
            if self._timeout_s > 0:
                request.timer = loop.call_later(self._timeout_s, self._time_out, request, task, loop)

    async def _serve(self, request: Request, loop: asyncio.AbstractEventLoop) -> None:
        try:
            results = await self._attempts(request.value)
            self._settle(request, self._checked(results, "async_invoke"), None, loop)
        except asyncio.CancelledError:
            # By the timeout, which has settled it, by the end of the loop, or by the function itself, which must not be ignored.
            self._settle(request, [], RuntimeError("the asynchronous request was cancelled"), loop)
            raise
        except Exception as error:  # noqa: BLE001 - handed to the mailbox thread
            self._settle(request, [], error, loop)

    async def _attempts(self, value: Any) -> Any:
        attempts = 1
        while True:
            results: Any = None
            failed: Exception | None = None
            try:
                with _without_exit():
                    results = await self._function.async_invoke(isolated(value) if self._copied else value)
            except Exception as error:  # noqa: BLE001 - raised below, unless there is another attempt
                failed = error
            if not self._wants_retry(results, failed) or not self._strategy.can_retry(attempts):
                if failed is not None:
                    raise failed
                return results
            await asyncio.sleep(self._strategy.get_backoff_time_millis(attempts) / 1e3)
            attempts += 1

    def _wants_retry(self, results: Any, failed: Exception | None) -> bool:
        if failed is not None:
            return self._retry_error is not None and bool(self._retry_error(failed))
        return self._retry_result is not None and results is not None and bool(self._retry_result(results))

    def _time_out(self, request: Request, task: asyncio.Task[None], loop: asyncio.AbstractEventLoop) -> None:
        if request.settled:
            return
        try:
            with _without_exit():
                results = self._function.timeout(request.value)
            self._settle(request, self._checked(results, "timeout"), None, loop)
        except Exception as error:  # noqa: BLE001 - handed to the mailbox thread
            own = isinstance(error, TimeoutError) and not user_traceback(error)
            late = TimeoutError(f"the asynchronous request took longer than {self._timeout_s:g} s") if own else error
            self._settle(request, [], late, loop)
        task.cancel()

    def _settle(self, request: Request, results: list[Any], error: Exception | None, loop: asyncio.AbstractEventLoop) -> None:
        if request.settled:
            return
        request.settled, request.results, request.error = True, results, error
        if request.timer is not None:
            request.timer.cancel()
        self.settled.append(request)
        self.wake()
        # Here and not when the task has ended, which is a round of the loop later.
        self._count -= 1
        self._begin_ready(loop)

    def _checked(self, results: Any, method: str) -> list[Any]:
        if results is None or isinstance(results, str | bytes) or not isinstance(results, Iterable):
            raise ProgramError(
                f"{method} of {type(self._function).__name__} returned {results!r:.200} instead of a list",
                hint="return a list of results, e.g. [result]; [] for none",
            )
        return list(results)


class AsyncWaitOperator(FunctionOperator):
    """Runs up to ``capacity`` concurrent requests; further records wait here, and the task takes no more input."""

    holds_records = True
    shares_records = False
    """True if records are immutable, so that none is copied."""

    def __init__(
        self, function: Any, output_type: Any, *, timeout_ms: int, capacity: int, ordered: bool, strategy: AsyncRetryStrategy[Any]
    ) -> None:
        super().__init__(function, output_type)
        self._timeout_s = timeout_ms / 1e3
        self._capacity = capacity
        # In order, results that wait for an earlier one count as well. Otherwise the same number again is prepared for when requests end.
        self._most = capacity if ordered else 2 * capacity
        self._strategy = strategy
        self._queue: RequestQueue = OrderedQueue() if ordered else UnorderedQueue()
        self._waiting: deque[Request | Event] = deque()
        self._loop: Any = None

    def open(self) -> None:
        """Open the function, start its event loop, and repeat the requests that were in flight."""
        super().open()
        start = self.context.start_event_loop
        invariant(start is not None, f"operator {self.context.name!r} got no event loop")
        if start is None:
            return
        reuse = self.shares_records or object_reuse(self.context)
        self._settle_result = None if reuse else isolated
        self._requests = _Requests(self.function, self._timeout_s, self._strategy, not reuse, self._capacity)
        self._loop = start(self._on_results)
        self._requests.wake = self._loop.wake
        self._state = self.context.backend.operator_state.get_list(_STATE)
        self._add([Request(value, timestamp) for value, timestamp in self._state])

    def close(self) -> None:
        """End the event loop, then close the function."""
        if self._loop is not None:
            self._requests.closed = True
            self._loop.close()
        super().close()

    # Input

    @property
    def full(self) -> bool:
        """True if the limit of running and prepared requests is reached."""
        return len(self._queue) >= self._most

    @property
    def busy(self) -> bool:
        """True if there are requests whose results were not emitted."""
        return len(self._queue) > 0 or bool(self._waiting)

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Start requests for the records, as far as the capacity allows."""
        self._add(list(map(Request, batch.values, repeat(None) if batch.timestamps is None else batch.timestamps)))

    def process_watermark(self, timestamp: int) -> None:
        """Forward the watermark after the results of the records before it."""
        self._add_event(lambda: self.output.emit_watermark(timestamp))

    def process_status(self, idle: bool) -> None:
        """Forward the status after the results of the records before it."""
        self._add_event(lambda: self.output.emit_status(idle))

    def process_iteration_barrier(self, barrier: IterationBarrier) -> None:
        """Forward the barrier after the results of the records before it."""
        self._add_event(lambda: self.output.emit_iteration_barrier(barrier))

    def _add(self, requests: list[Request]) -> None:
        if not self._waiting:
            room = max(0, self._most - len(self._queue))
            self._begin(requests[:room])
            requests = requests[room:]
        self._waiting.extend(requests)

    def _add_event(self, event: Event) -> None:
        if self._waiting:
            self._waiting.append(event)
        else:
            self._queue.add_event(event)
            self._hand_on()

    def _begin(self, requests: list[Request]) -> None:
        if requests:
            for request in requests:
                self._queue.add(request)
            self._loop.submit(lambda loop: self._requests.begin(requests, loop))

    # Results

    def _on_results(self) -> None:
        """Emit available results as the order allows, and start requests for waiting records."""
        settled = self._requests.settled
        while settled:
            self._queue.complete(settled.popleft())
        self._hand_on()
        while self._take_waiting():
            self._hand_on()

    def _take_waiting(self) -> bool:
        """Start waiting requests within the capacity; return whether an event is among them, which may be emitted immediately."""
        waiting, begun, room = self._waiting, list[Request](), self._most - len(self._queue)
        while waiting:
            entry = waiting[0]
            if not isinstance(entry, Request):
                self._begin(begun)
                self._queue.add_event(entry)
                waiting.popleft()
                return True
            if len(begun) >= room:
                break
            begun.append(entry)
            waiting.popleft()
        self._begin(begun)
        return False

    def _hand_on(self) -> None:
        values: list[Any] = []
        times: list[Any] = []
        for entry in self._queue.drain():
            if not isinstance(entry, Request):
                self._emit(values, times)
                values, times = [], []
                entry()
            elif entry.error is None:
                values.extend(entry.results if self._settle_result is None else map(self._settle_result, entry.results))
                times.extend(repeat(entry.timestamp, len(entry.results)))
            else:
                failure = self.guard.failed(entry.error, entry.value, entry.timestamp)
                if failure is not None:
                    self._emit(values, times)
                    raise_failure(failure, entry.error)
        self._emit(values, times)

    def _emit(self, values: list[Any], times: list[Any]) -> None:
        self.collector.emit(values, None if all(t is None for t in times) else times)

    # State

    def snapshot_state(self, checkpoint_id: int, timestamp_ms: int = 0) -> OperatorSnapshot | None:
        """Store the records whose results have not been emitted."""
        waiting = (entry for entry in self._waiting if isinstance(entry, Request))
        self._state[:] = [(r.value, r.timestamp) for source in (self._queue.requests(), waiting) for r in source]
        return super().snapshot_state(checkpoint_id, timestamp_ms)


def async_wait_operator(params: dict[str, Any], payload: Any) -> AsyncWaitOperator:
    """Create the operator of an asynchronous function.

    Args:
        params: ``timeout_ms`` (0 for none), ``capacity`` and ``ordered``.
        payload: ``function``, ``output_type`` and ``retry_strategy``.
    """
    return AsyncWaitOperator(payload["function"], payload.get("output_type"), strategy=payload["retry_strategy"], **params)

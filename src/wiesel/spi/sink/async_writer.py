"""The base of writers that send batches of requests to another system, many at a time, after Flink's AsyncSinkBase (FLIP-171).

The guarantee is at least once: requests that are in flight or wait are part of the writer's state, and are sent again after a failure. A
checkpoint waits for none of them. Where requests are idempotent, such as writes by key, the outcome is that of exactly once; with one
request in flight at a time they also arrive in order.
"""

from __future__ import annotations

import asyncio
import threading
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from wiesel.core.errors import ConnectorError, ProgramError, StateAccessError
from wiesel.spi.sink.writer import SinkWriter, WriterInitContext

__all__ = ["AsyncSinkWriter", "AsyncSinkWriterConfig", "RequestLoop", "ResultHandler"]

RequestT = TypeVar("RequestT")


class RequestLoop(Protocol):
    """An event loop whose results reach the writer in the task's mailbox thread."""

    def submit(self, work: Callable[[asyncio.AbstractEventLoop], None]) -> None:
        """Have ``work`` called by the loop."""
        ...

    def wake(self) -> None:
        """Have the writer called in the mailbox thread. Called by the loop."""
        ...

    def close(self) -> None:
        """End the loop."""
        ...


@dataclass(frozen=True)
class AsyncSinkWriterConfig:
    """Limits of an asynchronous writer, under Flink's names.

    Attributes:
        max_batch_size: The most requests in a batch.
        max_batch_size_in_bytes: The most bytes in a batch.
        max_record_size_in_bytes: The most bytes of one request; a larger one fails the job.
        max_in_flight_requests: The most batches that are sent at a time, each in a thread.
        max_buffered_requests: With so many requests waiting, the task takes no more records; more than ``max_batch_size``.
        max_time_in_buffer_ms: After this time a batch is sent that is not full.
        request_timeout_ms: After this time a batch is sent again as a whole.
        fail_on_timeout: Fail the job then instead.
        rate_increase: How many more requests may be in flight after a batch of which all succeeded.
        rate_decrease_factor: To which part of it their number falls after a batch of which some failed.
        first_backoff_ms: How long nothing is sent after a batch of which nothing succeeded; twice as long after each further one.
        longest_backoff_ms: The longest such time.
    """

    max_batch_size: int = 500
    max_batch_size_in_bytes: int = 5 * 1024 * 1024
    max_record_size_in_bytes: int = 1024 * 1024
    max_in_flight_requests: int = 10
    max_buffered_requests: int = 10_000
    max_time_in_buffer_ms: int = 5_000
    request_timeout_ms: int = 600_000
    fail_on_timeout: bool = False
    rate_increase: int = 10
    rate_decrease_factor: float = 0.5
    first_backoff_ms: int = 100
    longest_backoff_ms: int = 10_000

    def __post_init__(self) -> None:
        """Check the limits.

        Raises:
            ProgramError: They contradict each other.
        """
        names = ("max_batch_size", "max_batch_size_in_bytes", "max_record_size_in_bytes", "max_in_flight_requests", "max_time_in_buffer_ms")
        for name in (*names, "request_timeout_ms", "rate_increase", "first_backoff_ms", "longest_backoff_ms"):
            if getattr(self, name) <= 0:
                raise ProgramError(f"{name} is {getattr(self, name)}", hint="give a positive number")
        if self.max_buffered_requests <= self.max_batch_size:
            raise ProgramError(
                f"max_buffered_requests ({self.max_buffered_requests}) is not above max_batch_size ({self.max_batch_size})",
                hint="the next batch fills while the one before is sent",
            )
        if self.max_batch_size_in_bytes < self.max_record_size_in_bytes:
            raise ProgramError(
                f"max_batch_size_in_bytes ({self.max_batch_size_in_bytes}) is below max_record_size_in_bytes "
                f"({self.max_record_size_in_bytes})",
                hint="a batch must have room for the largest request",
            )
        if not 0 < self.rate_decrease_factor < 1:
            raise ProgramError(f"rate_decrease_factor is {self.rate_decrease_factor}", hint="give a number between 0 and 1")


class ResultHandler(Generic[RequestT]):
    """Takes the outcome of one batch, from any thread. The first one counts; without any the batch is in flight until its time is over."""

    def __init__(self, batch: _Batch[RequestT], settled: Callable[[_Batch[RequestT]], None]) -> None:
        self._batch = batch
        self._settled = settled
        self._lock = threading.Lock()
        self._done = threading.Event()

    def complete(self) -> None:
        """Report that all requests of the batch have succeeded."""
        self._settle([], None)

    def retry_for_entries(self, requests: Sequence[RequestT]) -> None:
        """Report that these requests of the batch have failed and are to be sent again, before newer ones; the others have succeeded."""
        self._settle(list(requests), None)

    def complete_exceptionally(self, error: BaseException) -> None:
        """Report an error that sending again cannot cure: the job fails with it."""
        self._settle([], error)

    def _settle(self, failed: list[RequestT], error: BaseException | None) -> None:
        with self._lock:
            if self._done.is_set():
                return
            self._batch.failed, self._batch.error = failed, error
            self._done.set()
        self._settled(self._batch)

    def wait(self) -> None:
        """Wait for the outcome."""
        self._done.wait()


@dataclass
class _Batch(Generic[RequestT]):
    number: int
    requests: list[RequestT]
    failed: list[RequestT] | None = None
    error: BaseException | None = None


@dataclass(frozen=True)
class _Entry(Generic[RequestT]):
    request: RequestT
    size: int
    since_ms: int


class _Threads(Executor):
    """A thread for each piece of work, for none of which the process waits at its end: a client may hang in it."""

    def submit(self, work: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()

        def run() -> None:
            try:
                result = work(*args, **named)
            except BaseException as error:  # noqa: BLE001 - handed to whoever waits for it
                future.set_exception(error)
            else:
                future.set_result(result)

        threading.Thread(target=run, name="wiesel-sink-requests", daemon=True).start()
        return future


class AsyncSinkWriter(SinkWriter, Generic[RequestT]):
    """Sends what it is given in batches, in threads, and the failed part of each again.

    ``create_writer`` of the sink makes one with its context and the state that it is given. To be implemented: ``submit_requests``,
    ``size_in_bytes``, and ``to_request`` where requests are not the records themselves.

    Args:
        context: As ``create_writer`` got it.
        config: The limits.
        state: As ``create_writer`` got it.

    Raises:
        StateAccessError: The context is not that of a task.
    """

    def __init__(self, context: WriterInitContext, config: AsyncSinkWriterConfig, state: Sequence[list[RequestT]] = ()) -> None:
        if context.start_event_loop is None:
            raise StateAccessError("an asynchronous writer was made outside of a task", hint="give the context start_event_loop")
        self.config = config
        self._now_ms = context.now_ms
        self._buffer: deque[_Entry[RequestT]] = deque()
        self._buffered_bytes = 0
        self._in_flight: dict[int, _Batch[RequestT]] = {}
        self._in_flight_count = 0
        self._settled: deque[_Batch[RequestT]] = deque()
        self._numbers = 0
        self._most_in_flight = config.max_batch_size
        """The most requests that may be in flight: it rises and falls with their success."""
        self._urgent = 0
        """The number of requests at the head of the buffer that do not wait for a full batch: they have failed before, or waited long."""
        self._failures = 0
        self._not_before_ms = 0
        self._ending = False
        self._threads = _Threads()
        self._loop: RequestLoop = context.start_event_loop(self._on_results)
        for requests in state:
            for request in requests:
                self._add(request)

    # To be implemented

    @abstractmethod
    def submit_requests(self, requests: list[RequestT], result: ResultHandler[RequestT]) -> None:
        """Send a batch, and tell ``result`` how it went, now or later. Called in a thread of its own, so it may block.

        An exception counts as ``result.complete_exceptionally``.
        """

    @abstractmethod
    def size_in_bytes(self, request: RequestT) -> int:
        """Return what a request counts for in limits of bytes."""

    def to_request(self, value: Any, timestamp: int | None) -> RequestT:
        """Return the request for a record, which must be picklable; by default the record itself."""
        return value  # type: ignore[no-any-return]

    # What the task calls, in the mailbox thread

    @property
    def full(self) -> bool:
        """Return whether as many requests wait as may be."""
        return len(self._buffer) >= self.config.max_buffered_requests

    @property
    def busy(self) -> bool:
        """Return whether there are requests whose outcome is not known, or, at the end of the input, that were not sent yet."""
        return bool(self._in_flight) or (self._ending and bool(self._buffer))

    def write_batch(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Take records, and send full batches as far as limits allow."""
        for i, value in enumerate(values):
            self._add(self.to_request(value, None if timestamps is None else timestamps[i]))
            if len(self._buffer) >= self.config.max_batch_size or self._buffered_bytes >= self.config.max_batch_size_in_bytes:
                self._send()

    def on_processing_time(self, now_ms: int) -> None:
        """Send what has waited long enough."""
        if self._buffer and now_ms - self._buffer[0].since_ms >= self.config.max_time_in_buffer_ms:
            self._urgent = len(self._buffer)
        self._send()

    def flush(self, end_of_input: bool) -> None:
        """Send everything at the end of the input; a checkpoint has what is not sent, or in flight, in its state."""
        if end_of_input:
            self._ending = True
            self._urgent = len(self._buffer)
            self._send()

    def snapshot_state(self, checkpoint_id: int) -> list[RequestT]:
        """Return the requests that are in flight, and those that wait, in order."""
        return [request for batch in self._in_flight.values() for request in batch.requests] + [entry.request for entry in self._buffer]

    def close(self) -> None:
        """End the event loop. Requests in flight may still arrive."""
        loop = getattr(self, "_loop", None)
        if loop is not None:
            loop.close()

    # Inside

    def _add(self, request: RequestT) -> None:
        size = self.size_in_bytes(request)
        if size > self.config.max_record_size_in_bytes:
            raise ConnectorError(
                f"a request of {size} bytes is larger than max_record_size_in_bytes ({self.config.max_record_size_in_bytes})",
                hint="raise the limit, as far as the other system takes it, or drop such records before the sink",
            )
        self._buffer.append(_Entry(request, size, self._now_ms()))
        self._buffered_bytes += size

    def _send(self) -> None:
        config = self.config
        while self._buffer and self._now_ms() >= self._not_before_ms and len(self._in_flight) < config.max_in_flight_requests:
            most = min(config.max_batch_size, self._most_in_flight)
            is_full = len(self._buffer) >= most or self._buffered_bytes >= config.max_batch_size_in_bytes
            if not (is_full or self._urgent) or self._in_flight_count + min(most, len(self._buffer)) > self._most_in_flight:
                return
            self._submit(self._take(most))

    def _take(self, most: int) -> list[RequestT]:
        requests: list[RequestT] = []
        size = 0
        while self._buffer and len(requests) < most:
            if requests and size + self._buffer[0].size > self.config.max_batch_size_in_bytes:
                break
            entry = self._buffer.popleft()
            requests.append(entry.request)
            size += entry.size
        self._buffered_bytes -= size
        self._urgent = max(0, self._urgent - len(requests))
        return requests

    def _submit(self, requests: list[RequestT]) -> None:
        batch = _Batch(self._numbers, requests)
        self._numbers += 1
        self._in_flight[batch.number] = batch
        self._in_flight_count += len(requests)

        def begin(loop: asyncio.AbstractEventLoop) -> None:
            def settled(ended: _Batch[RequestT]) -> None:
                self._settled.append(ended)
                if not loop.is_closed():
                    loop.call_soon_threadsafe(self._loop.wake)

            handler = ResultHandler(batch, settled)
            timer = loop.call_later(self.config.request_timeout_ms / 1e3, self._time_out, handler)
            loop.run_in_executor(self._threads, self._call, list(requests), handler).add_done_callback(lambda _: timer.cancel())

        self._loop.submit(begin)

    def _call(self, requests: list[RequestT], handler: ResultHandler[RequestT]) -> None:
        try:
            self.submit_requests(requests, handler)
        except BaseException as error:  # noqa: BLE001 - of the connector: the task fails with it
            handler.complete_exceptionally(error if isinstance(error, Exception) else RuntimeError(f"submit_requests raised {error!r}"))
        # So that whoever owns the loop knows that something is still to come.
        handler.wait()

    def _time_out(self, handler: ResultHandler[RequestT]) -> None:
        late = ConnectorError(f"a batch of requests took longer than {self.config.request_timeout_ms} ms")
        if self.config.fail_on_timeout:
            handler.complete_exceptionally(late)
        else:
            handler.retry_for_entries(handler._batch.requests)

    def _on_results(self) -> None:
        ended: list[_Batch[RequestT]] = []
        while self._settled:
            ended.append(self._settled.popleft())
        # The newest first, so that the oldest is at the head of the buffer in the end.
        for batch in sorted(ended, key=lambda batch: batch.number, reverse=True):
            del self._in_flight[batch.number]
            self._in_flight_count -= len(batch.requests)
            if batch.error is not None:
                raise batch.error
            self._adapt(batch)
            for request in reversed(batch.failed or ()):
                entry = _Entry(request, self.size_in_bytes(request), self._now_ms())
                self._buffer.appendleft(entry)
                self._buffered_bytes += entry.size
                self._urgent += 1
        self._send()

    def _adapt(self, batch: _Batch[RequestT]) -> None:
        """Let more requests be in flight after a success, and fewer after a failure; pause where nothing succeeds."""
        config = self.config
        if not batch.failed:
            most = config.max_batch_size * config.max_in_flight_requests
            self._most_in_flight = min(self._most_in_flight + config.rate_increase, most)
            self._failures = 0
            return
        self._most_in_flight = max(1, round(self._most_in_flight * config.rate_decrease_factor))
        if len(batch.failed) < len(batch.requests):
            self._failures = 0
            return
        pause_ms = min(config.longest_backoff_ms, config.first_backoff_ms * 2 ** min(self._failures, 30))
        self._failures += 1
        self._not_before_ms = self._now_ms() + pause_ms

"""Asynchronous sink writers: batches, retries of failed parts in order, limits, time-outs, state, and the end of the input."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from wiesel.core.clock import ManualClock
from wiesel.core.errors import ConnectorError, ProgramError, StateAccessError
from wiesel.engine.local.event_loop import SteppedEventLoop
from wiesel.spi.sink import AsyncSinkWriter, AsyncSinkWriterConfig, ResultHandler, WriterInitContext

LIMIT_S = 20.0


class Task:
    """What a task is to a writer: a mailbox, an event loop and the time."""

    def __init__(self) -> None:
        self.clock = ManualClock(1_000)
        self.mailbox: deque[Callable[[], None]] = deque()
        self.loops: list[SteppedEventLoop] = []

    def start_event_loop(self, on_results: Callable[[], None]) -> SteppedEventLoop:
        self.loops.append(SteppedEventLoop(self.clock.now_ms, on_results, self.mailbox.append))
        return self.loops[-1]

    @property
    def context(self) -> WriterInitContext:
        return WriterInitContext("job", "sink", 0, 1, 1, 0, now_ms=self.clock.now_ms, start_event_loop=self.start_event_loop)

    def run(self) -> None:
        """Let everything happen that is possible now."""
        while self.mailbox or any(loop.ready for loop in self.loops):
            if self.mailbox:
                self.mailbox.popleft()()
            for loop in self.loops:
                if loop.ready:
                    loop.step()

    def until(self, condition: Callable[[], bool]) -> None:
        deadline_s = time.monotonic() + LIMIT_S
        self.run()
        while not condition():
            assert time.monotonic() < deadline_s, "it has not happened"
            self.loops[-1].wait_outside(0.01)
            self.run()


class Writer(AsyncSinkWriter[Any]):
    """Sends to a list. ``answer`` gets the number of the request, counted from 1, and its batch, and says which part of it failed."""

    def __init__(
        self, task: Task, answer: Callable[[int, list[Any]], Any] = lambda n, batch: [], state: Sequence[list[Any]] = (), **limits: Any
    ) -> None:
        self.task, self.answer = task, answer
        self.batches: list[list[Any]] = []
        self.received: list[Any] = []
        self.lock = threading.Lock()
        super().__init__(task.context, AsyncSinkWriterConfig(**{"max_in_flight_requests": 1, "max_batch_size": 3} | limits), state)

    def submit_requests(self, requests: list[Any], result: ResultHandler[Any]) -> None:
        with self.lock:
            self.batches.append(requests)
            number = len(self.batches)
        failed = self.answer(number, requests)
        if failed is None:
            return  # it is never told how it went
        with self.lock:
            self.received += [request for request in requests if request not in failed]
        if failed:
            result.retry_for_entries(failed)
        else:
            result.complete()

    def size_in_bytes(self, request: Any) -> int:
        return len(str(request))

    def write(self, *values: Any) -> None:
        self.write_batch(list(values), None)

    def wait(self, by_ms: int) -> None:
        """Let time pass, as the task does."""
        self.task.clock.advance(by_ms)
        self.on_processing_time(self.task.clock.now_ms())
        self.task.run()

    def end(self) -> None:
        """Finish as the task does."""
        self.flush(True)
        while self.busy:
            self.task.until(lambda: not self._in_flight)
            self.wait(100)
            self.flush(True)


@pytest.fixture
def task() -> Any:
    made = Task()
    yield made
    for loop in made.loops:
        loop.close()


def test_batches_are_sent_when_they_are_full_or_old(task: Task) -> None:
    writer = Writer(task, max_time_in_buffer_ms=1_000)
    writer.write(1, 2, 3, 4)
    task.until(lambda: writer.received == [1, 2, 3])
    writer.wait(999)
    assert writer.batches == [[1, 2, 3]]
    writer.wait(1)
    task.until(lambda: writer.batches == [[1, 2, 3], [4]])


def test_batches_are_limited_in_bytes_and_so_is_a_request(task: Task) -> None:
    writer = Writer(task, max_batch_size=100, max_batch_size_in_bytes=10, max_record_size_in_bytes=8, max_in_flight_requests=5)
    writer.write("aaaa", "bbbb", "cccc", "dd")
    writer.end()
    assert sorted(writer.batches) == [["aaaa", "bbbb"], ["cccc", "dd"]]
    with pytest.raises(ConnectorError, match=r"a request of 9 bytes is larger than max_record_size_in_bytes \(8\)"):
        writer.write("123456789")


def test_the_failed_part_of_a_batch_comes_again_before_newer_ones(task: Task) -> None:
    writer = Writer(task, lambda n, batch: batch[1:] if n == 1 else [])
    writer.write(*range(1, 7))
    writer.end()
    assert writer.batches[0] == [1, 2, 3]
    assert [request for batch in writer.batches[1:] for request in batch] == [2, 3, 4, 5, 6], writer.batches
    assert writer.received == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("in_flight", [1, 4])
def test_a_system_that_fails_every_third_request_gets_everything_once(task: Task, in_flight: int) -> None:
    writer = Writer(task, lambda n, batch: batch if n % 3 == 0 else [], max_in_flight_requests=in_flight)
    for start in range(0, 60, 5):
        writer.write(*range(start, start + 5))
    writer.end()
    assert sorted(writer.received) == list(range(60))
    if in_flight == 1:
        assert writer.received == list(range(60)), "in order"


def test_a_failure_lets_fewer_requests_be_in_flight_and_successes_more(task: Task) -> None:
    failing = True
    writer = Writer(task, lambda n, batch: batch[-1:] if failing else [], max_batch_size=8, rate_increase=2)
    writer.write(*range(16))
    task.until(lambda: len(writer.batches) >= 4)
    failing = False
    writer.end()
    sizes = [len(batch) for batch in writer.batches]
    assert sizes[:4] == [8, 4, 2, 1] and sorted(writer.received) == list(range(16))
    writer.write(*range(100, 180))
    writer.end()
    assert max(len(batch) for batch in writer.batches[4:]) == 8, "it grows again, up to a batch"


def test_nothing_is_sent_for_a_while_behind_a_batch_of_which_nothing_succeeded(task: Task) -> None:
    writer = Writer(task, lambda n, batch: batch if n <= 2 else [], first_backoff_ms=100)
    writer.write(1, 2, 3)
    task.until(lambda: not writer.busy)
    writer.wait(99)
    assert len(writer.batches) == 1
    writer.wait(1)
    task.until(lambda: len(writer.batches) == 2 and not writer.busy)
    writer.wait(199)
    assert len(writer.batches) == 2, "twice as long"
    writer.wait(1)
    task.until(lambda: len(writer.batches) > 2)


def test_a_writer_is_full_when_as_much_waits_as_may_and_no_more_is_in_flight_than_may(task: Task) -> None:
    gate = threading.Event()
    writer = Writer(
        task, lambda n, batch: [] if gate.wait(LIMIT_S) else batch, max_in_flight_requests=2, max_buffered_requests=4, rate_increase=9
    )

    def full_and_busy() -> tuple[bool, bool]:
        return writer.full, writer.busy

    writer.write(1, 2, 3)
    assert full_and_busy() == (False, True)
    writer.write(4, 5, 6, 7)
    assert full_and_busy() == (True, True)
    task.run()
    assert writer._in_flight_count == 3, "the rate begins with one batch"
    gate.set()
    task.until(lambda: not writer.full and writer.received[:3] == [1, 2, 3])


def test_a_request_that_takes_too_long_is_sent_again(task: Task) -> None:
    writer = Writer(task, lambda n, batch: None if n == 1 else [], request_timeout_ms=500)
    writer.write(1, 2, 3)
    task.until(lambda: len(writer.batches) == 1)
    task.clock.advance(499)
    task.run()
    assert writer.busy
    task.clock.advance(1)
    task.until(lambda: not writer.busy)
    writer.wait(100)
    writer.end()
    assert [request for batch in writer.batches[1:] for request in batch] == [1, 2, 3] == writer.received


def test_a_request_that_takes_too_long_fails_the_job_where_that_is_wanted(task: Task) -> None:
    writer = Writer(task, lambda n, batch: None, request_timeout_ms=500, fail_on_timeout=True)
    writer.write(1, 2, 3)
    task.until(lambda: len(writer.batches) == 1)
    task.clock.advance(500)
    with pytest.raises(ConnectorError, match="took longer than 500 ms"):
        task.until(lambda: not writer.busy)


def test_an_error_that_is_raised_fails_the_job(task: Task) -> None:
    def refuse(number: int, batch: list[Any]) -> list[Any]:
        raise PermissionError("the password is wrong")

    writer = Writer(task, refuse)
    writer.write(1, 2, 3)
    with pytest.raises(PermissionError, match="the password is wrong"):
        task.until(lambda: not writer.busy)


def test_only_the_first_outcome_of_a_batch_counts(task: Task) -> None:
    class Twice(Writer):
        def submit_requests(self, requests: list[Any], result: ResultHandler[Any]) -> None:
            super().submit_requests(requests, result)
            result.retry_for_entries(requests)
            raise OSError("too late")

    writer = Twice(task)
    writer.write(1, 2, 3)
    writer.end()
    assert writer.batches == [[1, 2, 3]]


def test_the_state_has_what_is_in_flight_and_what_waits_and_is_sent_first_after_a_restore(task: Task) -> None:
    gate = threading.Event()
    writer = Writer(task, lambda n, batch: batch if gate.wait(LIMIT_S) else [])
    writer.write(*range(8))
    task.until(lambda: len(writer.batches) == 1)
    started_s = time.monotonic()
    writer.flush(False)
    state = writer.snapshot_state(1)
    assert state == list(range(8)) and time.monotonic() - started_s < 1, "a checkpoint waits for no request"
    gate.set()
    writer.close()

    restored = Writer(task, state=[state, [8]])
    restored.write(9)
    restored.end()
    assert restored.received == list(range(10)) and restored.snapshot_state(2) == []


def test_records_become_requests(task: Task) -> None:
    class Pairs(Writer):
        def to_request(self, value: Any, timestamp: int | None) -> Any:
            return value, timestamp

    writer = Pairs(task)
    writer.write_batch(["a", "b"], [1, 2])
    writer.end()
    assert writer.received == [("a", 1), ("b", 2)]


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"max_batch_size": 0}, "max_batch_size is 0"),
        ({"max_buffered_requests": 500}, "is not above max_batch_size"),
        ({"max_batch_size_in_bytes": 1}, "is below max_record_size_in_bytes"),
        ({"rate_decrease_factor": 1.0}, "rate_decrease_factor is 1.0"),
    ],
)
def test_limits_that_contradict_each_other(limits: dict[str, Any], message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        AsyncSinkWriterConfig(**limits)


def test_outside_of_a_task_there_is_no_asynchronous_writer() -> None:
    class Outside(Writer):
        def __init__(self) -> None:
            AsyncSinkWriter.__init__(self, WriterInitContext("job", "sink", 0, 1, 1, 0), AsyncSinkWriterConfig())

    with pytest.raises(StateAccessError, match="outside of a task"):
        Outside()

"""Internal. The shell around a task inside a Spark Python worker: threads, the mailbox, rows in and out.

Retry semantics: Spark never runs a task twice (``spark.task.maxFailures=1``, checked below); a new attempt of the job is a new Spark job
with new descriptors. A worker that loses its JobMaster ends itself: a source that waits for input would not notice otherwise.
"""

from __future__ import annotations

import os
import pickle
import queue
import socket
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any, TypeVar

import pyarrow as pa

from wiesel.checkpoint.local_copies import LocalBackup, LocalCopies
from wiesel.checkpoint.messages import (
    CancelTask,
    FromTask,
    Heartbeat,
    InputConnected,
    MasterHeartbeat,
    OpenOutput,
    RegisterTask,
    ReportProgress,
    TaskFailed,
    ToTask,
)
from wiesel.checkpoint.savepoint import SavepointFiles
from wiesel.checkpoint.store import MemoryStateFiles, StateFiles
from wiesel.core import hooks
from wiesel.core.clock import SystemClock
from wiesel.core.errors import InvariantError, JobCancelledError
from wiesel.core.options import CHECKPOINT_DIRECT_IO, CHECKPOINT_INLINE_THRESHOLD
from wiesel.core.user_frames import user_traceback
from wiesel.engine.code_shipping import install_program_classes
from wiesel.engine.dependencies import absolute, in_place
from wiesel.engine.fault_points import FaultPoints
from wiesel.engine.spark.arrow_rows import row_batch
from wiesel.engine.spark.control import ControlClient
from wiesel.engine.spark.event_loop import EventLoopThread
from wiesel.engine.spark.handshake import ExpectedGreetings, LevelId, greeting
from wiesel.engine.spark.major_collections import MajorCollections
from wiesel.engine.spark.relay import Outlet, OutletClosedError, Relay
from wiesel.engine.spark.step_thread import StepThread
from wiesel.engine.spark.time_shares import TimeShares
from wiesel.engine.spark.worker_files import unpacked
from wiesel.engine.task_errors import broken_exchange, picklable_error
from wiesel.runtime.descriptor import OperatorDescriptor, TaskDescriptor
from wiesel.runtime.event_loop import Waker
from wiesel.runtime.task import StreamTask
from wiesel.state.backend import StateBackend
from wiesel.state.factory import make_backend
from wiesel.state.key_groups import key_group_range
from wiesel.wire.buffers import read_buffers

T = TypeVar("T")
_MAILBOX_ROWS = 2
_RELAYING_BYTES = 1 << 20
"""Maximal number of queued rows for the task of a worker that relays; further rows, including those to relay, wait as well."""

_ROW_BYTES = 256
"""Overhead of a row in bytes."""

_ABANDON_S = 2.0
_LOST_GRACE_S = 2.0
_HANG_UP_S = 5.0
_FILL_AFTER_S = 0.005
"""Time after which the last row of a partition is followed by a filler that pushes it through the JVM."""


class _LostMaster(Exception):
    """The control connection broke, or was silent for too long."""


class _RoomForRows:
    """Capacity for a number of rows."""

    def __init__(self) -> None:
        self._room = threading.Semaphore(_MAILBOX_ROWS)

    def take(self, row: Any) -> None:
        """Wait for capacity."""
        self._room.acquire()

    def give(self, row: Any) -> None:
        """Release capacity."""
        self._room.release()


class _RoomForBytes:
    """Capacity for rows of a total size, or for a single larger one."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._taken = 0
        self._changed = threading.Condition()

    def take(self, row: Any) -> None:
        """Wait for capacity."""
        size = len(row) + _ROW_BYTES
        with self._changed:
            while self._taken and self._taken + size > self._most_bytes:
                self._changed.wait()
            self._taken += size

    def give(self, row: Any) -> None:
        """Release capacity."""
        with self._changed:
            self._taken -= len(row) + _ROW_BYTES
            self._changed.notify()


class Mailbox:
    """The mailbox of the task's thread: rows (bounded), control messages, results of asynchronous work, the end of the input.

    ``most_bytes`` limits the size of the rows instead of their number.
    """

    def __init__(self, most_bytes: int | None = None) -> None:
        self._queue: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self._kept: deque[Any] = deque()
        self._room = _RoomForRows() if most_bytes is None else _RoomForBytes(most_bytes)
        self._rows_put = self._bytes_put = self._rows_taken = self._bytes_taken = 0

    def put_row(self, row: Any) -> None:
        """Add a row; waits while there are too many, which propagates backpressure to Spark."""
        self._room.take(row)
        self._rows_put += 1
        self._bytes_put += len(row)
        self._queue.put(("row", row))

    def put(self, kind: str, value: Any = None) -> None:
        """Add another item."""
        self._queue.put((kind, value))

    def take(self, timeout_s: float | None, *, rows: bool = True) -> tuple[str, Any] | None:
        """Return the next item, or None after ``timeout_s`` (0: do not wait; None: wait forever).

        With ``rows=False`` rows remain queued, in order, and occupy their capacity.
        """
        if rows and self._kept:
            return "row", self._taken(self._kept.popleft())
        while True:
            try:
                kind, value = self._queue.get_nowait() if timeout_s == 0 else self._queue.get(timeout=timeout_s)
            except queue.Empty:
                return None
            if kind != "row":
                return kind, value
            if rows:
                return kind, self._taken(value)
            self._kept.append(value)

    def _taken(self, row: Any) -> Any:
        self._room.give(row)
        self._rows_taken += 1
        self._bytes_taken += len(row)
        return row

    @property
    def waiting_bytes(self) -> int:
        """Return the size of the queued rows. Thread-safe."""
        return max(0, self._bytes_put - self._bytes_taken)

    def metrics(self) -> dict[str, int]:
        """Return the metrics of the queue. Thread-safe."""
        return {
            "Shuffle.Netty.Input.Buffers.inputQueueLength": max(0, self._rows_put - self._rows_taken),
            "Shuffle.Netty.Input.Buffers.inputQueueSize": self.waiting_bytes,
        }

    @property
    def keeps_rows(self) -> bool:
        """Return whether rows were skipped by ``take``."""
        return bool(self._kept)

    @property
    def empty(self) -> bool:
        """Return whether the queue is empty."""
        return self._queue.empty()


class WorkerServices:
    """Services of a task inside a Spark worker."""

    def __init__(self, payload: AttemptPayload, descriptor: TaskDescriptor, client: ControlClient, mailbox: Mailbox) -> None:
        self.clock = SystemClock()
        self._payload = payload
        self._descriptor = descriptor
        self._client = client
        self._mailbox = mailbox
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="wiesel-async")
        self._source_waker = Waker(lambda: None, lambda call: mailbox.put("wake", call))
        self.outstanding = 0
        self._faults = FaultPoints(payload.fault_plan, descriptor.attempt, f"task-{descriptor.vertex.vertex}-{descriptor.subtask}")
        self._prefix = prefix = f"{descriptor.attempt}-{descriptor.vertex.vertex}-{descriptor.subtask}"
        self._copies = payload.local_backup.copies(
            descriptor.job_id, f"{descriptor.vertex.vertex}-{descriptor.subtask}", self.local_dir
        )
        inline_bytes = descriptor.config.get(CHECKPOINT_INLINE_THRESHOLD.key)
        self._files: StateFiles | MemoryStateFiles = (
            StateFiles(
                payload.checkpoint_dir,
                descriptor.job_id,
                prefix,
                self._copies,
                inline_bytes,
                direct_io=str(descriptor.config.get(CHECKPOINT_DIRECT_IO.key, CHECKPOINT_DIRECT_IO.default)),
            )
            if payload.checkpoint_dir
            else MemoryStateFiles(descriptor.job_id, prefix)
        )

    def send(self, message: FromTask) -> None:
        """Send a message to the JobMaster."""
        self._client.send(message)

    def run_async(self, work: Callable[[], T], done: Callable[[T | None, BaseException | None], None]) -> None:
        """Run ``work`` in the task's helper thread; ``done`` is called through the mailbox."""
        self.outstanding += 1

        def run() -> None:
            try:
                result = work()
            except Exception as error:  # noqa: BLE001 - handed to the mailbox thread
                failure = error  # the name of an except clause is deleted after it
                self._mailbox.put("call", lambda: done(None, failure))
            else:
                self._mailbox.put("call", lambda: done(result, None))

        self._pool.submit(run)

    def start_event_loop(self, on_results: Callable[[], None]) -> EventLoopThread:
        """Start an event loop in a thread; results are delivered through the mailbox."""
        return EventLoopThread(on_results, lambda call: self._mailbox.put("wake", call))

    def start_fetcher(self, step: Callable[[], int | None], finish: Callable[[], None]) -> StepThread:
        """Start a thread of a source reader."""
        return StepThread(step, finish)

    def wake_source(self) -> None:
        """Have the task polled: it is when it has taken something out of its mailbox."""
        self._source_waker.wake()

    def make_backend(self, operator: OperatorDescriptor, descriptor: TaskDescriptor) -> StateBackend:
        """Create the state backend of one operator."""
        vertex = descriptor.vertex
        return make_backend(
            operator.state_backend or str(descriptor.config.get("state.backend.type", "hashmap")),
            operator_id=operator.operator_id,
            subtask=descriptor.subtask,
            parallelism=vertex.parallelism,
            key_group_range=key_group_range(descriptor.subtask, vertex.max_parallelism, vertex.parallelism),
            local_dir=self.local_dir,
            clock=self.clock,
            options=descriptor.config,
        )

    @property
    def local_dir(self) -> str:
        """Return the directory for files of this attempt."""
        return self._payload.local_dir or _executor_dir()

    def state_writer(self, savepoint: str | None = None) -> StateFiles | MemoryStateFiles:
        """Return the writer of state files."""
        return self._files if savepoint is None else SavepointFiles(savepoint, self._prefix)

    def state_reader(self) -> StateFiles | MemoryStateFiles:
        """Return the reader of state files."""
        return self._files

    def local_copies(self) -> LocalCopies | None:
        """Return the copies of state files on this host."""
        return self._copies

    def reached(self, point: str) -> None:
        """See ``FaultPoints``."""
        self._faults.reached(point)

    def close(self) -> None:
        """End the helper thread."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _executor_dir() -> str:
    """Return a directory for working files that is deleted with the executor: Spark passes its own to its workers."""
    return os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0] or tempfile.gettempdir()


class AttemptPayload:
    """Data carried by the closure of every stage of an attempt. ``tasks[level][partition]`` are pickled descriptors.

    ``hops`` has the partitions per level, ``relays`` the levels skipped by edges. ``region`` is the number of the Spark job; its stages run
    concurrently if it is ``pipelined``. ``local_dir`` is None if tasks may run on other machines than the driver.
    """

    def __init__(
        self,
        *,
        attempt: int,
        address: tuple[str, int],
        token: bytes,
        checkpoint_dir: str | None,
        local_dir: str | None,
        local_backup: LocalBackup,
        region: int,
        pipelined: bool,
        hops: list[int],
        relays: frozenset[int],
        initializers: tuple[str, ...],
        classes: bytes,
        bundle: str | None,
        fault_plan: str,
        heartbeat_s: float,
        heartbeat_timeout_s: float,
        cancellation_timeout_s: float,
    ) -> None:
        self.attempt = attempt
        self.address = address
        self.token = token
        self.checkpoint_dir = checkpoint_dir
        self.local_dir = local_dir
        self.local_backup = local_backup
        self.region = region
        self.pipelined = pipelined
        self.hops = hops
        self.relays = relays
        self.initializers = initializers
        self.classes = classes
        self.bundle = bundle
        self.fault_plan = fault_plan
        self.heartbeat_s = heartbeat_s
        self.heartbeat_timeout_s = heartbeat_timeout_s
        self.cancellation_timeout_s = cancellation_timeout_s


def stage_function(payload: AttemptPayload, level: int, tasks: list[bytes]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function that Spark runs in every partition of a stage."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        if context is None or context.attemptNumber() > 0:
            raise InvariantError("Spark ran a task of a streaming job twice; spark.task.maxFailures must be 1")
        # Archives change the working directory, which relative paths must not refer to.
        payload.checkpoint_dir = absolute(payload.checkpoint_dir)
        with in_place(_unpacked(payload)):
            hooks.run_worker_initializers(payload.initializers)
            install_program_classes(payload.classes)
            worker = TaskWorker(payload, level, context.partitionId(), tasks[context.partitionId()])
            yield from worker.run(batches)

    return run


def _unpacked(payload: AttemptPayload) -> str | None:
    """Return the directory of the job's files; errors are reported before Spark truncates them."""
    try:
        return unpacked(payload.bundle)
    except Exception as error:
        client = ControlClient(payload.address, payload.token, payload.attempt, patience_s=payload.heartbeat_timeout_s)
        client.send(TaskFailed((-1, -1), picklable_error(error, None)))
        client.end()
        client.close()
        raise


class TaskWorker:
    """Runs one task to its end."""

    def __init__(self, payload: AttemptPayload, level: int, partition: int, pickled: bytes) -> None:
        self._payload = payload
        self._level = level
        self._partition = partition
        self._next_partitions = payload.hops[level + 1] if level + 1 < len(payload.hops) else 0
        self._output_open = threading.Event()
        if not payload.pipelined or not self._next_partitions:
            self._output_open.set()
        relays = level in payload.relays
        self._relay = Relay(level, self._next_partitions) if relays else None
        self._outlet = Outlet()
        self._mailbox = Mailbox(_RELAYING_BYTES if relays else None)
        self._client = ControlClient(payload.address, payload.token, payload.attempt, patience_s=payload.heartbeat_timeout_s)
        self._control_thread: threading.Thread | None = None
        self._done = threading.Event()
        self._input_ended = level == 0
        self._shares = TimeShares()
        self._busy_since_s: float | None = None
        self._last_metrics: dict[str, Any] = {}
        self._unfilled: set[int] = set()
        self._noted_s = 0.0
        self._collections = MajorCollections()
        self._sent_s = 0.0
        self._slow = False
        self._began_s = 0.0
        self._pickled = pickled

    def run(self, batches: Iterator[Any]) -> Iterator[pa.RecordBatch]:
        """Yield the output for the next stage."""
        self._descriptor: TaskDescriptor | None = None
        try:
            descriptor = self._descriptor = pickle.loads(self._pickled)
            self._services = WorkerServices(self._payload, descriptor, self._client, self._mailbox)
            self._task = StreamTask(descriptor, self._services)
            self._start_threads(batches)
            yield from self._run_task(descriptor) if self._relay is None else self._run_beside(descriptor)
        except _LostMaster:
            raise JobCancelledError("the JobMaster of this task is gone") from None
        except JobCancelledError:
            raise
        except GeneratorExit as error:
            if user_traceback(error):  # raised by a function, not by Spark, which no longer needs the rows
                self._report(error)
                raise RuntimeError("a function raised GeneratorExit") from error
            raise
        except BaseException as error:
            self._report(error)
            raise
        finally:
            self._done.set()
            if self._descriptor is not None and hasattr(self, "_services"):
                self._services.close()
            self._hang_up()

    def _run_task(self, descriptor: TaskDescriptor) -> Generator[pa.RecordBatch, None, None]:
        try:
            # First: a reader may request a split as soon as it starts, and the answer needs the route.
            self._client.send(RegisterTask(descriptor.key, descriptor.attempt, os.getpid(), socket.gethostname()))
            if not self._output_open.is_set():
                yield self._greetings()
            self._task.start()
            self._wait_until_open()
            yield from self._loop()
        finally:
            self._task.close()

    def _greetings(self) -> pa.RecordBatch:
        """Return the first row of each channel, with the fillers that push them through Spark."""
        level = self._level_id(self._level)
        partitions = range(self._next_partitions)
        return row_batch([(reader, greeting(level, self._partition, reader)) for reader in partitions], partitions)

    def _level_id(self, level: int) -> LevelId:
        return LevelId(self._payload.token, self._payload.attempt, self._payload.region, level)

    def _run_beside(self, descriptor: TaskDescriptor) -> Iterator[pa.RecordBatch]:
        """Run the task in a separate thread, so that relaying continues while its user code blocks."""
        outlet = self._outlet

        def run() -> None:
            try:
                with closing(self._run_task(descriptor)) as batches:
                    for batch in batches:
                        outlet.put(batch)
            except BaseException as error:  # noqa: BLE001 - raised in the thread of the worker
                outlet.end(error)
            else:
                outlet.end()

        thread = threading.Thread(target=run, name="wiesel-task", daemon=True)
        thread.start()
        try:
            yield from outlet.batches()
        finally:
            outlet.close()
            self._output_open.set()
            thread.join(_ABANDON_S)

    def _hang_up(self) -> None:
        """End the connection when the JobMaster has read all of it; the process may end a moment later."""
        self._client.end()
        if self._control_thread is not None:
            self._control_thread.join(_HANG_UP_S)
        self._client.close()

    def _report(self, error: BaseException) -> None:
        key = self._descriptor.key if self._descriptor is not None else (-1, -1)
        try:
            self._client.send(TaskFailed(key, picklable_error(error, self._descriptor)))
        except OSError:
            return  # the JobMaster is gone; Spark reports the failure to nobody

    # Threads

    def _start_threads(self, batches: Iterator[Any]) -> None:
        self._control_thread = threading.Thread(target=self._read_control, name="wiesel-control", daemon=True)
        self._control_thread.start()
        threading.Thread(target=self._beat, name="wiesel-heartbeat", daemon=True).start()
        if self._level > 0:
            threading.Thread(target=self._read_input, args=(batches,), name="wiesel-input", daemon=True).start()

    def _read_control(self) -> None:
        try:
            while True:
                message = self._client.receive()
                if isinstance(message, OpenOutput):
                    self._output_open.set()
                    self._mailbox.put("wake", lambda: None)
                elif isinstance(message, ReportProgress):
                    self._report_progress()  # from here, as the task may be busy for long
                elif not isinstance(message, MasterHeartbeat):
                    self._mailbox.put("control", message)
                if isinstance(message, CancelTask) and self._payload.cancellation_timeout_s:
                    threading.Thread(target=self._end_by_force, name="wiesel-cancellation", daemon=True).start()
        except (EOFError, OSError):
            if self._done.is_set():
                return
            self._mailbox.put("lost")
            # The mailbox thread may be inside user code or blocked by backpressure: then only the end of the process helps.
            if not self._done.wait(_LOST_GRACE_S):
                os._exit(70)
        except Exception as error:  # noqa: BLE001 - a split that cannot be unpickled here; raised in the mailbox thread
            self._mailbox.put("error", error)

    def _report_progress(self) -> None:
        if self._descriptor is not None:
            since_s = self._busy_since_s
            busy_s = 0.0 if since_s is None else time.monotonic() - since_s
            self._client.send(self._task.progress(queued_bytes=self._mailbox.waiting_bytes, busy_s=busy_s))

    def _end_by_force(self) -> None:
        """End the process if the task does not respond to its cancellation: it may be blocked in user code."""
        if not self._done.wait(self._payload.cancellation_timeout_s):
            os._exit(70)

    def _beat(self) -> None:
        while not self._done.wait(self._payload.heartbeat_s):
            if self._descriptor is None:
                continue
            try:
                self._client.send(self._heartbeat(self._descriptor))
            except OSError:
                return  # the control thread ends the worker

    def _heartbeat(self, descriptor: TaskDescriptor) -> Heartbeat:
        # A blocked task does not count itself: the duration is determined here.
        now = {**self._task.barrier_metrics(), **self._mailbox.metrics(), **self._shares.metrics()}
        return Heartbeat(descriptor.key, {**self._last_metrics, **now})

    def _read_input(self, batches: Iterator[Any]) -> None:
        try:
            rows = self._rows(batches)
            if self._payload.pipelined:
                self._connect(rows)
            for value in rows:
                if (row := self._passed_on(value)) is not None:
                    self._mailbox.put_row(row)
            self._mailbox.put("end")
        except OutletClosedError:
            return  # the worker has finished
        except Exception as error:  # noqa: BLE001 - raised in the mailbox thread
            self._mailbox.put("error", error)
            if self._relay is not None:
                self._outlet.end(error)  # the task may be blocked

    def _connect(self, rows: Iterator[Any]) -> None:
        """Read the greetings of all producers: they send nothing else before the JobMaster knows that all have arrived."""
        expected = ExpectedGreetings(self._level_id(self._level - 1), self._payload.hops[self._level - 1], self._partition)
        for row in rows:
            if expected.take(row.to_pybytes()):
                break
        else:
            return
        if self._descriptor is not None:
            self._client.send(InputConnected(self._descriptor.key))

    def _rows(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Return the input without fillers."""
        try:
            for batch in batches:
                for value in batch.column(1):
                    if value.is_valid:
                        yield value.as_buffer()
        except Exception as error:
            raise broken_exchange(error, self._descriptor) from error

    def _passed_on(self, row: Any) -> Any:
        """Relay data for other tasks; return the row if it has data for this worker's task, else None."""
        if self._relay is None:
            return row
        rows, own = self._relay.take(row)
        if rows:
            self._output_open.wait()
            self._outlet.put(row_batch(rows, []), [p for p, _ in rows])
        return row if own else None

    # The mailbox loop

    def _wait_until_open(self) -> None:
        """Wait until all readers of this task are connected; rows received meanwhile stay in the mailbox."""
        while not self._output_open.is_set():
            item = self._mailbox.take(None, rows=False)
            if item is not None:
                self._handle(item)

    def _loop(self) -> Iterator[pa.RecordBatch]:
        task, mailbox = self._task, self._mailbox
        more = task.polled
        clock = self._services.clock
        while True:
            rows = task.drain()
            if rows:
                yield from self._send(rows, fill=self._slow)
            if task.finished and self._input_ended and self._services.outstanding == 0:
                if self._unfilled:
                    yield self._fillers()
                self._note_metrics()
                self._client.send(self._heartbeat(task.descriptor))
                return
            elif self._unfilled and time.monotonic() - self._sent_s > _FILL_AFTER_S:
                yield self._fillers()
            item = mailbox.take(0, rows=self._takes_rows)
            if item is None and task.backlogged and not task.paused:
                yield from self._work_off()
            elif item is None and not (more and task.polled and not task.finished):
                again_ms = task.on_idle(clock.now_ms())
                rows = task.drain()
                if rows or self._unfilled:
                    yield from self._send(rows, fill=True)
                item = self._wait(again_ms)
            if item is not None and item[0] == "row":
                yield from self._on_row(item[1])
            elif item is not None:
                self._handle(item)
            now_ms = clock.now_ms()
            deadline = task.next_deadline_ms()
            if deadline is not None and deadline <= now_ms:
                task.on_time(now_ms)
            if task.polled and not task.finished and (item is None or mailbox.empty):
                rows = task.drain()
                if rows:  # rows released by the time must not wait for the next record's function
                    yield from self._send(rows, fill=self._slow)
                self._busy_since_s = began_s = time.monotonic()
                more = task.poll()
                self._busy_since_s = None
                self._slow = time.monotonic() - began_s > _FILL_AFTER_S
            self._note_metrics_sometimes()

    @property
    def _takes_rows(self) -> bool:
        return self._task.hurried or not (self._task.paused or self._task.backlogged)

    def _wait(self, until_ms: int | None) -> tuple[str, Any] | None:
        """Wait for the next item, timer or poll, at most until ``until_ms``; idle, unless receivers limit the output."""
        task = self._task
        timeout_s = 1.0
        deadlines = [d for d in (task.next_deadline_ms(), until_ms) if d is not None]
        if deadlines:
            timeout_s = min(timeout_s, max(0.0, (min(deadlines) - self._services.clock.now_ms()) / 1e3))
        if task.polled and not task.finished:
            timeout_s = min(timeout_s, task.poll_interval_ms / 1e3)
        self._shares.begin("backpressured" if task.ahead else "idle")
        item = self._mailbox.take(timeout_s, rows=self._takes_rows)
        self._shares.end()
        return item

    def _handle(self, item: tuple[str, Any]) -> None:
        kind, value = item
        if kind == "control":
            self._on_control(value)
        elif kind == "call":
            self._services.outstanding -= 1
            value()
        elif kind == "wake":
            value()
        elif kind == "end":
            self._input_ended = True
        elif kind == "error":
            raise value
        elif kind == "lost":
            raise _LostMaster

    def _on_row(self, row: Any) -> Iterator[pa.RecordBatch]:
        task = self._task
        self._began_s = time.monotonic()
        for buffer in read_buffers(row):
            if buffer.level == self._level:  # others are relayed
                yield from self._in_slices(task.on_buffer_in_slices(buffer))
        self._slow = time.monotonic() - self._began_s > _FILL_AFTER_S

    def _work_off(self) -> Iterator[pa.RecordBatch]:
        self._began_s = time.monotonic()
        yield from self._in_slices(self._task.work_off())
        self._slow = time.monotonic() - self._began_s > _FILL_AFTER_S

    def _in_slices(self, slices: Iterator[None]) -> Iterator[pa.RecordBatch]:
        self._busy_since_s = self._began_s
        for _ in slices:
            self._busy_since_s = None
            yield from self._breathe()
            if self._task.ahead or (self._task.hurried and self._mailbox.keeps_rows):
                self._task.interrupt()
            self._began_s = self._busy_since_s = time.monotonic()
        self._busy_since_s = None

    def _breathe(self) -> Iterator[pa.RecordBatch]:
        """Run timers and timeouts, handle messages, and send rows, in the middle of a long buffer."""
        while (item := self._mailbox.take(0, rows=False)) is not None:
            self._handle(item)
        now_ms = self._services.clock.now_ms()
        deadline = self._task.next_deadline_ms()
        if deadline is not None and deadline <= now_ms:
            self._task.on_time(now_ms)
        rows = self._task.drain()
        if rows:
            yield from self._send(rows)
        if self._unfilled:
            yield self._fillers()

    def _on_control(self, message: ToTask) -> None:
        if isinstance(message, CancelTask):
            raise JobCancelledError("the task was cancelled")
        self._task.on_control(message)

    # Rows out

    def _send(self, rows: list[tuple[int, bytes]], *, fill: bool = False) -> Iterator[pa.RecordBatch]:
        """Pass rows to Spark, with ``fill`` followed by fillers in the same batch. Time spent in ``yield`` is backpressure.

        Spark's JVM passes a row to the next worker when it knows of a further one, so each partition's last row needs a filler after it.
        Under load the next row has that effect; fillers are only sent when nothing else is about to follow, or after a slow function.
        """
        self._unfilled.update(p for p, _ in rows)
        fillers: list[int] = []
        if fill:
            fillers = sorted(self._unfilled)
            self._unfilled.clear()
        self._shares.begin("backpressured")
        yield row_batch(rows, fillers)
        self._shares.end()
        self._sent_s = time.monotonic()

    def _fillers(self) -> pa.RecordBatch:
        partitions = sorted(self._unfilled)
        self._unfilled.clear()
        return row_batch([], partitions)

    # Metrics

    def _note_metrics_sometimes(self) -> None:
        now = time.monotonic()
        if now - self._noted_s > self._payload.heartbeat_s / 2:
            self._noted_s = now
            self._note_metrics()
            self._collections.look()

    def _note_metrics(self) -> None:
        self._last_metrics = self._task.metrics()

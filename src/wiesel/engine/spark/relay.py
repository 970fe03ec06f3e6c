"""Internal. Relays of a worker: forwards buffers to the next level for edges that skip its level, independent of its task.

Spark consumes a worker's output from the thread in which it runs the worker. So in a worker that relays, that thread only passes on the
output of two other threads: the input thread, which forwards buffers as they arrive, and the thread of the task. See
``docs/design/0010-relays.md``.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Sequence

import pyarrow as pa

from wiesel.engine.spark.arrow_rows import row_batch
from wiesel.runtime.record_writer import RowSink
from wiesel.wire.buffers import read_buffers

_MOST_BATCHES = 2


class OutletClosedError(Exception):
    """The output of this worker is no longer consumed."""


class Relay:
    """Separates data for this worker's task from data for later levels; buffers are forwarded unopened.

    Args:
        level: The level of this worker.
        next_partitions: Number of partitions of the next level.
    """

    def __init__(self, level: int, next_partitions: int) -> None:
        self._level = level
        self._next_partitions = next_partitions
        self._rows = RowSink()

    def take(self, row: bytes | memoryview) -> tuple[list[tuple[int, bytes]], bool]:
        """Return the rows to be forwarded, and whether the row has data for this worker's task."""
        own = False
        for buffer in read_buffers(row):
            if buffer.level == self._level:
                own = True
                continue
            last = buffer.level == self._level + 1
            self._rows.put(buffer.partition if last else buffer.partition % self._next_partitions, buffer.raw)
        return self._rows.drain(), own


class Outlet:
    """Merges batches of several threads into one sequence, keeping the order of each thread.

    Its capacity is small. Threads with further batches wait, which propagates backpressure.
    """

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[tuple[pa.RecordBatch, Sequence[int]] | BaseException | None] = queue.SimpleQueue()
        self._room = threading.Semaphore(_MOST_BATCHES)
        self._closed = False

    def put(self, batch: pa.RecordBatch, unfilled: Sequence[int] = ()) -> None:
        """Add a batch; the last rows for the partitions ``unfilled`` have not been followed by data that pushes them through Spark.

        Raises:
            OutletClosedError: If batches are no longer consumed.
        """
        self._room.acquire()
        if self._closed:
            self._room.release()
            raise OutletClosedError
        self._queue.put((batch, unfilled))

    def end(self, error: BaseException | None = None) -> None:
        """Let ``batches`` end after the present ones, with an error if given."""
        self._queue.put(error)

    def close(self) -> None:
        """Wake waiting threads with an error."""
        self._closed = True
        self._room.release()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the batches until the end; when nothing follows immediately, fillers for rows that would wait."""
        unfilled: set[int] = set()
        while True:
            try:
                item = self._queue.get_nowait()
            except queue.Empty:
                if unfilled:
                    yield row_batch([], sorted(unfilled))
                    unfilled.clear()
                item = self._queue.get()
            if isinstance(item, BaseException):
                raise item
            if item is None:
                if unfilled:
                    yield row_batch([], sorted(unfilled))
                return
            unfilled.update(item[1])
            yield item[0]
            self._room.release()

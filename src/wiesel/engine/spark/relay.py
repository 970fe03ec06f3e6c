"""Internal. Relays of a worker: forwards buffers to the next level for edges that skip its level, independent of its task.

Spark takes a worker's output from the thread in which it runs the worker. So in a worker that relays, that thread does nothing but hand
over what two others put out: the input thread, which passes buffers on as they come, and the thread of the task. See
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
    """Nobody takes what this worker puts out any more."""


class Relay:
    """Sorts out what is for the task of this worker and what is for others further down; buffers are passed on unopened.

    Args:
        level: The level of this worker.
        next_partitions: How many partitions the level behind it has.
    """

    def __init__(self, level: int, next_partitions: int) -> None:
        self._level = level
        self._next_partitions = next_partitions
        self._rows = RowSink()

    def take(self, row: bytes | memoryview) -> tuple[list[tuple[int, bytes]], bool]:
        """Return the rows to be passed on, and whether there is something for this worker's task in the row."""
        own = False
        for buffer in read_buffers(row):
            if buffer.level == self._level:
                own = True
                continue
            last = buffer.level == self._level + 1
            self._rows.put(buffer.partition if last else buffer.partition % self._next_partitions, buffer.raw)
        return self._rows.drain(), own


class Outlet:
    """Takes batches from several threads and hands them over in one, those of each thread in their order.

    Only a few wait here. Who has one more waits as well, which is how backpressure reaches the threads.
    """

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[tuple[pa.RecordBatch, Sequence[int]] | BaseException | None] = queue.SimpleQueue()
        self._room = threading.Semaphore(_MOST_BATCHES)
        self._closed = False

    def put(self, batch: pa.RecordBatch, unfilled: Sequence[int] = ()) -> None:
        """Hand a batch over, behind whose last rows for the partitions ``unfilled`` nothing has come yet that pushes them through Spark.

        Raises:
            OutletClosedError: nobody takes batches any more.
        """
        self._room.acquire()
        if self._closed:
            self._room.release()
            raise OutletClosedError
        self._queue.put((batch, unfilled))

    def end(self, error: BaseException | None = None) -> None:
        """Let ``batches`` end behind what was put before, with an error if there is one."""
        self._queue.put(error)

    def close(self) -> None:
        """Wake those who wait for room: there will not be any."""
        self._closed = True
        self._room.release()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield what is put here until the end; when nothing follows at once, fillers behind what would wait for it."""
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

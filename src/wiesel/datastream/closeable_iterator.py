"""Iterators over the results of a stream in the program."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import TYPE_CHECKING

from wiesel.connectors.collect_sink import CollectDelivery, CollectReceiver, CollectSink
from wiesel.core.errors import JobCancelledError, WieselError
from wiesel.datastream.checkpointing_mode import CheckpointingMode
from wiesel.types.collected import to_collected_converter
from wiesel.types.record_type import T
from wiesel.types.typeinfo import TypeInformation

if TYPE_CHECKING:
    from wiesel.common.job_client import JobClient
    from wiesel.datastream._stream import DataStream
    from wiesel.datastream.stream_execution_environment import StreamExecutionEnvironment

__all__ = ["CloseableIterator", "execute_and_collect"]

_DEFAULT_JOB_NAME = "DataStream Collect"
_WAIT_S = 0.2
_END_S = 30.0


class CloseableIterator(Iterator[T]):
    """Iterates over the results of a running job; :meth:`close` cancels the job if it is still running.

    >>> with stream.execute_and_collect() as results:  # doctest: +SKIP
    ...     for result in results:
    ...         print(result)

    Raises:
        JobExecutionError: While iterating, if the job has failed.
    """

    def __init__(self, client: JobClient, receiver: CollectReceiver, type_info: TypeInformation | None = None) -> None:
        self._client = client
        self._convert = to_collected_converter(type_info)
        self._receiver = receiver
        self._values: deque[T] = deque()
        self._ended = False

    def get_job_client(self) -> JobClient:
        """Return the handle of the job."""
        return self._client

    def __next__(self) -> T:
        return self.next()

    def next(self) -> T:
        """Wait for the next result and return it.

        Raises:
            StopIteration: If the job has finished and there is none.
        """
        while not self._values:
            if self._ended:
                raise StopIteration
            self._fetch()
        return self._values.popleft()

    def _fetch(self) -> None:
        values = self._receiver.take(_WAIT_S)
        if values is None:
            self._ended = True
            # The results are complete; report a failure of the job after the last one.
            self._client.get_job_execution_result().result()
            return
        self._values.extend(values if self._convert is None else map(self._convert, values))
        outcome = self._client.get_job_execution_result()
        if not values and outcome.done():
            # The engine delivers all results before the job's end is known, so there will be no more.
            error = outcome.exception()
            if error is None:
                self._receiver.finished()
            else:
                self._receiver.failed(error)

    def _wait_for_next(self, timeout_s: float | None) -> bool:
        """Wait until there is a result, or the end is known; return False after the timeout."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while not self._values and not self._ended:
            if deadline is not None and time.monotonic() >= deadline:
                return False
            self._fetch()
        return True

    def close(self) -> None:
        """Cancel the job if it is still running, wait for its end, and drop remaining results."""
        self._values.clear()
        self._ended = True
        outcome = self._client.get_job_execution_result()
        if outcome.done():
            return
        try:
            self._client.cancel().result(_END_S)
            outcome.result(_END_S)
        except JobCancelledError:
            return
        except (WieselError, FutureTimeoutError):
            # It failed meanwhile, or ends slowly: neither matters, as no more results are wanted.
            return

    def __enter__(self) -> CloseableIterator[T]:
        return self

    def __exit__(self, exc_type: object, exc_val: object, exc_tb: object) -> None:
        self.close()


def execute_and_collect(stream: DataStream[T], job_name: str | None, limit: int | None) -> CloseableIterator[T] | list[T]:
    """Run the job of ``stream``'s environment with a sink that returns the stream's records. See ``DataStream``."""
    environment = stream.get_execution_environment()
    sink = CollectSink(f"collect-{environment._new_collect_number()}")
    # One writer, as in Flink: the records of one subtask are returned in order.
    stream._add_sink(sink, "Data stream collect sink", "Sink: {}").set_parallelism(1)
    receiver = sink.receiver = CollectReceiver(_delivery(environment))
    client = environment.execute_async(job_name or _DEFAULT_JOB_NAME)
    results: CloseableIterator[T] = CloseableIterator(client, receiver, stream.get_type())
    if limit is None:
        return results
    with results:
        first: list[T] = []
        for value in results:
            first.append(value)
            if len(first) == limit:
                break
        return first


def _delivery(environment: StreamExecutionEnvironment) -> CollectDelivery:
    checkpoints = environment.get_checkpoint_config()
    if not checkpoints.is_checkpointing_enabled() or environment._is_batch():
        return CollectDelivery.NO_RESTART
    if checkpoints.get_checkpointing_mode() is CheckpointingMode.AT_LEAST_ONCE:
        return CollectDelivery.AT_LEAST_ONCE
    return CollectDelivery.EXACTLY_ONCE

"""Asynchronous requests per record: the names of ``pyflink.datastream.async_data_stream``."""

from __future__ import annotations

import inspect
from typing import Any

from wiesel.core.argument_checks import require_count, require_function, require_instance
from wiesel.core.durations import DurationLike, to_millis
from wiesel.core.user_location import program_error
from wiesel.datastream._stream import DataStream
from wiesel.graph.specs import OperatorSpec
from wiesel.spi.async_functions import NO_RETRY_STRATEGY, AsyncFunction, AsyncRetryStrategy
from wiesel.types.typeinfo import TypeInformation
from wiesel.types.types import require_type

__all__ = ["AsyncDataStream"]


class AsyncDataStream:
    """Applies an :class:`~wiesel.datastream.functions.AsyncFunction` to a stream: concurrent requests in one thread.

    Up to ``capacity`` requests per subtask run concurrently; further records wait. Requests in flight are part of each checkpoint, and are
    repeated after a failure. In all methods a ``timeout`` of 0 means none; it starts at the first attempt.
    """

    @staticmethod
    def unordered_wait(
        data_stream: DataStream,
        async_function: AsyncFunction[Any, Any],
        timeout: DurationLike,
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Return the results as they complete; the order relative to watermarks is kept.

        Args:
            data_stream: The records.
            async_function: Starts the requests.
            timeout: Timeout of a request.
            capacity: Maximal number of concurrent requests.
            output_type: The type of the results.
        """
        return AsyncDataStream.unordered_wait_with_retry(data_stream, async_function, timeout, NO_RETRY_STRATEGY, capacity, output_type)

    @staticmethod
    def unordered_wait_with_retry(
        data_stream: DataStream,
        async_function: AsyncFunction[Any, Any],
        timeout: DurationLike,
        async_retry_strategy: AsyncRetryStrategy[Any],
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Return the results as they complete; requests are retried by the strategy.

        Args:
            data_stream: The records.
            async_function: Starts the requests.
            timeout: Timeout of a request with all its attempts.
            async_retry_strategy: The retry strategy.
            capacity: Maximal number of concurrent requests.
            output_type: The type of the results.
        """
        return _wait(data_stream, async_function, timeout, async_retry_strategy, capacity, output_type, ordered=False)

    @staticmethod
    def ordered_wait(
        data_stream: DataStream,
        async_function: AsyncFunction[Any, Any],
        timeout: DurationLike,
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Return the results in the order of their records.

        Args:
            data_stream: The records.
            async_function: Starts the requests.
            timeout: Timeout of a request.
            capacity: Maximal number of concurrent requests, including those whose results wait for earlier ones.
            output_type: The type of the results.
        """
        return AsyncDataStream.ordered_wait_with_retry(data_stream, async_function, timeout, NO_RETRY_STRATEGY, capacity, output_type)

    @staticmethod
    def ordered_wait_with_retry(
        data_stream: DataStream,
        async_function: AsyncFunction[Any, Any],
        timeout: DurationLike,
        async_retry_strategy: AsyncRetryStrategy[Any],
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Return the results in the order of their records; requests are retried by the strategy.

        Args:
            data_stream: The records.
            async_function: Starts the requests.
            timeout: Timeout of a request with all its attempts.
            async_retry_strategy: The retry strategy.
            capacity: Maximal number of concurrent requests, including those whose results wait for earlier ones.
            output_type: The type of the results.
        """
        return _wait(data_stream, async_function, timeout, async_retry_strategy, capacity, output_type, ordered=True)


def _wait(
    data_stream: DataStream,
    function: Any,
    timeout: Any,
    strategy: Any,
    capacity: Any,
    output_type: TypeInformation | None,
    *,
    ordered: bool,
) -> DataStream:
    method = "ordered_wait()" if ordered else "unordered_wait()"
    require_instance(data_stream, DataStream, f"the first argument of {method}", "give the stream of the records")
    require_function(function, AsyncFunction, method, callable_ok=False)
    if not inspect.iscoroutinefunction(function.async_invoke):
        raise program_error(f"async_invoke of {type(function).__name__} is no coroutine function", "declare it as `async def async_invoke`")
    require_instance(strategy, AsyncRetryStrategy, "the retry strategy", "e.g. AsyncRetryStrategy.fixed_delay(3, 100, None, test)")
    if strategy.get_retry_predicate() is None:
        raise program_error(f"{type(strategy).__name__} has no retry predicate", "return one from get_retry_predicate()")
    timeout_ms = to_millis(timeout)
    if timeout_ms <= 0 and strategy is not NO_RETRY_STRATEGY:
        raise program_error("requests with retries need a timeout", "give a timeout above 0, which ends all attempts of a request")
    params = {"timeout_ms": max(0, timeout_ms), "capacity": require_count(capacity, "the capacity"), "ordered": ordered}
    declared = require_type(output_type, method)
    payload = {"function": function, "output_type": declared, "retry_strategy": strategy}
    return data_stream._add("async wait operator", OperatorSpec("async_wait", params, payload), declared)

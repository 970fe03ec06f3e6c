"""Asynchronous functions, ordered and unordered, with several results, timeouts and retries."""

import asyncio
from functools import partial

from pyflink.common import Time, Types
from pyflink.datastream import AsyncDataStream, AsyncFunction, AsyncRetryStrategy
from pyflink.datastream.async_retry_predicates import empty_result_predicate, exception_type_predicate, has_exception_predicate

SECONDS = Time.seconds(20)


class Divisors(AsyncFunction):
    """Gives a record per divisor; none for 0."""

    def open(self, runtime_context):
        self.name = "divides"

    async def async_invoke(self, value):
        await asyncio.sleep(value % 3 / 100)
        return [f"{d} {self.name} {value}" for d in range(1, value + 1) if value % d == 0]


class Late(AsyncFunction):
    """Odd numbers take too long."""

    async def async_invoke(self, value):
        await asyncio.sleep(60 if value % 2 else 0)
        return [(value, "answered")]

    def timeout(self, value):
        return [(value, "timed out"), (-value, "timed out")]


class Flaky(AsyncFunction):
    """Fails, or gives nothing, as often as the number says; then tells at which attempt it did not."""

    def __init__(self, empty):
        self.empty = empty
        self.attempts = {}

    async def async_invoke(self, value):
        attempt = self.attempts[value] = self.attempts.get(value, 0) + 1
        if attempt > value:
            return [(value, attempt)]
        if self.empty:
            return []
        raise ConnectionError(str(value))


def build(env):
    numbers = env.from_collection(list(range(13)), type_info=Types.INT())
    few = env.from_collection([0, 1, 2, 3], type_info=Types.INT())
    pair = Types.TUPLE([Types.INT(), Types.STRING()])
    attempt = Types.TUPLE([Types.INT(), Types.INT()])
    connection_error = partial(exception_type_predicate, expected_error_type=ConnectionError)
    on_errors = AsyncRetryStrategy.fixed_delay(3, 10, None, connection_error)
    on_nothing = AsyncRetryStrategy.fixed_delay(2, 10, empty_result_predicate, has_exception_predicate)
    slower = AsyncRetryStrategy.exponential_backoff(3, 5, 20, 2.0, None, has_exception_predicate)
    return {
        "ordered": AsyncDataStream.ordered_wait(numbers, Divisors(), SECONDS, 3, Types.STRING()),
        "unordered": AsyncDataStream.unordered_wait(numbers, Divisors(), SECONDS, output_type=Types.STRING()),
        "untyped": AsyncDataStream.ordered_wait(few, Divisors(), SECONDS),
        "timeout": AsyncDataStream.unordered_wait(few, Late(), Time.seconds(1), 2, pair),
        "retried": AsyncDataStream.ordered_wait_with_retry(few, Flaky(False), SECONDS, on_errors, 10, attempt),
        "retried empty": AsyncDataStream.unordered_wait_with_retry(few, Flaky(True), SECONDS, on_nothing, 10, attempt),
        "retried slower": AsyncDataStream.unordered_wait_with_retry(few, Flaky(False), SECONDS, slower, 10, attempt),
    }


PARALLELISM = (1, 2)

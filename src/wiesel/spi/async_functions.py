"""Asynchronous functions and their retry strategies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from wiesel.spi.functions import Function

__all__ = [
    "NO_RETRY_STRATEGY",
    "AsyncFunction",
    "AsyncRetryPredicate",
    "AsyncRetryStrategy",
    "ExponentialBackoffDelayRetryStrategy",
    "FixedDelayRetryStrategy",
    "NoRetryStrategy",
    "RetryPredicate",
]

IN = TypeVar("IN")
OUT = TypeVar("OUT")
ResultTest = Callable[[list[Any]], bool]
ErrorTest = Callable[[Exception], bool]


class AsyncFunction(Function, Generic[IN, OUT]):
    """Starts a request per record without waiting for its answer before the next one.

    ``async_invoke`` and ``timeout`` are called in a separate thread, whose event loop runs all requests of the subtask; ``open`` and
    ``close`` in the task's thread. Clients that need the running loop at creation must be created in ``async_invoke``.
    """

    @abstractmethod
    async def async_invoke(self, value: IN) -> list[OUT]:
        """Create the request and return the list of results for ``value``; an exception fails the job, unless the request is retried."""

    def timeout(self, value: IN) -> list[OUT]:
        """Return the list of results for a record whose request timed out; raises by default. The request has been cancelled.

        Raises:
            TimeoutError: Always, unless it is overridden.
        """
        raise TimeoutError(f"the asynchronous request for {value!r:.200} has timed out")


class AsyncRetryPredicate(ABC, Generic[OUT]):
    """Predicates on results and exceptions that trigger a retry."""

    @abstractmethod
    def result_predicate(self) -> ResultTest | None:
        """Return the test of a list of results; None if no results are a reason."""

    @abstractmethod
    def exception_predicate(self) -> ErrorTest | None:
        """Return the test of an exception; None if no exception is a reason."""


class AsyncRetryStrategy(ABC, Generic[OUT]):
    """Decides whether and when a request is retried. One object serves all requests of a subtask."""

    @abstractmethod
    def can_retry(self, current_attempts: int) -> bool:
        """Return whether another attempt may follow this number of attempts."""

    @abstractmethod
    def get_backoff_time_millis(self, current_attempts: int) -> int:
        """Return the delay (ms) before the attempt that follows this number of attempts."""

    @abstractmethod
    def get_retry_predicate(self) -> AsyncRetryPredicate[OUT]:
        """Return the predicates for another attempt."""

    @staticmethod
    def no_restart() -> AsyncRetryStrategy[Any]:
        """Return the strategy with one attempt."""
        return NO_RETRY_STRATEGY

    @staticmethod
    def fixed_delay(
        max_attempts: int,
        backoff_time_millis: int,
        result_predicate: ResultTest | None,
        exception_predicate: ErrorTest | None,
    ) -> AsyncRetryStrategy[Any]:
        """Return the strategy with a constant delay; see :class:`FixedDelayRetryStrategy`."""
        return FixedDelayRetryStrategy(max_attempts, backoff_time_millis, result_predicate, exception_predicate)

    @staticmethod
    def exponential_backoff(
        max_attempts: int,
        initial_delay: int,
        max_retry_delay: int,
        multiplier: float,
        result_predicate: ResultTest | None,
        exception_predicate: ErrorTest | None,
    ) -> AsyncRetryStrategy[Any]:
        """Return the strategy with exponentially growing delays; see :class:`ExponentialBackoffDelayRetryStrategy`."""
        return ExponentialBackoffDelayRetryStrategy(
            max_attempts, initial_delay, max_retry_delay, multiplier, result_predicate, exception_predicate
        )


class RetryPredicate(AsyncRetryPredicate[OUT]):
    """Two tests."""

    def __init__(self, result_predicate: ResultTest | None, exception_predicate: ErrorTest | None) -> None:
        self._result_predicate = result_predicate
        self._exception_predicate = exception_predicate

    def result_predicate(self) -> ResultTest | None:
        """Return the test of results."""
        return self._result_predicate

    def exception_predicate(self) -> ErrorTest | None:
        """Return the test of exceptions."""
        return self._exception_predicate


class NoRetryStrategy(AsyncRetryStrategy[OUT]):
    """One attempt."""

    def can_retry(self, current_attempts: int) -> bool:
        """Return False."""
        return False

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        """Return -1."""
        return -1

    def get_retry_predicate(self) -> AsyncRetryPredicate[OUT]:
        """Return predicates that are always false."""
        return RetryPredicate(None, None)


class _LimitedRetryStrategy(AsyncRetryStrategy[OUT]):
    """A limited number of attempts after the first one."""

    def __init__(self, max_attempts: int, result_predicate: ResultTest | None, exception_predicate: ErrorTest | None) -> None:
        _require_positive(max_attempts=max_attempts)
        self._max_attempts = max_attempts
        self._predicate: AsyncRetryPredicate[OUT] = RetryPredicate(result_predicate, exception_predicate)

    def can_retry(self, current_attempts: int) -> bool:
        """Return whether the limit has not been reached."""
        return current_attempts <= self._max_attempts

    def get_retry_predicate(self) -> AsyncRetryPredicate[OUT]:
        """Return the predicates for another attempt."""
        return self._predicate


class FixedDelayRetryStrategy(_LimitedRetryStrategy[OUT]):
    """Up to ``max_attempts`` further attempts, each ``backoff_time_millis`` after the previous one failed.

    Args:
        max_attempts: Number of attempts after the first one.
        backoff_time_millis: Delay between two attempts, in ms.
        result_predicate: Tests a list of results; true for another attempt.
        exception_predicate: Tests an exception; true for another attempt.

    Raises:
        ValueError: If a number is not positive.
    """

    def __init__(
        self,
        max_attempts: int,
        backoff_time_millis: int,
        result_predicate: ResultTest | None,
        exception_predicate: ErrorTest | None,
    ) -> None:
        super().__init__(max_attempts, result_predicate, exception_predicate)
        _require_positive(backoff_time_millis=backoff_time_millis)
        self._backoff_time_millis = backoff_time_millis

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        """Return the time between two attempts."""
        return self._backoff_time_millis


class ExponentialBackoffDelayRetryStrategy(_LimitedRetryStrategy[OUT]):
    """Up to ``max_attempts`` further attempts; the delay is multiplied by ``multiplier`` each time.

    Args:
        max_attempts: Number of attempts after the first one.
        initial_delay: Delay before the first of them, in ms.
        max_retry_delay: Maximal delay, in ms.
        multiplier: Factor of the delay.
        result_predicate: Tests a list of results; true for another attempt.
        exception_predicate: Tests an exception; true for another attempt.

    Raises:
        ValueError: If a number is not positive.
    """

    def __init__(
        self,
        max_attempts: int,
        initial_delay: int,
        max_retry_delay: int,
        multiplier: float,
        result_predicate: ResultTest | None,
        exception_predicate: ErrorTest | None,
    ) -> None:
        super().__init__(max_attempts, result_predicate, exception_predicate)
        _require_positive(initial_delay=initial_delay, max_retry_delay=max_retry_delay, multiplier=multiplier)
        self._initial_delay = initial_delay
        self._max_retry_delay = max_retry_delay
        self._multiplier = multiplier

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        """Return the delay before the attempt that follows this number of attempts."""
        # Stateless: many requests share the strategy.
        delay = self._initial_delay
        for _ in range(1, current_attempts):
            delay = int(min(delay * self._multiplier, self._max_retry_delay))
        return delay


NO_RETRY_STRATEGY: AsyncRetryStrategy[Any] = NoRetryStrategy()


def _require_positive(**numbers: float) -> None:
    for name, number in numbers.items():
        if number <= 0:
            raise ValueError(f"{name} of a retry strategy must be greater than zero, got {number}")

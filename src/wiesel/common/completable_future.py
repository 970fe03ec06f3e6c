"""Futures of asynchronous results."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any, Generic, TypeVar

__all__ = ["CompletableFuture"]

T = TypeVar("T")


class CompletableFuture(Generic[T]):
    """An asynchronous result.

    Args:
        future: The underlying future.
        convert: Applied to the result when it is read.
    """

    def __init__(self, future: Future[Any], convert: Callable[[Any], T] | None = None) -> None:
        self._future = future
        self._convert = convert

    @staticmethod
    def completed(value: Any) -> CompletableFuture[Any]:
        """Return a future that has its result already."""
        future: Future[Any] = Future()
        future.set_result(value)
        return CompletableFuture(future)

    def cancel(self) -> bool:
        """Cancel waiting for the result; return whether that was still possible."""
        return self._future.cancel()

    def cancelled(self) -> bool:
        """Return whether it was cancelled."""
        return self._future.cancelled()

    def done(self) -> bool:
        """Return whether there is a result, an error, or a cancellation."""
        return self._future.done()

    def result(self, timeout_s: float | None = None) -> T:
        """Wait for the result and return it.

        Args:
            timeout_s: Timeout in seconds; None to wait forever (Ctrl-C interrupts).

        Raises:
            TimeoutError: After the timeout.
            WieselError: The error of the operation.
        """
        try:
            value = self._future.result(timeout_s)
        except FutureTimeoutError as e:  # not yet the built-in TimeoutError in Python 3.10
            if self._future.done():
                raise
            raise TimeoutError(f"there is no result after {timeout_s} s") from e
        return value if self._convert is None else self._convert(value)

    def exception(self) -> BaseException | None:
        """Return the error of the operation; ``None`` if there is none (yet)."""
        return self._future.exception() if self._future.done() and not self._future.cancelled() else None

    def __str__(self) -> str:
        if not self.done():
            state = "Not completed"
        elif self.cancelled() or self.exception() is not None:
            state = "Completed exceptionally"
        else:
            state = "Completed normally"
        return f"CompletableFuture[{state}]"

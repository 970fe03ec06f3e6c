"""Internal. Calls of asynchronous scalar functions: concurrency, timeout and retries (``table.exec.async-scalar.*``)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from wiesel.core.durations import to_millis
from wiesel.core.errors import ConfigurationError

__all__ = ["AsyncCalls", "async_calls"]

_CONCURRENT = "table.exec.async-scalar.max-concurrent-operations"
_FORMER_CONCURRENT = "table.exec.async-scalar.buffer-capacity"
_TIMEOUT = "table.exec.async-scalar.timeout"
_STRATEGY = "table.exec.async-scalar.retry-strategy"
_DELAY = "table.exec.async-scalar.retry-delay"
_ATTEMPTS = "table.exec.async-scalar.max-attempts"


@dataclass(frozen=True)
class AsyncCalls:
    """The settings of asynchronous calls, with Flink's defaults.

    Attributes:
        max_concurrent: Maximal number of concurrent calls of a batch.
        timeout_ms: Timeout of a call including its retries.
        max_retries: Number of retries of a failed call; Flink's ``max-attempts`` does not count the first call either.
        retry_delay_ms: Delay before a retry.
    """

    max_concurrent: int = 10
    timeout_ms: int = 180_000
    max_retries: int = 3
    retry_delay_ms: int = 100

    async def results(
        self,
        compute: Callable[..., Awaitable[Any]],
        rows: Iterable[tuple[Any, ...]],
        on_error: Callable[[Exception, tuple[Any, ...]], Exception],
    ) -> list[Any]:
        """Call a function with each row and return the results in the order of the rows.

        Args:
            compute: The function.
            rows: Its arguments.
            on_error: Returns the error to raise for an exception and its row.
        """
        slots = asyncio.Semaphore(self.max_concurrent)

        async def one(row: tuple[Any, ...]) -> Any:
            async with slots:
                call = asyncio.ensure_future(self._with_retries(compute, row))
                try:
                    # Not wait_for(): its TimeoutError is indistinguishable from one of the function.
                    if not (await asyncio.wait({call}, timeout=self.timeout_ms / 1e3))[0]:
                        raise TimeoutError(f"no result within {self.timeout_ms / 1e3:g} s ({_TIMEOUT})")
                    return call.result()
                except Exception as error:
                    raise on_error(error, row) from error
                finally:
                    call.cancel()

        tasks = [asyncio.ensure_future(one(row)) for row in rows]
        try:
            return await asyncio.gather(*tasks)
        except BaseException:
            # The first error ends the batch: the other calls are not awaited.
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise

    async def _with_retries(self, compute: Callable[..., Awaitable[Any]], row: tuple[Any, ...]) -> Any:
        for _ in range(self.max_retries):
            try:
                return await compute(*row)
            except Exception:  # noqa: BLE001 - Flink retries whatever is raised
                await asyncio.sleep(self.retry_delay_ms / 1e3)
        return await compute(*row)


def async_calls(config: Mapping[str, Any]) -> AsyncCalls:
    """Return the settings of a job.

    Raises:
        ConfigurationError: If a value is not allowed.
    """
    concurrent = _whole(config, _CONCURRENT if _CONCURRENT in config else _FORMER_CONCURRENT, 10)
    timeout_ms = to_millis(config.get(_TIMEOUT, "3 min"))
    if timeout_ms <= 0:
        raise ConfigurationError(f"{_TIMEOUT} is {timeout_ms} ms", hint="give a duration above 0, such as 3 min", key=_TIMEOUT)
    strategy = str(config.get(_STRATEGY, "FIXED_DELAY")).upper()
    if strategy not in ("FIXED_DELAY", "NO_RETRY"):
        raise ConfigurationError(f"{_STRATEGY} is {strategy!r}", hint="write FIXED_DELAY or NO_RETRY", key=_STRATEGY)
    retries = _whole(config, _ATTEMPTS, 3) if strategy == "FIXED_DELAY" else 0
    return AsyncCalls(concurrent, timeout_ms, retries, to_millis(config.get(_DELAY, "100 ms")))


def _whole(config: Mapping[str, Any], key: str, default: int) -> int:
    try:
        number = int(config.get(key, default))
    except ValueError:
        number = 0
    if number < 1:
        raise ConfigurationError(f"{key} is {config.get(key)!r}", hint="give an integer of at least 1", key=key)
    return number

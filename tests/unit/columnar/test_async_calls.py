"""Asynchronous scalar functions: how often real Flink 2.3 was seen to call one that fails, and what the other settings mean."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from wiesel.columnar.functions.async_calls import AsyncCalls, async_calls
from wiesel.core.errors import ConfigurationError

PREFIX = "table.exec.async-scalar"


def run(calls: AsyncCalls, compute: Any, rows: list[tuple[Any, ...]]) -> list[Any]:
    return asyncio.run(calls.results(compute, rows, lambda error, row: RuntimeError(f"{type(error).__name__} {error} for {row}")))


@pytest.mark.parametrize(
    ("settings", "times"),
    [({}, 4), ({f"{PREFIX}.max-attempts": "1"}, 2), ({f"{PREFIX}.retry-strategy": "NO_RETRY"}, 1)],
    ids=["default", "one attempt", "no retry"],
)
def test_functions_that_fail_are_called_as_often_as_in_flink(settings: dict[str, str], times: int) -> None:
    called: list[int] = []

    async def fails(number: int) -> int:
        called.append(number)
        raise ValueError("no")

    async def succeeds_at_last(number: int) -> int:
        called.append(number)
        if len(called) < times:
            raise ValueError("no")
        return number

    calls = async_calls({f"{PREFIX}.retry-delay": "1 ms", **settings})
    with pytest.raises(RuntimeError, match=r"ValueError no for \(7,\)"):
        run(calls, fails, [(7,)])
    assert called == [7] * times
    called.clear()
    assert run(calls, succeeds_at_last, [(8,)]) == [8]
    assert called == [8] * times


def test_no_more_calls_than_allowed_run_at_once_and_results_keep_their_order() -> None:
    running, most = 0, 0

    async def compute(number: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001 * (number % 3))
        running -= 1
        return number

    assert run(AsyncCalls(max_concurrent=4), compute, [(n,) for n in range(20)]) == list(range(20))
    assert most == 4


def test_the_timeout_counts_over_all_retries_and_ends_the_other_calls() -> None:
    ended: list[str] = []

    async def hangs(name: str) -> str:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(name)
        return name

    async def fails(name: str) -> str:
        raise TimeoutError("of the function")

    with pytest.raises(RuntimeError, match=r"TimeoutError no result within 0\.05 s \(table\.exec\.async-scalar\.timeout\)"):
        run(AsyncCalls(timeout_ms=50), hangs, [("a",)])
    assert ended == ["a"]
    with pytest.raises(RuntimeError, match="TimeoutError no result within"):
        run(AsyncCalls(timeout_ms=50, retry_delay_ms=30), fails, [("a",)])
    with pytest.raises(RuntimeError, match="TimeoutError of the function"):
        run(AsyncCalls(timeout_ms=5000, retry_delay_ms=0), fails, [("a",)])


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("max-concurrent-operations", "0"),
        ("buffer-capacity", "x"),
        ("max-attempts", "-1"),
        ("timeout", "0 s"),
        ("retry-strategy", "SOMETIMES"),
    ],
)
def test_values_that_are_not_allowed_are_refused_with_their_key(key: str, value: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{PREFIX}.{key} is"):
        async_calls({f"{PREFIX}.{key}": value})
    assert async_calls({f"{PREFIX}.buffer-capacity": "3"}).max_concurrent == 3

"""Operators of bounded data over several times their memory: they stay within it, say how much they spilled, and leave nothing."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.runtime.harness import OperatorHarness
from wiesel.runtime.registry import make_operator
from wiesel.runtime.sorted_input import SortedInput
from wiesel.types import Types
from wiesel.wire.batch import Batch

BUDGET = 150_000
COUNT = 3_000
RECORD = Types.TUPLE([Types.LONG(), Types.STRING()])


class _Counting:
    """Counts what comes out, and keeps nothing."""

    def __init__(self) -> None:
        self.count = 0
        self.total = 0

    def emit(self, batch: Batch) -> None:
        self.count += len(batch)
        for value in batch.values:
            self.total += value if isinstance(value, int) else value[0]

    def emit_side(self, tag: str, batch: Batch) -> None:
        raise AssertionError

    def emit_watermark(self, timestamp: int) -> None:
        return

    def emit_status(self, idle: bool) -> None:
        raise AssertionError


def _batches(input_index: int = 0) -> Iterator[tuple[Batch, int]]:
    for start in range(0, COUNT, 100):
        values = [((i * 7919) % COUNT, f"{i:0150d}") for i in range(start, start + 100)]
        yield Batch(values, None, [v[0] for v in values]), input_index


def _both() -> Iterator[tuple[Batch, int]]:
    yield from _batches(1)  # the side that is not built comes first, and has to wait
    yield from _batches(0)


def _count_group(values: Iterator[Any]) -> Iterator[tuple[int, int]]:
    first = next(values)
    yield first[0], 1 + sum(1 for _ in values)


def _key(value: Any) -> Any:
    return value[0]


_JOIN = {"keys": [_key, _key], "key_type": Types.LONG(), "input_types": [RECORD, RECORD], "function": lambda a, b: a[0]}
_GROUP = {"key": _key, "key_type": Types.LONG(), "input_type": RECORD}
CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any], Callable[[], Iterator[tuple[Batch, int]]]]] = {
    "sort": ("batch_sort", {}, {"sort": [(_key, Types.LONG(), True)], "input_type": RECORD}, _batches),
    "reduce": ("batch_reduce", {}, {**_GROUP, "function": lambda a, b: a}, _batches),
    "group": ("batch_group_reduce", {}, {**_GROUP, "function": _count_group}, _batches),
    "hash join": ("batch_hash_join", {"inputs": 2, "build": 0}, _JOIN, _both),
    "merge join": ("batch_merge_join", {"inputs": 2}, _JOIN, _both),
    "map partition": ("batch_map_partition", {}, {"function": lambda values: (v[0] for v in values)}, _batches),
}


@pytest.mark.parametrize("case", CASES)
def test_several_times_the_memory(case: str, tmp_path: Path) -> None:
    kind, params, payload, batches = CASES[case]
    harness = OperatorHarness(make_operator(kind, params, payload), open=False)
    harness.context.managed_memory_bytes = BUDGET
    harness.context.local_dir = str(tmp_path)
    operator = harness.operator
    output = _Counting()
    operator.setup(harness.context, output)
    operator.open()
    tracemalloc.start()
    try:
        for batch, index in batches():
            operator.process_batch(batch, index)
        for index in range(int(params.get("inputs", 1))):
            operator.end_input(index)
        operator.finish()
        while operator.has_more:
            operator.finish()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (output.count, output.total) == (COUNT, COUNT * (COUNT - 1) // 2)
    spilled = harness.metrics.value("spilledBytes")
    assert spilled > 2 * BUDGET
    # The data are four times the budget; a part of the results and the blocks of files come on top.
    assert peak < 2 * BUDGET
    assert list(tmp_path.iterdir()) == []
    operator.close()


def test_files_are_gone_after_a_failure(tmp_path: Path) -> None:
    def fail(a: Any, b: Any) -> Any:
        raise ValueError("no")

    harness = OperatorHarness(make_operator("batch_reduce", {}, {**_GROUP, "function": fail}), open=False)
    harness.context.managed_memory_bytes = 10_000
    harness.context.local_dir = str(tmp_path)
    harness.operator.setup(harness.context, _Counting())  # type: ignore[arg-type]
    harness.operator.open()
    for batch, _ in _batches():
        harness.operator.process_batch(batch)
    with pytest.raises(Exception, match="no"):
        harness.operator.process_batch(Batch([(1, "a"), (1, "b")]))
    harness.operator.close()
    assert harness.operator.spill.open_files == 0  # type: ignore[attr-defined]
    assert list(tmp_path.iterdir()) == []


def test_the_sorted_input_of_keyed_operators() -> None:
    sorted_input = SortedInput(BUDGET)
    tracemalloc.start()
    try:
        for batch, index in _batches():
            sorted_input.add(batch, index)
        total = sum(value[0] for batch, _ in sorted_input.take() for value in batch.values)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert total == COUNT * (COUNT - 1) // 2
    assert sorted_input.spilled_bytes > 2 * BUDGET
    assert peak < 2 * BUDGET
    sorted_input.close()

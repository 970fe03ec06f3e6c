"""Internal. Operators over the records of a subtask: partition functions, functions with broadcast sets, first n, count."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import compress
from typing import Any

from wiesel.runtime.batch.object_sizes import mean_size
from wiesel.runtime.batch.spillable_list import SpillableList
from wiesel.runtime.operators.batch.base import BatchOperator, chunks
from wiesel.runtime.user_code import raise_failure, without

__all__ = ["apply_operator", "count_operator", "first_operator", "map_partition_operator", "union_operator"]


class MapPartitionOperator(BatchOperator):
    """Calls a function once, with all records of the subtask, which are collected first as the function pulls them."""

    method = "map_partition"

    def begin(self) -> None:
        """Start with no records."""
        self._records = SpillableList(self.memory_bytes, self.spill)

    def add(self, values: list[Any], keys: list[Any] | None, input_index: int) -> None:
        """Gather records."""
        self._records.append(values, int(len(values) * (mean_size(values) + 8)))

    def results(self) -> Iterator[list[Any]]:
        """Yield the results of the function."""
        records = (value for values in self._records for value in values)
        yield from chunks(self.guarded(lambda: self.call(records), None))


class ApplyOperator(BatchOperator):
    """Calls a function for each record: ``method`` of params is map, flat_map or filter."""

    def __init__(self, params: dict[str, Any], payload: dict[str, Any]) -> None:
        super().__init__(params, payload)
        self.method = str(params["method"])

    def add(self, values: list[Any], keys: list[Any] | None, input_index: int) -> None:
        """Emit the results for records."""
        call = self.call
        if self.method == "flat_map":
            for value in values:
                self.collector.emit(list(self.guarded(lambda value=value: call(value), value)), None)  # type: ignore[misc]
            return
        results: list[Any] = []
        skipped, failure, error = self.guard.map_batch(call, values, None, results)
        if self.method == "filter":
            values = without(values, skipped) if skipped else values
            results = list(compress(values, results))
        self.collector.emit(results, None)
        if failure is not None and error is not None:
            raise_failure(failure, error)


class UnionOperator(BatchOperator):
    """The records of both inputs, or of more."""

    def add(self, values: list[Any], keys: list[Any] | None, input_index: int) -> None:
        """Hand records on."""
        self.collector.emit(values, None)


class FirstOperator(BatchOperator):
    """The first records; ``n`` of params."""

    def begin(self) -> None:
        """Start with none."""
        self._left = int(self.params["n"])

    def add(self, values: list[Any], keys: list[Any] | None, input_index: int) -> None:
        """Emit records up to the limit."""
        if self._left > 0:
            first = values[: self._left]
            self._left -= len(first)
            self.collector.emit(first, None)


class CountOperator(BatchOperator):
    """The number of records."""

    def begin(self) -> None:
        """Start with none."""
        self._count = 0

    def add(self, values: list[Any], keys: list[Any] | None, input_index: int) -> None:
        """Count records."""
        self._count += len(values)

    def results(self) -> Iterator[list[Any]]:
        """Yield the number."""
        yield [self._count]


def map_partition_operator(params: dict[str, Any], payload: Any) -> MapPartitionOperator:
    """Create the operator of map_partition."""
    return MapPartitionOperator(params, payload)


def apply_operator(params: dict[str, Any], payload: Any) -> ApplyOperator:
    """Create the operator of map, flat_map or filter with broadcast sets."""
    return ApplyOperator(params, payload)


def first_operator(params: dict[str, Any], payload: Any) -> FirstOperator:
    """Create the operator of first."""
    return FirstOperator(params, payload)


def count_operator(params: dict[str, Any], payload: Any) -> CountOperator:
    """Create the operator of count."""
    return CountOperator(params, payload)


def union_operator(params: dict[str, Any], payload: Any) -> UnionOperator:
    """Create the operator of a union with inputs that are constant in all rounds of an iteration."""
    return UnionOperator(params, payload)

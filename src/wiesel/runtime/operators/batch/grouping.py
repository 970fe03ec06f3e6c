"""Internal. Operators over groups of records: reduce, group functions, combiners before the exchange, and sorting."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from wiesel.runtime.batch.external_sort import ExternalSorter, groups, record_of
from wiesel.runtime.batch.object_sizes import mean_size
from wiesel.runtime.operators.batch.base import BatchOperator, chunks
from wiesel.runtime.operators.batch.keys import Keys, SortFields
from wiesel.runtime.user_code import raise_failure

__all__ = ["combine_operator", "group_combine_operator", "group_reduce_operator", "reduce_operator", "sort_operator"]

_SLOT_BYTES = 200
"""Overhead of an entry of a dict, in addition to its key."""

_NOTHING = object()


class ReduceOperator(BatchOperator):
    """Folds the records of each key in memory; beyond the budget, partial results are sorted externally and folded again.

    With ``combine`` (before the exchange) they are emitted instead. With ``paired`` pairs of key and value cross the exchange, as the key
    of a reduced value may differ.
    """

    method = "reduce"

    def begin(self) -> None:
        """Start with no keys."""
        self._keys = Keys(self.payload["key"], self.payload.get("key_type"))
        self._codec = self.codec(self.payload.get("input_type"))
        self._table: dict[Any, Any] = {}
        self._entry_bytes = 0.0
        self._sorter: ExternalSorter | None = None
        # The rest is for the sort, which takes the table entry by entry.
        self._table_bytes = self.memory_bytes // 2

    def add(self, values: list[Any], keys: list[Any] | None, input_index: int) -> None:
        """Fold records into the values of their keys."""
        if self.params.get("paired") and not self.params.get("combine"):
            keys, values = [key for key, _ in values], [value for _, value in values]
        keys = self._keys.of(values, keys)
        table, call = self._table, self.call
        for key, value in zip(keys, values, strict=True):
            before = table.get(key, _NOTHING)
            table[key] = value if before is _NOTHING else self._reduced(call, before, value)
        # Values may grow: only those changed by this batch are measured.
        touched = [table[key] for key in keys[:: max(1, len(keys) // 8)]]
        self._entry_bytes = max(self._entry_bytes * 0.99, mean_size(touched) + mean_size(keys) + _SLOT_BYTES)
        if len(table) * self._entry_bytes > self._table_bytes:
            self._make_room()

    def _reduced(self, call: Any, before: Any, value: Any) -> Any:
        try:
            return call(before, value)
        except Exception as error:  # noqa: BLE001 - whatever a user's function raises
            failure = self.guard.failed(error, value)
            if failure is not None:
                raise_failure(failure, error)
            return before

    def _make_room(self) -> None:
        table = self._table
        if self.params.get("combine"):
            self.collector.emit(list(self._handed_on()), None)
            table.clear()
            return
        if self._sorter is None:
            self._sorter = ExternalSorter(self.memory_bytes // 2, self.spill)
        while table:
            key, value = table.popitem()
            self._sorter.add(self._keys.encode(key), self._codec.encode(value))

    def _handed_on(self) -> Iterable[Any]:
        paired = self.params.get("combine") and self.params.get("paired")
        return self._table.items() if paired else self._table.values()

    def results(self) -> Iterator[list[Any]]:
        """Yield one record per key."""
        if self._sorter is None:
            yield from chunks(self._handed_on())
            self._table = {}
            return
        self._make_room()
        yield from chunks(self._folded(self._sorter))

    def _folded(self, sorter: ExternalSorter) -> Iterator[Any]:
        decode, call = self._codec.decode, self.call
        for _, entries in groups(sorter.sorted_entries()):
            result = decode(record_of(next(entries)))
            for entry in entries:
                result = self._reduced(call, result, decode(record_of(entry)))
            yield result


class GroupReduceOperator(BatchOperator):
    """Calls a function with all records of a key, which are sorted."""

    method = "reduce"

    def begin(self) -> None:
        """Start with no records."""
        self._keys = Keys(self.payload["key"], self.payload.get("key_type"))
        self._codec = self.codec(self.payload.get("input_type"))
        sort = self.payload.get("sort")
        self._sort = SortFields(sort) if sort else None
        self.sorter = self.new_sorter()

    def new_sorter(self) -> ExternalSorter:
        """Return an empty sort."""
        return ExternalSorter(self.memory_bytes, self.spill)

    def add(self, values: list[Any], keys: list[Any] | None, input_index: int) -> None:
        """Add records to the sort."""
        encode_key, encode, add, sort = self._keys.encode, self._codec.encode, self.sorter.add, self._sort
        for key, value in zip(self._keys.of(values, keys), values, strict=True):
            group = encode_key(key)
            add(group if sort is None else group + sort.encode(value), encode(value), len(group))

    def results(self) -> Iterator[list[Any]]:
        """Yield the results of the function, group after group."""
        yield from chunks(self.reduced())

    def reduced(self) -> Iterator[Any]:
        """Yield the results for the sorted records."""
        call, decode = self.call, self._codec.decode
        for _, entries in groups(self.sorter.sorted_entries()):
            first = decode(record_of(next(entries)))
            group = chain((first,), map(decode, map(record_of, entries)))
            yield from self.guarded(lambda group=group: call(group), first)  # type: ignore[misc]


class GroupCombineOperator(GroupReduceOperator):
    """Calls a function with records of one key, as many as fit into memory: nothing is spilled."""

    method = "combine"

    def add(self, values: list[Any], keys: list[Any] | None, input_index: int) -> None:
        """Add records; when memory is full, combine the present ones."""
        keys = self._keys.of(values, keys)
        for start in range(0, len(values), 100):
            part = slice(start, start + 100)
            if self.sorter.used_bytes > self.memory_bytes // 2:
                self._combine()
            super().add(values[part], keys[part], input_index)

    def _combine(self) -> None:
        for results in chunks(self.reduced()):
            self.collector.emit(results, None)
        self.sorter = self.new_sorter()


class SortOperator(BatchOperator):
    """Sorts the records of a subtask."""

    def begin(self) -> None:
        """Start with no records."""
        self._sort = SortFields(self.payload["sort"])
        self._codec = self.codec(self.payload.get("input_type"))
        self._sorter = ExternalSorter(self.memory_bytes, self.spill)

    def add(self, values: list[Any], keys: list[Any] | None, input_index: int) -> None:
        """Add records to the sort."""
        sort_key, encode, add = self._sort.encode, self._codec.encode, self._sorter.add
        for value in values:
            add(sort_key(value), encode(value))

    def results(self) -> Iterator[list[Any]]:
        """Yield the records in order."""
        yield from chunks(map(self._codec.decode, map(record_of, self._sorter.sorted_entries())))


def reduce_operator(params: dict[str, Any], payload: Any) -> ReduceOperator:
    """Create the operator that reduces groups to one record each."""
    return ReduceOperator(params, payload)


def combine_operator(params: dict[str, Any], payload: Any) -> ReduceOperator:
    """Create the operator that pre-aggregates records of a key before the exchange."""
    return ReduceOperator({**params, "combine": True}, payload)


def group_reduce_operator(params: dict[str, Any], payload: Any) -> GroupReduceOperator:
    """Create the operator of functions of whole groups."""
    return GroupReduceOperator(params, payload)


def group_combine_operator(params: dict[str, Any], payload: Any) -> GroupCombineOperator:
    """Create the operator of functions of parts of groups."""
    return GroupCombineOperator(params, payload)


def sort_operator(params: dict[str, Any], payload: Any) -> SortOperator:
    """Create the operator of sort_partition."""
    return SortOperator(params, payload)

"""Internal. Operators with two inputs: joins by hash and by sort, co-groups, and the cross product."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from wiesel.runtime.batch.external_sort import ExternalSorter, groups, record_of
from wiesel.runtime.batch.hybrid_hash_join import HybridHashJoin, Match
from wiesel.runtime.batch.object_sizes import mean_size
from wiesel.runtime.batch.spillable_list import SpillableList
from wiesel.runtime.operators.batch.base import BatchOperator, chunks
from wiesel.runtime.operators.batch.keys import Keys

__all__ = ["co_group_operator", "cross_operator", "hash_join_operator", "merge_join_operator"]

_AT_ONCE = 10_000
"""Number of results of a batch that are emitted before the task can send them."""

_KEEPS = {"inner": (False, False), "left": (True, False), "right": (False, True), "full": (True, True)}


class _TwoInputs(BatchOperator):
    """Base of joins. Params: ``join`` (inner, left, right or full), ``flat`` (the function yields any number of results)."""

    method = "join"

    def begin(self) -> None:
        """Create keys and codecs of both inputs."""
        selectors, types = self.payload["keys"], self.payload["input_types"]
        self.keys = [Keys(selector, self.payload.get("key_type")) for selector in selectors]
        self.codecs = [self.codec(declared) for declared in types]
        self.keeps = _KEEPS[self.params.get("join", "inner")]

    def joined(self, first: Any, second: Any) -> Iterable[Any]:
        """Return the results for a pair."""
        if self.function is None:
            return ((first, second),)
        if self.params.get("flat"):
            return self.guarded(lambda: self.call(first, second), (first, second))
        return self.guarded(lambda: self._one(first, second), (first, second))

    def _one(self, first: Any, second: Any) -> Iterable[Any] | None:
        result = self.call(first, second)
        return None if result is None else (result,)


class HashJoinOperator(_TwoInputs):
    """Hybrid hash join; ``build`` of params is the build side. The probe side waits until that is complete."""

    def begin(self) -> None:
        """Start with an empty table."""
        super().begin()
        self._build = int(self.params["build"])
        keep_build, keep_probe = self.keeps[self._build], self.keeps[1 - self._build]
        self._keeps_table = self._build in self.static and not keep_build
        self._complete = self._build in self.inherited
        self._join: HybridHashJoin = self.inherited.get(self._build) or HybridHashJoin(
            self.memory_bytes * 3 // 4, self.spill, keep_build=keep_build, keep_probe=keep_probe, keep_table=self._keeps_table
        )
        self._waiting = SpillableList(self.memory_bytes // 4, self.spill)

    def add(self, values: list[Any], keys: list[Any] | None, input_index: int) -> None:
        """Add records to the table, or look up their matches."""
        if input_index != self._build:
            done = self._probe_now(values, keys) if self._complete else 0
            if done < len(values):
                rest = values[done:]
                self._waiting.append((rest, keys and keys[done:]), int(len(rest) * (mean_size(rest) + 16)))
            return
        encode_key, encode, add = self.keys[input_index].encode, self.codecs[input_index].encode, self._join.add_build
        for key, value in zip(self.keys[input_index].of(values, keys), values, strict=True):
            add(encode_key(key), encode(value))

    def input_ended(self, input_index: int) -> None:
        """Mark the table as complete."""
        if input_index == self._build:
            self._complete = True

    def _probe_now(self, values: list[Any], keys: list[Any] | None) -> int:
        """Emit the matches of records up to a limit; return how many records were processed. The others wait."""
        results: list[Any] = []
        done = 0
        for found in self._probed(values, keys):
            done += 1
            results.extend(found)
            if len(results) > _AT_ONCE:
                break
        self.collector.emit(results, None)
        return done

    def _probed(self, values: list[Any], keys: list[Any] | None) -> Iterator[Iterable[Any]]:
        side = 1 - self._build
        encode_key, encode, probe = self.keys[side].encode, self.codecs[side].encode, self._join.probe
        for key, value in zip(self.keys[side].of(values, keys), values, strict=True):
            match = probe(encode_key(key), encode(value))
            yield () if match is None else self._results_of(match)

    def _results_of(self, match: Match) -> Iterator[Any]:
        found, record = match
        other = None if record is None else self.codecs[1 - self._build].decode(record)
        decode = self.codecs[self._build].decode
        for mine in map(decode, found) if found else (None,):
            yield from self.joined(mine, other) if self._build == 0 else self.joined(other, mine)

    def results(self) -> Iterator[list[Any]]:
        """Yield the results of waiting and spilled records."""
        for values, keys in self._waiting:
            yield from chunks(result for found in self._probed(values, keys) for result in found)
        self._waiting.clear()
        yield from chunks(result for match in self._join.rest() for result in self._results_of(match))

    def bequest(self) -> dict[int, Any]:
        """Return the hash table, if it is of a constant input and completely in memory."""
        return {self._build: self._join} if self._keeps_table and not self._join.partitions_spilled else {}


class _SortedInputs(_TwoInputs):
    """Sorts both inputs by key and merges them."""

    def begin(self) -> None:
        """Start with two empty sorts."""
        super().begin()
        self._sorters = [ExternalSorter(self.memory_bytes * 3 // 8, self.spill) for _ in range(2)]

    def add(self, values: list[Any], keys: list[Any] | None, input_index: int) -> None:
        """Add records to the sort of their input."""
        encode_key, encode, add = self.keys[input_index].encode, self.codecs[input_index].encode, self._sorters[input_index].add
        for key, value in zip(self.keys[input_index].of(values, keys), values, strict=True):
            add(encode_key(key), encode(value))

    def pairs(self) -> Iterator[tuple[Iterator[Any] | None, Iterator[Any] | None]]:
        """Yield the records of each key of both inputs; None for a missing side."""
        sides = [groups(sorter.sorted_entries()) for sorter in self._sorters]
        left, right = next(sides[0], None), next(sides[1], None)
        while left is not None or right is not None:
            use_left = right is None or (left is not None and left[0] <= right[0])
            use_right = left is None or (right is not None and right[0] <= left[0])
            yield (
                self._decoded(0, left[1]) if use_left and left is not None else None,
                self._decoded(1, right[1]) if use_right and right is not None else None,
            )
            if use_left:
                left = next(sides[0], None)
            if use_right:
                right = next(sides[1], None)

    def _decoded(self, index: int, entries: Iterator[bytes]) -> Iterator[Any]:
        return map(self.codecs[index].decode, map(record_of, entries))


class MergeJoinOperator(_SortedInputs):
    """Sort-merge join."""

    def results(self) -> Iterator[list[Any]]:
        """Yield the results, key after key."""
        yield from chunks(self._merged())

    def _merged(self) -> Iterator[Any]:
        for left, right in self.pairs():
            if left is not None and right is not None:
                yield from self._product(left, right)
            elif left is not None and self.keeps[0]:
                for value in left:
                    yield from self.joined(value, None)
            elif right is not None and self.keeps[1]:
                for value in right:
                    yield from self.joined(None, value)

    def _product(self, left: Iterator[Any], right: Iterator[Any]) -> Iterator[Any]:
        # The right records of a key are iterated once per left one.
        again = SpillableList(self.memory_bytes // 4, self.spill)
        for part in chunks(right):
            again.append(part, int(len(part) * (mean_size(part) + 8)))
        for value in left:
            for part in again:
                for other in part:
                    yield from self.joined(value, other)
        again.clear()


class CoGroupOperator(_SortedInputs):
    """Calls a function once per key, with the records of both inputs."""

    method = "co_group"

    def results(self) -> Iterator[list[Any]]:
        """Yield the results of the function, key after key."""
        call = self.call
        produced = (
            result
            for left, right in self.pairs()
            for result in self.guarded(lambda left=left, right=right: call(left or iter(()), right or iter(())), None)  # type: ignore[misc]
        )
        yield from chunks(produced)


class CrossOperator(BatchOperator):
    """All pairs: each part of one input with all of the other (``build`` of params, which every subtask has completely)."""

    method = "cross"

    def begin(self) -> None:
        """Start with no records."""
        self._sides = [SpillableList(self.memory_bytes // 2, self.spill) for _ in range(2)]

    def add(self, values: list[Any], keys: list[Any] | None, input_index: int) -> None:
        """Gather records."""
        for part in chunks(values):
            self._sides[input_index].append(part, int(len(part) * (mean_size(part) + 8)))

    def results(self) -> Iterator[list[Any]]:
        """Yield the results for all pairs."""
        yield from chunks(self._crossed())

    def _crossed(self) -> Iterator[Any]:
        build = int(self.params["build"])
        pair: Callable[[Any, Any], Any] = (lambda a, b: (a, b)) if self.function is None else self.call
        for part in self._sides[1 - build]:
            for others in self._sides[build]:
                for value in part:
                    for other in others:
                        first, second = (other, value) if build == 0 else (value, other)
                        yield from self.guarded(lambda first=first, second=second: (pair(first, second),), (first, second))  # type: ignore[misc]


def hash_join_operator(params: dict[str, Any], payload: Any) -> HashJoinOperator:
    """Create the operator of joins by hash."""
    return HashJoinOperator(params, payload)


def merge_join_operator(params: dict[str, Any], payload: Any) -> MergeJoinOperator:
    """Create the operator of joins by sort."""
    return MergeJoinOperator(params, payload)


def co_group_operator(params: dict[str, Any], payload: Any) -> CoGroupOperator:
    """Create the operator of co_group."""
    return CoGroupOperator(params, payload)


def cross_operator(params: dict[str, Any], payload: Any) -> CrossOperator:
    """Create the operator of cross."""
    return CrossOperator(params, payload)

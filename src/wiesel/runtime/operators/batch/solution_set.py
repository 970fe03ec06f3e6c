"""Internal. The solution set of a delta iteration, for joins in the step and as the result.

Each joining operator has a copy of its keys' partition: the initial records arrive once, and the changes of a round take effect in the next
one. Records are stored encoded, in memory as in Flink.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wiesel.runtime.batch.object_sizes import mean_size
from wiesel.runtime.batch.spillable_list import SpillableList
from wiesel.runtime.operators.batch.base import BatchOperator, chunks
from wiesel.runtime.operators.batch.keys import Keys

__all__ = ["solution_join_operator", "solution_set_operator"]

_PROBE, _INITIAL, _CHANGES = 0, 1, 2


class _Solution(BatchOperator):
    def begin(self) -> None:
        """Create key and codec of the solution set."""
        self.solution_key = Keys(self.payload["solution_key"], self.payload.get("key_type"))
        self.codec_of_solution = self.codec(self.payload.get("solution_type"))
        self.solution: dict[bytes, bytes] = {}

    def put(self, values: list[Any], keys: list[Any] | None, *, replaces: bool) -> None:
        """Store records by key, replacing existing ones or only where there are none."""
        encode_key, encode, solution = self.solution_key.encode, self.codec_of_solution.encode, self.solution
        for key, value in zip(self.solution_key.of(values, keys), values, strict=True):
            if replaces:
                solution[encode_key(key)] = encode(value)
            else:
                solution.setdefault(encode_key(key), encode(value))


class SolutionJoinOperator(_Solution):
    """Joins or co-groups records with those of the solution set; ``side`` of params is the index of the latter among the arguments.

    Inputs: the records, the initial solution set, and its changes in the previous round.
    """

    method = "join"

    def __init__(self, params: dict[str, Any], payload: dict[str, Any]) -> None:
        super().__init__(params, payload)
        if params.get("co_group"):
            self.method = "co_group"

    def begin(self) -> None:
        """Go on with the solution set of the round before."""
        super().begin()
        self.solution = self.inherited.get(_INITIAL, self.solution)
        self._keys = Keys(self.payload["key"], self.payload.get("key_type"))
        self._records = SpillableList(self.memory_bytes, self.spill)

    def add(self, values: list[Any], keys: list[Any] | None, input_index: int) -> None:
        """Update the solution set, or buffer records until it is complete."""
        if input_index == _PROBE:
            self._records.append((values, keys), int(len(values) * (mean_size(values) + 16)))
        else:
            self.put(values, keys, replaces=input_index == _CHANGES)

    def results(self) -> Iterator[list[Any]]:
        """Yield the results for all records."""
        yield from chunks(self._co_grouped() if self.params.get("co_group") else self._joined())

    def bequest(self) -> dict[int, Any]:
        """Return the solution set."""
        return {_INITIAL: self.solution}

    def _joined(self) -> Iterator[Any]:
        encode_key, solution, decode = self._keys.encode, self.solution, self.codec_of_solution.decode
        for values, keys in self._records:
            for key, value in zip(self._keys.of(values, keys), values, strict=True):
                known = solution.get(encode_key(key))
                if known is not None:
                    yield from self._results_of(value, decode(known))

    def _results_of(self, value: Any, known: Any) -> Iterator[Any]:
        pair = (known, value) if self.params["side"] == 0 else (value, known)
        if self.function is None:
            yield pair
        elif self.params.get("flat"):
            yield from self.guarded(lambda: self.call(*pair), pair)
        else:
            yield from (result for result in self.guarded(lambda: (self.call(*pair),), pair) if result is not None)

    def _co_grouped(self) -> Iterator[Any]:
        """Call the function for the keys of the records; keys only in the solution set are ignored."""
        encode_key, decode = self._keys.encode, self.codec_of_solution.decode
        groups: dict[bytes, list[Any]] = {}
        for values, keys in self._records:
            for key, value in zip(self._keys.of(values, keys), values, strict=True):
                groups.setdefault(encode_key(key), []).append(value)
        for group_key, group in groups.items():
            known = self.solution.get(group_key)
            found = iter(() if known is None else (decode(known),))
            pair = (found, iter(group)) if self.params["side"] == 0 else (iter(group), found)
            yield from self.guarded(lambda pair=pair: self.call(*pair), group[0])  # type: ignore[misc]


class SolutionSetOperator(_Solution):
    """Stores the solution set through all rounds, and emits it at the end. Inputs: the initial one, and the changes of each round."""

    def add(self, values: list[Any], keys: list[Any] | None, input_index: int) -> None:
        """Add initial records, which may be delayed, or changes."""
        self.put(values, keys, replaces=input_index == 1)

    def results(self) -> Iterator[list[Any]]:
        """Yield the solution set."""
        yield from chunks(map(self.codec_of_solution.decode, self.solution.values()))


def solution_join_operator(params: dict[str, Any], payload: Any) -> SolutionJoinOperator:
    """Create the operator that joins or co-groups with a solution set."""
    return SolutionJoinOperator(params, payload)


def solution_set_operator(params: dict[str, Any], payload: Any) -> SolutionSetOperator:
    """Create the operator that returns the solution set."""
    return SolutionSetOperator(params, payload)

"""Internal. Range partitioning, in three steps: a sample of the keys of each subtask, global bounds, a range per record.

The sample is a reservoir (J. S. Vitter, "Random Sampling with a Reservoir", ACM TOMS 11(1), 1985); each of its keys is weighted by the
number of records per sampled key of its subtask.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from random import Random
from typing import Any

from wiesel.runtime.operators.batch.base import BatchOperator
from wiesel.runtime.operators.batch.keys import SortFields

__all__ = ["BOUNDS", "bounds_operator", "ranges_operator", "sample_operator"]

BOUNDS = "bounds"
"""The name of the broadcast set with the bounds."""

_PER_RANGE = 100


class SampleOperator(BatchOperator):
    """Draws a sample of the keys; yields ``(records per key of the sample, keys)``. ``ranges`` of params is the number of ranges."""

    def begin(self) -> None:
        """Start with no keys."""
        self._sort = SortFields(self.payload["sort"])
        self._size = _PER_RANGE * int(self.params["ranges"])
        self._sample: list[bytes] = []
        self._count = 0
        self._random = Random(self.context.subtask_index)

    def add(self, values: list[Any], keys: list[Any] | None, input_index: int) -> None:
        """Add each record to the sample with equal probability."""
        encode, sample, size, below = self._sort.encode, self._sample, self._size, self._random.randrange
        for count, value in enumerate(values, self._count + 1):
            if count <= size:
                sample.append(encode(value))
            elif (place := below(count)) < size:
                sample[place] = encode(value)
        self._count += len(values)

    def results(self) -> Iterator[list[Any]]:
        """Yield the sample."""
        if self._sample:
            yield [(self._count / len(self._sample), self._sample)]


class BoundsOperator(BatchOperator):
    """Yields the upper bounds of all ranges except the last one, for ranges of about equal size."""

    def begin(self) -> None:
        """Start with no samples."""
        self._keys: list[tuple[bytes, float]] = []

    def add(self, values: list[Any], keys: list[Any] | None, input_index: int) -> None:
        """Add samples."""
        self._keys += [(key, weight) for weight, sample in values for key in sample]

    def results(self) -> Iterator[list[Any]]:
        """Yield the bounds; fewer if there are fewer keys."""
        self._keys.sort()
        ranges = int(self.params["ranges"])
        total = sum(weight for _, weight in self._keys)
        bounds: list[bytes] = []
        before = 0.0
        for key, weight in self._keys:
            before += weight
            if before >= total * (len(bounds) + 1) / ranges and len(bounds) < ranges - 1:
                bounds.append(key)
        yield [bounds]


class RangesOperator(BatchOperator):
    """Yields each record with the number of its range."""

    def begin(self) -> None:
        """Learn the bounds."""
        self._sort = SortFields(self.payload["sort"])
        bounds = self.broadcast_set(BOUNDS)
        self._bounds: list[bytes] = bounds[0] if bounds else []

    def add(self, values: list[Any], keys: list[Any] | None, input_index: int) -> None:
        """Hand records on."""
        encode, bounds = self._sort.encode, self._bounds
        self.collector.emit([(bisect_left(bounds, encode(value)), value) for value in values], None)


def sample_operator(params: dict[str, Any], payload: Any) -> SampleOperator:
    """Create the operator that samples."""
    return SampleOperator(params, payload)


def bounds_operator(params: dict[str, Any], payload: Any) -> BoundsOperator:
    """Create the operator that determines bounds."""
    return BoundsOperator(params, payload)


def ranges_operator(params: dict[str, Any], payload: Any) -> RangesOperator:
    """Create the operator that determines ranges."""
    return RangesOperator(params, payload)

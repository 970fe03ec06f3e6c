"""Internal. The inputs of an operator under test: distribution of records to subtasks, and checks of pushed records."""

from __future__ import annotations

from operator import index as as_index
from typing import Any, cast

from wiesel.core.argument_checks import describe
from wiesel.core.ids import MAX_TIMESTAMP, MIN_TIMESTAMP
from wiesel.core.user_location import program_error
from wiesel.engine.deployment import vertex_descriptor
from wiesel.graph.job_graph import JobEdge, JobVertex
from wiesel.graph.specs import REBALANCE
from wiesel.runtime.descriptor import OutputDescriptor, TaskDescriptor
from wiesel.runtime.partitioning import make_distributor
from wiesel.runtime.record_writer import ChannelTarget
from wiesel.state.key_groups import ChannelSelector
from wiesel.wire.batch import Batch

__all__ = ["HarnessInput", "checked_records", "checked_timestamp"]


class HarnessInput:
    """One input, with its event time.

    Args:
        edge: The edge of the job into the operator.
        vertex: The operator's vertex.
    """

    def __init__(self, edge: JobEdge, vertex: JobVertex) -> None:
        self.watermark = MIN_TIMESTAMP
        self.ended = False
        self.keyed = edge.partitioner.kind == "hash"
        self._broadcast = edge.partitioner.kind == "broadcast"
        self._subtasks = vertex.parallelism
        self._selector = ChannelSelector(vertex.max_parallelism, vertex.parallelism)
        # The pushing side has no subtasks that forward edges could start from.
        partitioner = REBALANCE if edge.partitioner.kind == "forward" else edge.partitioner
        targets = tuple(ChannelTarget(0, i, i) for i in range(vertex.parallelism))
        out = OutputDescriptor(edge.index, edge.source_node, None, partitioner, targets, 0, vertex.max_parallelism)
        pusher = TaskDescriptor(vertex_descriptor(vertex), 0, 1, "test", "test", 0, 0, {}, (out,), {})
        self._distributor, self._prepare = make_distributor(out, pusher)

    def share_out(self, values: list[Any], timestamps: list[int] | None) -> list[tuple[int, Batch]]:
        """Return the batches that the subtasks get of these records."""
        batch = Batch(values, cast("list[Any] | None", timestamps))
        if self._prepare is not None:
            batch = self._prepare(batch)
        if self._broadcast:
            return [(i, Batch(list(values), None if timestamps is None else list(timestamps))) for i in range(self._subtasks)]
        shares = [_Share() for _ in range(self._subtasks)]
        self._distributor.distribute(batch, cast("Any", shares))
        return [(i, share.batch) for i, share in enumerate(shares) if share.batch.values]

    def subtask_of(self, key: Any) -> int:
        """Return the subtask that has the state of a key."""
        return self._selector.channel(key)


class _Share:
    """The part of a batch for a subtask."""

    def __init__(self) -> None:
        self.batch = Batch([])

    def add(self, values: list[Any], timestamps: list[Any] | None, keys: list[Any] | None) -> None:
        self.batch = Batch(values, timestamps, keys)


def checked_timestamp(value: Any, what: str) -> int:
    """Check a time in ms.

    Raises:
        ProgramError: If it is not an integer of 64 bits.
    """
    try:
        number = None if isinstance(value, bool) else as_index(value)
    except TypeError:
        number = None
    if number is None or not MIN_TIMESTAMP <= number <= MAX_TIMESTAMP:
        raise program_error(f"{what} must be a whole number of ms, got {describe(value)}", "e.g. int(seconds * 1000)")
    return number


def checked_records(values: list[Any], timestamps: list[int] | None) -> None:
    """Check records and their timestamps.

    Raises:
        ProgramError: If there are not as many timestamps as records, or one is invalid.
    """
    if timestamps is None:
        return
    if len(timestamps) != len(values):
        raise program_error(f"{len(values)} records were pushed with {len(timestamps)} timestamps", "give one per record, or none at all")
    for timestamp in timestamps:
        checked_timestamp(timestamp, "a timestamp")

"""Internal. From the partitioner of an edge to the distributor of its writer, and the keys that travel with keyed records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wiesel.core.errors import ProgramError
from wiesel.runtime.descriptor import OutputDescriptor, TaskDescriptor
from wiesel.runtime.record_writer import ByChannel, Distributor, RoundRobin, shuffle_distributor
from wiesel.runtime.table.column_keys import ColumnKeys
from wiesel.spi.builtin_functions import TypedKeySelector
from wiesel.state.key_groups import ChannelSelector
from wiesel.wire.batch import Batch

Prepare = Callable[[Batch], Batch]


def _key_function(selector: Any) -> Callable[[Any], Any]:
    return selector.get_key if hasattr(selector, "get_key") else selector  # type: ignore[no-any-return]


def _with_keys(selector: Any) -> Prepare:
    if isinstance(selector, TypedKeySelector):
        get_keys = selector.get_keys
        return lambda batch: Batch(batch.values, batch.timestamps, get_keys(batch.values))
    get_key = _key_function(selector)
    return lambda batch: Batch(batch.values, batch.timestamps, list(map(get_key, batch.values)))


def _without_keys(batch: Batch) -> Batch:
    return batch if batch.keys is None else Batch(batch.values, batch.timestamps)


def _custom(payload: Any) -> Distributor:
    partitioner, selector = payload
    partition = partitioner.partition if hasattr(partitioner, "partition") else partitioner
    get_key = _key_function(selector)

    def choose(batch: Batch, n: int) -> list[int]:
        channels = [partition(get_key(v), n) for v in batch.values]
        for channel in channels:
            if not isinstance(channel, int) or not 0 <= channel < n:
                raise ProgramError(
                    f"the partitioner of partition_custom returned {channel!r} for {n} partitions",
                    hint="return an int from 0 to num_partitions - 1",
                )
        return channels

    return ByChannel(choose)


def edge_functions(out: OutputDescriptor) -> tuple[Any, ...]:
    """Return the user's functions that an edge calls, which are to be opened and closed with the task."""
    if isinstance(out.partitioner.payload, ColumnKeys):
        return ()
    if out.partitioner.kind == "hash":
        return (out.partitioner.payload,)
    return tuple(out.partitioner.payload) if out.partitioner.kind == "custom" else ()


def make_distributor(out: OutputDescriptor, task: TaskDescriptor) -> tuple[Distributor, Prepare | None]:
    """Return the distributor of an edge and what is done to each batch before it (the key of each record, for keyed edges)."""
    kind = out.partitioner.kind
    n = len(out.targets)
    if isinstance(out.partitioner.payload, ColumnKeys):
        from wiesel.runtime.table.exchange import ByColumns  # loads Arrow

        return ByColumns(out.partitioner.payload, out.target_max_parallelism, n), None
    if kind == "hash":
        selector = ChannelSelector(out.target_max_parallelism, n)
        return ByChannel(lambda batch, _: selector.channels(batch.keys or [])), _with_keys(out.partitioner.payload)
    if kind in ("rebalance", "rescale") and n > 1:
        # Flink starts at a random channel; starting at the subtask's own spreads just as well and is repeatable.
        return RoundRobin(task.subtask), _without_keys
    if kind == "shuffle" and n > 1:
        return shuffle_distributor(task.subtask), _without_keys
    if kind == "custom":
        return _custom(out.partitioner.payload), _without_keys
    return Distributor(), _without_keys

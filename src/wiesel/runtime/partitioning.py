"""Internal. Creates the distributor of an edge from its partitioner, and computes the keys of keyed records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wiesel.core.errors import ProgramError, WieselError
from wiesel.core.user_frames import function_location
from wiesel.graph.specs import ColumnKeys
from wiesel.runtime.descriptor import OutputDescriptor, TaskDescriptor
from wiesel.runtime.record_writer import ByChannel, Distributor, RoundRobin, shuffle_distributor
from wiesel.runtime.user_code import map_all
from wiesel.spi.builtin_functions import TypedKeySelector
from wiesel.state.key_groups import ChannelSelector
from wiesel.state.value_keys import comparable_keys
from wiesel.wire.batch import Batch

Prepare = Callable[[Batch], Batch]


def _key_function(selector: Any) -> Callable[[Any], Any]:
    if isinstance(selector, TypedKeySelector):
        return selector.select
    return selector.get_key if hasattr(selector, "get_key") else selector  # type: ignore[no-any-return]


def _with_keys(selector: Any) -> Prepare:
    select = _key_function(selector)
    coerce = selector.coerce_all if isinstance(selector, TypedKeySelector) else None

    def prepare(batch: Batch) -> Batch:
        try:
            keys = map_all(select, batch.values)
            return Batch(batch.values, batch.timestamps, comparable_keys(keys if coerce is None else coerce(keys)))
        except WieselError as error:
            _name_key_selector(error, select)
            raise

    return prepare


def _name_key_selector(error: WieselError, select: Callable[[Any], Any]) -> None:
    """Add to an error about a key which function has returned it."""
    place = function_location(select)
    if place is not None and error.details.get("location") is None:
        error.message += f"\n  returned by the key selector at {place}"
        error.details["location"] = place


def _channels_by_key(selector: ChannelSelector, select: Callable[[Any], Any]) -> Distributor:
    def choose(batch: Batch, _: int) -> list[int]:
        try:
            return selector.channels(batch.keys or [])
        except WieselError as error:
            _name_key_selector(error, select)
            raise

    return ByChannel(choose)


def _without_keys(batch: Batch) -> Batch:
    return batch if batch.keys is None else Batch(batch.values, batch.timestamps)


def _custom(payload: Any) -> Distributor:
    partitioner, selector = payload
    partition = partitioner.partition if hasattr(partitioner, "partition") else partitioner
    get_key = _key_function(selector)

    def choose(batch: Batch, n: int) -> list[int]:
        channels = map_all(lambda value: partition(get_key(value), n), batch.values)
        for channel in channels:
            if not isinstance(channel, int) or not 0 <= channel < n:
                place = function_location(partition)
                raise ProgramError(
                    f"the partitioner of partition_custom{f' (at {place})' if place else ''} returned {channel!r} for {n} partitions",
                    hint="return an int from 0 to num_partitions - 1",
                    location=place,
                )
        return channels

    return ByChannel(choose)


def edge_functions(out: OutputDescriptor) -> tuple[Any, ...]:
    """Return the user functions called by an edge, which are opened and closed with the task."""
    if isinstance(out.partitioner.payload, ColumnKeys):
        return ()
    if out.partitioner.kind == "hash":
        return (out.partitioner.payload,)
    return tuple(out.partitioner.payload) if out.partitioner.kind == "custom" else ()


def make_distributor(out: OutputDescriptor, task: TaskDescriptor) -> tuple[Distributor, Prepare | None]:
    """Return the distributor of an edge and the preceding function of batches (the key of each record, for keyed edges)."""
    kind = out.partitioner.kind
    n = len(out.targets)
    if isinstance(out.partitioner.payload, ColumnKeys):
        from wiesel.runtime.table.exchange import ByColumns  # loads Arrow

        return ByColumns(out.partitioner.payload, out.target_max_parallelism, n), None
    if kind == "hash":
        channels = _channels_by_key(ChannelSelector(out.target_max_parallelism, n), _key_function(out.partitioner.payload))
        return channels, _with_keys(out.partitioner.payload)
    if kind in ("rebalance", "rescale") and n > 1:
        # Flink starts at a random channel; starting at the subtask's index distributes equally well and is deterministic.
        return RoundRobin(task.subtask), _without_keys
    if kind == "shuffle" and n > 1:
        return shuffle_distributor(task.subtask), _without_keys
    if kind == "custom":
        return _custom(out.partitioner.payload), _without_keys
    return Distributor(), _without_keys

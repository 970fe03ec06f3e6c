"""The state in a checkpoint as plain values, independent of parallelism, backend and order of events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from wiesel.checkpoint.coordinator import Checkpoint
from wiesel.core.clock import ManualClock
from wiesel.graph.job_graph import JobGraph
from wiesel.state.backend import KeyGroupRange, StateFileReader, StateHandle
from wiesel.state.hashmap import HashMapBackend
from wiesel.state.operator_state import handles_for


def state_of(job: JobGraph, checkpoint: Checkpoint, files: StateFileReader) -> dict[str, Any]:
    """Return the contents by operator and state. Lists are sorted, as the order in them may be that in which events came."""
    found: dict[str, Any] = {}
    for vertex in job.vertices:
        snapshots = [snapshot for (index, _), snapshot in sorted(checkpoint.tasks.items()) if index == vertex.index]
        for operator in vertex.operators:
            mine = [snapshot.operators[operator.operator_id] for snapshot in snapshots if operator.operator_id in snapshot.operators]
            handles = [snapshot.state for snapshot in mine if snapshot.state is not None]
            if handles:
                where = operator.node.uid or operator.node.name
                found.update((f"{where}: {what}", value) for what, value in _contents(handles, vertex.max_parallelism, files).items())
    return found


def _contents(handles: Sequence[StateHandle], max_parallelism: int, files: StateFileReader) -> dict[str, Any]:
    groups = KeyGroupRange(0, max_parallelism, max_parallelism)
    backend = HashMapBackend(
        operator_id="read", subtask=0, parallelism=1, key_group_range=groups, local_dir="", clock=ManualClock(), options={}
    )
    backend.restore(handles_for(handles, 0, 1, groups), files)
    found: dict[str, Any] = {}
    for name, table in backend._tables.items():
        found[name] = {repr((key, space)): _normal(value) for store in table.stores() for (key, space), value in _slots(store)}
    for name, timers in backend._timers.items():
        found[f"timers {name}"] = Counter(map(repr, timers.items()))
    for kind, lists in zip(("split", "union", "broadcast"), backend._operator_state._image.columns(), strict=True):
        found.update((f"{kind} {name}", _normal(value)) for name, value in lists.items())
    return {name: value for name, value in found.items() if value}


def _slots(store: Any) -> Any:
    """Yield (key, namespace) and value."""
    for slot, value in store.data.items():
        yield (slot if store.spaced else (slot, None)), value


def _normal(value: Any) -> Any:
    return sorted(value, key=repr) if isinstance(value, list) else value

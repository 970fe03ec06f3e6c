"""Internal. Unaligned checkpoints: supported programs, and the redistribution of records in flight."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wiesel.checkpoint.coordinator import Checkpoint
from wiesel.core import options as opt
from wiesel.core.config import Configuration
from wiesel.core.errors import ProgramError, StateMigrationError
from wiesel.graph.job_graph import JobEdge, JobGraph, JobVertex
from wiesel.graph.specs import ITERATION_HEAD, ColumnKeys, StreamGraph
from wiesel.runtime.descriptor import InputEdge, RestoredEdge, RestoredInFlight
from wiesel.runtime.in_flight import edges_of
from wiesel.state.backend import StateHandle
from wiesel.state.key_groups import key_group_range

_HINT = "restore it with the program that took it, take an aligned savepoint, which holds no records in flight, and start from that"


def takes_unaligned(config: Configuration) -> bool:
    """Return whether checkpoints are unaligned: not for at-least-once, which has no benefit."""
    return bool(config.get(opt.CHECKPOINT_UNALIGNED)) and str(config.get(opt.CHECKPOINT_MODE)) == "EXACTLY_ONCE"


def overtaking_savepoints(config: Configuration) -> bool:
    """Return whether savepoints are unaligned."""
    return config.get(opt.SAVEPOINT_ALIGNED_TIMEOUT) is not None and str(config.get(opt.CHECKPOINT_MODE)) == "EXACTLY_ONCE"


def check_unaligned(graph: StreamGraph, config: Configuration) -> None:
    """Check that the program supports unaligned checkpoints or savepoints if they are enabled.

    Raises:
        ProgramError: If it has an iteration or a custom partitioner, and unaligned checkpoints are not forced.
    """
    option = opt.CHECKPOINT_UNALIGNED if takes_unaligned(config) else opt.SAVEPOINT_ALIGNED_TIMEOUT
    if not (takes_unaligned(config) or overtaking_savepoints(config)) or config.get(opt.CHECKPOINT_UNALIGNED_FORCED):
        return
    loops = graph.loops()
    custom = [edge for edge in graph.edges if edge.partitioner.kind == "custom"]
    if not loops and not custom:
        return
    node = graph.nodes[loops[0].head if loops else custom[0].source]
    what = "the iteration" if loops else "partition_custom behind the operator"
    raise ProgramError(
        f"{what} at {node.user_location} does not go with unaligned checkpoints",
        hint=f"leave {option.key} out, or set {opt.CHECKPOINT_UNALIGNED_FORCED.key} if the job will never be rescaled "
        "from one of its checkpoints",
    )


def obstacle_to_unaligned(job: JobGraph) -> str | None:
    """Return the part of a running job that prevents an unaligned savepoint, None if there is none."""
    loops = [o for v in job.vertices for o in v.operators if o.node.operator.kind == ITERATION_HEAD]
    if loops:
        return f"the iteration at {loops[0].node.user_location}"
    custom = [job.vertices[e.source_vertex].name for e in job.edges if e.partitioner.kind == "custom"]
    return f"partition_custom behind '{custom[0]}'" if custom else None


def holds_in_flight(checkpoint: Checkpoint) -> bool:
    """Return whether a checkpoint or savepoint has records in flight."""
    return bool(in_flight_handles(checkpoint))


def input_edges(job: JobGraph, vertex: int) -> tuple[InputEdge, ...]:
    """Return the descriptions of the incoming edges of a task."""
    return tuple(_input_edge(job, edge) for edge in job.in_edges(vertex))


def _input_edge(job: JobGraph, edge: JobEdge) -> InputEdge:
    source = job.vertices[edge.source_vertex]
    operator_id = next(o.operator_id for o in source.operators if o.node_id == edge.source_node)
    return InputEdge(edge.index, operator_id, edge.side_tag, edge.input_index, edge.partitioner.kind, source.parallelism)


def in_flight_handles(checkpoint: Checkpoint | None) -> dict[str, dict[int, StateHandle]]:
    """Return the records in flight of a checkpoint: first operator of the task -> subtask -> handle."""
    found: dict[str, dict[int, StateHandle]] = {}
    if checkpoint is not None:
        for (_, subtask), snapshot in checkpoint.tasks.items():
            for operator_id, state in snapshot.operators.items():
                if state.in_flight is not None:
                    found.setdefault(operator_id, {})[subtask] = state.in_flight
    return found


def check_in_flight(job: JobGraph, checkpoint: Checkpoint, facts: dict[str, Any]) -> None:
    """Check that the records in flight of a checkpoint have consumers in the program.

    Raises:
        StateMigrationError: If their consumers have changed, or a custom partitioner would have to repartition them.
    """
    heads = {v.operators[0].operator_id: v for v in job.vertices}
    names = {o["id"]: o["name"] for v in facts.get("vertices", ()) for o in v["operators"]}
    for operator_id, handles in in_flight_handles(checkpoint).items():
        vertex = heads.get(operator_id)
        if vertex is None:
            raise StateMigrationError(
                f"{'the savepoint' if checkpoint.savepoint else f'checkpoint {checkpoint.checkpoint_id}'} is unaligned and holds records "
                "in flight to "
                f"{names.get(operator_id, operator_id)}, with which no task of the program begins",
                hint=f"if the operator is chained to the one before it now, start_new_chain() undoes that; else {_HINT}",
            )
        for handle in handles.values():
            for _ in _restored_edges(job, vertex, handle, _old_parallelism(facts, operator_id, vertex)):
                pass


def _old_parallelism(facts: dict[str, Any] | None, operator_id: str, vertex: JobVertex) -> int:
    for old in (facts or {}).get("vertices", ()):
        if any(o["id"] == operator_id for o in old["operators"]):
            return int(old["parallelism"])
    return vertex.parallelism


def _restored_edges(job: JobGraph, vertex: JobVertex, handle: StateHandle, before: int) -> Iterator[tuple[int, RestoredEdge]]:
    now = {(e.operator_id, e.side_tag, e.input_index, e.kind): e for e in input_edges(job, vertex.index)}
    for old in edges_of(handle):
        new = now.get((old.operator_id, old.side_tag, old.input_index, old.kind))
        if new is None:
            raise StateMigrationError(
                f"an unaligned checkpoint or savepoint has records in flight to {vertex.name} over a connection ({old.kind}) that "
                "the program does not have",
                hint=_HINT,
            )
        rescaled = before != vertex.parallelism or old.sources != new.sources
        if rescaled and old.kind == "custom":
            raise StateMigrationError(
                f"an unaligned checkpoint or savepoint has records in flight to {vertex.name} that a custom partitioner has "
                "distributed: they cannot be distributed anew for another parallelism",
                hint=_HINT,
            )
        payload = next(edge.partitioner.payload for edge in job.in_edges(vertex.index) if edge.index == new.edge)
        columns = payload.columns if isinstance(payload, ColumnKeys) else None
        yield old.edge, RestoredEdge(new.edge, new.sources, rescaled, rescaled and old.kind == "hash", columns)


def restored_in_flight(
    job: JobGraph, vertex: JobVertex, subtask: int, handles: dict[int, StateHandle], facts: dict[str, Any] | None
) -> tuple[RestoredInFlight, ...]:
    """Return the records in flight to all old subtasks that one subtask gets.

    At another parallelism those of a keyed edge are given to the owners of the key groups of their old subtask, which select theirs. Those
    of other edges are given to one subtask each, round-robin.
    """
    before = _old_parallelism(facts, vertex.operators[0].operator_id, vertex)
    groups = key_group_range(subtask, vertex.max_parallelism, vertex.parallelism)
    parts = []
    for old_subtask, handle in sorted(handles.items()):
        old_groups = key_group_range(old_subtask, vertex.max_parallelism, before)
        overlaps = old_groups.start < groups.end and groups.start < old_groups.end
        own = old_subtask % vertex.parallelism == subtask
        edges = {
            old: edge
            for old, edge in _restored_edges(job, vertex, handle, before)
            if (overlaps if edge.by_key else own)
        }
        if edges:
            parts.append(RestoredInFlight(handle, edges))
    return tuple(parts)

"""Internal. Creates the descriptors of all tasks of an attempt from a stage plan and a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from wiesel.checkpoint.coordinator import Checkpoint
from wiesel.checkpoint.messages import TaskKey
from wiesel.checkpoint.snapshot import OperatorRestore, OperatorStateSnapshot
from wiesel.core.errors import StateMigrationError
from wiesel.engine.unaligned import check_in_flight, in_flight_handles, input_edges, restored_in_flight
from wiesel.graph.execution_graph import SubtaskId, edge_targets
from wiesel.graph.job_graph import ChainedOperator, JobGraph, JobVertex
from wiesel.graph.stage_plan import Region, StagePlan
from wiesel.runtime.descriptor import OperatorDescriptor, OutputDescriptor, TaskDescriptor, VertexDescriptor
from wiesel.runtime.record_writer import ChannelTarget
from wiesel.runtime.task_services import DEBLOAT
from wiesel.state.key_groups import key_group_range
from wiesel.state.operator_state import handles_for
from wiesel.types.evolution import keys_stay
from wiesel.types.serializers import serializer_for, type_from_snapshot

KEY_TYPES = "keyTypes"
"""Key of the declared types of an operator's keys in the job information, as snapshots of their serializers."""


def vertex_descriptor(vertex: JobVertex) -> VertexDescriptor:
    """Return the part of a descriptor shared by the subtasks of a vertex."""
    return VertexDescriptor(
        vertex=vertex.index,
        name=vertex.name,
        parallelism=vertex.parallelism,
        max_parallelism=vertex.max_parallelism,
        operators=tuple(
            OperatorDescriptor(
                o.node_id,
                o.operator_id,
                o.node.name,
                o.node.uid,
                o.node.operator.kind,
                dict(o.node.operator.params),
                o.node.operator.payload,
                o.node.user_location,
                o.node.state_backend,
            )
            for o in vertex.operators
        ),
        chain=tuple((e.source, e.target, e.side_tag) for e in vertex.edges),
    )


def _outputs(job: JobGraph, region: Region, subtask: SubtaskId) -> tuple[OutputDescriptor, ...]:
    source = job.vertices[subtask.vertex]
    at_level, _ = region.place[subtask]
    outputs = []
    for edge in job.out_edges(subtask.vertex):
        target = job.vertices[edge.target_vertex]
        targets = []
        for j in edge_targets(edge, subtask.index, source.parallelism, target.parallelism):
            level, partition = region.place[SubtaskId(target.index, j)]
            targets.append(ChannelTarget(level, partition, region.next_hop(at_level, level, partition)))
        outputs.append(
            OutputDescriptor(
                edge.index,
                edge.source_node,
                edge.side_tag,
                edge.partitioner,
                tuple(targets),
                edge.buffer_timeout_ms,
                target.max_parallelism,
            )
        )
    return tuple(outputs)


def _inputs(job: JobGraph, subtask: SubtaskId) -> dict[tuple[int, int], int]:
    target = job.vertices[subtask.vertex]
    inputs: dict[tuple[int, int], int] = {}
    for edge in job.in_edges(subtask.vertex):
        source = job.vertices[edge.source_vertex]
        for i in range(source.parallelism):
            if subtask.index in edge_targets(edge, i, source.parallelism, target.parallelism):
                inputs[(edge.index, i)] = edge.input_index
    return inputs


def task_descriptors(
    plan: StagePlan,
    *,
    attempt: int,
    job_id: str,
    config: dict[str, Any],
    restore: Checkpoint | None,
    restored_facts: dict[str, Any] | None,
    restarts: Mapping[int, int] | None = None,
) -> dict[TaskKey, TaskDescriptor]:
    """Return the descriptor of every task of an attempt; ``restarts`` has the number of restarts of each vertex's tasks."""
    job = plan.graph.job
    shared = [vertex_descriptor(v) for v in job.vertices]
    given = _by_operator(restore)
    in_flight = in_flight_handles(restore)
    # AUTOMATIC is resolved by now.
    config = {**config, "execution.runtime-mode": job.runtime_mode}
    if job.runtime_mode == "BATCH":
        config = {**config, DEBLOAT: None}  # producers end before data is consumed
    tasks: dict[TaskKey, TaskDescriptor] = {}
    for region in plan.regions:
        for subtask, (level, partition) in region.place.items():
            vertex = job.vertices[subtask.vertex]
            tasks[(subtask.vertex, subtask.index)] = TaskDescriptor(
                vertex=shared[subtask.vertex],
                subtask=subtask.index,
                attempt=attempt,
                job_id=job_id,
                job_name=job.job_name,
                level=level,
                partition=partition,
                inputs=_inputs(job, subtask),
                outputs=_outputs(job, region, subtask),
                config=config,
                restore=_restore(vertex, subtask.index, given, restored_facts),
                restored_checkpoint_id=restore.checkpoint_id if restore is not None else 0,
                restarts=(restarts or {}).get(subtask.vertex, 0),
                input_edges=input_edges(job, subtask.vertex),
                in_flight=restored_in_flight(
                    job, vertex, subtask.index, in_flight.get(vertex.operators[0].operator_id, {}), restored_facts
                ),
            )
    return tasks


_Given = dict[str, dict[int, OperatorStateSnapshot]]


def _by_operator(checkpoint: Checkpoint | None) -> _Given:
    given: _Given = {}
    if checkpoint is not None:
        for (_, subtask), snapshot in checkpoint.tasks.items():
            for operator_id, state in snapshot.operators.items():
                given.setdefault(operator_id, {})[subtask] = state
    return given


def _restore(vertex: JobVertex, subtask: int, given: _Given, facts: dict[str, Any] | None) -> dict[str, OperatorRestore]:
    restore: dict[str, OperatorRestore] = {}
    for operator in vertex.operators:
        old = given.get(operator.operator_id)
        if old:
            before = old_parallelism(facts, operator.operator_id, len(old))
            restore[operator.operator_id] = share_out(vertex, subtask, old, before)
    return restore


def old_parallelism(facts: dict[str, Any] | None, operator_id: str, default: int) -> int:
    """Return the parallelism of an operator in the checkpoint."""
    for vertex in (facts or {}).get("vertices", ()):
        if any(o["id"] == operator_id for o in vertex["operators"]):
            return int(vertex["parallelism"])
    return default


def share_out(vertex: JobVertex, subtask: int, old: dict[int, OperatorStateSnapshot], before: int) -> OperatorRestore:
    """Return the part of the state of all old subtasks for one subtask.

    Keyed state is redistributed by key groups: a handle is given to every subtask whose range overlaps it, which reads its groups. Operator
    state is redistributed by kind (``handles_for``). Splits and writer states stay on their subtasks while the parallelism is the same;
    otherwise they are distributed round-robin.
    """
    in_order = [snapshot for _, snapshot in sorted(old.items())]
    groups = key_group_range(subtask, vertex.max_parallelism, vertex.parallelism)
    states = handles_for([s.state for s in in_order if s.state is not None], subtask, vertex.parallelism, groups)
    if before == vertex.parallelism:
        own = old.get(subtask, OperatorStateSnapshot())
        return OperatorRestore(states, own.reader_splits, () if own.writer_state is None else (own.writer_state,))
    splits = _in_turn((x for s in in_order for x in s.reader_splits or ()), subtask, vertex.parallelism)
    writers = _in_turn((s.writer_state for s in in_order if s.writer_state is not None), subtask, vertex.parallelism)
    has_splits = any(s.reader_splits is not None for s in in_order)
    return OperatorRestore(states, splits if has_splits else None, tuple(writers))


def _in_turn(items: Iterable[Any], subtask: int, parallelism: int) -> list[Any]:
    return [x for i, x in enumerate(items) if i % parallelism == subtask]


def operators_with_state(checkpoint: Checkpoint) -> set[str]:
    """Return the ids of the operators with state."""
    return {
        operator_id
        for snapshot in checkpoint.tasks.values()
        for operator_id, state in snapshot.operators.items()
        if state.state is not None or state.reader_splits is not None or state.writer_state is not None or state.in_flight is not None
    }


def is_same_operator(old: dict[str, Any], operator: ChainedOperator) -> bool:
    """Return whether an operator of a checkpoint is the operator of the program with the same id.

    An id without uid depends on the position, where another operator may be now: then its kind differs.
    """
    node = operator.node
    return bool(node.uid or node.uid_hash) or old.get("kind", node.operator.kind) == node.operator.kind


def reused_ids(job: JobGraph, facts: dict[str, Any]) -> set[str]:
    """Return the operator ids of the checkpoint that the program uses for other operators."""
    here = {o.operator_id: o for v in job.vertices for o in v.operators}
    return {
        old["id"]
        for vertex in facts.get("vertices", ())
        for old in vertex["operators"]
        if old["id"] in here and not is_same_operator(old, here[old["id"]])
    }


def without_operators(checkpoint: Checkpoint, operator_ids: set[str]) -> Checkpoint:
    """Return the checkpoint without the state of some operators."""
    if not operator_ids:
        return checkpoint
    tasks = {
        key: replace(task, operators={i: state for i, state in task.operators.items() if i not in operator_ids})
        for key, task in checkpoint.tasks.items()
    }
    return replace(checkpoint, tasks=tasks)


def without_uid(job: JobGraph, checkpoint: Checkpoint) -> list[str]:
    """Return name and line of the operators with state that are only identified by their position."""
    with_state = operators_with_state(checkpoint)
    return [
        f"{o.node.name} ({o.node.user_location})"
        for v in job.vertices
        for o in v.operators
        if o.operator_id in with_state and not o.node.uid and not o.node.uid_hash
    ]


def check_restorable(job: JobGraph, checkpoint: Checkpoint, facts: dict[str, Any], path: str | None, *, allow_non_restored: bool) -> None:
    """Check that every state of a checkpoint has an operator in the job, with the same keys and as many key groups.

    ``path`` is its location for error messages; None: not known to the user.

    Raises:
        StateMigrationError: Names the mismatch.
    """
    here = {o.operator_id: v for v in job.vertices for o in v.operators}
    there = {o["id"]: (o, v) for v in facts.get("vertices", ()) for o in v["operators"]}
    with_state = operators_with_state(checkpoint)
    lost = sorted(with_state & reused_ids(job, facts) | with_state - here.keys())
    if lost and not allow_non_restored:
        names = ", ".join(f"{there[i][0]['name']} (uid {there[i][0].get('uid') or 'not set'})" if i in there else i for i in lost)
        raise StateMigrationError(
            f"{path or f'checkpoint {checkpoint.checkpoint_id}'} has state of operators that the program does not have: {names}",
            hint="give operators their previous uids, or drop their state: wiesel run -n, "
            "or execution.state-recovery.ignore-unclaimed-state",
        )
    check_in_flight(job, without_operators(checkpoint, set(lost)), facts)
    for operator_id in with_state & here.keys() - set(lost):
        old = there.get(operator_id)
        if old is not None:
            _check_key_groups(here[operator_id], old[0]["name"], int(old[1]["maxParallelism"]))
            check_key_types(job, operator_id, old[0], checkpoint)


def _check_key_groups(vertex: JobVertex, name: str, before: int) -> None:
    if before == vertex.max_parallelism:
        return
    if vertex.parallelism > before:
        raise StateMigrationError(
            f"{name} has parallelism {vertex.parallelism}, and its state is of maximum parallelism {before}",
            hint=f"start with a parallelism of at most {before}: key groups cannot be renumbered",
        )
    raise StateMigrationError(
        f"{name} had maximum parallelism {before} and has {vertex.max_parallelism} now",
        hint="set_max_parallelism to the old value: key groups cannot be renumbered",
    )


def check_key_types(job: JobGraph, operator_id: str, old: dict[str, Any], checkpoint: Checkpoint) -> None:
    """Check that keyed state of an operator is found with the declared key types of the program.

    Args:
        job: The program.
        operator_id: The operator in the program.
        old: Its information in the checkpoint. Older versions lack the types of keys; then nothing is checked.
        checkpoint: The checkpoint.

    Raises:
        StateMigrationError: If the types of keys differ, so that state would not be found.
    """
    before: list[dict[str, Any] | None] = old.get(KEY_TYPES) or []
    vertex, now = _declared_key_types(job, operator_id)
    for was, declared in zip(before, now, strict=False):
        if was is None or declared is None or not _has_keyed_state(checkpoint, operator_id):
            continue
        old_type = type_from_snapshot(was)
        if not keys_stay(old_type, declared):
            node = next(o.node for o in vertex.operators if o.operator_id == operator_id)
            raise StateMigrationError(
                f"the state of {node.name} ({node.user_location}) is stored by keys of type {old_type}, and key_by() declares {declared} "
                "now, so no state would be found",
                hint="declare the old key type again (integers may become wider); or give the operator another uid, so that it begins "
                "without state; or write its state by the new keys with the state processor",
            )


def _has_keyed_state(checkpoint: Checkpoint, operator_id: str) -> bool:
    states = (task.operators[operator_id].state for task in checkpoint.tasks.values() if operator_id in task.operators)
    return any(len(handle.files) > handle.meta.get("operator_files", 0) for handle in states if handle is not None)


def _declared_key_types(job: JobGraph, operator_id: str) -> tuple[JobVertex, list[Any]]:
    """Return the vertex of an operator and the declared types of its keys, input by input; none if it is not keyed."""
    vertex = next(v for v in job.vertices if any(o.operator_id == operator_id for o in v.operators))
    if vertex.operators[0].operator_id != operator_id:
        return vertex, []  # only heads of chains get records by key
    edges = sorted(job.in_edges(vertex.index), key=lambda edge: edge.input_index)
    return vertex, list({e.input_index: e.partitioner.key_type for e in edges if e.partitioner.kind == "hash"}.values())


def take_over_key_groups(job: JobGraph, checkpoint: Checkpoint, facts: dict[str, Any]) -> None:
    """Set the maximum parallelism of vertices where it is not set to that of their state, as Flink does.

    Without this a job started with a parallelism that implies more key groups could not start again with a low one, or the reverse.
    """
    there = {o["id"]: int(v["maxParallelism"]) for v in facts.get("vertices", ()) for o in v["operators"]}
    restored = operators_with_state(checkpoint) & there.keys() - reused_ids(job, facts)
    for vertex in job.vertices:
        before = {there[o.operator_id] for o in vertex.operators if o.operator_id in restored}
        if len(before) == 1 and vertex.fits(*before):
            (vertex.max_parallelism,) = before


def key_type_facts(declared: Iterable[Any]) -> dict[str, Any]:
    """Return the information on the declared key types of an operator, input by input; empty if none is declared."""
    types = [None if key_type is None else serializer_for(key_type).snapshot() for key_type in declared]
    return {KEY_TYPES: types} if any(types) else {}


def job_facts(job: JobGraph, job_id: str) -> dict[str, Any]:
    """Return the JSON-able information on a job for its checkpoints' metadata."""

    def of_operator(operator: ChainedOperator) -> dict[str, Any]:
        node = operator.node
        facts = {"id": operator.operator_id, "name": node.name, "uid": node.uid, "kind": node.operator.kind}
        return facts | key_type_facts(_declared_key_types(job, operator.operator_id)[1])

    return facts_of(job_id, job.job_name, job.vertices, of_operator)


def facts_of(job_id: str, name: str, vertices: Iterable[Any], of_operator: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    """Return the information on vertices, of any class with name, parallelism, maximum parallelism and operators."""
    return {
        "id": job_id,
        "name": name,
        "vertices": [
            {
                "name": vertex.name,
                "parallelism": vertex.parallelism,
                "maxParallelism": vertex.max_parallelism,
                "operators": [of_operator(operator) for operator in vertex.operators],
            }
            for vertex in vertices
        ],
    }

"""Internal. Committables of sinks by the checkpoint that they were prepared for, in snapshots and on their way to the committers.

A checkpoint is complete when its metadata is durable; commits come later and may take long. Until a commit is known to have succeeded,
its committables are part of every checkpoint, so that a restore from any of them commits them again, in the order of their checkpoints.
In a checkpoint they belong to the first subtask of their sink, in front of what that has prepared itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from wiesel.checkpoint.messages import TaskKey
from wiesel.checkpoint.snapshot import OperatorStateSnapshot, TaskSnapshot

__all__ = ["Committables", "Uncommitted", "committables_by_operator", "with_uncommitted", "without_handed_over"]

Committables: TypeAlias = dict[int, list[Any]]
"""Committables by checkpoint id, oldest first."""


@dataclass(frozen=True)
class Uncommitted:
    """The committables of one sink that are not known to be committed; ``task`` is its first subtask."""

    task: TaskKey
    committables: Committables


def _by_checkpoint(state: OperatorStateSnapshot, checkpoint_id: int) -> Committables:
    """Return the committables of a snapshot; those without an id of their own are of ``checkpoint_id``."""
    found: Committables = {}
    start = 0
    for prepared_for, count in state.committable_counts or ((checkpoint_id, len(state.committables)),):
        found.setdefault(prepared_for, []).extend(state.committables[start : start + count])
        start += count
    return found


def _with_committables(state: OperatorStateSnapshot, committables: Committables) -> OperatorStateSnapshot:
    in_order = [(checkpoint_id, values) for checkpoint_id, values in sorted(committables.items()) if values]
    counts = tuple((checkpoint_id, len(values)) for checkpoint_id, values in in_order)
    return replace(state, committables=[each for _, values in in_order for each in values], committable_counts=counts)


def committables_by_operator(tasks: Mapping[TaskKey, TaskSnapshot], checkpoint_id: int) -> dict[str, Committables]:
    """Return the committables of a checkpoint by operator id: oldest first, those of one checkpoint in the order of the subtasks."""
    found: dict[str, Committables] = {}
    for _, snapshot in sorted(tasks.items(), key=lambda task: task[0]):
        for operator_id, state in snapshot.operators.items():
            if state.committables:
                of_operator = found.setdefault(operator_id, {})
                for prepared_for, values in _by_checkpoint(state, checkpoint_id).items():
                    of_operator.setdefault(prepared_for, []).extend(values)
    return {operator_id: dict(sorted(committables.items())) for operator_id, committables in found.items()}


def without_handed_over(snapshot: TaskSnapshot, checkpoint_id: int, newest: int) -> TaskSnapshot:
    """Return the snapshot of a task for ``checkpoint_id`` without committables that checkpoints up to ``newest`` have handed over.

    A task drops them when it is notified of a checkpoint, which may be after the next barrier. The others are of this checkpoint, also
    if they were prepared for one that was given up.
    """
    operators = {}
    for operator_id, state in snapshot.operators.items():
        if state.committable_counts:
            kept = [each for n, values in _by_checkpoint(state, checkpoint_id).items() if n > newest for each in values]
            state = replace(state, committables=kept, committable_counts=())
        operators[operator_id] = state
    return replace(snapshot, operators=operators)


def with_uncommitted(
    tasks: Mapping[TaskKey, TaskSnapshot], checkpoint_id: int, uncommitted: Mapping[str, Uncommitted]
) -> dict[TaskKey, TaskSnapshot]:
    """Return the tasks of a checkpoint with what earlier ones have handed over and is not known to be committed."""
    result = dict(tasks)
    for operator_id, pending in uncommitted.items():
        snapshot = result[pending.task]
        state = snapshot.operators.get(operator_id, OperatorStateSnapshot())
        merged = {n: list(values) for n, values in pending.committables.items()}
        for prepared_for, values in _by_checkpoint(state, checkpoint_id).items():
            merged.setdefault(prepared_for, []).extend(values)
        result[pending.task] = replace(snapshot, operators={**snapshot.operators, operator_id: _with_committables(state, merged)})
    return result

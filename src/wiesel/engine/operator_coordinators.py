"""Internal. Operator coordinators: global decisions for all subtasks of some operators, within an attempt.

No threads, no clock: events of operators are processed, and events for operators are returned. Events sent by a coordinator carry the
latest epoch known to it, so that receivers process them after the barrier that their causes follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from wiesel.checkpoint.messages import EventFromOperator, EventToOperator, TaskKey, ToTask
from wiesel.engine.alignment_coordinator import AlignmentCoordinator
from wiesel.engine.loop_coordinator import LoopCoordinator
from wiesel.engine.round_coordinator import RoundCoordinator
from wiesel.graph.job_graph import ChainedOperator, JobGraph, JobVertex
from wiesel.graph.specs import ITERATION_HEAD, ITERATION_TAIL, StreamNode

__all__ = ["OperatorCoordinator", "OperatorEventRouter"]


class OperatorCoordinator(Protocol):
    """Coordinates some operators."""

    def on_event(self, role: str, subtask: int, event: Any) -> Iterable[tuple[str, int, Any]]:
        """Process an event of a subtask; return events for subtasks: (role, subtask, event)."""
        ...


@dataclass
class _Coordinated:
    coordinator: OperatorCoordinator
    places: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Role -> (vertex, operator id)."""
    epoch: int = 0


def _coordinator(head: StreamNode, parallelism: int) -> OperatorCoordinator:
    params, payload = head.operator.params, head.operator.payload
    if params.get("rounds"):
        return RoundCoordinator(
            parallelism,
            params["max_rounds"],
            payload["aggregator"],
            payload["converged"],
            head.user_location,
            tells_value=params.get("tells_value", False),
        )
    return LoopCoordinator(head.name, parallelism)


class OperatorEventRouter:
    """Routes events between operators and their coordinators; events for unregistered tasks wait.

    Args:
        job: The job.
        send: Sends a message to a task.
    """

    def __init__(self, job: JobGraph, send: Callable[[TaskKey, ToTask], None]) -> None:
        self._send = send
        self._roles: dict[str, tuple[_Coordinated, str]] = {}
        self._registered: set[TaskKey] = set()
        self._waiting: dict[TaskKey, list[ToTask]] = {}
        self._rounds: dict[str, RoundCoordinator] = {}
        self._aligned: dict[int, tuple[AlignmentCoordinator, str]] = {}
        loops: dict[int, _Coordinated] = {}
        groups: dict[str, tuple[AlignmentCoordinator, _Coordinated]] = {}
        for vertex in job.vertices:
            self._add_to_group(groups, vertex)
            for operator in vertex.operators:
                role = {ITERATION_HEAD: "head", ITERATION_TAIL: "tail"}.get(operator.node.operator.kind)
                if role is not None:
                    self._add_to_loop(loops, role, vertex, operator)

    def _add_to_group(self, groups: dict[str, tuple[AlignmentCoordinator, _Coordinated]], vertex: JobVertex) -> None:
        head = vertex.operators[0]
        strategy = head.node.operator.payload.get("watermark_strategy") if head.node.operator.kind == "source" else None
        if strategy is None or strategy.alignment is None:
            return
        name = strategy.alignment.group
        if name not in groups:
            coordinator = AlignmentCoordinator()
            groups[name] = coordinator, _Coordinated(coordinator)
        coordinator, group = groups[name]
        group.places[head.operator_id] = (vertex.index, head.operator_id)
        self._roles[head.operator_id] = (group, head.operator_id)
        self._aligned[vertex.index] = (coordinator, head.operator_id)

    def _add_to_loop(self, loops: dict[int, _Coordinated], role: str, vertex: JobVertex, operator: ChainedOperator) -> None:
        iteration = int(operator.node.operator.params["iteration"])
        loop = loops.get(iteration)
        if loop is None:  # heads register before their tails
            loop = loops[iteration] = _Coordinated(_coordinator(operator.node, vertex.parallelism))
            if isinstance(loop.coordinator, RoundCoordinator):
                self._name_rounds(str(operator.node.operator.params["name"]), loop.coordinator)
        loop.places[role] = (vertex.index, operator.operator_id)
        self._roles[operator.operator_id] = (loop, role)

    def _name_rounds(self, name: str, coordinator: RoundCoordinator) -> None:
        number, free = 1, name
        while free in self._rounds:
            number += 1
            free = f"{name} {number}"
        self._rounds[free] = coordinator

    def iterations(self) -> dict[str, list[dict[str, Any]]]:
        """Return information on the rounds of each iteration in rounds, by name."""
        return {
            name: [{"round": s.round, "records": s.records, "value": s.value} for s in coordinator.summaries]
            for name, coordinator in self._rounds.items()
        }

    def on_registered(self, task: TaskKey) -> None:
        """Send the waiting events of a registered task."""
        self._registered.add(task)
        if task[0] in self._aligned:
            coordinator, role = self._aligned[task[0]]
            coordinator.forget(role, task[1])
        for message in self._waiting.pop(task, ()):
            self._send(task, message)

    def on_event(self, message: EventFromOperator) -> None:
        """An operator has sent an event."""
        coordinated, role = self._roles[message.operator_id]
        coordinated.epoch = max(coordinated.epoch, message.epoch)
        for to, subtask, event in coordinated.coordinator.on_event(role, message.task[1], message.event):
            vertex, operator_id = coordinated.places[to]
            self._send_when_there((vertex, subtask), EventToOperator(operator_id, event, coordinated.epoch))

    def _send_when_there(self, task: TaskKey, message: ToTask) -> None:
        if task in self._registered:
            self._send(task, message)
        else:
            self._waiting.setdefault(task, []).append(message)

"""Internal. Detection of the states that an operator of a program accesses in ``open()``, without a task and without data."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from wiesel.core import code_pickling
from wiesel.core.clock import SystemClock
from wiesel.core.errors import WieselError
from wiesel.graph.job_graph import ChainedOperator, JobVertex
from wiesel.runtime.registry import make_operator
from wiesel.state.backend import KeyedTable, OperatorStateStore, SnapshotTask, StateBackend, StateFileReader, StateHandle, TimerQueue
from wiesel.state.hashmap import HashMapBackend
from wiesel.state.key_groups import key_group_range
from wiesel.state_processor._operator import NoOutput, operator_context

__all__ = ["Declared", "DeclaredState", "declared_by"]

_NOT_OPENED = ("source", "sink", "async_wait")
"""Kinds of operators that are not opened, as they start readers, writers or threads."""


@dataclass(frozen=True)
class DeclaredState:
    """A state as declared in the program."""

    kind: str
    serializer: Any = None
    ttl_ms: int | None = None
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Declared:
    """The declared states of an operator.

    Attributes:
        states: By name.
        opened: Whether the operator was opened; if not, its states are unknown.
        problem: Error of opening it; empty if there was none.
    """

    states: dict[str, DeclaredState]
    opened: bool
    problem: str = ""


def declared_by(operator: ChainedOperator, vertex: JobVertex) -> Declared:
    """Open an operator as in its task, and record its state accesses. It gets no state and no records."""
    spec = operator.node.operator
    if spec.kind in _NOT_OPENED:
        return Declared({}, False)
    with tempfile.TemporaryDirectory(prefix="wiesel-check-") as directory:
        backend = _NotingBackend(vertex, operator.operator_id, directory)
        context = operator_context(
            backend,
            SystemClock(),
            operator_id=operator.operator_id,
            name=operator.node.name,
            uid=operator.node.uid,
            max_parallelism=vertex.max_parallelism,
            parallelism=vertex.parallelism,
            location=operator.node.user_location,
        )
        try:
            # # As in a task, use a copy: the program's objects stay unchanged.
            opened = make_operator(spec.kind, spec.params, pickle.loads(code_pickling.dumps(spec.payload)))
            opened.setup(context, NoOutput())
            try:
                opened.open()
            finally:
                opened.close()
        except Exception as error:  # noqa: BLE001 - the user's code may raise anything; what it has asked for until then is known
            text = error.message if isinstance(error, WieselError) else f"{type(error).__name__}: {error}"
            return Declared(backend.noted, True, text)
        finally:
            backend.close()
    return Declared(backend.noted, True)


class _NotingBackend(StateBackend):
    """Backend that delegates to an empty backend and records the accesses."""

    def __init__(self, vertex: JobVertex, operator_id: str, directory: str) -> None:
        self.noted: dict[str, DeclaredState] = {}
        self._backend = HashMapBackend(
            operator_id=operator_id,
            subtask=0,
            parallelism=vertex.parallelism,
            key_group_range=key_group_range(0, vertex.max_parallelism, vertex.parallelism),
            local_dir=directory,
            clock=SystemClock(),
            options={},
        )
        self._operator_state = _NotingStore(self._backend.operator_state, self.noted)

    def table(
        self, name: str, *, serializer: Any = None, ttl: Any = None, kind: str = "value", aliases: Sequence[str] = ()
    ) -> KeyedTable:
        self.noted[name] = DeclaredState(kind, serializer, None if ttl is None else ttl.ttl_ms, tuple(aliases))
        return self._backend.table(name, serializer=serializer, ttl=ttl, kind=kind)

    def timers(self, name: str) -> TimerQueue:
        return self._backend.timers(name)

    @property
    def operator_state(self) -> OperatorStateStore:
        return self._operator_state

    def restore(self, handles: Iterable[StateHandle], reader: StateFileReader) -> None:
        self._backend.restore(handles, reader)

    def snapshot(self, checkpoint_id: int, *, full: bool = False) -> SnapshotTask:
        return self._backend.snapshot(checkpoint_id, full=full)

    def snapshot_failed(self, checkpoint_id: int) -> None:
        self._backend.snapshot_failed(checkpoint_id)

    def size_bytes(self) -> int:
        return self._backend.size_bytes()

    def close(self) -> None:
        self._backend.close()


class _NotingStore(OperatorStateStore):
    def __init__(self, store: OperatorStateStore, noted: dict[str, DeclaredState]) -> None:
        self._store = store
        self._noted = noted
        self._aliases: dict[str, tuple[str, ...]] = {}

    def _note(self, name: str, kind: str, serializer: Any) -> None:
        self._noted[name] = DeclaredState(kind, serializer, aliases=self._aliases.get(name, ()))

    def rename(self, old: str, new: str) -> None:
        self._aliases[new] = (*self._aliases.get(new, ()), old)

    def get_list(self, name: str, serializer: Any = None) -> list[Any]:
        self._note(name, "operator list", serializer)
        return self._store.get_list(name, serializer)

    def get_union_list(self, name: str, serializer: Any = None) -> list[Any]:
        self._note(name, "union list", serializer)
        return self._store.get_union_list(name, serializer)

    def get_broadcast(self, name: str, serializer: Any = None) -> dict[Any, Any]:
        self._note(name, "broadcast", serializer)
        return self._store.get_broadcast(name, serializer)

    def list_names(self) -> set[str]:
        return self._store.list_names()

    def broadcast_names(self) -> set[str]:
        return self._store.broadcast_names()

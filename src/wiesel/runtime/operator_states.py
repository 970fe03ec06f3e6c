"""Internal. The operator state store for functions, readers and writers of a subtask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wiesel.spi.state import OperatorStateStore
from wiesel.state.backend import StateBackend
from wiesel.state.operator_handles import make_broadcast_state, make_operator_list_state

if TYPE_CHECKING:
    from wiesel.spi.state import BroadcastState, ListState, ListStateDescriptor, MapStateDescriptor

__all__ = ["OperatorStates"]


class OperatorStates(OperatorStateStore):
    """Delegates to the operator state of a backend, which is created on first use."""

    def __init__(self, backend: StateBackend) -> None:
        self._backend = backend

    def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> BroadcastState[Any, Any]:
        return make_broadcast_state(state_descriptor, self._backend.operator_state)  # type: ignore[no-any-return]

    def get_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        return make_operator_list_state(state_descriptor, self._backend.operator_state)

    def get_union_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        return make_operator_list_state(state_descriptor, self._backend.operator_state, union=True)

    def get_registered_state_names(self) -> set[str]:
        return self._backend.operator_state.list_names()

    def get_registered_broadcast_state_names(self) -> set[str]:
        return self._backend.operator_state.broadcast_names()

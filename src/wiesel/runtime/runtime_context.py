"""Internal. Runtime contexts of user functions: information on the subtask, and access to state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wiesel.core.errors import ProgramError, StateAccessError
from wiesel.runtime.distributed_cache import DistributedCache
from wiesel.runtime.operator import OperatorContext
from wiesel.runtime.user_code import caller_location
from wiesel.spi.functions import KeyedStateStore, RuntimeContext
from wiesel.spi.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from wiesel.state.backend import VOID
from wiesel.state.handles import make_state
from wiesel.state.key_context import KeyContext

if TYPE_CHECKING:
    from wiesel.spi.state import AggregatingState, ListState, MapState, ReducingState, ValueState

__all__ = ["KeyedStates", "StreamingRuntimeContext"]


class KeyedStates(KeyedStateStore):
    """State handles of one operator, bound to its key context and, for windows, to a namespace."""

    def __init__(self, context: OperatorContext, key_context: KeyContext | None, namespace: Any = VOID) -> None:
        self._context = context
        self._key_context = key_context
        self._namespace = namespace

    def _make(self, descriptor: Any) -> Any:
        if self._key_context is None:
            raise StateAccessError(
                f"keyed state {descriptor.name!r} was accessed at {caller_location()}, but operator {self._context.name!r}"
                f"{f' (created at {self._context.user_location})' if self._context.user_location else ''} does not run on a keyed stream",
                hint="call key_by(...) before this operation; state belongs to a key",
                operator=self._context.name,
                location=caller_location(),
            )
        return make_state(descriptor, self._context.backend, self._key_context, namespace=self._namespace)

    def get_state(self, state_descriptor: ValueStateDescriptor) -> ValueState[Any]:
        return self._make(_checked(state_descriptor, ValueStateDescriptor))  # type: ignore[no-any-return]

    def get_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        return self._make(_checked(state_descriptor, ListStateDescriptor))  # type: ignore[no-any-return]

    def get_map_state(self, state_descriptor: MapStateDescriptor) -> MapState[Any, Any]:
        return self._make(_checked(state_descriptor, MapStateDescriptor))  # type: ignore[no-any-return]

    def get_reducing_state(self, state_descriptor: ReducingStateDescriptor) -> ReducingState[Any]:
        return self._make(_checked(state_descriptor, ReducingStateDescriptor))  # type: ignore[no-any-return]

    def get_aggregating_state(self, state_descriptor: AggregatingStateDescriptor) -> AggregatingState[Any, Any]:
        return self._make(_checked(state_descriptor, AggregatingStateDescriptor))  # type: ignore[no-any-return]


def _checked(descriptor: Any, kind: type) -> Any:
    if isinstance(descriptor, kind):
        return descriptor
    raise ProgramError(
        f"a {kind.__name__} is needed, got {descriptor!r:.100} (a {type(descriptor).__name__})",
        hint="each kind of state has its method: get_state, get_list_state, get_map_state, get_reducing_state, get_aggregating_state",
    )


class StreamingRuntimeContext(KeyedStates, RuntimeContext):
    """The runtime context of streaming operators; without a key context access to keyed state is rejected."""

    def __init__(self, context: OperatorContext, key_context: KeyContext | None = None) -> None:
        super().__init__(context, key_context)

    def get_task_name(self) -> str:
        return self._context.task_name

    def get_number_of_parallel_subtasks(self) -> int:
        return self._context.parallelism

    def get_max_number_of_parallel_subtasks(self) -> int:
        return self._context.max_parallelism

    def get_index_of_this_subtask(self) -> int:
        return self._context.subtask_index

    def get_attempt_number(self) -> int:
        return self._context.restarts

    def get_task_name_with_subtasks(self) -> str:
        return f"{self._context.task_name} ({self._context.subtask_index + 1}/{self._context.parallelism})#{self._context.restarts}"

    def get_job_parameter(self, key: str, default_value: str) -> str:
        return self._context.job_parameters.get(key, default_value)

    def get_metrics_group(self) -> Any:
        return self._context.metrics

    def get_distributed_cache(self) -> DistributedCache:
        return DistributedCache()

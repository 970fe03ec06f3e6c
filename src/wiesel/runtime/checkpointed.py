"""Internal. Checkpointing of user functions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wiesel.runtime.operator import OperatorContext
from wiesel.runtime.operator_states import OperatorStates
from wiesel.runtime.user_code import UserCode
from wiesel.spi.checkpointed import CheckpointedFunction, FunctionInitializationContext, FunctionSnapshotContext
from wiesel.spi.functions import KeyedStateStore
from wiesel.spi.state import OperatorStateStore

__all__ = ["CheckpointedFunctions"]


class _InitializationContext(FunctionInitializationContext):
    def __init__(self, context: OperatorContext, keyed_states: KeyedStateStore) -> None:
        self._restored = context.restored_checkpoint_id
        self._operator_states = OperatorStates(context.backend)
        self._keyed_states = keyed_states

    def is_restored(self) -> bool:
        return self._restored > 0

    def get_restored_checkpoint_id(self) -> int | None:
        return self._restored or None

    def get_operator_state_store(self) -> OperatorStateStore:
        return self._operator_states

    def get_keyed_state_store(self) -> KeyedStateStore:
        return self._keyed_states


class _SnapshotContext(FunctionSnapshotContext):
    def __init__(self, checkpoint_id: int, timestamp_ms: int) -> None:
        self._checkpoint_id = checkpoint_id
        self._timestamp_ms = timestamp_ms

    def get_checkpoint_id(self) -> int:
        return self._checkpoint_id

    def get_checkpoint_timestamp(self) -> int:
        return self._timestamp_ms


class CheckpointedFunctions:
    """The checkpointed functions of an operator."""

    def __init__(self, functions: Iterable[Any], context: OperatorContext, keyed_states: KeyedStateStore, guard: UserCode) -> None:
        self._functions = [function for function in functions if isinstance(function, CheckpointedFunction)]
        self._context = context
        self._keyed_states = keyed_states
        self._guard = guard

    def initialize(self) -> None:
        """Call ``initialize_state`` of the functions, before they are opened.

        Raises:
            UserFunctionError: If one raises.
        """
        for function in self._functions:
            context = _InitializationContext(self._context, self._keyed_states)
            self._call(function.initialize_state, context)

    def snapshot(self, checkpoint_id: int, timestamp_ms: int) -> None:
        """Call ``snapshot_state`` of the functions, before the backend's snapshot.

        Raises:
            UserFunctionError: If one raises.
        """
        for function in self._functions:
            self._call(function.snapshot_state, _SnapshotContext(checkpoint_id, timestamp_ms))

    def _call(self, method: Any, context: Any) -> None:
        self._guard.lifecycle(lambda: method(context), f"{type(method.__self__).__name__}.{method.__name__}")

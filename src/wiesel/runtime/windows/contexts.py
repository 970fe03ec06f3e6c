"""Internal. Contexts of triggers and window assigners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wiesel.runtime.operator import OperatorContext
from wiesel.runtime.runtime_context import StreamingRuntimeContext
from wiesel.runtime.timer_service import InternalTimerService
from wiesel.runtime.windows.states import WindowStates
from wiesel.spi.functions import RuntimeContext
from wiesel.spi.windows.assigner import WindowAssigner
from wiesel.spi.windows.trigger import Trigger
from wiesel.state.key_context import KeyContext

__all__ = ["AssignerContext", "CachingRuntimeContext", "WindowTriggerContext"]


class CachingRuntimeContext(StreamingRuntimeContext):
    """A runtime context for functions without ``open``, which access their state descriptors with every record."""

    def __init__(self, context: OperatorContext, key_context: KeyContext) -> None:
        super().__init__(context, key_context)
        self._handles: dict[tuple[str, str], Any] = {}

    def _make(self, descriptor: Any) -> Any:
        handle = self._handles.get((descriptor.name, descriptor.kind))
        if handle is None:
            handle = self._handles[descriptor.name, descriptor.kind] = super()._make(descriptor)
        return handle


class AssignerContext(WindowAssigner.WindowAssignerContext):
    """The assigner's context; the current key is set by the operator."""

    def __init__(self, runtime_context: RuntimeContext, now_ms: Callable[[], int]) -> None:
        self._runtime_context = runtime_context
        self._now_ms = now_ms

    def get_current_processing_time(self) -> int:
        return self._now_ms()

    def get_runtime_context(self) -> RuntimeContext:
        return self._runtime_context


class WindowTriggerContext(Trigger.OnMergeContext):
    """The trigger's context; the operator sets ``namespace`` (the window) before each call, and ``merged`` before ``on_merge``."""

    def __init__(self, context: OperatorContext, key_context: KeyContext, timers: InternalTimerService) -> None:
        self._context = context
        self._timers = timers
        self._states = WindowStates(context, key_context)
        self.namespace: Any = None
        self.merged: list[Any] = []

    def get_current_processing_time(self) -> int:
        return self._timers.current_processing_time()

    def get_metric_group(self) -> Any:
        return self._context.metrics

    def get_current_watermark(self) -> int:
        return self._timers.current_watermark

    def register_processing_time_timer(self, time: int) -> None:
        self._timers.register_processing_time_timer(time, self.namespace)

    def register_event_time_timer(self, time: int) -> None:
        self._timers.register_event_time_timer(time, self.namespace)

    def delete_processing_time_timer(self, time: int) -> None:
        self._timers.delete_processing_time_timer(time, self.namespace)

    def delete_event_time_timer(self, time: int) -> None:
        self._timers.delete_event_time_timer(time, self.namespace)

    def get_partitioned_state(self, state_descriptor: Any) -> Any:
        self._states.namespace = self.namespace
        return self._states.get(state_descriptor)

    def merge_partitioned_state(self, state_descriptor: Any) -> None:
        self._states.namespace = self.namespace
        self._states.merge(state_descriptor, self.merged)

"""Internal. Base of the operators that run a user's function."""

from __future__ import annotations

from typing import Any

from wiesel.core.durations import to_millis
from wiesel.runtime.checkpointed import CheckpointedFunctions
from wiesel.runtime.operator import OperatorContext, OperatorSnapshot, StreamOperator
from wiesel.runtime.results import ResultCollector
from wiesel.runtime.runtime_context import StreamingRuntimeContext
from wiesel.runtime.user_code import UserCode
from wiesel.state.key_context import KeyContext

__all__ = ["FunctionOperator", "auto_watermark_interval_ms", "is_batch", "object_reuse"]


def object_reuse(context: OperatorContext) -> bool:
    """Return whether the user guarantees that functions do not change emitted objects."""
    return str(context.config.get("pipeline.object-reuse", False)).lower() == "true"


def is_batch(context: OperatorContext) -> bool:
    """Return whether the job runs in BATCH mode."""
    return str(context.config.get("execution.runtime-mode", "STREAMING")).upper() == "BATCH"


def auto_watermark_interval_ms(context: OperatorContext) -> int:
    """Return the time between two periodic watermarks, in ms; 0 for none."""
    return to_millis(context.config.get("pipeline.auto-watermark-interval", 200))


class FunctionOperator(StreamOperator):
    """Opens and closes a user's function, guards its calls and collects its results.

    ``key_context`` is None for operators on streams that are not keyed: there the function gets no keyed state.
    """

    key_context: KeyContext | None = None

    def __init__(self, function: Any, output_type: Any = None) -> None:
        self.function = function
        self.output_type = output_type
        self._open_called = False

    def open(self) -> None:
        """Restore the operator state of the function, then open it."""
        self.guard = UserCode(self.context, self.output)
        self.collector = ResultCollector(self.output, self.guard, self.output_type)
        self._open_called = True
        runtime_context = StreamingRuntimeContext(self.context, self.key_context)
        self._checkpointed = CheckpointedFunctions([self.function], self.context, runtime_context, self.guard)
        self._checkpointed.initialize()
        self.guard.open(self.function, runtime_context)

    def snapshot_state(self, checkpoint_id: int, timestamp_ms: int = 0) -> OperatorSnapshot | None:
        """Update the operator state of the function."""
        self._checkpointed.snapshot(checkpoint_id, timestamp_ms)
        return None

    def close(self) -> None:
        """Close the function, unless it was never opened."""
        if self._open_called:
            self.guard.close(self.function)

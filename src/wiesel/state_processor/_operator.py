"""Internal. User functions outside of a job: the context of an operator, and its output."""

from __future__ import annotations

from typing import Any

from wiesel.core.clock import Clock
from wiesel.core.metrics import MetricRegistry
from wiesel.runtime.operator import OperatorContext
from wiesel.state.backend import StateBackend
from wiesel.wire.batch import Batch
from wiesel.wire.events import IterationBarrier

__all__ = ["NoOutput", "operator_context"]


class NoOutput:
    """Drops all results: only the state counts."""

    def emit(self, batch: Batch) -> None:
        """Drop the records."""

    def emit_side(self, tag: str, batch: Batch) -> None:
        """Drop the records."""

    def emit_watermark(self, timestamp: int) -> None:
        """Drop it."""

    def emit_status(self, idle: bool) -> None:
        """Drop it."""

    def emit_iteration_barrier(self, barrier: IterationBarrier) -> None:
        """Drop it."""


def operator_context(
    backend: StateBackend,
    clock: Clock,
    *,
    operator_id: str,
    name: str,
    uid: str | None,
    max_parallelism: int,
    subtask: int = 0,
    parallelism: int = 1,
    location: str = "",
) -> OperatorContext:
    """Return the context of an operator outside of a task."""
    config: dict[str, Any] = {"pipeline.object-reuse": True}
    return OperatorContext(
        operator_id=operator_id,
        name=name,
        uid=uid,
        subtask_index=subtask,
        parallelism=parallelism,
        max_parallelism=max_parallelism,
        attempt=1,
        job_id="state-processor",
        job_name="state processor",
        task_name=name,
        clock=clock,
        backend=backend,
        metrics=MetricRegistry(clock).group(),
        job_parameters={},
        config=config,
        register_processing_timer=lambda at_ms: None,
        user_location=location,
    )

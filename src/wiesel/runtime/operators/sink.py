"""Internal. The sink operator: passes batches to a writer and its committables to the checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wiesel.runtime.operator import OperatorSnapshot, StreamOperator
from wiesel.runtime.operator_states import OperatorStates
from wiesel.spi.sink import Sink, SinkWriter, WriterInitContext
from wiesel.types.typeinfo import TypeInformation
from wiesel.wire.batch import Batch

_TICK_MS = 100


class SinkOperator(StreamOperator):
    """Tail of a chain.

    Retry semantics: ``flush`` and ``prepare_commit`` may run for a checkpoint that is never completed. If the attempt fails, their
    committables are dropped with it, and the writer of the next attempt starts from the state of the last complete checkpoint. If the
    attempt continues, they are included in the next checkpoint, until one with them is complete.
    """

    holds_records = True

    def __init__(self, sink: Sink, input_type: TypeInformation | None = None) -> None:
        self.sink = sink
        self._input_type = input_type
        self._handed_out: list[tuple[int, list[Any]]] = []
        self._writer_states: tuple[Any, ...] = ()
        self._to_driver: Callable[[str, Any], None] | None = None
        self._finished = False

    def bind(self, to_driver: Callable[[str, Any], None], writer_states: tuple[Any, ...]) -> None:
        """Set the services of the task for the writer. Called between ``setup`` and ``open``."""
        self._to_driver = to_driver
        self._writer_states = writer_states

    def open(self) -> None:
        """Create the writer."""
        c = self.context
        context = WriterInitContext(
            job_id=c.job_id,
            operator_id=c.operator_id,
            subtask_index=c.subtask_index,
            parallelism=c.parallelism,
            attempt=c.attempt,
            restored_checkpoint_id=c.restored_checkpoint_id,
            to_driver=self._to_driver,
            input_type=self._input_type,
            now_ms=c.clock.now_ms,
            start_event_loop=c.start_event_loop,
            operator_states=OperatorStates(c.backend),
        )
        self.writer: SinkWriter = self.sink.create_writer(context, self._writer_states)
        self._schedule()

    def _schedule(self) -> None:
        self.context.register_processing_timer(self.context.clock.now_ms() + _TICK_MS)

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Write the records."""
        self.writer.write_batch(batch.values, batch.timestamps)

    def process_watermark(self, timestamp: int) -> None:
        """Pass the watermark to the writer."""
        self.writer.write_watermark(timestamp)

    def on_processing_time(self, now_ms: int) -> None:
        """Let the writer roll by time."""
        if not self._finished:
            self.writer.on_processing_time(now_ms)
            self._schedule()

    @property
    def full(self) -> bool:
        """Return whether the writer takes no more records for now."""
        writer = getattr(self, "writer", None)
        return writer is not None and writer.full

    @property
    def busy(self) -> bool:
        """Return whether the writer waits for results."""
        return self.writer.busy

    def finish(self) -> None:
        """Flush for the last time, maybe in several steps; the final snapshot includes the committables."""
        self.writer.flush(True)
        self._finished = not self.writer.busy

    def snapshot_state(self, checkpoint_id: int, timestamp_ms: int = 0) -> OperatorSnapshot | None:
        """Step 1 of the two-phase commit: flush, and hand the committables to the acknowledgement."""
        if not self._finished:
            self.writer.flush(False)
        prepared = self.writer.prepare_commit()
        if prepared:
            self._handed_out.append((checkpoint_id, prepared))
        committables = [c for _, earlier in self._handed_out for c in earlier]
        counts = tuple((n, len(earlier)) for n, earlier in self._handed_out)
        state = self.writer.snapshot_state(checkpoint_id)
        return OperatorSnapshot(committables=committables, writer_state=state, committable_counts=counts)

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Drop committables up to this checkpoint, which the JobMaster commits."""
        self._handed_out = [(n, prepared) for n, prepared in self._handed_out if n > checkpoint_id]

    def close(self) -> None:
        """Close the writer."""
        writer = getattr(self, "writer", None)
        if writer is not None:
            writer.close()


def sink_operator(params: dict[str, Any], payload: Any) -> SinkOperator:
    """Create the operator of a sink node."""
    return SinkOperator(payload["sink"], payload.get("input_type"))

"""Internal. Head and tail of a streaming iteration.

The head forwards the records of its input and the feedback; the tail receives the feedback. Between them is the feedback edge
(``wiesel.runtime.feedback``), which is no channel: only the head's input waits for it, and neither watermarks nor barriers pass it. When
the input has ended the head stays until the loop is empty, as determined by its coordinator, or until no feedback has arrived for the
configured time.
"""

from __future__ import annotations

from typing import Any

from wiesel.graph.specs import FEEDBACK_TAG
from wiesel.runtime.feedback.messages import (
    BarrierArrived,
    BarrierSent,
    Entry,
    Feedback,
    FeedbackTaken,
    HeadEnded,
    InputEnded,
    InputPaused,
    LoopEmpty,
    LoopFlushed,
    SendBarrier,
    TailEnded,
)
from wiesel.runtime.feedback.receiver import FeedbackReceiver
from wiesel.runtime.feedback.records import decoded, events_of
from wiesel.runtime.feedback.sender import FeedbackSender
from wiesel.runtime.operator import OperatorSnapshot, StreamOperator
from wiesel.runtime.operators.rounds import RoundHead, RoundTail
from wiesel.wire.batch import Batch
from wiesel.wire.buffers import encode_batch
from wiesel.wire.events import IterationBarrier

__all__ = ["IterationHead", "IterationTail"]


class IterationHead(StreamOperator):
    """Entry of a loop, for input and feedback.

    Args:
        iteration: Node id of the head.
        max_wait_ms: Timeout for feedback after the end of the input; 0 to determine when there can be no more.
        connected: Emit feedback to a side output instead of mixing it with the input.
    """

    holds_records = True

    def __init__(self, iteration: int, max_wait_ms: int, connected: bool) -> None:
        self._iteration = iteration
        self._max_wait_ms = max_wait_ms
        self._connected = connected
        self._input_ended = False
        self._over = False
        self._give_up_ms = 0
        self._barrier: SendBarrier | None = None
        self._outer: list[IterationBarrier] = []
        self._flushing = 0

    def open(self) -> None:
        """Restore the processed entries."""
        self._send = events_of(self.context)
        self._feedback = FeedbackReceiver(self.context, self._send)
        self._feedback.restore()
        self._records = self.context.metrics.counter("numFeedbackRecordsIn")

    @property
    def full(self) -> bool:
        """True if so much feedback is pending that the input has to wait."""
        return self._feedback.waiting > 0 and not self._input_ended

    @property
    def busy(self) -> bool:
        """True if more feedback is possible."""
        return not self._over

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Emit records into the loop."""
        self.output.emit(Batch(batch.values, batch.timestamps))

    def process_iteration_barrier(self, barrier: IterationBarrier) -> None:
        """Forward a barrier of an outer loop, after the results in this loop of the records before it."""
        self._outer.append(barrier)
        self._flush()

    def _flush(self) -> None:
        if self._outer and not self._flushing:
            self._flushing = len(self._outer)
            self._send(InputPaused())

    def on_event(self, event: Any) -> None:
        """Process feedback, or an event of the coordinator."""
        if isinstance(event, Feedback):
            self._feedback.on_feedback(event, self._emit)
            self._wait_anew()
            self._send_barrier()
        elif isinstance(event, SendBarrier):
            self._barrier = event
            self._send_barrier()
        elif isinstance(event, LoopFlushed):
            self._emit_outer()
        elif isinstance(event, LoopEmpty):
            self._end()

    def _emit_outer(self) -> None:
        flushed, self._outer = self._outer[: self._flushing], self._outer[self._flushing :]
        self._flushing = 0
        for barrier in flushed:
            self.output.emit_iteration_barrier(barrier)
        self._flush()

    def _emit(self, entries: list[Entry]) -> None:
        if not entries:
            return
        batch = decoded(entries)
        self._records.inc(len(batch.values))
        if self._connected:
            self.output.emit_side(FEEDBACK_TAG, batch)
        else:
            self.output.emit(batch)

    def _send_barrier(self) -> None:
        barrier = self._barrier
        if barrier is not None and self._feedback.taken >= barrier.after:
            self._barrier = None
            self.output.emit_iteration_barrier(IterationBarrier(self._iteration, barrier.round))
            self._send(BarrierSent(barrier.round, self._feedback.taken))

    def finish(self) -> None:
        """Report the end of the input; called again until the loop has ended, too."""
        if self._input_ended:
            return
        self._input_ended = True
        if self._max_wait_ms > 0:
            self._wait_anew()
        else:
            self._send(InputEnded())

    def _wait_anew(self) -> None:
        if self._input_ended and self._max_wait_ms > 0:
            self._give_up_ms = self.context.clock.now_ms() + self._max_wait_ms
            self.context.register_processing_timer(self._give_up_ms)

    def on_processing_time(self, now_ms: int) -> None:
        """End the loop, as no feedback has arrived within the timeout."""
        if self._input_ended and self._max_wait_ms > 0 and now_ms >= self._give_up_ms:
            self._end()

    def _end(self) -> None:
        if not self._over:
            self._over = True
            self._send(HeadEnded(self._feedback.taken))

    def snapshot_state(self, checkpoint_id: int, timestamp_ms: int = 0) -> OperatorSnapshot | None:
        """Store the processed entries."""
        self._feedback.snapshot()
        return None


class IterationTail(StreamOperator):
    """Exit of a loop to its head.

    Args:
        iteration: Node id of the head.
    """

    def __init__(self, iteration: int) -> None:
        self._iteration = iteration

    def open(self) -> None:
        """Send the entries in flight at the checkpoint."""
        self._send = events_of(self.context)
        self._feedback = FeedbackSender(self.context, self._send)
        metrics = self.context.metrics
        self._records = metrics.counter("numFeedbackRecordsOut")
        metrics.gauge("feedbackBytes", lambda: self._feedback.kept_bytes)
        metrics.gauge("feedbackBytesOnDisk", lambda: self._feedback.bytes_on_disk)
        self._feedback.restore()
        self._feedback.send()

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Send records back within the credit."""
        self._records.inc(len(batch.values))
        self._feedback.add(Entry(encode_batch(Batch(batch.values, batch.timestamps))))
        self._feedback.send()

    def on_event(self, event: Any) -> None:
        """Update the credit, as the head has processed entries."""
        if isinstance(event, FeedbackTaken):
            self._feedback.on_taken(event)
            self._feedback.send()

    def process_watermark(self, timestamp: int) -> None:
        """Watermarks do not pass the feedback edge."""

    def process_status(self, idle: bool) -> None:
        """Neither does idleness."""

    def process_iteration_barrier(self, barrier: IterationBarrier) -> None:
        """Report to the coordinator how many entries have arrived before the barrier."""
        if barrier.iteration == self._iteration:
            self._send(BarrierArrived(barrier.round, self._feedback.entries))

    def finish(self) -> None:
        """Report the end, so that the coordinator can check whether the head has received all entries."""
        self._send(TailEnded(self._feedback.entries))

    def snapshot_state(self, checkpoint_id: int, timestamp_ms: int = 0) -> OperatorSnapshot | None:
        """Store the entries in flight."""
        self._feedback.snapshot()
        return None

    def close(self) -> None:
        """Release the stored entries."""
        if hasattr(self, "_feedback"):
            self._feedback.close()


def head_operator(params: dict[str, Any], payload: Any) -> StreamOperator:
    """Create the operator of a head."""
    if params.get("rounds"):
        return RoundHead()
    return IterationHead(params["iteration"], params["max_wait_ms"], params["connected"])


def tail_operator(params: dict[str, Any], payload: Any) -> StreamOperator:
    """Create the operator of a tail."""
    if params.get("rounds"):
        return RoundTail(payload["aggregator"], params["emits_result"], params.get("roles", ("records", "criterion")))
    return IterationTail(params["iteration"])

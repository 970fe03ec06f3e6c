"""Internal. Drives one operator in one subtask as a task does: the same calls in the same order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wiesel.checkpoint.snapshot import OperatorStateSnapshot
from wiesel.core.clock import ManualClock
from wiesel.core.ids import MAX_TIMESTAMP
from wiesel.runtime.operator import OperatorContext, Output, StreamOperator
from wiesel.runtime.snapshotting import PendingSnapshot
from wiesel.state.backend import StateFileReader, StateFileWriter, StateHandle
from wiesel.wire.batch import Batch

__all__ = ["OperatorDriver", "run_clock"]


class OperatorDriver:
    """An operator that is set up, and what it has asked of its task.

    Args:
        operator: The operator, as its factory made it.
        context: What the task gives to it; processing timers are taken by the driver.
        output: Where its results go.
    """

    def __init__(self, operator: StreamOperator, context: OperatorContext, output: Output) -> None:
        self.operator = operator
        self.context = context
        self.asked_times: list[int] = []
        context.register_processing_timer = self.asked_times.append
        operator.setup(context, output)

    def restore(self, handles: Iterable[StateHandle], files: StateFileReader) -> None:
        """Give the operator its state back; before ``open``."""
        self.context.backend.restore(handles, files)

    def open(self) -> None:
        """Open the operator."""
        self.operator.open()

    def process(self, batch: Batch, input_index: int = 0) -> None:
        """Hand in a batch."""
        self.operator.process_batch(batch, input_index)

    def watermark(self, timestamp: int) -> None:
        """Advance event time."""
        self.operator.process_watermark(timestamp)

    def status(self, idle: bool) -> None:
        """Tell the operator that all its inputs are idle, or that one is active again."""
        self.operator.process_status(idle)

    def next_time(self) -> int | None:
        """Return the earliest processing time that the operator has asked for, or None."""
        return min(self.asked_times, default=None)

    def on_time(self, now_ms: int) -> None:
        """Call the operator if it has asked for this time or an earlier one."""
        if any(t <= now_ms for t in self.asked_times):
            self.asked_times[:] = [t for t in self.asked_times if t > now_ms]
            self.operator.on_processing_time(now_ms)

    def end_input(self, inputs: Iterable[int] = (0,)) -> None:
        """End all inputs, which were bounded: the last watermark, the end of each, finish."""
        self.watermark(MAX_TIMESTAMP)
        for index in inputs:
            self.operator.end_input(index)
        self.operator.finish()

    def snapshot(self, checkpoint_id: int, files: StateFileWriter, *, full: bool = False) -> OperatorStateSnapshot:
        """Take a snapshot, which is complete at once; the operator goes on."""
        operator_id = self.context.operator_id
        pending = PendingSnapshot(self.context.clock)
        taken = self.operator.snapshot_state(checkpoint_id, self.context.clock.now_ms())
        pending.add(operator_id, taken, self.context.backend.snapshot(checkpoint_id, full=full))
        snapshot = pending.write(files).operators[operator_id]
        self.operator.notify_checkpoint_complete(checkpoint_id)
        return snapshot

    def close(self) -> None:
        """Close the operator and its backend."""
        try:
            self.operator.close()
        finally:
            self.context.backend.close()


def run_clock(clock: ManualClock, drivers: Sequence[OperatorDriver], until_ms: int) -> None:
    """Move the clock to each time for which an operator has asked, in order, and at last to ``until_ms``."""
    while (due := min((t for d in drivers if (t := d.next_time()) is not None), default=until_ms + 1)) <= until_ms:
        clock.set(max(due, clock.now_ms()))
        for driver in drivers:
            driver.on_time(clock.now_ms())
    clock.set(until_ms)

"""Internal. Driver of one operator in one subtask, with the same calls in the same order as in a task."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from wiesel.checkpoint.snapshot import OperatorStateSnapshot
from wiesel.core.clock import ManualClock
from wiesel.core.errors import JobExecutionError
from wiesel.core.ids import MAX_TIMESTAMP
from wiesel.engine.local.event_loop import SteppedEventLoop
from wiesel.runtime.operator import OperatorContext, Output, StreamOperator
from wiesel.runtime.snapshotting import PendingSnapshot
from wiesel.state.backend import StateFileReader, StateFileWriter, StateHandle
from wiesel.wire.batch import Batch

__all__ = ["OperatorDriver", "finish_all", "run_clock"]

_MOST_ROUNDS = 100_000


class OperatorDriver:
    """An operator with its setup, and its requests to the task.

    Args:
        operator: The operator, as created by its factory.
        context: Its context; processing timers are handled by the driver.
        output: Its output.
    """

    def __init__(self, operator: StreamOperator, context: OperatorContext, output: Output) -> None:
        self.operator = operator
        self.context = context
        self.asked_times: list[int] = []
        self._loops: list[SteppedEventLoop] = []
        self._calls: list[Callable[[], None]] = []
        context.register_processing_timer = self.asked_times.append
        context.start_event_loop = self._start_event_loop
        operator.setup(context, output)

    def _start_event_loop(self, on_results: Callable[[], None]) -> SteppedEventLoop:
        loop = SteppedEventLoop(self.context.clock.now_ms, on_results, self._calls.append)
        self._loops.append(loop)
        return loop

    def _settle(self) -> None:
        """Let asynchronous requests proceed as far as possible without time passing, and the operator process their results."""
        for _ in range(_MOST_ROUNDS):
            ready = [loop for loop in self._loops if loop.ready]
            if not ready and not self._calls:
                return
            for loop in ready:
                loop.step()
            calls, self._calls[:] = self._calls[:], []
            for call in calls:
                call()
        raise JobExecutionError(f"the asynchronous requests have not come to rest after {_MOST_ROUNDS} rounds of their event loop")

    def restore(self, handles: Iterable[StateHandle], files: StateFileReader) -> None:
        """Restore the operator's state; before ``open``."""
        self.context.backend.restore(handles, files)

    def open(self) -> None:
        """Open the operator."""
        self.operator.open()
        self._settle()

    def process(self, batch: Batch, input_index: int = 0) -> None:
        """Hand in a batch."""
        self.operator.process_batch(batch, input_index)
        self._settle()

    def watermark(self, timestamp: int) -> None:
        """Advance event time."""
        self.operator.context.watermark = timestamp
        self.operator.process_watermark(timestamp)

    def status(self, idle: bool) -> None:
        """Notify the operator that all its inputs are idle, or that one is active again."""
        self.operator.process_status(idle)

    def next_time(self) -> int | None:
        """Return the earliest processing time of a timer or a waiting request, or None."""
        return min([*self.asked_times, *(due for loop in self._loops if (due := loop.next_deadline_ms()) is not None)], default=None)

    def on_time(self, now_ms: int) -> None:
        """Call the operator if it has a timer for this time or earlier."""
        if any(t <= now_ms for t in self.asked_times):
            self.asked_times[:] = [t for t in self.asked_times if t > now_ms]
            self.operator.on_processing_time(now_ms)
        self._settle()

    def end_input(self, inputs: Iterable[int] = (0,)) -> None:
        """End all inputs, as bounded ones: the final watermark, the end of each, finish."""
        self.watermark(MAX_TIMESTAMP)
        for index in inputs:
            self.operator.end_input(index)
        self.finish()

    def finish(self) -> None:
        """Let the operator emit its remaining results."""
        self.operator.finish()
        self._settle()

    def snapshot(self, checkpoint_id: int, files: StateFileWriter, *, full: bool = False) -> OperatorStateSnapshot:
        """Take a snapshot, which completes immediately; the operator continues."""
        operator_id = self.context.operator_id
        pending = PendingSnapshot(self.context.clock)
        self.operator.prepare_snapshot(checkpoint_id)
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
    """Advance the clock to each timer of the operators, in order, and finally to ``until_ms``."""
    while (due := min((t for d in drivers if (t := d.next_time()) is not None), default=until_ms + 1)) <= until_ms:
        clock.set(max(due, clock.now_ms()))
        for driver in drivers:
            driver.on_time(clock.now_ms())
    clock.set(until_ms)


def finish_all(clock: ManualClock, drivers: Sequence[OperatorDriver]) -> None:
    """Finish operators; time passes until asynchronous requests are answered.

    Raises:
        JobExecutionError: If a request waits for an external event.
    """
    for driver in drivers:
        driver.finish()
    while any(driver.operator.busy for driver in drivers):
        due = min((t for d in drivers if (t := d.next_time()) is not None), default=None)
        if due is None:
            raise JobExecutionError(
                "an asynchronous request waits for something outside of the harness",
                hint="run functions that connect to servers, or use threads, in a pipeline: local_environment() and execute()",
            )
        run_clock(clock, drivers, max(due, clock.now_ms()))

"""Internal. The operator contract.

An operator is driven by one thread, per batch. Order of calls: ``setup`` (by the chain), ``open`` (state is restored before it),
then any interleaving of ``process_batch``, ``process_watermark``, ``on_processing_time``, ``prepare_snapshot`` with ``snapshot_state``
behind it, and ``notify_checkpoint_complete``; ``end_input`` when an input ends, ``finish`` when all have; ``close`` always, also after a
failure.
An operator emits its results through ``self.output`` before the call returns: only state may remain inside. One that ``holds_records`` may
retain records, which are in its snapshots: it reports when it is ``full``, so that the task takes no input, and as long as it is ``busy``
after ``finish``, the end waits (and ``finish`` is called again). One that ``has_more`` after ``finish`` emits its results in parts, so that
they can be sent in between: ``finish`` is called again soon.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from wiesel.core.ids import MIN_TIMESTAMP
from wiesel.wire.batch import Batch

if TYPE_CHECKING:
    from wiesel.core.clock import Clock
    from wiesel.core.metrics import MetricGroup
    from wiesel.runtime.event_loop import StartEventLoop
    from wiesel.spi.source import FetcherThread
    from wiesel.state.backend import StateBackend
    from wiesel.wire.events import IterationBarrier


class Output(Protocol):
    """Receiver of an operator's results: the next operator of the chain, or the channels of the task."""

    def emit(self, batch: Batch) -> None:
        """Hand on records; empty batches are allowed."""
        ...

    def emit_side(self, tag: str, batch: Batch) -> None:
        """Emit records to the side output ``tag``; dropped without consumers."""
        ...

    def emit_watermark(self, timestamp: int) -> None:
        """Hand on a watermark (ms), to main and side outputs."""
        ...

    def emit_status(self, idle: bool) -> None:
        """Hand on a change between active and idle."""
        ...

    def emit_iteration_barrier(self, barrier: IterationBarrier) -> None:
        """Hand on a barrier of an iteration, to main and side outputs."""
        ...


@dataclass
class OperatorContext:
    """Environment of an operator in its task."""

    operator_id: str
    name: str
    uid: str | None
    subtask_index: int
    parallelism: int
    max_parallelism: int
    attempt: int
    job_id: str
    job_name: str
    task_name: str
    clock: Clock
    backend: StateBackend
    metrics: MetricGroup
    job_parameters: dict[str, str]
    config: dict[str, Any]
    register_processing_timer: Callable[[int], None]
    """Schedules a call of ``on_processing_time`` of this operator at a time (ms)."""
    error_policy: str = "fail"
    """``fail``, ``skip`` or ``side-output``: the handling of an exception of a user's function for a record."""
    restored_checkpoint_id: int = 0
    restarts: int = 0
    start_event_loop: StartEventLoop | None = None
    """Starts an event loop for asynchronous requests."""
    start_fetcher: Callable[[Callable[[], int | None], Callable[[], None]], FetcherThread] | None = None
    """Starts a thread of a source reader."""
    wake_source: Callable[[], None] | None = None
    """Has a source polled soon; any thread may call it."""
    send_event: Callable[[Any], None] | None = None
    """Sends an event to the operator's coordinator in the JobMaster, which may answer with ``on_event``."""
    managed_memory_bytes: int = 64 << 20
    """Memory limit of a batch algorithm of this operator; beyond it, data is spilled to files."""
    local_dir: str | None = None
    """Directory of such files; the system's temporary directory if it is None."""
    user_location: str = ""
    """``file:line`` of the call that created the operator in the user's program."""
    watermark: int = MIN_TIMESTAMP
    """The event time of the operator; set by its caller before a watermark is passed."""


@dataclass
class OperatorSnapshot:
    """Result of the synchronous part of an operator's snapshot, except for its backend: JSON-able or picklable values.

    ``committable_counts``: how many of the committables, in order, were prepared for which checkpoint.
    """

    reader_splits: list[Any] | None = None
    writer_state: Any = None
    committables: list[Any] | None = None
    committable_counts: tuple[tuple[int, int], ...] = ()


class StreamOperator(ABC):
    """Base of all operators; the defaults are those of a stateless operator with one input."""

    context: OperatorContext
    output: Output
    holds_records: ClassVar[bool] = False
    ends_keys: ClassVar[bool] = False
    """True if ``end_key`` emits all results that depend on the state of a key, so that the state can be dropped afterwards."""

    @property
    def full(self) -> bool:
        """True if the task should take no input for now."""
        return False

    @property
    def busy(self) -> bool:
        """True if records are retained whose results are pending."""
        return False

    @property
    def has_more(self) -> bool:
        """True if ``finish`` has not emitted all results and must be called again."""
        return False

    def setup(self, context: OperatorContext, output: Output) -> None:
        """Remember context and output. Called first."""
        self.context = context
        self.output = output

    def open(self) -> None:
        """Open the user's functions; state is restored."""

    @abstractmethod
    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Process records of one input (0, or 1 for the second input of a two-input operator)."""

    def process_watermark(self, timestamp: int) -> None:
        """Advance the event time of this operator (minimum over its inputs) to ``timestamp``. Fire timers, then forward it."""
        self.output.emit_watermark(timestamp)

    def end_key(self) -> None:
        """Complete a key in BATCH mode, where records are grouped by key; its state is dropped afterwards."""

    def process_status(self, idle: bool) -> None:
        """Handle a change of status: all inputs have become idle, or one has become active again."""
        self.output.emit_status(idle)

    def process_iteration_barrier(self, barrier: IterationBarrier) -> None:
        """Forward a barrier of an iteration that has arrived in all inputs, after the results of the records before it."""
        self.output.emit_iteration_barrier(barrier)

    def on_event(self, event: Any) -> None:
        """Handle an event of this operator's coordinator in the JobMaster."""

    def on_processing_time(self, now_ms: int) -> None:
        """Fire all processing timers up to ``now_ms``, as a time given to ``register_processing_timer`` has been reached."""

    def prepare_snapshot(self, checkpoint_id: int) -> None:
        """Emit pending results before the barrier of a checkpoint is forwarded. Called from the head of the chain on."""

    def snapshot_state(self, checkpoint_id: int, timestamp_ms: int = 0) -> OperatorSnapshot | None:
        """Take the synchronous part of the snapshot of state outside the backend. Called before the backend's snapshot.

        Args:
            checkpoint_id: Id of the checkpoint.
            timestamp_ms: Time of its trigger.
        """
        return None

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """The checkpoint is complete."""

    def end_input(self, input_index: int = 0) -> None:
        """One input has ended (the watermark has reached MAX_TIMESTAMP before, if it was bounded)."""

    def finish(self) -> None:
        """Emit the remaining results, as all inputs have ended."""

    def close(self) -> None:
        """Release resources. Called once."""

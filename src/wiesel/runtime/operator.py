"""Internal. The operator contract.

An operator is driven by one thread, per batch. Order of calls: ``setup`` (by the chain), ``open`` (state is restored before it),
then any interleaving of ``process_batch``, ``process_watermark``, ``on_processing_time``, ``prepare_snapshot`` with ``snapshot_state``
behind it, and ``notify_checkpoint_complete``; ``end_input`` when an input ends, ``finish`` when all have; ``close`` always, also after a
failure.
An operator hands on what it produces through ``self.output`` before the call returns: nothing may be left inside but state. One that
``holds_records`` may keep records for later, which are in its snapshots: it says when it is ``full``, so that the task takes no input, and
as long as it is ``busy`` behind ``finish``, the end waits (and ``finish`` is called again). One that ``has_more`` behind ``finish`` emits
its results part by part, so that what is ready can be sent in between: ``finish`` is called again soon.
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
    from wiesel.state.backend import StateBackend
    from wiesel.wire.events import IterationBarrier


class Output(Protocol):
    """Where an operator's results go: the next operator of the chain, or the channels of the task."""

    def emit(self, batch: Batch) -> None:
        """Hand on records; empty batches are allowed."""
        ...

    def emit_side(self, tag: str, batch: Batch) -> None:
        """Hand records to the side output ``tag``; dropped when nobody reads it."""
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
    """What a task gives to each of its operators."""

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
    """Ask the task to call ``on_processing_time`` of this operator once the clock has reached that time (ms)."""
    error_policy: str = "fail"
    """``fail``, ``skip`` or ``side-output``: what happens when a user's function raises for a record."""
    restored_checkpoint_id: int = 0
    restarts: int = 0
    start_event_loop: StartEventLoop | None = None
    """Starts an event loop for asynchronous requests."""
    send_event: Callable[[Any], None] | None = None
    """Sends an event to the operator's coordinator in the JobMaster, which may answer with ``on_event``."""
    managed_memory_bytes: int = 64 << 20
    """What a batch algorithm of this operator may take of memory before it goes on in files."""
    local_dir: str | None = None
    """Where such files are made; the system's temporary directory if it is None."""
    user_location: str = ""
    """``file:line`` of the call that made the operator in the user's program."""
    watermark: int = MIN_TIMESTAMP
    """The event time that the operator has reached; whoever hands it a watermark sets it before."""


@dataclass
class OperatorSnapshot:
    """Result of the synchronous part of an operator's snapshot besides its backend: JSON-able or picklable values."""

    reader_splits: list[Any] | None = None
    writer_state: Any = None
    committables: list[Any] | None = None


class StreamOperator(ABC):
    """Base of all operators; the defaults are those of a stateless operator with one input."""

    context: OperatorContext
    output: Output
    holds_records: ClassVar[bool] = False
    ends_keys: ClassVar[bool] = False
    """Whether ``end_key`` emits all that depends on the state of a key, so that it can be dropped behind it."""

    @property
    def full(self) -> bool:
        """Whether the task should take no input for now."""
        return False

    @property
    def busy(self) -> bool:
        """Whether records are held of which results are still to come."""
        return False

    @property
    def has_more(self) -> bool:
        """Whether ``finish`` has not emitted all and is to be called again."""
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
        """The event time of this operator (minimum over its inputs) has reached ``timestamp``. Fire timers, then hand it on."""
        self.output.emit_watermark(timestamp)

    def end_key(self) -> None:
        """BATCH mode, in which all records of a key come before those of the next: the key is complete, and its state is about to go."""

    def process_status(self, idle: bool) -> None:
        """All inputs have become idle, or one is active again."""
        self.output.emit_status(idle)

    def process_iteration_barrier(self, barrier: IterationBarrier) -> None:
        """A barrier of an iteration has come in all inputs: hand it on behind the results of the records before it."""
        self.output.emit_iteration_barrier(barrier)

    def on_event(self, event: Any) -> None:
        """An event has come for this operator from its coordinator in the JobMaster."""

    def on_processing_time(self, now_ms: int) -> None:
        """The time asked for by ``register_processing_timer`` has come: fire all processing timers up to ``now_ms``."""

    def prepare_snapshot(self, checkpoint_id: int) -> None:
        """A checkpoint's barrier is about to be handed on: emit what is to come before it. Called from the head of the chain on."""

    def snapshot_state(self, checkpoint_id: int, timestamp_ms: int = 0) -> OperatorSnapshot | None:
        """Synchronous part of the snapshot for what is not in the backend. Called before the backend's snapshot.

        Args:
            checkpoint_id: Id of the checkpoint.
            timestamp_ms: When it was triggered.
        """
        return None

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """The checkpoint is complete."""

    def end_input(self, input_index: int = 0) -> None:
        """One input has ended (the watermark has reached MAX_TIMESTAMP before, if it was bounded)."""

    def finish(self) -> None:
        """All inputs have ended: emit what is left."""

    def close(self) -> None:
        """Release resources. Called once."""

"""Writers of sinks, which run in the tasks, and the sink that makes them."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from wiesel.core.errors import StateAccessError
from wiesel.spi.sink.committer import Committer
from wiesel.spi.state import OperatorStateStore
from wiesel.types.typeinfo import TypeInformation

__all__ = ["Sink", "SinkWriter", "WriterInitContext"]


@dataclass(frozen=True)
class WriterInitContext:
    """Facts for a writer.

    ``attempt`` rises with every restart of the job, also over drivers: names that contain it are never used twice.
    ``restored_checkpoint_id`` is 0 at a first start.
    """

    job_id: str
    operator_id: str
    subtask_index: int
    parallelism: int
    attempt: int
    restored_checkpoint_id: int
    to_driver: Callable[[str, Any], None] | None = None
    """Send a picklable payload to the program's own process, under a channel name; in order per subtask."""
    input_type: TypeInformation | None = None
    """The declared type of the records."""
    now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000
    """Return the processing time in ms since the epoch (a virtual clock under test)."""
    operator_states: OperatorStateStore | None = None
    """The result of ``get_operator_state_store``; None outside of a task."""
    start_event_loop: Callable[[Callable[[], None]], Any] | None = None
    """Start an event loop (``RequestLoop``) whose results reach the writer in the mailbox thread: for ``AsyncSinkWriter``."""

    def get_operator_state_store(self) -> OperatorStateStore:
        """Return the state of this subtask: lists and maps, restored before the writer is made.

        ``snapshot_state`` is the place to bring them up to date. For state that belongs to one writer the value that it returns is
        simpler; this is for union lists and for entries that are redistributed when the parallelism changes.

        Raises:
            StateAccessError: If the writer does not run in a task.
        """
        if self.operator_states is None:
            raise StateAccessError("operator state was asked for outside of a task", hint="give the context operator_states")
        return self.operator_states


class SinkWriter(ABC):
    """Writes the records of one subtask. All calls come from the task's mailbox thread."""

    @property
    def full(self) -> bool:
        """Return whether the task should take no more records for now (backpressure). What is written nevertheless has to be taken."""
        return False

    @property
    def busy(self) -> bool:
        """Return whether results are still to come behind ``flush(True)``, which is called again when some have come."""
        return False

    @abstractmethod
    def write_batch(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Write records in order. ``timestamps`` in ms, or None when the stream has none."""

    def write_watermark(self, timestamp: int) -> None:
        """The event time (ms) has advanced."""

    def on_processing_time(self, now_ms: int) -> None:
        """Called at least every 100 ms or so, for rolling by time."""

    @abstractmethod
    def flush(self, end_of_input: bool) -> None:
        """Make durable what was written; called before every checkpoint and at the end. After it a crash loses nothing written."""

    def prepare_commit(self) -> list[Any]:
        """Return picklable committables for what was flushed since the last call. Called after ``flush``."""
        return []

    def snapshot_state(self, checkpoint_id: int) -> Any:
        """Return picklable state of the writer (open parts, sequence numbers), or None. Called after ``prepare_commit``."""
        return None

    def close(self) -> None:
        """Release resources. Called once, also after a failure; must not make anything visible."""


class Sink(ABC):
    """A sink of records. Plain picklable data."""

    @abstractmethod
    def create_writer(self, context: WriterInitContext, state: Sequence[Any] = ()) -> SinkWriter:
        """Make the writer of one subtask.

        ``state``: the values that ``snapshot_state`` of the writers restored here had returned (several or none after rescaling).
        """

    def create_committer(self) -> Committer[Any] | None:
        """Return the committer of a two-phase sink, or None."""
        return None

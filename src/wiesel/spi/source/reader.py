"""Internal. Readers: they run in the tasks of a source and read the splits of one subtask."""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from typing import Any, Generic, Protocol

from wiesel.spi.source.metrics import SourceReaderMetricGroup
from wiesel.spi.source.split import SplitT
from wiesel.spi.state import OperatorStateStore

__all__ = ["FetcherThread", "InputStatus", "ReaderOutput", "SourceReader", "SourceReaderContext"]


class InputStatus(enum.Enum):
    """The status of a reader after a poll."""

    MORE_AVAILABLE = "MORE_AVAILABLE"
    NOTHING_AVAILABLE = "NOTHING_AVAILABLE"
    END_OF_INPUT = "END_OF_INPUT"


class ReaderOutput(Protocol):
    """Receives the records of a reader. Records of one call belong to one split."""

    @property
    def wanted(self) -> int:
        """Return how many records can be processed soon, at least 1.

        A reader that can stop anywhere emits no more than these at a time: what it has emitted has to be processed before the next
        checkpoint, however slow the functions behind it are. More than it emits anyway is usual.
        """
        ...

    def collect(self, values: list[Any], timestamps: list[int] | None = None, split_id: str = "") -> None:
        """Emit records in order. ``timestamps`` in ms since the epoch, one per value, or None when the source knows none.

        The lists belong to the engine after the call.
        """
        ...

    def emit_watermark(self, timestamp: int, split_id: str = "") -> None:
        """Emit a watermark of the source's own (ms), for sources that know it."""
        ...

    def mark_idle(self, split_id: str = "") -> None:
        """Declare the split idle until its next record."""
        ...

    def split_finished(self, split_id: str) -> None:
        """The split is read to its end: its watermark no longer holds the others back."""
        ...

    def request_checkpoint(self) -> None:
        """Ask the coordinator for a checkpoint at this position (sources that define where checkpoints happen).

        The reader is not polled again until its part is taken, which is when a checkpoint that is under way has ended.
        """
        ...


class FetcherThread(Protocol):
    """A thread that the engine runs for a reader."""

    def resume(self) -> None:
        """Have the next step done now if the thread waits. Any thread may call it."""
        ...

    def end(self) -> None:
        """Have the thread end behind the step that it is doing. Returns at once."""
        ...

    def join(self, timeout_s: float) -> bool:
        """Wait until the thread has ended; return whether it has. One that has not ends with its step, or with the process."""
        ...


class SourceReaderContext(Protocol):
    """Services of the engine for a reader."""

    @property
    def subtask_index(self) -> int:
        """Return the index of this subtask."""
        ...

    @property
    def parallelism(self) -> int:
        """Return the number of subtasks of the source."""
        ...

    @property
    def metric_group(self) -> SourceReaderMetricGroup:
        """Return the metrics of the reader."""
        ...

    def request_split(self) -> None:
        """Ask the enumerator for another split."""
        ...

    def send_source_event_to_coordinator(self, event: Any) -> None:
        """Send a picklable event to the enumerator. In order with requests for splits."""
        ...

    def now_ms(self) -> int:
        """Return the processing time in ms since the epoch (a virtual clock under test). Any thread may call it."""
        ...

    def start_fetcher(self, step: Callable[[], int | None], finish: Callable[[], None]) -> FetcherThread:
        """Start a thread for calls that may block. Most readers use :class:`SourceReaderBase`, which does.

        Args:
            step: Called again and again in the thread. Returns in how many ms to call it again, at the latest; None: when resumed.
                It must not raise.
            finish: Called in the thread at its end.
        """
        ...

    def wake(self) -> None:
        """Have the reader polled soon, as there is something to emit. Any thread may call it."""
        ...

    def get_operator_state_store(self) -> OperatorStateStore:
        """Return the state of this subtask besides its splits: lists and maps, restored before the reader is made.

        :meth:`SourceReader.snapshot_state` is the place to bring them up to date.
        """
        ...


class SourceReader(ABC, Generic[SplitT]):
    """Reads the splits of one subtask.

    Contract: all calls come from the task's mailbox thread. ``poll`` returns within a few milliseconds and emits at most a few
    thousand records; it never waits. Clients with calls that block are :class:`SplitReader` of a :class:`SourceReaderBase`.
    """

    poll_interval_ms: int = 10
    """Delay (ms) before the next poll after NOTHING_AVAILABLE.

    A reader that knows may say so anew each time. With the default, one that has had nothing for seconds is polled a fifth as often.
    """

    splits_hold_watermarks: bool = False
    """True if a split holds back event time from its assignment on (log partitions), False if from its first record on (files)."""

    def start(self) -> None:
        """Called once after restored splits were added."""

    @abstractmethod
    def poll(self, output: ReaderOutput) -> InputStatus:
        """Emit what is available now."""

    @abstractmethod
    def add_splits(self, splits: Sequence[SplitT]) -> None:
        """Take splits, new ones or (before ``start``) those of the restored state."""

    def notify_no_more_splits(self) -> None:
        """No further split will come."""

    def handle_source_event(self, event: Any) -> None:
        """The enumerator has sent an event."""

    def pause_or_resume_splits(self, to_pause: Collection[str], to_resume: Collection[str]) -> None:
        """Emit nothing of some splits until they are resumed, and go on with the others. Ids of splits; see FLIP-217.

        Raises:
            NotImplementedError: The reader cannot pause single splits.
        """
        raise NotImplementedError(f"{type(self).__name__} cannot pause single splits")

    @abstractmethod
    def snapshot_state(self, checkpoint_id: int) -> list[SplitT]:
        """Return the splits with the positions reached: exactly what was emitted so far is not read again."""

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """The checkpoint is complete (acknowledge upstream now, never earlier)."""

    def close(self) -> None:
        """Release resources. Called once, also after a failure."""

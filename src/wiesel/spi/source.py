"""The source interface, after FLIP-27: a source hands out splits, readers read them, positions live in the checkpoint.

Three roles and where they run:

* :class:`Source` is plain data, pickled into every task and kept by the JobMaster.
* :class:`SplitEnumerator` runs in the JobMaster (one per source operator). All its methods are called from one thread, which serves the
  whole job: requests to other systems go through :meth:`SplitEnumeratorContext.call_async`.
* :class:`SourceReader` runs in each source subtask, in the task's mailbox thread; it must never block.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

from wiesel.spi.state import OperatorStateStore
from wiesel.types.typeinfo import TypeInformation

__all__ = [
    "Boundedness",
    "InputStatus",
    "ReaderOutput",
    "Source",
    "SourceReader",
    "SourceReaderContext",
    "SourceSplit",
    "SplitEnumerator",
    "SplitEnumeratorContext",
]


class Boundedness(enum.Enum):
    """Whether a source ends by itself."""

    BOUNDED = "BOUNDED"
    CONTINUOUS_UNBOUNDED = "CONTINUOUS_UNBOUNDED"


class InputStatus(enum.Enum):
    """What a reader knows after a poll."""

    MORE_AVAILABLE = "MORE_AVAILABLE"
    NOTHING_AVAILABLE = "NOTHING_AVAILABLE"
    END_OF_INPUT = "END_OF_INPUT"


class SourceSplit(Protocol):
    """A piece of the input and the position in it; picklable. ``split_id`` is stable over the split's life."""

    @property
    def split_id(self) -> str:
        """Return the split's name, unique within the source."""
        ...


T = TypeVar("T")
SplitT = TypeVar("SplitT", bound=SourceSplit)
SplitT_contra = TypeVar("SplitT_contra", bound=SourceSplit, contravariant=True)


class SplitEnumeratorContext(Protocol[SplitT_contra]):
    """What the engine offers an enumerator."""

    @property
    def parallelism(self) -> int:
        """Return the number of readers."""
        ...

    def assign_splits(self, splits: Mapping[int, Sequence[SplitT_contra]]) -> None:
        """Send splits to readers (subtask index -> splits). In order with checkpoint triggers."""
        ...

    def signal_no_more_splits(self, subtask: int) -> None:
        """Tell a reader that no further split will come; it ends when its splits are read."""
        ...

    def send_event_to_source_reader(self, subtask: int, event: Any) -> None:
        """Send a picklable event to a reader that is there. In order with assignments and checkpoint triggers."""
        ...

    def call_later(self, delay_ms: int) -> None:
        """Have :meth:`SplitEnumerator.on_timer` called after ``delay_ms`` milliseconds."""
        ...

    def call_async(
        self,
        work: Callable[[], T],
        handler: Callable[[T | None, BaseException | None], None],
        *,
        initial_delay_ms: int = 0,
        period_ms: int | None = None,
    ) -> None:
        """Run blocking work, such as the discovery of splits, in a thread of the source's own (Flink: ``callAsync``).

        Calls of one enumerator run one after the other. After the enumerator was closed, nothing is called any more.

        Args:
            work: Runs in the other thread, so it must not touch the enumerator's state.
            handler: Called like the enumerator's methods, with the result, or None and what ``work`` has raised. What it raises restarts
                the tasks of the source.
            initial_delay_ms: When to begin, in ms from now.
            period_ms: Do it again so many ms after each ``handler`` has returned; None: once.
        """
        ...


class SplitEnumerator(ABC, Generic[SplitT]):
    """Finds splits and assigns them.

    After a failure the enumerator is restored from the same checkpoint as the readers, so a split is either in the enumerator's
    state or in a reader's, never in both: assignments and checkpoint triggers reach a reader in the order they were made.
    """

    def start(self) -> None:
        """Called once, before any reader registers."""

    @abstractmethod
    def add_reader(self, subtask: int) -> None:
        """A reader has started (in each attempt anew); it has the splits of its restored state already."""

    def handle_split_request(self, subtask: int) -> None:
        """A reader asks for another split."""

    def handle_source_event(self, subtask: int, event: Any) -> None:
        """A reader has sent an event; in order with its requests for splits."""

    def add_splits_back(self, splits: Sequence[SplitT]) -> None:
        """Splits of a restored reader whose subtask no longer exists come back for assignment (rescaling)."""
        raise NotImplementedError(f"{type(self).__name__} cannot take splits back, so its job cannot be rescaled")

    def on_timer(self) -> None:
        """The time asked for by ``call_later`` has come."""

    @abstractmethod
    def snapshot_state(self, checkpoint_id: int) -> Any:
        """Return picklable state: the splits not yet assigned, and what has been discovered."""

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """The checkpoint is complete and will be used for recovery."""

    def close(self) -> None:
        """Release resources. Called once."""


class ReaderOutput(Protocol):
    """Where a reader puts what it has read. Records of one call belong to one split."""

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


class SourceReaderContext(Protocol):
    """What the engine offers a reader."""

    @property
    def subtask_index(self) -> int:
        """Return the index of this subtask."""
        ...

    @property
    def parallelism(self) -> int:
        """Return the number of subtasks of the source."""
        ...

    def request_split(self) -> None:
        """Ask the enumerator for another split."""
        ...

    def send_source_event_to_coordinator(self, event: Any) -> None:
        """Send a picklable event to the enumerator. In order with requests for splits."""
        ...

    def now_ms(self) -> int:
        """Return the processing time in ms since the epoch (a virtual clock under test)."""
        ...

    def get_operator_state_store(self) -> OperatorStateStore:
        """Return the state of this subtask besides its splits: lists and maps, restored before the reader is made.

        :meth:`SourceReader.snapshot_state` is the place to bring them up to date.
        """
        ...


class SourceReader(ABC, Generic[SplitT]):
    """Reads the splits of one subtask.

    Contract: all calls come from the task's mailbox thread. ``poll`` returns within a few milliseconds and emits at most a few
    thousand records; it never waits (clients with blocking calls use their own thread and a bounded queue).
    """

    poll_interval_ms: int = 10
    """How long the task waits before it polls again after NOTHING_AVAILABLE, in ms.

    A reader that knows may say so anew each time. With the default, one that has had nothing for seconds is polled a fifth as often.
    """

    splits_hold_watermarks: bool = False
    """Whether a split holds event time back from its assignment on (log partitions), or only from its first record on (files)."""

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

    @abstractmethod
    def snapshot_state(self, checkpoint_id: int) -> list[SplitT]:
        """Return the splits with the positions reached: exactly what was emitted so far is not read again."""

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """The checkpoint is complete (acknowledge upstream now, never earlier)."""

    def close(self) -> None:
        """Release resources. Called once, also after a failure."""


class Source(ABC, Generic[SplitT]):
    """A source of records. Plain picklable data; see the module docstring for the roles."""

    @property
    @abstractmethod
    def boundedness(self) -> Boundedness:
        """Return whether the source ends by itself."""

    @abstractmethod
    def create_enumerator(self, context: SplitEnumeratorContext[SplitT], state: Any | None = None) -> SplitEnumerator[SplitT]:
        """Make the enumerator; ``state`` is what ``snapshot_state`` returned, or None at the first start.

        At the first start the program waits for it, and its errors are the program's; after a failure it runs in a thread of the
        source's own. The context is there for the enumerator's methods, :meth:`SplitEnumerator.start` before all others.
        """

    @abstractmethod
    def create_reader(self, context: SourceReaderContext) -> SourceReader[SplitT]:
        """Make the reader of one subtask."""

    @property
    def produced_type(self) -> TypeInformation | None:
        """Return the type of the records if the source declares one."""
        return None

"""Internal. Enumerators: they run in the JobMaster, find the splits of a source and assign them to readers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

from wiesel.spi.source.metrics import SplitEnumeratorMetricGroup
from wiesel.spi.source.split import SplitT, SplitT_contra

__all__ = ["SplitEnumerator", "SplitEnumeratorContext"]

T = TypeVar("T")


class SplitEnumeratorContext(Protocol[SplitT_contra]):
    """Services of the engine for an enumerator."""

    @property
    def parallelism(self) -> int:
        """Return the number of readers."""
        ...

    @property
    def metric_group(self) -> SplitEnumeratorMetricGroup:
        """Return the metrics of the enumerator."""
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
    state or in a reader's, never in both: assignments and checkpoint triggers reach a reader in the order they were made. So no split
    ever comes back to the enumerator (Flink: ``addSplitsBack``): at another parallelism the splits of the readers are distributed over the
    new ones.
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

    def on_timer(self) -> None:
        """The time asked for by ``call_later`` has come."""

    @abstractmethod
    def snapshot_state(self, checkpoint_id: int) -> Any:
        """Return picklable state: the splits not yet assigned, and what has been discovered."""

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """The checkpoint is complete and will be used for recovery."""

    def close(self) -> None:
        """Release resources. Called once."""

"""Internal. Interface of a task to its shell, and keys of its configuration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from wiesel.checkpoint.local_copies import LocalCopies
from wiesel.checkpoint.messages import FromTask
from wiesel.core.clock import Clock
from wiesel.runtime.descriptor import OperatorDescriptor, TaskDescriptor
from wiesel.runtime.event_loop import EventLoop
from wiesel.spi.source import FetcherThread
from wiesel.state.backend import StateBackend, StateFileReader, StateFileWriter

__all__ = ["DEBLOAT", "HOLDS_PRODUCERS", "TaskServices"]

T = TypeVar("T")
DEBLOAT = "wiesel.buffer-debloat"
"""Key of a task's configuration: (target ms, period ms) of ``InputFlow``, or None."""

HOLDS_PRODUCERS = "wiesel.alignment-holds-producers"
"""Key of a task's configuration: True if buffers held back by an alignment count as in flight."""


class TaskServices(Protocol):
    """Services of the shell for a task."""

    @property
    def clock(self) -> Clock:
        """Return the clock of this process."""
        ...

    def send(self, message: FromTask) -> None:
        """Send a message to the JobMaster."""
        ...

    def run_async(self, work: Callable[[], T], done: Callable[[T | None, BaseException | None], None]) -> None:
        """Run ``work`` in another thread, then ``done`` with its result or error in the mailbox thread."""
        ...

    def start_event_loop(self, on_results: Callable[[], None]) -> EventLoop:
        """Start an event loop; ``wake`` of it has ``on_results`` called in the mailbox thread."""
        ...

    def start_fetcher(self, step: Callable[[], int | None], finish: Callable[[], None]) -> FetcherThread:
        """Start a thread of a source reader; see ``SourceReaderContext.start_fetcher``."""
        ...

    def wake_source(self) -> None:
        """Have the task polled soon. Any thread may call it."""
        ...

    def make_backend(self, operator: OperatorDescriptor, descriptor: TaskDescriptor) -> StateBackend:
        """Create the state backend of one operator."""
        ...

    @property
    def local_dir(self) -> str | None:
        """Return the directory of files that are deleted with the task."""
        ...

    def state_writer(self, savepoint: str | None = None) -> StateFileWriter:
        """Return the writer of state files of a checkpoint, or of a savepoint in that directory."""
        ...

    def state_reader(self) -> StateFileReader:
        """Return the reader of state files."""
        ...

    def local_copies(self) -> LocalCopies | None:
        """Return the copies of state files on this host, None if disabled."""
        ...

    def reached(self, point: str) -> None:
        """A named point of the protocol is reached (fault injection stops or kills here)."""
        ...

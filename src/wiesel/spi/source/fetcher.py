"""Internal. Fetchers: run a split reader in a thread and hand over what it fetches (Flink: ``SplitFetcher``, ``SplitFetcherManager``).

The fetcher thread alone touches the split reader. The task's thread gives it tasks, in order, and takes the results from a bounded
queue: while that is full, nothing is fetched. A task that comes during a fetch wakes the split reader up.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from wiesel.core.logs import get_logger
from wiesel.spi.source.reader import FetcherThread, SourceReaderContext
from wiesel.spi.source.split_reader import RecordsBySplits, SplitReader

__all__ = ["SplitFetcher"]

_EMPTY_FETCH_MS = (1, 2, 5, 10, 20, 50)
"""Minimum durations of the first, second, ... fetch in a row without a result, in ms."""

_WAKE_AGAIN_S = 0.05

_log = get_logger("wiesel.sources")


class SplitFetcher:
    """One fetcher thread with its split reader.

    Args:
        context: The context of the source reader.
        split_reader: The split reader.
        capacity: The number of fetches whose results may wait for the task.
    """

    def __init__(self, context: SourceReaderContext, split_reader: SplitReader[Any], capacity: int) -> None:
        self._context = context
        self.split_reader = split_reader
        self.assigned: set[str] = set()
        """The splits whose end the task has not seen. Used by the task's thread."""
        self._capacity = capacity
        self._tasks: deque[Callable[[], None]] = deque()
        self._fetched: deque[tuple[RecordsBySplits, int]] = deque()
        self._splits: set[str] = set()
        self._paused: set[str] = set()
        self._lock = threading.Lock()
        self._fetching = False
        self._opened = False
        self._closing = False
        self._empty_fetches = 0
        self.error: BaseException | None = None
        """The error of the split reader. Nothing is fetched behind it."""
        self._thread: FetcherThread = context.start_fetcher(self._step, self._finish)

    # Called by the task's thread.

    @property
    def pauses_splits(self) -> bool:
        """Return whether the split reader can pause single splits."""
        return type(self.split_reader).pause_or_resume_splits is not SplitReader.pause_or_resume_splits

    @property
    def has_fetched(self) -> bool:
        """Return whether there are results to take."""
        return bool(self._fetched)

    def take(self) -> tuple[RecordsBySplits, int]:
        """Return the oldest result that was not taken, and when it was fetched (ms)."""
        was_full = len(self._fetched) >= self._capacity
        taken = self._fetched.popleft()
        if was_full:
            self._thread.resume()
        return taken

    def change_splits(self, additions: Sequence[Any], removals: Sequence[str] = ()) -> None:
        """Have the split reader read further splits, or some no longer."""

        def change() -> None:
            self._splits.difference_update(removals)
            self._paused.difference_update(removals)
            self._splits.update(split.split_id for split in additions)
            self.split_reader.handle_splits_changes(additions, removals)

        self.assigned.update(split.split_id for split in additions)
        self.enqueue(change)

    def pause_or_resume(self, to_pause: Sequence[str], to_resume: Sequence[str]) -> None:
        """Have the split reader pause and resume splits."""

        def change() -> None:
            pausing, resuming = self._splits.intersection(to_pause), self._paused.intersection(to_resume)
            self._paused = (self._paused | pausing) - resuming
            self.split_reader.pause_or_resume_splits(pausing, resuming)

        self.enqueue(change)

    def enqueue(self, task: Callable[[], None]) -> None:
        """Have the fetcher thread call something between two fetches; a fetch that blocks is woken up."""
        with self._lock:
            self._tasks.append(task)
        self._thread.resume()
        self.wake_for_tasks()

    def wake_for_tasks(self) -> None:
        """Wake a fetch up that keeps tasks waiting: it may have begun after the last wake-up and not have noticed that."""
        if self._tasks and self._fetching:
            self.split_reader.wake_up()

    def begin_close(self) -> None:
        """Have the fetcher end behind the fetch that runs, and wake that up."""
        with self._lock:
            self._closing = True
        self._thread.end()
        self._wake_to_close()

    def join(self, timeout_s: float) -> bool:
        """Wait until the fetcher has ended; return whether it has. A thread that still fetches then ends behind its fetch."""
        deadline_s = time.monotonic() + timeout_s
        while not self._thread.join(max(0.0, min(_WAKE_AGAIN_S, deadline_s - time.monotonic()))):
            if time.monotonic() >= deadline_s:
                return False
            self._wake_to_close()
        return True

    def _wake_to_close(self) -> None:
        if self._fetching:
            try:
                self.split_reader.wake_up()
            except Exception as error:  # noqa: BLE001 - the others must be closed as well
                _log.warning("%s.wake_up() raised while it was closed: %r", type(self.split_reader).__name__, error)

    # Called by the fetcher thread.

    def _step(self) -> int | None:
        """Do one thing; return in how many ms to go on, None if only when something has changed."""
        if self.error is not None or self._closing:
            return None
        try:
            return self._step_or_raise()
        except Exception as error:  # noqa: BLE001 - raised again in the task
            self.error = error
        except BaseException as error:  # noqa: BLE001 - would end the thread and nothing else
            self.error = RuntimeError(f"the split reader raised {error!r}").with_traceback(error.__traceback__)
        self._context.wake()
        return None

    def _step_or_raise(self) -> int | None:
        if not self._opened:
            self._opened = True
            self.split_reader.open()
        if self._tasks:
            self._empty_fetches = 0
            self._tasks.popleft()()
            return 0
        with self._lock:
            if self._tasks or self._closing:
                return 0
            if len(self._fetched) >= self._capacity or not self._splits - self._paused:
                return None
            self._fetching = True
        began_ms = self._context.now_ms()
        try:
            fetched = self.split_reader.fetch()
        finally:
            self._fetching = False
        if fetched is None or not (fetched.records or fetched.finished_splits):
            least_ms = _EMPTY_FETCH_MS[min(self._empty_fetches, len(_EMPTY_FETCH_MS) - 1)]
            self._empty_fetches += 1
            return max(0, least_ms - (self._context.now_ms() - began_ms))
        self._empty_fetches = 0
        self._splits.difference_update(fetched.finished_splits)
        self._paused.difference_update(fetched.finished_splits)
        self._fetched.append((fetched, self._context.now_ms()))
        self._context.wake()
        return 0

    def _finish(self) -> None:
        """Close the split reader: the thread is about to end."""
        if self._opened:
            try:
                self.split_reader.close()
            except Exception as error:  # noqa: BLE001 - all that it has fetched was taken, or is not wanted any more
                _log.warning("%s.close() raised: %r", type(self.split_reader).__name__, error)

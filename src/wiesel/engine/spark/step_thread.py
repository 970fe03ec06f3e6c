"""Internal. A thread of a source reader: it does step after step, and waits in between for as long as a step says."""

from __future__ import annotations

import threading
from collections.abc import Callable

__all__ = ["StepThread"]


class StepThread:
    """See ``SourceReaderContext.start_fetcher``. A daemon, so that a step that never returns does not outlive the process."""

    def __init__(self, step: Callable[[], int | None], finish: Callable[[], None]) -> None:
        self._step = step
        self._finish = finish
        self._changed = threading.Condition()
        self._resumed = False
        self._ended = False
        self._thread = threading.Thread(target=self._run, name="wiesel-fetcher", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            while not self._ended:
                wait_ms = self._step()
                with self._changed:
                    if wait_ms != 0 and not self._resumed and not self._ended:
                        self._changed.wait(None if wait_ms is None else wait_ms / 1e3)
                    self._resumed = False
        finally:
            self._finish()

    def resume(self) -> None:
        """Have the next step done now if the thread waits."""
        with self._changed:
            self._resumed = True
            self._changed.notify()

    def end(self) -> None:
        """Have the thread end behind the step that it is doing."""
        with self._changed:
            self._ended = True
            self._changed.notify()

    def join(self, timeout_s: float) -> bool:
        """Wait until the thread has ended; return whether it has."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

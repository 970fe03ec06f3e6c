"""Internal. An event loop in a separate thread, whose results reach the task through its mailbox."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from wiesel.runtime.event_loop import Waker

__all__ = ["EventLoopThread"]

_END_S = 2.0


class EventLoopThread(Waker):
    """Runs the requests of one operator.

    Args:
        on_results: The function to call in the mailbox thread after ``wake``.
        post: Adds a call to the mailbox.
    """

    def __init__(self, on_results: Callable[[], None], post: Callable[[Callable[[], None]], None]) -> None:
        super().__init__(on_results, post)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="wiesel-requests", daemon=True)
        self._thread.start()

    def submit(self, work: Callable[[asyncio.AbstractEventLoop], None]) -> None:
        """Have ``work`` called by the loop."""
        self._loop.call_soon_threadsafe(work, self._loop)

    def close(self) -> None:
        """Cancel all requests and end the thread; one that blocks the loop is left running until the process ends."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_END_S)

    def _run(self) -> None:
        loop = self._loop
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
        finally:
            tasks = asyncio.all_tasks(loop)
            for task in tasks:
                task.cancel()
            loop.run_until_complete(asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), _END_S))
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

"""Internal. Interface of the event loop of asynchronous functions, which runs outside of the mailbox thread or is stepped by the shell."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

__all__ = ["EventLoop", "StartEventLoop", "Waker"]


class EventLoop(Protocol):
    """An event loop of one operator."""

    def submit(self, work: Callable[[asyncio.AbstractEventLoop], None]) -> None:
        """Have ``work`` called by the loop."""
        ...

    def wake(self) -> None:
        """Schedule a call of the operator in the mailbox thread; concurrent requests are merged. Called by the loop."""
        ...

    def close(self) -> None:
        """Cancel all requests and end the loop."""
        ...


class Waker:
    """Schedules calls of an operator in the mailbox thread, merging pending ones.

    Args:
        on_results: The function to call.
        post: Adds a call to the mailbox.
    """

    def __init__(self, on_results: Callable[[], None], post: Callable[[Callable[[], None]], None]) -> None:
        self._on_results = on_results
        self._post = post
        self._posted = False

    def wake(self) -> None:
        """See ``EventLoop``."""
        if not self._posted:
            self._posted = True
            self._post(self._woken)

    def _woken(self) -> None:
        # Reset before the results are fetched: later results need another call.
        self._posted = False
        self._on_results()


StartEventLoop = Callable[[Callable[[], None]], EventLoop]
"""Starts a loop, given the function that ``wake`` schedules in the mailbox thread."""

"""Internal. What runs the requests of asynchronous functions: an event loop outside of the mailbox thread, or one that the shell steps."""

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
        """Called by the loop: have the operator called in the mailbox thread, once for all calls before it is."""
        ...

    def close(self) -> None:
        """Cancel all that runs and end the loop."""
        ...


class Waker:
    """Has an operator called in the mailbox thread, once for all times it is woken before that.

    Args:
        on_results: What is to be called there.
        post: Puts a call into the mailbox.
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
        # Before the results are taken: what comes from now on needs a call of its own.
        self._posted = False
        self._on_results()


StartEventLoop = Callable[[Callable[[], None]], EventLoop]
"""Starts a loop; gets what ``wake`` has called in the mailbox thread."""

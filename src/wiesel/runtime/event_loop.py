"""Internal. What runs the requests of asynchronous functions: an event loop outside of the mailbox thread, or one that the shell steps."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

__all__ = ["EventLoop", "StartEventLoop"]


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


StartEventLoop = Callable[[Callable[[], None]], EventLoop]
"""Starts a loop; gets what ``wake`` has called in the mailbox thread."""

"""Internal. Handling of Ctrl-C while a Spark session is being created, and afterwards."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def interrupts_afterwards() -> Iterator[None]:
    """Defer a Ctrl-C until the end of the block, when the handler at that time gets it; a second one in the block is not deferred.

    A partial session would be left behind. And PySpark sets a handler that cancels all Spark jobs during any call of the main thread,
    possibly one to the JVM: that is a failure, after which the attempt is restarted, before the job itself is cancelled.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is None:
        yield  # no other thread can set a handler, PySpark does not either
        return
    waiting = False

    def wait(_number: int, _frame: Any) -> None:
        nonlocal waiting
        if waiting:
            raise KeyboardInterrupt
        waiting = True

    if before is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, wait)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if waiting:
        signal.raise_signal(signal.SIGINT)

"""What the parity tests share: PyFlink's names for Wiesel's modules, and a configuration per engine."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator
from types import FrameType

import pytest

from wiesel.platform import pyflink_hook

# Enough for the widest program: all tasks of a job hold slots at once, and the session of the first test serves all of them.
SPARK_MASTER = "local[160]"


@pytest.fixture(scope="module")
def pyflink_names() -> Iterator[None]:
    """Makes ``import pyflink`` mean Wiesel while the tests of a module run."""
    installed_before = pyflink_hook.is_installed()
    pyflink_hook.install()
    yield
    if not installed_before:
        pyflink_hook.uninstall()


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Fails what is inside when it takes too long: a job that hangs must not keep the other tests waiting.

    The limit of the whole test, which pytest-timeout keeps with the same clock of the process, goes on behind it.
    """

    def expire(signum: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"did not end within {seconds:.0f} s")

    began_s = time.monotonic()
    previous = signal.signal(signal.SIGALRM, expire)
    left_s, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
        if left_s:
            signal.setitimer(signal.ITIMER_REAL, max(left_s - (time.monotonic() - began_s), 0.001))

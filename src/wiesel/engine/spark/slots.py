"""Internal. Slots: the maximum of a Spark master, and waiting for free ones."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable

from wiesel.core.errors import JobCancelledError, NoResourceAvailableError
from wiesel.core.logs import get_logger
from wiesel.core.parallelism import LOCAL_MASTER

_LOCAL_CLUSTER = re.compile(r"local-cluster\[\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*]")
_LOOK_EVERY_S = 0.1
_TELL_AFTER_S = 5.0
_log = get_logger("wiesel.spark")


def local_cluster(master: str) -> tuple[int, int, int] | None:
    """Return (executors, cores of each, MB of each) of a master ``local-cluster[...]``, None for another one."""
    found = _LOCAL_CLUSTER.fullmatch(master)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def in_this_process(master: str) -> bool:
    """Return whether tasks run in the driver's process, not on separate executors."""
    return LOCAL_MASTER.fullmatch(master) is not None


def most_slots(master: str) -> int | None:
    """Return the maximal number of slots of a master, None if it is not determined by its URL."""
    cluster = local_cluster(master)
    if cluster is not None:
        return cluster[0] * cluster[1]
    found = LOCAL_MASTER.fullmatch(master)
    if found is None or found[1] == "*":
        return None
    return int(found[1] or 1)


class SlotRequest:
    """Waits for slots: executors may be starting, or be replaced, and tasks of an earlier attempt may not have ended yet.

    Args:
        free: Returns the number of free slots.
        timeout_s: Total timeout in seconds.
        master: Name of the master, for errors.
    """

    def __init__(self, free: Callable[[], int], timeout_s: float, master: str) -> None:
        self._free = free
        self._timeout_s = timeout_s
        self._master = master
        self._started_s = time.monotonic()
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        """Cancel a wait."""
        self._cancelled.set()

    def wait(self, needed: int, *, refused: bool = False) -> None:
        """Return when ``needed`` slots are free.

        Args:
            needed: Number of slots.
            refused: Spark has just reported too few: then it is not asked again immediately.

        Raises:
            NoResourceAvailableError: If they were not free within the timeout.
            JobCancelledError: If ``cancel`` was called.
        """
        told = False
        while (free := self._free()) < needed or refused:
            refused = False
            waited_s = time.monotonic() - self._started_s
            if waited_s >= self._timeout_s:
                raise NoResourceAvailableError(
                    f"the job needs {needed} slots at the same time, {self._master} had {free} free after {waited_s:.0f} s",
                    hint="add executors or cores, lower the parallelism, chain more operators, or raise slot.request.timeout",
                )
            if waited_s >= _TELL_AFTER_S and not told:
                told = True
                _log.warning(
                    "the job needs %d slots at the same time, %s has %d free: waiting up to %.0f s (slot.request.timeout)",
                    needed,
                    self._master,
                    free,
                    self._timeout_s,
                )
            if self._cancelled.wait(_LOOK_EVERY_S):
                raise JobCancelledError("the job was cancelled while it waited for slots")

"""Internal. Fault injection for tests: named points of the protocol and file operations at which a process is killed or stopped, or fails.

The plan is JSON in ``WIESEL_FAULT_PLAN`` of the driver, a list of objects with ``point``, ``where``, ``attempt``, ``nth``, ``times``,
``action`` and ``marker``. ``where`` is ``driver`` or ``task-<vertex>-<subtask>``; ``nth`` counts the passages of that point in that
process, and the fault hits ``times`` of them, one after the other (once if it is not given); ``action`` is ``kill`` (SIGKILL), ``stop``
(SIGSTOP), ``disk-full`` (ENOSPC) or ``io-error`` (EIO); ``marker`` is a file written just before, which proves that the fault hit.
With ``armed_by`` passages count only from the moment when that file exists.

A fault with ``path`` hits what is done with files whose path contains that: its point is ``write`` (opening a file to write it, or a
database of SQLite), ``read`` or ``move`` (renaming or linking it). Processes see that by an audit hook, which those have that such a
fault is meant for.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any
from weakref import WeakSet

ENVIRONMENT_VARIABLE = "WIESEL_FAULT_PLAN"
_ERRORS = {"disk-full": errno.ENOSPC, "io-error": errno.EIO}
_MOVES = ("os.rename", "os.link")
_WRITES = os.O_WRONLY | os.O_RDWR


class FaultPoints:
    """The faults of one process; without a plan a check of an empty dict."""

    def __init__(self, plan: str, attempt: int, where: str) -> None:
        self._all = [f for f in (json.loads(plan) if plan else ()) if f.get("where") == where]
        self._lock = threading.Lock()  # files are written in other threads
        self.attempt_started(attempt)
        if any("path" in fault for fault in self._all):
            _watch_files(self)

    def attempt_started(self, attempt: int) -> None:
        """Select the faults of an attempt, and reset the counters."""
        self._faults: dict[str, list[dict[str, Any]]] = {}
        self._passed: dict[tuple[str, int], int] = {}
        for fault in self._all:
            if int(fault.get("attempt", attempt)) == attempt:
                self._faults.setdefault(str(fault["point"]), []).append(fault)

    def reached(self, point: str, path: str = "") -> None:
        """Execute the fault planned for this passage of the point.

        Raises:
            OSError: If the disk is to fail.
        """
        for number, fault in enumerate(self._faults.get(point, ())):
            if fault.get("path", "") in path and _is_armed(fault) and self._is_due((point, number), fault):
                _carry_out(fault, point, path)

    def _is_due(self, which: tuple[str, int], fault: dict[str, Any]) -> bool:
        with self._lock:
            passed = self._passed[which] = self._passed.get(which, 0) + 1
        first = int(fault.get("nth", 1))
        return first <= passed < first + int(fault.get("times", 1))


def _is_armed(fault: dict[str, Any]) -> bool:
    return "armed_by" not in fault or os.path.exists(str(fault["armed_by"]))


def _carry_out(fault: dict[str, Any], point: str, path: str) -> None:
    marker, action = fault.get("marker"), str(fault.get("action", "kill"))
    if marker:
        Path(str(marker)).write_text(f"{point} {os.getpid()}\n")
    if action in _ERRORS:
        raise OSError(_ERRORS[action], f"{os.strerror(_ERRORS[action])} (planned at {point})", path or None)
    os.kill(os.getpid(), signal.SIGSTOP if action == "stop" else signal.SIGKILL)


_watching: WeakSet[FaultPoints] = WeakSet()
_hooked = False


def _watch_files(faults: FaultPoints) -> None:
    global _hooked
    _watching.add(faults)
    if not _hooked:
        _hooked = True
        sys.addaudithook(_on_audit)


def _on_audit(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open":
        path, _, flags = arguments
        point = "write" if isinstance(flags, int) and flags & _WRITES else "read"
    elif event in _MOVES:
        path, point = arguments[1], "move"
    elif event == "sqlite3.connect":
        path, point = arguments[0], "write"
    else:
        return
    if isinstance(path, (str, bytes, os.PathLike)):
        for faults in list(_watching):
            faults.reached(point, os.fsdecode(path))

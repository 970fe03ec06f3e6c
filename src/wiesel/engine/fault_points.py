"""Internal. Named points of the protocol at which tests kill or stop a process.

The plan is JSON in ``WIESEL_FAULT_PLAN`` of the driver, a list of objects with ``point``, ``where``, ``attempt``, ``nth``, ``action`` and
``marker``. ``where`` is ``driver`` or ``task-<vertex>-<subtask>``, ``nth`` counts the passages of that point in that process, ``action``
is ``kill`` (SIGKILL) or ``stop`` (SIGSTOP), and ``marker`` is a file written just before, which proves that the fault hit.
"""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

ENVIRONMENT_VARIABLE = "WIESEL_FAULT_PLAN"


class FaultPoints:
    """The faults of one process; without a plan a check of an empty dict."""

    def __init__(self, plan: str, attempt: int, where: str) -> None:
        self._all = [f for f in (json.loads(plan) if plan else ()) if f.get("where") == where]
        self.attempt_started(attempt)

    def attempt_started(self, attempt: int) -> None:
        """Take the faults of an attempt; passages are counted anew."""
        self._faults: dict[str, list[dict[str, object]]] = {}
        self._passed: dict[str, int] = {}
        for fault in self._all:
            if int(fault.get("attempt", attempt)) == attempt:
                self._faults.setdefault(str(fault["point"]), []).append(fault)

    def reached(self, point: str) -> None:
        """Carry out what is planned for this passage of the point."""
        faults = self._faults.get(point)
        if not faults:
            return
        passed = self._passed[point] = self._passed.get(point, 0) + 1
        for fault in faults:
            if int(str(fault.get("nth", 1))) == passed:
                marker = fault.get("marker")
                if marker:
                    Path(str(marker)).write_text(f"{point} {os.getpid()}\n")
                os.kill(os.getpid(), signal.SIGSTOP if fault.get("action") == "stop" else signal.SIGKILL)

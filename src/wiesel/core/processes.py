"""Internal. Other processes of this host."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["lives"]


def lives(pid: int) -> bool:
    """Return whether a process with this id exists, whoever owns it."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return _leader_of(pid) in (pid, None)


def _leader_of(number: int) -> int | None:
    """Return the process with this id or with a thread of this id; None if the system does not support the lookup.

    Threads of Linux have ids like processes, and reuse those of ended processes: ``kill()`` reports them as alive.
    """
    try:
        status = Path(f"/proc/{number}/status").read_text()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("Tgid:")), None)

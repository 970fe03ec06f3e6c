"""Internal. Other processes of this host."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["lives"]


def lives(pid: int) -> bool:
    """Return whether there is a process of this number, whoever's it is."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return _leader_of(pid) in (pid, None)


def _leader_of(number: int) -> int | None:
    """Return the process that has this number or a thread of it; None if the system does not tell.

    Threads of Linux have numbers like processes, and take those of processes that are gone: asked by ``kill()`` they live.
    """
    try:
        status = Path(f"/proc/{number}/status").read_text()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("Tgid:")), None)

"""Internal. Other processes of this host."""

from __future__ import annotations

import os

__all__ = ["lives"]


def lives(pid: int) -> bool:
    """Return whether there is a process of this number, whoever's it is."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True

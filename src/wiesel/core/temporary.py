"""Internal. Temporary directories that are gone when the program has ended, also where it did not wait for its jobs or by Ctrl-C."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import time

__all__ = ["make_directory", "remove_directory"]

_TRIES = 20
_TRY_AGAIN_S = 0.05
_made: dict[str, int] = {}


def make_directory(prefix: str, parent: str | None = None) -> str:
    """Make a directory that only this user can enter, and return its path; it is removed at the end of this process at the latest.

    Args:
        prefix: The beginning of its name.
        parent: Where it is; else in the directory for temporary files.
    """
    path = tempfile.mkdtemp(prefix=prefix, dir=parent)
    _made[path] = os.getpid()
    return path


def remove_directory(path: str) -> None:
    """Remove a directory of ``make_directory`` with all that is in it."""
    shutil.rmtree(path, ignore_errors=True)
    if not os.path.exists(path):
        _made.pop(path, None)


# Functions registered at exit run in reverse: this one after those that end Spark, as this module is imported before they are registered.
@atexit.register
def _remove_all() -> None:
    for path, maker in list(_made.items()):
        if maker != os.getpid():
            continue  # a copy of the process by os.fork
        for _ in range(_TRIES):
            remove_directory(path)
            if path not in _made:
                break
            time.sleep(_TRY_AGAIN_S)  # threads or processes of the job were still writing

"""Internal. Temporary directories, removed at the end of the program or, for killed programs, by a later one."""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import stat
import tempfile
import threading
import time
from contextlib import suppress

__all__ = ["make_directory", "remove_abandoned", "remove_directory"]

_TRIES = 20
_TRY_AGAIN_S = 0.05
_PREFIX = "wiesel-"
_OWNER = ".owner"
"""A file in each directory that its process locks (flock) as long as it lives, visible across containers."""

_made: dict[str, tuple[int, int]] = {}
"""Path -> process id of the creator, and the descriptor of the lock."""

_swept: set[str] = set()


def make_directory(prefix: str, parent: str | None = None) -> str:
    """Create a directory accessible to this user only, and return its path; it is removed at the end of this process at the latest.

    The first call removes the directories of killed processes in the parent, in a separate thread.

    Args:
        prefix: The beginning of its name: ``wiesel-`` and more.
        parent: Parent directory; by default the directory for temporary files.
    """
    path = tempfile.mkdtemp(prefix=prefix, dir=parent)
    _made[path] = (os.getpid(), _own(path))
    parent = os.path.dirname(path)
    if parent not in _swept:
        _swept.add(parent)
        threading.Thread(target=remove_abandoned, args=(parent,), name="wiesel-temporary", daemon=True).start()
    return path


def _own(path: str) -> int:
    """Lock the directory; the file is renamed afterwards, as one without a lock is considered abandoned."""
    unnamed = os.path.join(path, f"{_OWNER}.new")
    descriptor = os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    os.rename(unnamed, os.path.join(path, _OWNER))
    return descriptor


def remove_directory(path: str) -> None:
    """Remove a directory of ``make_directory`` with all that is in it."""
    shutil.rmtree(path, ignore_errors=True)
    if not os.path.exists(path) and (made := _made.pop(path, None)) is not None:
        os.close(made[1])


def remove_abandoned(parent: str) -> None:
    """Remove this user's directories of ``make_directory`` in a directory whose processes have ended."""
    with suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            with suppress(OSError):
                if entry.name.startswith(_PREFIX) and entry.is_dir(follow_symlinks=False) and entry.path not in _made:
                    _remove_if_abandoned(entry.path)


def _remove_if_abandoned(path: str) -> None:
    descriptor = os.open(os.path.join(path, _OWNER), os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        if found.st_uid == os.getuid() and stat.S_ISREG(found.st_mode):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(descriptor)


# Functions registered at exit run in reverse: this one after those that end Spark, as this module is imported before they are registered.
@atexit.register
def _remove_all() -> None:
    for path, (maker, _) in list(_made.items()):
        if maker != os.getpid():
            continue  # a copy of the process by os.fork
        for _ in range(_TRIES):
            remove_directory(path)
            if path not in _made:
                break
            time.sleep(_TRY_AGAIN_S)  # threads or processes of the job were still writing

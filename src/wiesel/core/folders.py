"""Internal. Folders that are still there when the machine has lost its power."""

from __future__ import annotations

import errno
import os
from pathlib import Path

__all__ = ["make_folder", "sync_folder"]


def make_folder(path: Path) -> None:
    """Make a folder and those above it, durably and for this user alone whatever the umask; no error if it is there.

    Raises:
        NotADirectoryError: something else is in its place.
    """
    if not path.is_dir():
        make_folder(path.parent)
        try:
            path.mkdir(mode=0o700)
        except FileExistsError as error:
            if not path.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path)) from error
        sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Have the names in a folder put on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

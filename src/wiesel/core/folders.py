"""Internal. Durable creation of folders."""

from __future__ import annotations

import errno
import os
from pathlib import Path

__all__ = ["make_folder", "sync_folder"]


def make_folder(path: Path) -> None:
    """Create a folder and its parents, durably and for this user alone whatever the umask; no error if it exists.

    Raises:
        NotADirectoryError: If another file exists at the path.
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
    """Sync the directory entries of a folder."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

"""Internal. Writing past the page cache, where the system and the filesystem have a way to do that."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Sequence
from typing import BinaryIO

__all__ = ["write_past_cache"]

_LARGE_BYTES = 1 << 20
_BLOCK_BYTES = 4096


def write_past_cache(file: BinaryIO, parts: Sequence[bytes | memoryview]) -> Sequence[bytes | memoryview]:
    """Write as much as can be written past the page cache, and return the rest.

    That is whole blocks of one large part that begins where a page of memory does. It is still to be synchronised: the file's size, and
    what the disk keeps in a cache of its own, are not on the disk yet.

    Args:
        file: A file that nothing was written to yet.
        parts: What is to be written.

    Raises:
        OSError: the disk is full or broken.
    """
    flag = getattr(os, "O_DIRECT", 0)
    if not flag or len(parts) != 1 or len(parts[0]) < _LARGE_BYTES:
        return parts
    view, done = memoryview(parts[0]), 0
    whole = len(view) // _BLOCK_BYTES * _BLOCK_BYTES
    descriptor = file.fileno()
    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | flag)
        while done < whole:
            done += os.write(descriptor, view[done:whole])
    except OSError as error:
        # The filesystem cannot do it, wants larger blocks, or the memory does not begin where it has to.
        if error.errno != errno.EINVAL:
            raise
    finally:
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags)
    return [view[done:]]

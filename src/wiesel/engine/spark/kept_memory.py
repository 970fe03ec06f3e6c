"""Internal. Memory settings of workers, so that they reuse the memory of a batch for the next one."""

from __future__ import annotations

import ctypes

__all__ = ["keep_freed_memory"]

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Names of options in ``malloc.h``, see mallopt(3)."""

_BATCH_BYTES = 8 << 20
_KEPT_BYTES = 32 << 20


def keep_freed_memory() -> bool:
    """Let this process and its children retain 32 MB of freed memory; return whether the C library supports it.

    Allocating pages from the kernel for each batch costs a tenth of reading files. Set here and not by the environment, which the JVM would
    inherit.
    """
    try:
        set_option = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False  # not glibc
    return bool(set_option(_MMAP_THRESHOLD, _BATCH_BYTES)) and bool(set_option(_TRIM_THRESHOLD, _KEPT_BYTES))

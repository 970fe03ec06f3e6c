"""Internal. Files of a job on their way to Spark's executors: Spark brings each bundle once to every one of them."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import threading

from pyspark import SparkFiles
from pyspark.sql import SparkSession

from wiesel.engine.dependencies import Dependencies, pack, unpack

__all__ = ["ship", "unpacked"]

_lock = threading.Lock()
_directory: str | None = None


def ship(session: SparkSession, wanted: Dependencies) -> str | None:
    """Give Spark what a job needs; return the name under which workers find it, None if nothing is needed."""
    if not wanted:
        return None
    with _lock:
        # Spark knows a file by its path: the same contents are the same path, as long as this process lives.
        path = pack(wanted, _own_directory())
        session.sparkContext.addFile(path)
    return os.path.basename(path)


def _own_directory() -> str:
    global _directory
    if _directory is None:
        _directory = tempfile.mkdtemp(prefix="wiesel-files-")
        atexit.register(shutil.rmtree, _directory, ignore_errors=True)
    return _directory


def unpacked(name: str | None) -> str | None:
    """Return the directory, on the machine of this worker, in which what was shipped is unpacked."""
    return None if name is None else unpack(SparkFiles.get(name))

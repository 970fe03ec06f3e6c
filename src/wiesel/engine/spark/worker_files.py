"""Internal. Distribution of a job's files to Spark's executors: Spark copies each bundle once to every one of them."""

from __future__ import annotations

import os
import shutil
import threading

from pyspark import SparkFiles
from pyspark.sql import SparkSession

from wiesel.core import options
from wiesel.core.errors import ConfigurationError
from wiesel.core.temporary import make_directory
from wiesel.engine.dependencies import Dependencies, pack, unpack

__all__ = ["ship", "unpacked"]

_lock = threading.Lock()
_directory: str | None = None
_first_interpreter: str | None = None


def ship(session: SparkSession, wanted: Dependencies) -> str | None:
    """Register the files of a job with Spark; return their name for workers, None if there are none.

    Raises:
        ConfigurationError: If the interpreter does not exist.
    """
    _choose_interpreter(session, wanted.executable)
    if not wanted:
        return None
    with _lock:
        # Spark identifies a file by its path: equal contents have the same path, as long as this process lives.
        path = pack(wanted, _own_directory())
        session.sparkContext.addFile(path)
    return os.path.basename(path)


def _choose_interpreter(session: SparkSession, executable: str | None) -> None:
    """Set the interpreter of the workers of jobs started from now on; None is the initial one of the session."""
    global _first_interpreter
    if executable is not None and shutil.which(executable) is None and str(session.sparkContext.master).startswith("local"):
        raise ConfigurationError(
            f"{options.PYTHON_EXECUTABLE.key}: {executable!r} cannot be executed",
            hint="give the path of a Python with Wiesel installed",
        )
    context = session.sparkContext
    if _first_interpreter is None:
        _first_interpreter = context.pythonExec
    context.pythonExec = executable or _first_interpreter


def _own_directory() -> str:
    global _directory
    if _directory is None:
        _directory = make_directory("wiesel-files-")
    return _directory


def unpacked(name: str | None) -> str | None:
    """Return the directory, on the machine of this worker, of the unpacked files."""
    return None if name is None else unpack(SparkFiles.get(name))

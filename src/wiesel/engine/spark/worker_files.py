"""Internal. Files of a job on their way to Spark's executors: Spark brings each bundle once to every one of them."""

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
    """Give Spark what a job needs; return the name under which workers find it, None if nothing is needed.

    Raises:
        ConfigurationError: the interpreter does not exist.
    """
    _choose_interpreter(session, wanted.executable)
    if not wanted:
        return None
    with _lock:
        # Spark knows a file by its path: the same contents are the same path, as long as this process lives.
        path = pack(wanted, _own_directory())
        session.sparkContext.addFile(path)
    return os.path.basename(path)


def _choose_interpreter(session: SparkSession, executable: str | None) -> None:
    """Have the workers of jobs started from now on run under an interpreter; None is the one that the session began with."""
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
    """Return the directory, on the machine of this worker, in which what was shipped is unpacked."""
    return None if name is None else unpack(SparkFiles.get(name))

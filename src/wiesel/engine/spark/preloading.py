"""Internal. Preloading in Spark's Python daemon before it forks, so that not every worker has to find and import packages.

Importing takes a worker most of a second of a core, and a job starts many workers at once. Imports nothing of Spark itself, as its location
is determined here.
"""

from __future__ import annotations

import importlib
import os
import sys
from contextlib import suppress
from pathlib import Path

__all__ = ["PRELOADED_MODULES", "leave_archives", "preload", "without_archives"]

PRELOADED_MODULES = "WIESEL_PRELOADED_MODULES"
"""The environment variable with the modules needed by the first job of a session, separated by commas."""

# Spark imports its worker after the fork, as pandas and pyarrow might start threads when they are imported; those that they do start
# (of OpenBLAS, of the allocator) expect forks. Arrow imports pandas, if it is there, as soon as it sees a list.
_OF_ALL_WORKERS = ("pyspark.worker", "pandas")


def without_archives(paths: list[str]) -> list[str]:
    """Return a search path without the archives of PySpark that are inside an installed PySpark on the path.

    Spark puts ``pyspark.zip`` and ``py4j-*-src.zip`` first. Modules in them are compiled in each process, and each worker reads the
    directories of both again; the installed package around them is the same.
    """
    installed = {Path(path) for path in paths}

    def is_there_twice(path: str) -> bool:
        archive = Path(path)
        if archive.suffix != ".zip" or archive.parts[-4:-1] != ("pyspark", "python", "lib"):
            return False
        around = archive.parents[3]
        return around in installed and (around / archive.name.partition("-")[0].removesuffix(".zip") / "__init__.py").is_file()

    return [path for path in paths if not is_there_twice(path)]


def leave_archives() -> None:
    """Remove unneeded archives from this process's search path; to be called before Spark is imported."""
    wanted = without_archives(sys.path)
    for path in set(sys.path).difference(wanted):
        # Otherwise the archive is read again whenever caches are invalidated, as in each worker.
        sys.path_importer_cache.pop(path, None)
    sys.path[:] = wanted


def preload() -> None:
    """Import the modules of workers. Failing imports are ignored: the task that needs the module reports it."""
    for name in (*_OF_ALL_WORKERS, *os.environ.get(PRELOADED_MODULES, "").split(",")):
        with suppress(ImportError, ValueError):
            importlib.import_module(name)

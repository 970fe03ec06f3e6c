"""Wiesel: Apache Flink's programming model and semantics in Python, with Spark as the distributed engine.

The public packages have the names of PyFlink's: ``wiesel.common``, ``wiesel.datastream``, ``wiesel.metrics``. Importing ``wiesel``
itself loads next to nothing, so that the command line starts at once.
"""

import sys as _sys
from importlib import import_module as _import_module

from wiesel.core.moved_modules import FormerNames as _FormerNames

__version__: str
"""Version of the installed package, which is built from the git tag; read when it is first used."""

__all__ = ["__version__"]

_FALLBACK_VERSION = "0.1.0"
_sys.meta_path.append(_FormerNames())


def __getattr__(name: str) -> str:
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    metadata = _import_module("importlib.metadata")
    try:
        found = str(metadata.version("wiesel"))
    except metadata.PackageNotFoundError:  # sources on the path that are not installed
        found = _FALLBACK_VERSION
    globals()["__version__"] = found
    return found

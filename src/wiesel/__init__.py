"""Wiesel: Apache Flink's programming model and semantics in Python, with Spark as the distributed engine.

The public packages have the names of PyFlink's: ``wiesel.common``, ``wiesel.datastream``, ``wiesel.metrics``. Importing ``wiesel``
itself loads next to nothing, so that the command line starts at once.
"""

import sys as _sys

from wiesel.core.moved_modules import FormerNames as _FormerNames

__version__ = "0.1.0"
__all__ = ["__version__"]

_sys.meta_path.append(_FormerNames())

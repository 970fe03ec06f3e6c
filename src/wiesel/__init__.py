"""Wiesel: Apache Flink's programming model and semantics in Python, with Spark as the distributed engine.

The public packages have the names of PyFlink's: ``wiesel.common``, ``wiesel.datastream``, ``wiesel.metrics``. Importing ``wiesel``
itself loads nothing else, so that the command line starts at once.
"""

__version__ = "0.1.0"
__all__ = ["__version__"]

"""Internal. Spark's Python daemon with Wiesel imported before it forks: workers start with everything loaded.

Named by ``spark.python.daemon.module``. Only modules without threads of their own may be imported here.
"""

from __future__ import annotations

import pyarrow  # noqa: F401 - loaded for the forked workers
from pyspark.daemon import manager

import wiesel.engine.spark.worker  # noqa: F401 - loaded for the forked workers

if __name__ == "__main__":
    manager()

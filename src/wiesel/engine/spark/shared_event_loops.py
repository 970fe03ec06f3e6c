"""Internal. Shared network threads for all readers of the pipelined exchange, instead of one thread per pair of tasks.

Spark 4.3 gives each pair of a writer and a reader a separate event loop: a thread and three file descriptors in addition to its connection.
Between stages of 50 tasks those are 2,500 threads. ``SharedEventLoops.java`` has readers that share threads; if tasks run in the driver's
JVM, it is compiled there and replaces Spark's own for jobs with many channels. See ``docs/design/0012-footprint.md``.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from wiesel.core.logs import get_logger
from wiesel.graph.stage_plan import Region

__all__ = ["channels", "share_event_loops"]

_FROM_CHANNELS = 128
"""Number of channels from which the saved threads are worth the half second of a core for the compiler."""

_SOURCE = Path(__file__).with_name("SharedEventLoops.java")
_CLASS = "wiesel.exchange.SharedEventLoops"
_lock = threading.Lock()
_looked_at: dict[str, bool] = {}
_log = get_logger("wiesel.spark")


def channels(regions: list[Region]) -> int:
    """Return the number of connections for these regions of a job: one for each pair of tasks of consecutive levels."""
    return sum(
        len(level) * len(following) for region in regions for level, following in zip(region.levels, region.levels[1:], strict=False)
    )


def share_event_loops(session: SparkSession, wanted: int) -> bool:
    """Let readers started from now on in the driver's JVM share their threads, if a job has enough channels.

    Args:
        session: The session.
        wanted: Number of channels of the job.

    Returns:
        True if they do.
    """
    application = session.sparkContext.applicationId
    with _lock:
        if application not in _looked_at and wanted >= _FROM_CHANNELS:
            _looked_at[application] = _install(session._jvm)
        return _looked_at.get(application, False)


def _install(jvm: Any) -> bool:
    try:
        compiler = jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(jvm.Thread.currentThread().getContextClassLoader())
        compiler.cook(_SOURCE.read_text(encoding="ascii"))
        found = compiler.getClassLoader().loadClass(_CLASS).getMethod("install", None).invoke(None, None)
    except (Py4JError, OSError) as error:
        _log.warning("each connection between two tasks has a thread of its own: this version of Spark does not let them share any")
        _log.debug("the readers of the exchange could not be replaced: %s", error)
        return False
    return bool(found)

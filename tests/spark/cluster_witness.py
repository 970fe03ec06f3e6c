"""Loaded by the workers of ``cluster_program.py``: each notes the executor that it belongs to, in a file named after its process."""

from __future__ import annotations

import os
from pathlib import Path

import psutil

DIRECTORY = "CLUSTER_WITNESS_DIRECTORY"


def note() -> None:
    """Write the pid of the executor's JVM."""
    parents = psutil.Process().parents()
    (executor,) = (p.pid for p in parents if "org.apache.spark.executor.CoarseGrainedExecutorBackend" in p.cmdline())
    Path(os.environ[DIRECTORY], str(os.getpid())).write_text(str(executor))

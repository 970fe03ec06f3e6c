"""Internal. Spark settings of the pipelined exchange (see ``wiesel.engine.spark.exchange``)."""

from __future__ import annotations

__all__ = ["JOB_SETTINGS", "PIPELINED_SETTINGS"]

PIPELINED_SETTINGS: dict[str, str] = {
    "spark.sql.adaptive.enabled": "false",
    # A separate JVM writer thread, and a flush per batch in the worker. Without it one JVM thread both feeds and reads the worker, and
    # output is blocked until more input arrives.
    "spark.python.udf.pipelined.enabled": "true",
    # TCP between JVM and worker costs 40 ms at low rates.
    "spark.python.unix.domain.socket.enabled": "true",
    # The JVM writer flushes at this size: below any Arrow message, so each is sent immediately.
    "spark.sql.execution.pandas.udf.buffer.size": "128",
    # An Arrow batch is written when it is full and the next row is known: so one row per batch, and fillers after the last one.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1",
    # A buffer as small as this takes one row and is sent at once, so nothing waits for the thread that sends what is not full: without it,
    # that thread wakes each millisecond in every task.
    "spark.shuffle.streaming.networkBufferSize": "1",
    "spark.shuffle.streaming.networkBufferMaxWaitTimeMs": "86400000",
    # Data in flight between two stages: two rows per channel. Without bounds a saturated exchange holds seconds of data.
    "spark.shuffle.streaming.readerMaxMemory": "65536",
    "spark.shuffle.streaming.writerMaxMemory": "1",
    # Each task has a server, which would have as many threads as the machine has cores, up to eight.
    "spark.rpc.io.threads": "1",
    # A task is never run again by Spark: attempts are ours.
    "spark.task.maxFailures": "1",
    "spark.stage.maxConsecutiveAttempts": "1",
    "spark.speculation": "false",
    "spark.dynamicAllocation.enabled": "false",
}

JOB_SETTINGS: dict[str, str] = {
    # What Spark's JVM does with a row of a job is to pass it on: to compile code for that takes most of a second, and saves nothing.
    # Queries of Spark itself need it, some of its catalog's even to work.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Settings for jobs only, not for other users of the session."""

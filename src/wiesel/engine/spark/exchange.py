"""Internal. All contact with Spark's internals: the pipelined exchange and the settings that it needs.

Spark 4.3 runs a shuffle *pipelined* when its ``ShuffleExchangeExec`` says so: the consumer stage is scheduled together with the
producer and reads while it runs. There is no public API for it outside Structured Streaming's real-time mode, hence this module; each
assumption has a test in ``tests/spark/test_spark_assumptions.py``, so that another Spark version breaks there and nowhere else.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import DataFrame, SparkSession

from wiesel.core.errors import ResourceError

LOG_HINT = "see the log of the master; with env.java.opts.jobmanager=-Dwiesel.spark.log.level=warn this program shows Spark's log, too"
ROW_SCHEMA = "p int, v binary"
"""A row of the exchange: target partition, and a run of buffers (null: a filler, see the worker)."""


def use_in_this_thread(session: SparkSession) -> None:
    """Activate the session in the calling thread's JVM thread, where physical plans look it up."""
    jvm: Any = session._jvm
    jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(session._jsparkSession)


def listen_on_loopback(session: SparkSession) -> bool:
    """Bind servers of this JVM without a configured address to loopback, if its tasks connect over loopback.

    The servers of the exchange have no setting for their address; so they would listen on all addresses of the machine.

    Returns:
        True if servers without a configured address are bound to loopback now.
    """
    jvm: Any = session._jvm
    address = jvm.java.net.InetAddress.getByName(session.sparkContext.getConf().get("spark.driver.host", ""))
    if address.isLoopbackAddress():
        # Java has the wildcard address in a field; Spark opens the package to reflection.
        with suppress(Py4JError):
            implementation = _field(jvm.java.lang.Class.forName("java.net.InetAddress"), "impl").get(None)
            _field(implementation.getClass(), "anyLocalAddress").set(implementation, address)
    return bool(jvm.java.net.InetSocketAddress(0).getAddress().isLoopbackAddress())


def _field(of_class: Any, name: str) -> Any:
    field = of_class.getDeclaredField(name)
    field.setAccessible(True)
    return field


def free_slots(session: SparkSession) -> int:
    """Return how many tasks could start now, by Spark's own criteria for admitting a pipelined job.

    Raises:
        ResourceError: If Spark has stopped.
    """
    context: Any = session.sparkContext
    java_context = context._jsc.sc()
    if java_context.isStopped():
        raise ResourceError(f"Spark has stopped: {context.master} has ended the application, or cannot be reached any more", hint=LOG_HINT)
    profile = java_context.resourceProfileManager().defaultResourceProfile().id()
    scheduler = java_context.dagScheduler()
    taken = scheduler.outstandingTasksForOtherWork(profile, context._jvm.scala.Predef.Set().empty())
    return max(0, int(scheduler.maxConcurrentTasksForProfile(profile)) - int(taken))


def lacks_slots(error: BaseException) -> bool:
    """Return whether Spark refused a pipelined job because too few slots were free. None of its tasks has run then."""
    return "CONCURRENT_SCHEDULER_INSUFFICIENT_SLOT" in str(error)


def cancel_group(session: SparkSession, group: str) -> None:
    """Cancel the jobs of a group, including those that Spark has not registered yet."""
    context: Any = session.sparkContext
    context._jsc.sc().cancelJobGroupAndFutureJobs(group)


def exchange(frame: DataFrame, partitions: int, *, pipelined: bool) -> DataFrame:
    """Return ``frame`` with its rows moved to partition ``p``, by a pipelined or by an ordinary (blocking) shuffle."""
    return _moved(frame, partitions, pipelined=pipelined)[0]


@dataclass(frozen=True)
class Materialized:
    """Output of an ordinary (blocking) shuffle: Spark retains it as long as this exists, and computes it at most once.

    Attributes:
        frame: The rows at their partitions.
        shuffle: Spark's id of the shuffle.
        producers: Number of producing tasks.
    """

    frame: DataFrame
    shuffle: int
    producers: int

    def is_there(self) -> bool:
        """Return whether all of it was computed, and is available."""
        context: Any = self.frame.sparkSession.sparkContext
        scheduler = context._jsc.sc().dagScheduler()
        # The environment has it as well, but in a class that cannot be introspected without libraries that Spark does not include.
        tracker = _field(scheduler.getClass(), "mapOutputTracker").get(scheduler)
        return bool(tracker.containsShuffle(self.shuffle)) and tracker.getNumAvailableOutputs(self.shuffle) == self.producers


def materialize(frame: DataFrame, producers: int, partitions: int) -> Materialized:
    """Return ``frame``, computed by ``producers`` tasks, with its rows moved to partition ``p`` by an ordinary shuffle."""
    moved, rows = _moved(frame, partitions, pipelined=False)
    return Materialized(moved, int(rows.dependency().shuffleId()), producers)


def _moved(frame: DataFrame, partitions: int, *, pipelined: bool) -> tuple[DataFrame, Any]:
    """Return the frame after a shuffle, and the RDD that reads it."""
    session = frame.sparkSession
    moved = frame.repartitionById(partitions, "p")
    java_frame: Any = moved._jdf
    plan = java_frame.queryExecution().executedPlan()
    while plan.getClass().getSimpleName() != "ShuffleExchangeExec":
        plan = plan.children().head()
    jvm: Any = session._jvm
    make = jvm.org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
    rebuilt = make(plan.outputPartitioning(), plan.child(), plan.shuffleOrigin(), plan.advisoryPartitionSize(), pipelined)
    java_session: Any = session._jsparkSession
    rows = rebuilt.execute()
    return DataFrame(java_session.internalCreateDataFrame(rows, java_frame.schema(), False), session), rows

"""Internal. The Spark session of a process: created lazily with the settings of pipelined jobs, and shared by jobs."""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.find_spark_home import _find_spark_home
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from wiesel.core.config import Configuration
from wiesel.core.errors import ResourceError
from wiesel.core.logs import get_logger
from wiesel.core.temporary import make_directory
from wiesel.engine.spark.driver_jvm import find_java, launching_home, local_master, prepare_environment, public, quiet_gateway
from wiesel.engine.spark.early_daemon import start_daemon_early
from wiesel.engine.spark.early_driver import GATEWAY, EarlyDriver, take_early_driver
from wiesel.engine.spark.exchange import LOG_HINT, listen_on_loopback
from wiesel.engine.spark.interrupts import interrupts_afterwards
from wiesel.engine.spark.pipelined_settings import JOB_SETTINGS, PIPELINED_SETTINGS
from wiesel.engine.spark.preloading import PRELOADED_MODULES
from wiesel.engine.spark.session_settings import session_settings
from wiesel.engine.spark.slots import in_this_process, local_cluster, most_slots

_lock = threading.Lock()
_MASTER_S = 5.0
"""Timeout (s) for connecting to a master."""
_log = get_logger("wiesel.spark")


def spark_session(config: Configuration, slots: int, *, least: int | None = None, modules: Sequence[str] = ()) -> SparkSession:
    """Return a session for a job that needs ``slots``; the executors of a cluster may still be starting.

    Args:
        config: The configuration.
        slots: Desired number of slots of the job.
        least: Minimal number, if smaller.
        modules: Modules that Python workers should import before they start, if the session is created.

    Raises:
        ResourceError: If there is no Java, or the master can never have so many slots.
    """
    needed = slots if least is None else least
    with _lock:
        active = SparkSession.getActiveSession() or SparkSession._instantiatedSession
        if active is not None and _alive(active):
            _check(active)
            _check_slots(str(active.sparkContext.master), needed)
            return active
        master = local_master(config, slots)
        _check_slots(master, needed)
        _check_master_answers(master)
        with interrupts_afterwards():
            return _create(config, master, modules)


def job_session(session: SparkSession) -> SparkSession:
    """Return a session on the same driver with the settings that only a job may have."""
    java_session: Any = session._jsparkSession
    own = SparkSession(session.sparkContext, java_session.cloneSession())
    for key, value in JOB_SETTINGS.items():
        own.conf.set(key, value)
    return own


def _alive(session: SparkSession) -> bool:
    context: Any = session.sparkContext
    return context._jsc is not None and not context._jsc.sc().isStopped()


def jvm_is_gone(session: SparkSession, *, wait_s: float = 0.0) -> bool:
    """Return whether the JVM started by this process has ended, for example because it was killed, or does so within ``wait_s``."""
    gateway: Any = session.sparkContext._gateway
    process: subprocess.Popen[bytes] | None = getattr(gateway, "proc", None)
    if process is None:
        return False
    try:
        process.wait(wait_s)
    except subprocess.TimeoutExpired:
        return False
    return True


def _check(session: SparkSession) -> None:
    missing = [k for k, v in PIPELINED_SETTINGS.items() if k.startswith("spark.sql.") and session.conf.get(k, None) != v]
    for key in missing:
        session.conf.set(key, PIPELINED_SETTINGS[key])
    if session.sparkContext.getConf().get("spark.python.daemon.module", "") != "wiesel.engine.spark.daemon":
        raise ResourceError(
            "a Spark session that was not made for Wiesel is active in this process",
            hint="let Wiesel make the session, or make it with wiesel.engine.spark.session.spark_session",
        )


def _check_slots(master: str, slots: int) -> None:
    most = most_slots(master)
    if most is not None and most < slots:
        raise ResourceError(
            f"the job needs {slots} slots at the same time, {master} has {most}",
            hint="lower the parallelism, add executors or cores, or chain more operators",
        )


def _check_master_answers(master: str) -> None:
    """Check for a standalone master before Spark does, which silently tries for a minute.

    Raises:
        ResourceError: None of the addresses accepts connections.
    """
    problems = []
    for address in master.removeprefix("spark://").split(",") if master.startswith("spark://") else ():
        host, _, port = address.strip().rpartition(":")
        try:
            socket.create_connection((host, int(port)), _MASTER_S).close()
            return
        except (OSError, ValueError) as error:
            problems.append(f"{address}: {error}")
    if problems:
        raise ResourceError(
            f"the Spark master {master} does not answer ({'; '.join(problems)})",
            hint="check host and port (a standalone master listens on 7077 by default), and that it is running",
        )


def _create(config: Configuration, master: str, modules: Sequence[str]) -> SparkSession:
    java = find_java(config)
    prepare_environment(java)
    quiet_gateway()
    settings = session_settings(config, master, java)
    if in_this_process(master):
        start_daemon_early(settings, modules)
    early = take_early_driver(settings)
    # The modules of the first job were not known when the other session was created.
    settings.setdefault(f"spark.executorEnv.{PRELOADED_MODULES}", ",".join(modules))
    try:
        session = _new_session(settings, master) if early is None else _adopted(early, settings)
    except Py4JError as error:
        why = next((line.strip() for line in str(error).splitlines() if "Exception" in line or "Error:" in line), type(error).__name__)
        raise ResourceError(
            f"Spark could not start on {master}: the master cannot be reached, or has refused or ended the application ({why})",
            hint=LOG_HINT,
        ) from None
    if in_this_process(master) and not listen_on_loopback(session):
        _log.warning("the tasks of %s listen on all network addresses of this machine: see docs/security.md", master)
    # Idle workers end regularly before the JVM ends.
    atexit.register(_stop, session)
    return session


def _adopted(early: EarlyDriver, settings: dict[str, str]) -> SparkSession:
    """Return the session of a driver that was started early as PySpark's."""
    connect: Any = launch_gateway
    with _connecting(early.address):
        gateway = connect()
    early.give_away()
    # As if it had been started by PySpark, for checks of its liveness.
    gateway.proc = early.process
    jvm = gateway.jvm
    java_session = jvm.org.apache.spark.sql.classic.SparkSession.getDefaultSession().get()
    conf = SparkConf(_jvm=jvm).setAll(list(settings.items()))
    return SparkSession(SparkContext(conf=conf, gateway=gateway, jsc=jvm.JavaSparkContext(java_session.sparkContext())))


@contextmanager
def _connecting(address: tuple[int, str]) -> Iterator[None]:
    """Let PySpark connect to a running JVM instead of starting one."""
    os.environ.update(zip(GATEWAY, map(str, address), strict=True))
    try:
        yield
    finally:
        for name in GATEWAY:
            del os.environ[name]


def _new_session(settings: dict[str, str], master: str) -> SparkSession:
    with _spark_home(master):
        # All users of the machine can read the command line of the JVM: secrets are set later.
        start: Any = SparkContext
        with _java_of_launch():
            start._ensure_initialized(conf=SparkConf(loadDefaults=False).setAll(list(public(settings).items())))
        builder = SparkSession.builder
        for key, value in settings.items():
            builder = builder.config(key, value)
        return builder.getOrCreate()


@contextmanager
def _java_of_launch() -> Iterator[None]:
    """Let a JVM started by PySpark use the java of :func:`launching_home`."""
    given = os.environ["JAVA_HOME"]
    os.environ["JAVA_HOME"] = launching_home()
    try:
        yield
    finally:
        os.environ["JAVA_HOME"] = given


def _stop(session: SparkSession) -> None:
    # Spark's own stop calls the JVM, and logs failures at length.
    if not jvm_is_gone(session):
        session.stop()


@contextmanager
def _spark_home(master: str) -> Iterator[None]:
    """Create a separate SPARK_HOME for a local cluster, with links to the real one.

    Its workers store the executors' directories and logs there: in the real one, which all users of the machine share, they would remain
    forever, and if it is read-only the JVM would end.
    """
    if local_cluster(master) is None or SparkContext._gateway is not None:
        yield
        return
    given = os.environ.get("SPARK_HOME")
    home = Path(make_directory("wiesel-spark-"))
    for entry in Path(_find_spark_home()).iterdir():
        if entry.name != "work":
            (home / entry.name).symlink_to(entry)
    os.environ["SPARK_HOME"] = str(home)
    try:
        yield
    finally:
        if given is None:
            del os.environ["SPARK_HOME"]
        else:
            os.environ["SPARK_HOME"] = given

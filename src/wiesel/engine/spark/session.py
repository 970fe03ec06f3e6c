"""Internal. The Spark session of a process: made on first use with the settings that pipelined jobs need, and shared by its jobs."""

from __future__ import annotations

import atexit
import logging
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.find_spark_home import _find_spark_home
from pyspark.sql import SparkSession

from wiesel.core import options as opt
from wiesel.core.config import ConfigOption, Configuration
from wiesel.core.durations import to_millis
from wiesel.core.errors import ResourceError
from wiesel.core.temporary import make_directory
from wiesel.engine.spark.class_archive import archive_options, java_version_text
from wiesel.engine.spark.early_jvm import launched_with, start_early, use_early_jvm
from wiesel.engine.spark.exchange import LOG_HINT, PIPELINED_SETTINGS
from wiesel.engine.spark.preloading import PRELOADED_MODULES
from wiesel.engine.spark.slots import in_this_process, local_cluster, most_slots

_LOCAL_SLOTS = 64
_HEARTBEAT_MS = 10_000
"""Executors report at least as often as Spark's own default: more than some of its timeouts it does not accept."""

_JAVA_HINT = "install the package openjdk-17-jre-headless, or set JAVA_HOME"
_DRIVER_LOG = f"-Dlog4j2.configurationFile=file:{Path(__file__).with_name('log4j2.properties')}"
_lock = threading.Lock()
_log = logging.getLogger("wiesel.spark")


def find_java(config: Configuration) -> str:
    """Return the java to run Spark with.

    Raises:
        ResourceError: there is none, or it is older than 17.
    """
    home = config.get(opt.JAVA_HOME) or os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")
    if not java or not os.access(java, os.X_OK):
        raise ResourceError("Wiesel needs Java 17 or later and found none", hint=_JAVA_HINT)
    found = re.search(r'version "(\d+)', java_version_text(java))
    if found and int(found.group(1)) < 17:
        raise ResourceError(
            f"Wiesel needs Java 17 or later and found {found.group(1)} at {java}",
            hint=_JAVA_HINT,
        )
    return java


def spark_session(config: Configuration, slots: int, *, least: int | None = None, modules: Sequence[str] = ()) -> SparkSession:
    """Return a session for a job that needs ``slots``; the executors of a cluster may still be on their way.

    Args:
        config: The configuration.
        slots: How many slots the job wants.
        least: How many it needs, if that is less.
        modules: What Python workers should have imported before they start, if the session has to be made.

    Raises:
        ResourceError: no Java, or the master can never have so many slots.
    """
    needed = slots if least is None else least
    with _lock:
        active = SparkSession.getActiveSession() or SparkSession._instantiatedSession
        if active is not None and _alive(active):
            _check(active)
            _check_slots(str(active.sparkContext.master), needed)
            return active
        master = config.get(opt.SPARK_MASTER) or f"local[{max(_LOCAL_SLOTS, slots)}]"
        _check_slots(master, needed)
        return _create(config, master, _use_java(config), modules)


def _alive(session: SparkSession) -> bool:
    context: Any = session.sparkContext
    return context._jsc is not None and not context._jsc.sc().isStopped()


def jvm_is_gone(session: SparkSession, *, wait_s: float = 0.0) -> bool:
    """Return whether the JVM that this process has started has ended, for example because it was killed, or does so within ``wait_s``."""
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


def prepare_session(config: Configuration) -> None:
    """Start what a session with these options takes longest to wait for: its JVM, if that runs here. What is missing is told later."""
    master = config.get(opt.SPARK_MASTER) or f"local[{_LOCAL_SLOTS}]"
    if not in_this_process(master):
        return
    with suppress(ResourceError, OSError):
        java = _use_java(config)
        _prepare_environment()
        start_early(launched_with(_settings(config, master, _archive(config, java))))


def _use_java(config: Configuration) -> str:
    java = find_java(config)
    os.environ.setdefault("JAVA_HOME", os.path.dirname(os.path.dirname(os.path.realpath(java))))
    return java


def _archive(config: Configuration, java: str) -> str:
    return archive_options(java, _java_options(config, opt.JAVA_OPTS_JOBMANAGER))


def _prepare_environment() -> None:
    # The interpreter of the driver, or PySpark refuses to run; a version of its own is the user's to install everywhere.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # One malloc arena per few threads keeps the resident memory of many small workers down.
    os.environ.setdefault("MALLOC_ARENA_MAX", "2")


def _create(config: Configuration, master: str, java: str, modules: Sequence[str]) -> SparkSession:
    # py4j tells at INFO of every connection it closes, in the middle of what a program that logs at INFO prints.
    gateway_log = logging.getLogger("py4j")
    if gateway_log.level == logging.NOTSET:
        gateway_log.setLevel(logging.WARNING)
    _prepare_environment()
    builder = SparkSession.builder.master(master).appName("wiesel")
    settings = _settings(config, master, _archive(config, java))
    use_early_jvm(launched_with(settings))
    for key, value in {f"spark.executorEnv.{PRELOADED_MODULES}": ",".join(modules), **settings}.items():
        builder = builder.config(key, value)
    try:
        with _spark_home(master):
            session = builder.getOrCreate()
    except Py4JError as error:
        why = next((line.strip() for line in str(error).splitlines() if "Exception" in line or "Error:" in line), type(error).__name__)
        raise ResourceError(
            f"Spark could not start on {master}: the master cannot be reached, or has refused or ended the application ({why})",
            hint=LOG_HINT,
        ) from None
    # Workers that are waiting for work end in good order before the JVM goes.
    atexit.register(_stop, session)
    return session


def _settings(config: Configuration, master: str, archive: str) -> dict[str, str]:
    """Return Spark's settings; those that the user names come last and win."""
    settings = {
        **PIPELINED_SETTINGS,
        **_executor_settings(config, master),
        "spark.python.daemon.module": "wiesel.engine.spark.daemon",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.artifact.isolation.enabled": "false",
        "spark.driver.extraJavaOptions": " ".join((_DRIVER_LOG, archive, _java_options(config, opt.JAVA_OPTS_JOBMANAGER))),
    }
    if master.startswith("local"):
        settings["spark.driver.host"] = "127.0.0.1"
        settings["spark.driver.bindAddress"] = "127.0.0.1"
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    settings.update(config.with_prefix("wiesel.spark.conf."))
    settings.update({k: str(v) for k, v in config.to_dict().items() if k.startswith("spark.")})
    return settings


def _stop(session: SparkSession) -> None:
    # Spark's own stop talks to the JVM, and says at length that it cannot.
    if not jvm_is_gone(session):
        session.stop()


def _java_options(config: Configuration, option: ConfigOption[str]) -> str:
    given = " ".join(str(config.get(o)) for o in (opt.JAVA_OPTS, option) if config.get(o))
    # The JVM only passes on what Python has made: its optimising compiler takes most of a core for the first minutes of each job and
    # gives nothing back (docs/design/0003).  The user's options come last and win.
    return f"-XX:+UseG1GC -XX:TieredStopAtLevel=1 {given}".strip()


def _executor_settings(config: Configuration, master: str) -> dict[str, str]:
    """Return what executors of their own need."""
    if in_this_process(master):
        return {}
    interval_ms, timeout_ms = to_millis(config.get(opt.HEARTBEAT_INTERVAL)), to_millis(config.get(opt.HEARTBEAT_TIMEOUT))
    settings = {
        "spark.executor.extraJavaOptions": _java_options(config, opt.JAVA_OPTS_TASKMANAGER),
        "spark.executor.heartbeatInterval": f"{min(interval_ms, _HEARTBEAT_MS)}ms",
        # Spark's own limit for a silent executor is two minutes, and it looks once a minute.
        "spark.storage.blockManagerHeartbeatTimeoutMs": f"{timeout_ms}ms",
        "spark.network.timeoutInterval": f"{max(1, timeout_ms // 5)}ms",
    }
    if config.contains(opt.TASK_SLOTS):
        settings["spark.executor.cores"] = str(config.get(opt.TASK_SLOTS))
    cluster = local_cluster(master)
    if cluster is not None:
        # Spark's default may be more than its workers have, and then no executor ever starts.
        settings["spark.executor.memory"] = f"{cluster[2]}m"
    return settings


@contextmanager
def _spark_home(master: str) -> Iterator[None]:
    """Give a local cluster a SPARK_HOME of its own, with links to the real one.

    Its workers keep the executors' directories and logs there: in the real one, which all users of the machine share, they would stay
    for ever, and where it is read-only the JVM would end.
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

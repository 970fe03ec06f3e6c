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
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from wiesel.core import options as opt
from wiesel.core.config import Configuration
from wiesel.core.errors import ResourceError
from wiesel.engine.spark.exchange import PIPELINED_SETTINGS

_LOCAL_SLOTS = 64
_JAVA_HINT = "install the package openjdk-17-jre-headless, or set JAVA_HOME"
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
    text = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(\d+)', text)
    if found and int(found.group(1)) < 17:
        raise ResourceError(
            f"Wiesel needs Java 17 or later and found {found.group(1)} at {java}",
            hint=_JAVA_HINT,
        )
    return java


def spark_session(config: Configuration, slots: int) -> SparkSession:
    """Return a session on which ``slots`` tasks can run at the same time.

    Raises:
        ResourceError: no Java, or the cluster is too small.
    """
    with _lock:
        active = SparkSession.getActiveSession() or SparkSession._instantiatedSession
        if active is not None and _alive(active):
            _check(active)
            _check_slots(active, slots)
            return active
        java = find_java(config)
        os.environ.setdefault("JAVA_HOME", os.path.dirname(os.path.dirname(os.path.realpath(java))))
        session = _create(config, slots)
        if re.match(r"local(\[|$)", str(session.sparkContext.master)):
            # The executors of a cluster may still be on their way, here there will never be more.
            _check_slots(session, slots)
        return session


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


def _check_slots(session: SparkSession, slots: int) -> None:
    available = available_slots(session)
    if available < slots:
        raise ResourceError(
            f"the job needs {slots} slots at the same time, {session.sparkContext.master} has {available}",
            hint="lower the parallelism, add executors or cores, or chain more operators",
        )


def available_slots(session: SparkSession) -> int:
    """Return how many tasks can run at the same time."""
    context: Any = session.sparkContext
    local = re.fullmatch(r"local\[(\d+)(,\d+)?\]", context.master)
    if local:
        return int(local.group(1))
    return int(context._jsc.sc().defaultParallelism())


def _create(config: Configuration, slots: int) -> SparkSession:
    # py4j tells at INFO of every connection it closes, in the middle of what a program that logs at INFO prints.
    gateway_log = logging.getLogger("py4j")
    if gateway_log.level == logging.NOTSET:
        gateway_log.setLevel(logging.WARNING)
    # The interpreter of the driver, or PySpark refuses to run; a version of its own is the user's to install everywhere.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # One malloc arena per few threads keeps the resident memory of many small workers down.
    os.environ.setdefault("MALLOC_ARENA_MAX", "2")
    master = config.get(opt.SPARK_MASTER) or f"local[{max(_LOCAL_SLOTS, slots)}]"
    settings = {
        **PIPELINED_SETTINGS,
        "spark.python.daemon.module": "wiesel.engine.spark.daemon",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.artifact.isolation.enabled": "false",
        "spark.driver.extraJavaOptions": _java_options(config),
    }
    if master.startswith("local"):
        settings["spark.driver.host"] = "127.0.0.1"
        settings["spark.driver.bindAddress"] = "127.0.0.1"
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    settings.update(config.with_prefix("wiesel.spark.conf."))
    settings.update({k: str(v) for k, v in config.to_dict().items() if k.startswith("spark.")})
    # A program that logs at INFO wants its own lines, not those of the bridge to the JVM.
    if logging.getLogger("py4j").level == logging.NOTSET:
        logging.getLogger("py4j").setLevel(logging.WARNING)
    builder = SparkSession.builder.master(master).appName("wiesel")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    # Workers that are waiting for work end in good order before the JVM goes.
    atexit.register(_stop, session)
    return session


def _stop(session: SparkSession) -> None:
    # Spark's own stop talks to the JVM, and says at length that it cannot.
    if not jvm_is_gone(session):
        session.stop()


def _java_options(config: Configuration) -> str:
    log4j = Path(__file__).with_name("log4j2.properties")
    given = " ".join(str(config.get(o)) for o in (opt.JAVA_OPTS, opt.JAVA_OPTS_JOBMANAGER) if config.get(o))
    # The JVM only passes on what Python has made: its optimising compiler takes most of a core for the first minutes of each job and
    # gives nothing back (docs/design/0003).  The user's options come last and win.
    return f"-XX:+UseG1GC -XX:TieredStopAtLevel=1 -Dlog4j2.configurationFile=file:{log4j} {given}".strip()

"""Internal. The driver's JVM: the java executable, and Spark's settings needed at its start.

Imports nothing of PySpark: ``wiesel run`` starts the JVM before slow imports.
"""

from __future__ import annotations

import logging
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from wiesel.core import options as opt
from wiesel.core.config import ConfigOption, Configuration
from wiesel.core.errors import ResourceError
from wiesel.core.parallelism import local_slots
from wiesel.core.secrets import is_secret, without_secrets
from wiesel.core.temporary import make_directory
from wiesel.engine.spark.class_archive import archive_options, java_version_text
from wiesel.engine.spark.slots import in_this_process

__all__ = [
    "driver_settings",
    "find_java",
    "given_settings",
    "java_options",
    "launched_with",
    "launching_home",
    "local_master",
    "prepare_environment",
    "public",
    "quiet_gateway",
]

_JAVA_HINT = "install the package openjdk-17-jre-headless, or set JAVA_HOME"
_DRIVER_LOG = f"-Dlog4j2.configurationFile=file:{Path(__file__).with_name('log4j2.properties')}"
_LONGEST_SOCKET_DIRECTORY = 60
_WITHOUT_INCUBATOR = """#!/bin/sh
for argument; do
  shift
  [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
case " $* " in
*" org.apache.spark.launcher.Main "*) ;; # writes the command of the JVM, with the java of this JAVA_HOME
*) JAVA_HOME={home} && export JAVA_HOME ;;
esac
exec {java} "$@"
"""
_AT_LAUNCH = ("spark.driver.", "spark.jars", "spark.files", "spark.archives", "spark.submit.")


def find_java(config: Configuration) -> str:
    """Return the java to run Spark with.

    Raises:
        ResourceError: If there is none, or it is older than 17.
    """
    home = config.get(opt.JAVA_HOME) or os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")
    if home and java and not os.access(java, os.X_OK):
        where = f"the option {opt.JAVA_HOME.key}" if config.get(opt.JAVA_HOME) else "the environment variable JAVA_HOME"
        raise ResourceError(
            f"{where} is {home!r}, but there is no program {java}",
            hint="set it to the directory of a Java 17 or later, or unset it to take the java of the PATH",
        )
    if not java or not os.access(java, os.X_OK):
        raise ResourceError("Wiesel needs Java 17 or later and found none", hint=_JAVA_HINT)
    found = re.search(r'version "(\d+)', java_version_text(java))
    if found and int(found.group(1)) < 17:
        raise ResourceError(
            f"Wiesel needs Java 17 or later and found {found.group(1)} at {java}{' (by JAVA_HOME)' if home else ''}",
            hint=_JAVA_HINT,
        )
    return java


def prepare_environment(java: str) -> None:
    """Set environment variables for the JVM and its children, unless they are set."""
    os.environ.setdefault("JAVA_HOME", os.path.dirname(os.path.dirname(os.path.realpath(java))))
    # The interpreter of the driver, or PySpark refuses to run; a version of its own is the user's to install everywhere.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # One malloc arena per few threads limits the resident memory of many small workers.
    os.environ.setdefault("MALLOC_ARENA_MAX", "2")


def launching_home() -> str:
    """Return a JAVA_HOME whose java omits the incubator module that Spark requests, of which the JVM warns at each start.

    Only Spark's linear algebra uses it, and runs without it. The JVM itself and its children have the real JAVA_HOME.
    """
    real = os.environ["JAVA_HOME"]
    home = Path(_private_directory(), "java")
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(_WITHOUT_INCUBATOR.format(home=shlex.quote(real), java=shlex.quote(os.path.join(real, "bin", "java"))))
    program.chmod(0o700)
    return str(home)


def quiet_gateway() -> None:
    """Prevent py4j, unless its log level is set, from logging each connection at INFO into the program's output."""
    gateway_log = logging.getLogger("py4j")
    if gateway_log.level == logging.NOTSET:
        gateway_log.setLevel(logging.WARNING)


def local_master(config: Configuration, slots: int = 0) -> str:
    """Return the master that the configuration names, or one on this machine with ``slots`` and some to spare."""
    return config.get(opt.SPARK_MASTER) or f"local[{max(local_slots(), slots)}]"


def java_options(config: Configuration, option: ConfigOption[str]) -> str:
    """Return the JVM's options for a role, which ``option`` names."""
    given = " ".join(str(config.get(o)) for o in (opt.JAVA_OPTS, option) if config.get(o))
    # The JVM only passes on what Python has made: its optimising compiler takes most of a core for the first minutes of each job and
    # gives nothing back (docs/design/0003).  The user's options come last and win.
    return f"-XX:+UseG1GC -XX:TieredStopAtLevel=1 {given}".strip()


def driver_settings(config: Configuration, master: str, java: str) -> dict[str, str]:
    """Return Spark's settings for the driver, without those set by the user."""
    options = java_options(config, opt.JAVA_OPTS_JOBMANAGER)
    own_process = in_this_process(master)
    temporary = _private_directory() if own_process else tempfile.gettempdir()
    given = [_DRIVER_LOG, archive_options(java, options), options]
    if own_process or len(temporary) <= _LONGEST_SOCKET_DIRECTORY:
        # With a cluster, Spark creates its sockets there as well.
        given.insert(1, shlex.quote(f"-Djava.io.tmpdir={temporary}"))
    settings = {"spark.driver.extraJavaOptions": " ".join(given)}
    if master.startswith("local"):
        settings["spark.driver.host"] = "127.0.0.1"
        settings["spark.driver.bindAddress"] = "127.0.0.1"
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    if own_process:
        settings["spark.local.dir"] = temporary
        settings["spark.python.unix.domain.socket.dir"] = _socket_directory()
    return settings


@cache
def _private_directory() -> str:
    """Return a private directory of this process for the JVM: Spark creates files by the umask."""
    return make_directory("wiesel-spark-")


@cache
def _socket_directory() -> str:
    """Return the directory for the sockets of workers, whose paths must be short."""
    directory = _private_directory()
    return directory if len(directory) <= _LONGEST_SOCKET_DIRECTORY else make_directory("wiesel-spark-", "/tmp")


def given_settings(config: Configuration) -> dict[str, str]:
    """Return Spark's settings set by the user."""
    return {**config.with_prefix("wiesel.spark.conf."), **{k: str(v) for k, v in config.to_dict().items() if k.startswith("spark.")}}


def launched_with(settings: Mapping[str, str]) -> dict[str, str]:
    """Return Spark's settings that are needed when the JVM is started; the others are set later."""
    return {key: value for key, value in public(settings).items() if key.startswith(_AT_LAUNCH)}


def public(settings: Mapping[str, str]) -> dict[str, str]:
    """Return Spark's settings that may be on a command line: without secrets, by names or values."""
    return {key: value for key, value in settings.items() if not is_secret(key) and without_secrets(value) == value}

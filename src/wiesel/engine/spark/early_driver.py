"""Internal. Early start of Spark's driver, a JVM with a session, while the program is being imported.

``wiesel run`` knows the options before it runs the program, and a JVM with a session takes longer to start than a program to be imported.
It is invisible in this process until a job requests a session: PySpark does not know of it, so a program that creates a session itself is
not affected. If the program then requires other options (of the JVM, environment variables, the directory, settings of Spark), the early
JVM is ended and another one started.
"""

from __future__ import annotations

import atexit
import os
import shlex
import signal
import struct
import sys
import threading
import time
from importlib.util import find_spec
from pathlib import Path
from subprocess import PIPE, Popen, TimeoutExpired
from typing import Any

from wiesel.core.config import Configuration
from wiesel.core.errors import InvariantError, ResourceError
from wiesel.core.logs import get_logger
from wiesel.core.temporary import make_directory
from wiesel.engine.spark.driver_jvm import find_java, launched_with, launching_home, local_master, prepare_environment, quiet_gateway
from wiesel.engine.spark.session_settings import session_settings
from wiesel.engine.spark.slots import in_this_process

__all__ = ["GATEWAY", "EarlyDriver", "prepare", "take_early_driver"]

GATEWAY = ("PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET")
_POLL_S = 0.02
_LIMIT_S = 60.0
_END_S = 5.0
_log = get_logger("wiesel.spark")


class EarlyDriver:
    """A starting JVM with a session, not used yet.

    Args:
        settings: All of Spark's settings of the session.
    """

    def __init__(self, settings: dict[str, str]) -> None:
        self._wanted = settings, dict(os.environ), os.getcwd()
        self._told = Path(make_directory("wiesel-gateway-"), "connection")
        command = [os.path.join(_spark_home(), "bin", "spark-submit")]
        for key, value in launched_with(settings).items():
            command += ["--conf", f"{key}={value}"]
        command += shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))
        told = {"SPARK_CONNECT_MODE": "0", "_PYSPARK_DRIVER_CONN_INFO_PATH": str(self._told)}
        environment = {**os.environ, **told, "JAVA_HOME": launching_home()}
        # It ends when this pipe is closed, and ignores Ctrl-C, which is for the program.
        self.process = Popen(command, stdin=PIPE, env=environment, preexec_fn=_ignore_interrupts)
        self._address: tuple[int, str] | None = None
        self._unwanted = threading.Event()
        atexit.register(self._end_with_program)
        self._coming = threading.Thread(target=self._come_up, name="wiesel-early-driver", daemon=True)
        self._coming.start()

    def _come_up(self) -> None:
        try:
            address = self._wait_for_address()
            if address is not None and not self._unwanted.is_set():
                _make_session(address, self._wanted[0])
                self._address = address
        except Exception as error:  # noqa: BLE001 - the program gets a session of its own, and the error with it if that fails, too
            _log.debug("no session was created early: %s", error)
        if self._unwanted.is_set():
            self._end()

    def _wait_for_address(self) -> tuple[int, str] | None:
        """Return port and secret of the JVM when it is reachable, None if it has ended or exceeds the timeout."""
        deadline_s = time.monotonic() + _LIMIT_S
        while not self._told.is_file():
            if self._unwanted.wait(_POLL_S) or self.process.poll() is not None or time.monotonic() > deadline_s:
                return None
        port, length = struct.unpack_from("!ii", told := self._told.read_bytes())
        return port, told[8 : 8 + length].decode()

    def wait(self, settings: dict[str, str]) -> bool:
        """Wait for the session; return whether it has these settings and starts its workers in this environment."""
        if (settings, dict(os.environ), os.getcwd()) != self._wanted:
            return False
        self._coming.join()
        return self._address is not None and self.process.poll() is None

    @property
    def address(self) -> tuple[int, str]:
        """Return port and secret of the JVM, after ``wait``."""
        if self._address is None:
            raise InvariantError("nobody has waited for this JVM, or it did not come")
        return self._address

    def end(self) -> None:
        """End the JVM, after a pending call, as py4j logs interrupted ones. Does not wait for its end."""
        self._unwanted.set()
        if not self._coming.is_alive():
            self._end()

    def _end_with_program(self) -> None:
        self.end()
        self._coming.join()
        self._end()

    def _end(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(_END_S)
            except TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def give_away(self) -> None:
        """Transfer the responsibility for the JVM's end to the caller."""
        atexit.unregister(self._end_with_program)


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _spark_home() -> str:
    """Return Spark's home, if possible without the slow import of PySpark."""
    found = find_spec("pyspark")
    around = list(found.submodule_search_locations or ()) if found is not None else []
    if "SPARK_HOME" in os.environ:
        return os.environ["SPARK_HOME"]
    if around and os.path.isfile(os.path.join(around[0], "bin", "spark-submit")):
        return around[0]
    from pyspark.find_spark_home import _find_spark_home

    return _find_spark_home()


def _make_session(address: tuple[int, str], settings: dict[str, str]) -> None:
    """Create a session in the JVM, over a separate connection."""
    from py4j.clientserver import ClientServer, JavaParameters, PythonParameters

    port, secret = address
    gateway = ClientServer(
        java_parameters=JavaParameters(port=port, auth_token=secret, auto_convert=True),
        python_parameters=PythonParameters(port=0, eager_load=False),
    )
    jvm: Any = gateway.jvm
    warming_up = threading.Thread(target=_warm_up, args=(jvm,), name="wiesel-early-functions", daemon=True)
    warming_up.start()
    sessions = jvm.org.apache.spark.sql.classic.SparkSession
    builder = sessions.builder()
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    # Created lazily otherwise.
    session.sessionState()
    sessions.setDefaultSession(session)
    # A pending call must not be interrupted.
    warming_up.join()


def _warm_up(jvm: Any) -> None:
    """Register the functions of Spark's ML, as each session does: the first time takes a third of a second, for Scala's reflection."""
    try:
        jvm.org.apache.spark.sql.ml.InternalFunctionRegistration().apply(jvm.org.apache.spark.sql.SparkSessionExtensions())
    except Exception as error:  # noqa: BLE001 - the session registers them, or tells why it cannot
        _log.debug("functions were not registered early: %s", error)


_early: EarlyDriver | None = None


def prepare(config: Configuration) -> None:
    """Start the slow parts of a session with these options early, if it runs here. Errors are reported later."""
    global _early
    master = local_master(config)
    if _early is not None or not in_this_process(master) or _has_gateway():
        return
    try:
        java = find_java(config)
        prepare_environment(java)
        quiet_gateway()
        _early = EarlyDriver(session_settings(config, master, java))
    except (ResourceError, OSError) as error:
        _log.debug("no driver was started early: %s", error)


def _has_gateway() -> bool:
    """Return whether PySpark has a JVM already, or is configured to use another process's."""
    context = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    return any(name in os.environ for name in GATEWAY) or getattr(context, "_gateway", None) is not None


def take_early_driver(settings: dict[str, str]) -> EarlyDriver | None:
    """Return the driver started early, if it has this session, else end it. It is returned only once."""
    global _early
    early, _early = _early, None
    if early is None or (not _has_gateway() and early.wait(settings)):
        return early
    early.end()
    return None

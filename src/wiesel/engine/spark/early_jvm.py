"""Internal. A JVM for Spark that starts while the program is still being imported.

``wiesel run`` knows the options before it runs the program, and a JVM takes as long to come up as a program with its packages does.
Where the program then asks for something else than was started (options of the JVM, variables of the environment, the directory),
that one is ended and another one started, as without this.
"""

from __future__ import annotations

import atexit
import os
import shlex
import signal
import struct
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, Popen, TimeoutExpired
from typing import Any

from pyspark import SparkContext
from pyspark.find_spark_home import _find_spark_home
from pyspark.java_gateway import launch_gateway

from wiesel.core.temporary import make_directory

__all__ = ["launched_with", "start_early", "use_early_jvm"]

_AT_LAUNCH = ("spark.driver.", "spark.jars", "spark.files", "spark.archives", "spark.submit.")
_GATEWAY = ("PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET")
_POLL_S = 0.02
_LIMIT_S = 60.0
_END_S = 5.0


def launched_with(settings: Mapping[str, str]) -> dict[str, str]:
    """Return those of Spark's settings that have to be known when the JVM is started; the others are given to it later."""
    return {key: value for key, value in settings.items() if key.startswith(_AT_LAUNCH)}


@dataclass(frozen=True)
class _Ground:
    """What a JVM and its children take over when they start."""

    settings: dict[str, str]
    environment: dict[str, str]
    directory: str

    @classmethod
    def now(cls, settings: dict[str, str]) -> _Ground:
        return cls(settings, dict(os.environ), os.getcwd())


class _EarlyJvm:
    """A JVM that nobody uses yet."""

    def __init__(self, settings: dict[str, str]) -> None:
        self.ground = _Ground.now(settings)
        self._told = Path(make_directory("wiesel-gateway-"), "connection")
        command = [os.path.join(_find_spark_home(), "bin", "spark-submit")]
        for key, value in settings.items():
            command += ["--conf", f"{key}={value}"]
        command += shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))
        environment = {**os.environ, "SPARK_CONNECT_MODE": "0", "_PYSPARK_DRIVER_CONN_INFO_PATH": str(self._told)}
        # It ends when this pipe is closed, and does not hear of Ctrl-C, which is for the program.
        self.process = Popen(command, stdin=PIPE, env=environment, preexec_fn=_ignore_interrupts)
        atexit.register(self.end)

    def address(self) -> tuple[str, str] | None:
        """Wait until the JVM can be reached; return its port and secret, None if it has ended or takes too long."""
        deadline_s = time.monotonic() + _LIMIT_S
        while not self._told.is_file():
            if self.process.poll() is not None or time.monotonic() > deadline_s:
                return None
            time.sleep(_POLL_S)
        port, length = struct.unpack_from("!ii", told := self._told.read_bytes())
        return str(port), told[8 : 8 + length].decode()

    def end(self) -> None:
        """End the JVM, unless it has ended."""
        atexit.unregister(self.end)
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(_END_S)
            except TimeoutExpired:
                self.process.kill()

    def give_away(self) -> None:
        """Leave the JVM's end to somebody else."""
        atexit.unregister(self.end)


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


_early: _EarlyJvm | None = None


def start_early(settings: dict[str, str]) -> None:
    """Start a JVM with these settings (see ``launched_with``), unless there is one or somebody else's is to be used."""
    global _early
    if _early is None and SparkContext._gateway is None and not any(name in os.environ for name in _GATEWAY):
        _early = _EarlyJvm(settings)


def use_early_jvm(settings: dict[str, str]) -> None:
    """Have PySpark use the JVM that was started early, if there is one and it is the one that would be started now; else end it."""
    global _early
    early, _early = _early, None
    if early is None:
        return
    address = early.address() if early.ground == _Ground.now(settings) and SparkContext._gateway is None else None
    if address is None:
        early.end()
        return
    early.give_away()
    connect: Any = launch_gateway
    with _connecting(address):
        gateway = connect()
    # As if it had been started by PySpark: who looks whether it lives looks here.
    gateway.proc = early.process
    SparkContext._ensure_initialized(gateway=gateway)


@contextmanager
def _connecting(address: tuple[str, str]) -> Iterator[None]:
    """Tell PySpark to connect to a JVM in place of starting one."""
    os.environ.update(zip(_GATEWAY, address, strict=True))
    try:
        yield
    finally:
        for name in _GATEWAY:
            del os.environ[name]

"""Somebody who has nothing to do with a job connects to its ports, as a client does whose server's port is now another's."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from tests.faults.driver_process import LIMIT_S, Driver, has_own_checkpoint, must_be_exact

RECORDS = 1500
CONNECT_S = 5
MOST_TRIES = 20
MOST_OF_A_GREETING = 300
"""Bytes of a greeting and the filler behind it, as Spark sends them; records come in buffers that are larger."""

LOOPBACK = {"127.0.0.1", "::1", "::ffff:127.0.0.1"}
NOT_OF_SPARK = b"p\nro6270\ne\n"
"""What a py4j client says first, whose JVM has ended."""


def listening(process: psutil.Process) -> set[int]:
    """Return the ports on which a process listens: nowhere but on the loopback address."""
    found = {c.laddr for c in process.net_connections("tcp") if c.status == psutil.CONN_LISTEN}
    assert all(address.ip in LOOPBACK for address in found), found
    return {address.port for address in found}


def ports(job: Driver) -> dict[str, set[int]]:
    """Return the ports on which the processes of a job listen, by the name of the program."""
    found: dict[str, set[int]] = {}
    for process in job.family():
        with contextlib.suppress(psutil.Error):
            found.setdefault(process.name(), set()).update(listening(process))
    return found


def speak(port: int) -> None:
    """Say something and wait for the other side to hang up, or a moment."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1) as connection:
        connection.settimeout(0.2)
        connection.sendall(NOT_OF_SPARK)
        connection.recv(100)


def is_later(attempt: int, look: dict[str, Any]) -> bool:
    return bool(look["attempt"] > attempt)


class HostileReader:
    """Runs ``hostile_reader`` against the ports on which the JVM of a job listens beyond ``known``."""

    def __init__(self, job: Driver, known: set[int]) -> None:
        self._jvm = job.jvm()
        self._known = set(known)
        self._ended = threading.Event()
        program = Path(__file__).with_name("hostile_reader.py")
        self._process = subprocess.Popen([sys.executable, str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.has_taken = threading.Event()
        self.taken: list[int] = []
        self._threads = [threading.Thread(target=self._look), threading.Thread(target=self._read)]
        for thread in self._threads:
            thread.start()

    def _look(self) -> None:
        assert self._process.stdin is not None
        with self._process.stdin as ports_to_take:
            while not self._ended.is_set():
                for port in listening(self._jvm) - self._known:
                    self._known.add(port)
                    ports_to_take.write(f"{port}\n")
                    ports_to_take.flush()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as said:
            for line in said:
                if line == "taken\n":
                    self.has_taken.set()
                else:
                    self.taken = json.loads(line)

    def end(self) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()
        self._process.wait()


def test_strangers_cost_an_attempt_and_no_record(tmp_path: Path) -> None:
    job = Driver(tmp_path, "--records", str(RECORDS), "--setting", f"taskmanager.network.partition-request-timeout={CONNECT_S} s")
    hostile = None
    try:
        job.wait_for(has_own_checkpoint, "a checkpoint")
        found = ports(job)
        # The gateway, the driver's services and a server per task that hands records on; and where tasks find the JobMaster.
        assert len(found["java"]) > 3 and len(found) > 1, found
        hostile = HostileReader(job, found["java"])
        for port in sorted(set().union(*found.values())):
            speak(port)
        # Who asks first for a channel is up to chance.
        for _ in range(MOST_TRIES):
            last = job.wait_for(lambda look: hostile.has_taken.is_set() or has_own_checkpoint(look), "an attempt")["attempt"]
            if hostile.has_taken.is_set():
                break
            for port in sorted(listening(job.jvm())):
                speak(port)
            job.wait_for(partial(is_later, last), "the attempt after it")
        assert hostile.has_taken.is_set(), job.tail()
        deadline_s = time.monotonic() + LIMIT_S
        while "could not connect to all of its producers" not in job.log.read_text():
            assert time.monotonic() < deadline_s, job.tail()
            time.sleep(0.05)
        hostile.end()
        job.wait_for(has_own_checkpoint, "an attempt without strangers")
        job.release()
        assert job.wait_for_end() == 0, job.tail()
        assert job.last["status"] == "FINISHED", job.last
        assert max(job.restored.values()) > 0, job.restored
        job.family_must_vanish()
    finally:
        if hostile is not None:
            hostile.end()
        job.end()
    must_be_exact(tmp_path, RECORDS)
    assert hostile.taken and max(hostile.taken) < MOST_OF_A_GREETING, hostile.taken
    # Which of the tasks at both ends of the exchange is heard first is up to chance; no function of the user's has to do with it.
    said = job.log.read_text()
    assert "Too large frame" in said or "broke off" in said, job.tail()
    assert "UserFunctionError" not in said, job.tail()

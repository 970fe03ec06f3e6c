"""Somebody who has nothing to do with a job connects to its ports, as a client does whose server's port is now another's."""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path

import psutil

from tests.faults.driver_process import Driver, all_run, has_own_checkpoint, must_be_exact

RECORDS = 1500
NOT_OF_SPARK = b"p\nro6270\ne\n"
"""What a py4j client says first, whose JVM has ended."""


def ports(job: Driver) -> dict[str, set[int]]:
    """Return the ports on which the processes of a job listen, by the name of the program."""
    found: dict[str, set[int]] = {}
    for process in job.family():
        with contextlib.suppress(psutil.Error):
            listening = [c.laddr.port for c in process.net_connections("tcp") if c.status == psutil.CONN_LISTEN]
            found.setdefault(process.name(), set()).update(listening)
    return found


def speak(port: int) -> None:
    """Say something and wait for the other side to hang up, or a moment."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1) as connection:
        connection.settimeout(0.2)
        connection.sendall(NOT_OF_SPARK)
        connection.recv(100)



def test_strangers_cost_an_attempt_and_no_record(tmp_path: Path) -> None:
    job = Driver(tmp_path, "--records", str(RECORDS))
    try:
        job.wait_for(has_own_checkpoint, "a checkpoint")
        found = ports(job)
        # The gateway, the driver's services and a server per task that hands records on; and where tasks find the JobMaster.
        assert len(found["java"]) > 3 and len(found) > 1, found
        for port in sorted(set().union(*found.values())):
            speak(port)
        job.wait_for(lambda look: look["attempt"] > 1 and all_run(look), "the attempt after it")
        job.release()
        assert job.wait_for_end() == 0, job.tail()
        assert job.last["status"] == "FINISHED" and job.last["attempt"] == 2, job.last
        assert job.restored[2] > 0, job.restored
        job.family_must_vanish()
    finally:
        job.end()
    must_be_exact(tmp_path, RECORDS)
    # Which of the tasks at both ends of the exchange is heard first is up to chance; no function of the user's has to do with it.
    said = job.log.read_text()
    assert "Too large frame" in said or "broke off" in said, job.tail()
    assert "UserFunctionError" not in said, job.tail()

"""What the tests of faults see of a driver: all whole looks until its end, however it ends."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.faults.driver_process import LIMIT_S, Driver

BEGINNING = """
import json, os, signal, subprocess, sys

def look(attempt):
    return json.dumps({"job_id": "0", "attempt": attempt, "checkpoints": {"restored_id": 0}})

print(look(1), flush=True)
"""


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[[str], Driver]]:
    """Return what starts a driver that prints a look and goes on as it is told."""
    drivers = []

    def start(end: str) -> Driver:
        program = tmp_path / "program.py"
        program.write_text(f"{BEGINNING}\n{end}\n")
        drivers.append(Driver(tmp_path, program=program))
        return drivers[-1]

    yield start
    for driver in drivers:
        driver.end()


def test_a_look_that_it_was_killed_in_the_middle_of_does_not_count(started: Callable[[str], Driver]) -> None:
    driver = started("sys.stdout.write(look(2)[:-5]); sys.stdout.flush(); os.kill(os.getpid(), signal.SIGKILL)")
    assert driver.wait_for_end() == -signal.SIGKILL
    assert driver.last["attempt"] == 1


def test_all_looks_are_read_although_another_process_holds_the_output_open(started: Callable[[str], Driver]) -> None:
    driver = started("subprocess.Popen(['sleep', '600'])\nfor attempt in range(2, 5000): print(look(attempt))")
    assert driver.wait_for_end() == 0
    assert driver.last["attempt"] == 4999 and len(driver.restored) == 4999
    assert [process.name() for process in driver.family()] == ["sleep"]


def test_one_that_stands_still_behind_a_line_that_is_no_look_is_not_waited_for(started: Callable[[str], Driver]) -> None:
    driver = started("print('a warning', flush=True); os.kill(os.getpid(), signal.SIGSTOP)")
    driver.wait_for(lambda look: look["attempt"] == 1, "the look")
    while psutil.Process(driver.pid).status() != psutil.STATUS_STOPPED:
        time.sleep(0.01)
    began_s = time.monotonic()
    assert driver.catch_up()["attempt"] == 1
    assert time.monotonic() - began_s < LIMIT_S / 4


def test_each_has_a_log_of_its_own(started: Callable[[str], Driver]) -> None:
    for number in (1, 2):
        driver = started(f"sys.exit('number {number}')")
        assert driver.wait_for_end() == 1 and driver.log.read_text() == f"number {number}\n"

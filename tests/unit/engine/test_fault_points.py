"""Planned faults: which passages they hit, and what the disk does then."""

from __future__ import annotations

import errno
import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from wiesel.engine.fault_points import FaultPoints


def points(*faults: dict[str, Any], attempt: int = 1, where: str = "driver") -> FaultPoints:
    return FaultPoints(json.dumps(faults), attempt, where)


def disk_fault(point: str, path: str, **more: Any) -> dict[str, Any]:
    return {"point": point, "where": "driver", "path": path, "action": "disk-full", **more}


def test_only_its_process_attempt_and_passages_are_hit(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    fault = {"point": "before-ack", "where": "task-1-0", "attempt": 2, "nth": 2, "times": 2, "action": "io-error", "marker": str(marker)}
    for others in (points(fault, attempt=1, where="task-1-0"), points(fault, attempt=2)):
        for _ in range(5):
            others.reached("before-ack")
    mine = points(fault, attempt=2, where="task-1-0")
    mine.reached("before-ack")
    assert not marker.exists()
    for _ in range(2):
        with pytest.raises(OSError, match="planned at before-ack") as raised:
            mine.reached("before-ack")
        assert raised.value.errno == errno.EIO
    assert marker.read_text() == f"before-ack {os.getpid()}\n"
    mine.reached("before-ack")
    mine.reached("after-ack")


def test_passages_count_once_the_fault_is_armed(tmp_path: Path) -> None:
    faults = points({"point": "here", "where": "driver", "action": "io-error", "nth": 2, "armed_by": str(tmp_path / "armed")})
    for _ in range(5):
        faults.reached("here")
    (tmp_path / "armed").touch()
    faults.reached("here")
    with pytest.raises(OSError, match="planned at here"):
        faults.reached("here")


def test_files_cannot_be_written_read_or_moved(tmp_path: Path) -> None:
    written, other = tmp_path / "full" / "a", tmp_path / "other"
    written.parent.mkdir()
    other.write_text("whole")
    faults = points(disk_fault("write", "full/", nth=2), disk_fault("read", "full/", action="io-error"), disk_fault("move", "full/b"))
    written.write_text("first")
    with pytest.raises(OSError, match="No space left") as full:
        written.write_text("second")
    assert full.value.errno == errno.ENOSPC
    with pytest.raises(OSError, match="planned at read"):
        written.read_text()
    assert written.read_text() == "first", "it happens once"
    for move in (os.rename, os.link):
        with pytest.raises(OSError, match="planned at move"):
            move(written, tmp_path / "full" / "b")
        faults.attempt_started(1)
    assert other.read_text() == "whole" and not (tmp_path / "full" / "b").exists()
    faults.attempt_started(2)


def test_a_database_cannot_be_opened(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    faults = points(disk_fault("write", "/ledger"))
    with pytest.raises(OSError, match="No space left"):
        sqlite3.connect(path)
    sqlite3.connect(path).close()
    faults.attempt_started(2)


@pytest.mark.parametrize(("action", "number"), [("kill", signal.SIGKILL), ("stop", signal.SIGSTOP)])
def test_a_process_is_killed_or_stopped(action: str, number: signal.Signals) -> None:
    plan = json.dumps([{"point": "here", "where": "driver", "action": action}])
    program = f"from wiesel.engine.fault_points import FaultPoints\nFaultPoints({plan!r}, 1, 'driver').reached('here')\nraise SystemExit(7)"
    process = subprocess.Popen([sys.executable, "-c", program])
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    if action == "stop":
        assert os.WIFSTOPPED(status) and os.WSTOPSIG(status) == number
        os.kill(process.pid, signal.SIGCONT)
        _, status = os.waitpid(process.pid, 0)
        assert os.waitstatus_to_exitcode(status) == 7
    else:
        assert os.waitstatus_to_exitcode(status) == -number
    process.returncode = 0

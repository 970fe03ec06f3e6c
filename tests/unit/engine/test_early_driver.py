"""The end of a driver that was started early and is not wanted; what it is for is tested in tests/spark/test_early_driver.py."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from wiesel.engine.spark import early_driver

DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); signal.pause()"


def test_one_that_does_not_end_when_it_is_told_to_is_gone_behind_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early_driver, "_END_S", 0.1)
    driver = object.__new__(early_driver.EarlyDriver)
    with subprocess.Popen([sys.executable, "-c", DEAF], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline()
        driver.process = process
        driver._end()
        assert process.returncode == -signal.SIGKILL

"""A sink whose commits are slow delays neither heartbeats, checkpoints, another sink nor the end of a job that is cancelled."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.slow_commit_job import BEGUN, FAST, SLOW, build, committed
from wiesel.common import Configuration, JobStatus
from wiesel.core.errors import JobCancelledError

LIMIT_S = 120.0
COMMIT_S = 5.0
CANCELLED_S = 2.0


def wait_for(condition: Callable[[], bool], what: str) -> None:
    deadline_s = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline_s, what
        time.sleep(0.02)


def test_checkpoints_and_another_sink_go_on_and_the_job_is_cancelled_while_a_commit_is_slow(tmp_path: Path) -> None:
    # A JobMaster that is held up hears no heartbeats: the job would restart, which it may not.
    settings = {"execution.checkpointing.interval": "200 ms", "heartbeat.timeout": "3 s", "heartbeat.interval": "500 ms"}
    settings |= {"restart-strategy.type": "none"}
    env = build(tmp_path, Configuration.from_dict(settings), records=10**6, rate=200, commit_s=COMMIT_S)
    client = env.execute_async("slow commits")

    def completed() -> int:
        return int(client.get_job_metrics().result()["checkpoints"]["completed"])

    wait_for(lambda: (tmp_path / BEGUN).exists(), "the slow sink has not begun to commit")
    begun_s, before, visible = time.monotonic(), completed(), len(committed(tmp_path / FAST))
    wait_for(lambda: completed() >= before + 5 and len(committed(tmp_path / FAST)) > visible, "checkpoints wait for the slow commit")
    assert time.monotonic() - begun_s < COMMIT_S and committed(tmp_path / SLOW) == [], "it was the first commit that ended"
    wait_for(lambda: committed(tmp_path / SLOW) != [], "the slow sink has not committed")
    wait_for((tmp_path / BEGUN).exists, "the slow sink has not begun to commit again")
    assert client.get_job_status().result() is JobStatus.RUNNING

    cancelled_s = time.monotonic()
    client.cancel().result()
    with pytest.raises(JobCancelledError):
        client.get_job_execution_result().result(LIMIT_S)
    took_s = time.monotonic() - cancelled_s
    assert took_s < CANCELLED_S and (tmp_path / BEGUN).exists(), f"cancelling took {took_s:.1f} s"

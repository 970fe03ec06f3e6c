"""A job on a cluster of two executors that loses them, or their workers, one way or the other."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import Any

import psutil

from tests.faults.driver_process import GONE_S, LIMIT_S, Driver, alive, all_run, has_own_checkpoint

# Six tasks: one executor has too few slots for them, so that an attempt has to wait for the second one.
MASTER = "local-cluster[2,4,640]"
HEARTBEAT_TIMEOUT_MS = 20_000
"""Of executors and tasks. Long enough for those of a busy machine, which only seem to stand still."""

BOTH = tuple(
    part
    for setting in (
        "spark.cores.max=8",
        "spark.scheduler.minRegisteredResourcesRatio=1",
        f"spark.scheduler.maxRegisteredResourcesWaitingTime={LIMIT_S:.0f}s",
    )
    for part in ("--setting", setting)
)
"""Spark is ready when both executors are there: a job that has no patience must not begin before."""

OPTIONS = ("--master", MASTER, "--heartbeat-timeout", str(HEARTBEAT_TIMEOUT_MS), "--rate", "50")


def executor_of(worker: int) -> psutil.Process:
    """Return the executor's JVM that a worker belongs to."""
    (executor,) = (p for p in psutil.Process(worker).parents() if "org.apache.spark.executor.CoarseGrainedExecutorBackend" in p.cmdline())
    return executor


def executors_of(look: dict[str, Any]) -> set[int]:
    found = {executor_of(task["pid"]).pid for task in look["tasks"]}
    assert len(found) == 2, "the tasks are not spread over two executors"
    return found


def keep_executors(job: Driver, number: int) -> None:
    """Have the cluster keep so many executors from now on."""
    wanted = job.directory / "executors"
    (job.directory / "executors.tmp").write_text(str(number))
    (job.directory / "executors.tmp").replace(wanted)
    deadline_s = time.monotonic() + LIMIT_S
    while wanted.exists():
        assert time.monotonic() < deadline_s, job.tail()
        time.sleep(0.05)


def must_end(pids: set[int], what: str) -> None:
    deadline_s = time.monotonic() + GONE_S
    while left := list(filter(alive, pids)):
        assert time.monotonic() < deadline_s, f"left after {what}: {[psutil.Process(pid) for pid in left]}"
        time.sleep(0.05)


def lose(job: Driver, what: str, number: signal.Signals) -> dict[str, Any]:
    """Send a signal to an executor or to a worker; return the first look at the attempt that goes on."""
    before = job.wait_for(has_own_checkpoint, "a running attempt with a checkpoint of its own")
    executors = executors_of(before)
    worker = before["tasks"][-1]["pid"]
    executor = executor_of(worker)
    lost = {executor.pid, *(p.pid for p in executor.children(recursive=True))} if what == "executor" else {worker}
    os.kill(executor.pid if what == "executor" else worker, number)
    after = job.wait_for(lambda look: look["attempt"] > before["attempt"] and all_run(look), "the next attempt")
    if what == "worker" and number is signal.SIGSTOP:
        with contextlib.suppress(ProcessLookupError):  # Spark may have killed it
            os.kill(worker, signal.SIGCONT)  # it goes on, and has to find out that nobody wants it any more
    must_end(lost, f"{what} {number.name}")
    assert after["restarts"] == before["restarts"] + 1, "one loss led to more than one restart"
    assert after["checkpoints"]["restored_id"] >= before["checkpoints"]["last_id"] > before["checkpoints"]["restored_id"]
    assert len(executors_of(after) - executors) == (what == "executor"), "the executors are not the ones that they should be"
    return after

"""The control service loses nothing of what a task says last, although the task's process is gone a moment later."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from tests.parity.conftest import time_limit
from wiesel.checkpoint.messages import CancelTask, Heartbeat, RegisterTask
from wiesel.common import Configuration
from wiesel.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from wiesel.engine.spark.control import ControlClient, ControlServer
from wiesel.engine.spark.executor import SparkJob

KEY = (3, 1)


def test_all_that_a_task_said_is_heard_although_it_left_messages_unread() -> None:
    heard: list[Any] = []
    slow = threading.Event()

    def deliver(attempt: int, message: Any) -> None:
        slow.wait(0.002)
        heard.append((attempt, message))

    server = ControlServer("127.0.0.1", b"token", deliver, lambda attempt, task: None)
    try:
        client = ControlClient(server.address, b"token", 7)
        client.send(RegisterTask(KEY, 7, 1, "here"))
        while server.registered(7) == 0:
            time.sleep(0.001)
        server.send(7, KEY, CancelTask())  # never read: a close with it unread resets the connection
        for number in range(500):
            client.send(Heartbeat(KEY, {"number": number}))
        assert not server.wait_until_heard(7, 1, 0.0)
        client.end()
        assert server.wait_until_heard(7, 1, 20.0)
        client.close()
    finally:
        server.close()
    assert [m.metrics["number"] for _, m in heard if isinstance(m, Heartbeat)] == list(range(500))


def test_a_task_that_never_registered_does_not_hold_up_the_end_of_the_attempt_for_ever() -> None:
    server = ControlServer("127.0.0.1", b"token", lambda attempt, message: None, lambda attempt, task: None)
    try:
        assert not server.wait_until_heard(1, 1, 0.05)
        assert server.wait_until_heard(1, server.registered(1), 0.05)
    finally:
        server.close()


@pytest.mark.parametrize("mode", [RuntimeExecutionMode.BATCH, RuntimeExecutionMode.STREAMING])
def test_a_job_is_not_failed_because_spark_is_faster_than_the_last_messages(
    mode: RuntimeExecutionMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    deliver = SparkJob._on_message

    def late(job: SparkJob, attempt: int, message: Any) -> None:
        if not isinstance(message, (RegisterTask, Heartbeat)):
            time.sleep(0.3)
        deliver(job, attempt, message)

    monkeypatch.setattr(SparkJob, "_on_message", late)
    options = {"restart-strategy.type": "none", "wiesel.spark.master": "local[64]"}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(options)).set_parallelism(2)
    env.set_runtime_mode(mode)
    with time_limit(150), env.from_collection(list(range(10))).map(lambda n: n + 1).rebalance().execute_and_collect() as found:
        assert sorted(found) == list(range(1, 11))

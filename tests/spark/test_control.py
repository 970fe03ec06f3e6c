"""The control service loses nothing of what a task says last, although the task's process is gone a moment later."""

from __future__ import annotations

import fcntl
import queue
import socket
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import AuthenticationError
from typing import Any

import pytest

from tests.parity.conftest import time_limit
from wiesel.checkpoint.messages import AssignSplits, CancelTask, Heartbeat, MasterHeartbeat, RegisterTask
from wiesel.common import Configuration
from wiesel.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from wiesel.engine.spark import control
from wiesel.engine.spark.control import ControlClient, ControlServer
from wiesel.engine.spark.executor import SparkJob

TOKEN = b"token"
KEY, OTHER = (3, 1), (3, 2)


@contextmanager
def serving(
    deliver: Callable[[int, Any], None] = lambda attempt, message: None,
    lost: Callable[[int, Any], None] = lambda attempt, task: None,
    *,
    heartbeat_s: float = 60,
    patience_s: float = 60,
    known_as: str | None = None,
) -> Iterator[ControlServer]:
    server = ControlServer("127.0.0.1", TOKEN, deliver, lost, heartbeat_s=heartbeat_s, patience_s=patience_s, known_as=known_as)
    try:
        yield server
    finally:
        server.close()


def task_of(server: ControlServer, key: tuple[int, int] = KEY, *, patience_s: float = 60) -> ControlClient:
    client = ControlClient(server.address, TOKEN, 1, patience_s=patience_s)
    client.send(RegisterTask(key, 1, 1, "here"))
    return client


def unread(client: ControlClient) -> int:
    """Return how many bytes have come to a task that it has not read."""
    answer = fcntl.ioctl(client._connection.fileno(), termios.FIONREAD, bytes(4))
    return int.from_bytes(answer, sys.byteorder)


def test_tasks_hear_that_the_driver_lives_also_while_its_master_is_busy() -> None:
    busy = threading.Event()
    with serving(lambda attempt, message: busy.wait(60), heartbeat_s=0.05) as server:
        client = task_of(server)
        for _ in range(3):
            assert client.receive() == MasterHeartbeat()
        client.close()
        busy.set()


def test_silence_of_the_driver_is_noticed() -> None:
    with serving() as server:
        client = task_of(server, patience_s=2)  # enough for who is not silent, also on a busy machine
        with pytest.raises(TimeoutError, match="silent for 2 s"):
            client.receive()
        client.close()


def test_a_driver_that_stands_still_does_not_hold_tasks_that_are_about_to_register() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(BlockingIOError):
        ControlClient(silent.getsockname(), TOKEN, 1, patience_s=0.2)


def test_strangers_are_in_nobodys_way(caplog: pytest.LogCaptureFixture) -> None:
    with serving(heartbeat_s=0.05) as server, socket.create_connection(server.address):
        with pytest.raises(AuthenticationError):
            ControlClient(server.address, b"guessed", 1, patience_s=60)
        client = task_of(server)
        assert client.receive() == MasterHeartbeat()
        client.close()
        while "refused a connection" not in caplog.text:  # by a thread that the client did not wait for
            time.sleep(0.01)


def test_connections_that_say_nothing_take_a_bounded_number_of_threads_and_no_task_waits_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "_MOST_UNPROVEN", 4)
    monkeypatch.setattr(control, "_UNPROVEN_S", 0.05)
    with serving(heartbeat_s=0.05) as server, ExitStack() as silent:
        for _ in range(40):
            silent.enter_context(socket.create_connection(server.address))
        client = task_of(server)
        assert client.receive() == MasterHeartbeat()
        assert sum(thread.name == "wiesel-control-read" for thread in threading.enumerate()) <= 4 + 1
        client.close()


def test_a_task_that_takes_nothing_holds_up_neither_the_master_nor_other_tasks() -> None:
    lost: queue.SimpleQueue[Any] = queue.SimpleQueue()
    with serving(lost=lambda attempt, task: lost.put(task), patience_s=2) as server:
        stuck, well = task_of(server, KEY), task_of(server, OTHER)
        while len(server.registered(1, [KEY, OTHER])) < 2:
            time.sleep(0.01)
        server.send(1, KEY, AssignSplits("source", [bytes(1 << 26)]))
        assert lost.get(timeout=60) == KEY
        server.send(1, OTHER, CancelTask())
        assert well.receive() == CancelTask()
        stuck.close()
        well.close()


def test_other_tasks_hear_that_the_driver_lives_while_one_takes_nothing() -> None:
    lost: queue.SimpleQueue[Any] = queue.SimpleQueue()
    with serving(lost=lambda attempt, task: lost.put(task), heartbeat_s=0.05) as server:
        stuck, well = task_of(server, KEY), task_of(server, OTHER)
        while len(server.registered(1, [KEY, OTHER])) < 2:
            time.sleep(0.01)
        sender = threading.Thread(target=server.send, args=(1, KEY, AssignSplits("source", [bytes(1 << 26)])))
        sender.start()
        # Far more than heartbeats: the message is on its way, and more than the sockets hold.
        while unread(stuck) < 1 << 15:
            time.sleep(0.01)
        while unread(well):
            assert well.receive() == MasterHeartbeat()
        for _ in range(5):
            assert well.receive() == MasterHeartbeat()
        assert sender.is_alive() and lost.empty(), "it took the message"
        stuck.close()
        assert lost.get(timeout=60) == KEY
        sender.join()
        well.close()


def test_a_default_timeout_of_the_program_does_not_concern_the_connections() -> None:
    heard: queue.SimpleQueue[Any] = queue.SimpleQueue()
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(0.05)
    try:
        with serving(lambda attempt, message: heard.put(message)) as server:
            client = task_of(server)
            assert heard.get(timeout=60) == RegisterTask(KEY, 1, 1, "here")
            time.sleep(0.2)  # longer than the default
            client.send(Heartbeat(KEY, {}))
            assert heard.get(timeout=60) == Heartbeat(KEY, {})
            client.close()
    finally:
        socket.setdefaulttimeout(before)


def test_nothing_listens_when_the_service_has_ended() -> None:
    before = set(threading.enumerate())
    for _ in range(300):
        with serving() as server:
            address = server.address
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address, 60)
    for thread in set(threading.enumerate()) - before:
        if thread.name == "wiesel-control-accept":
            thread.join(60)
            assert not thread.is_alive()


def test_tasks_are_told_the_name_that_they_can_reach() -> None:
    with serving(known_as="localhost") as server:
        assert server.address[0] == "localhost"
        task_of(server).close()


def test_all_that_a_task_said_is_heard_although_it_left_messages_unread() -> None:
    heard: list[Any] = []
    slow = threading.Event()

    def deliver(attempt: int, message: Any) -> None:
        slow.wait(0.002)
        heard.append((attempt, message))

    with serving(deliver) as server:
        client = task_of(server)
        while not server.registered(1, [KEY]):
            time.sleep(0.001)
        server.send(1, KEY, CancelTask())  # never read: a close with it unread resets the connection
        for number in range(500):
            client.send(Heartbeat(KEY, {"number": number}))
        assert not server.wait_until_heard(1, [KEY], 0.0)
        client.end()
        assert server.wait_until_heard(1, [KEY], 120.0)
        client.close()
    assert [m.metrics["number"] for _, m in heard if isinstance(m, Heartbeat)] == list(range(500))


def test_a_task_that_never_registered_does_not_hold_up_the_end_of_the_attempt_for_ever() -> None:
    with serving() as server:
        assert not server.wait_until_heard(1, [KEY], 0.05)
        assert server.wait_until_heard(1, server.registered(1, [KEY]), 0.05)


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
    with time_limit(300), env.from_collection(list(range(10))).map(lambda n: n + 1).rebalance().execute_and_collect() as found:
        assert sorted(found) == list(range(1, 11))

"""Text from a server in this process: what a job makes of it, and what is left of it when the job is killed."""

from __future__ import annotations

import random
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.connectors.reading import World
from tests.unit.engine.stored_job import environment, start
from wiesel.common import Types, WatermarkStrategy
from wiesel.connectors.write_ahead_log import LogPosition, WriteAheadLog
from wiesel.core.errors import ConnectorError, ProgramError
from wiesel.datastream import KeyedProcessFunction
from wiesel.datastream.connectors.socket import SocketSource
from wiesel.datastream.state import ValueStateDescriptor
from wiesel.spi.source import InputStatus
from wiesel.testing.job import PipelineJob

LIMIT_S = 60.0
RESTARTS = {
    "restart__strategy_type": "fixed-delay",
    "restart__strategy_fixed__delay_attempts": "1000",
    "restart__strategy_fixed__delay_delay": "0 s",
}


class Server:
    """Sends what the test says to whoever is connected."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(LIMIT_S)
        self.port = self.listener.getsockname()[1]
        self.client: socket.socket | None = None

    def accept(self) -> None:
        self.hang_up()
        self.client, _ = self.listener.accept()

    def accepts(self) -> bool:
        """Return whether somebody new is connected; never waits."""
        try:
            self.accept()
        except BlockingIOError:
            return False
        return True

    def send(self, text: str) -> None:
        assert self.client is not None
        self.client.sendall(text.encode())

    def hang_up(self) -> None:
        if self.client is not None:
            self.client.close()
            self.client = None


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.hang_up()
    server.listener.close()


def read(world: World, count: int | None = None) -> list[str]:
    """Read until there are so many texts, or to the end."""
    deadline_s = time.monotonic() + LIMIT_S
    while not world.readers[0].ended if count is None else len(world.values()) < count:
        assert time.monotonic() < deadline_s, world.values()
        if world.step(0) is InputStatus.NOTHING_AVAILABLE:
            world.advance(100)
            time.sleep(0.001)
    return world.values()


@pytest.mark.parametrize(
    ("delimiter", "sent", "texts"),
    [
        ("\n", "one\r\ntwo\n\nrest", ["one", "two", "", "rest"]),
        ("\n", "one\n", ["one"]),
        ("||", "one|two||three\r||", ["one|two", "three\r"]),
    ],
)
def test_texts_as_flink_has_them(server: Server, delimiter: str, sent: str, texts: list[str]) -> None:
    world = World(SocketSource("127.0.0.1", server.port, delimiter))
    world.step(0)
    server.accept()
    for character in sent:
        server.send(character)
    server.hang_up()
    assert read(world) == texts
    world.close()


def test_a_closed_connection_is_made_anew_as_often_as_is_said(server: Server) -> None:
    world = World(SocketSource("127.0.0.1", server.port, max_retries=2), parallelism=2)
    assert world.step(1) is InputStatus.END_OF_INPUT, "one subtask reads"
    for number in range(3):
        world.step(0)
        world.advance(500)
        world.step(0)
        server.accept()
        server.send(f"{number}\n")
        read(world, number + 1)
        server.hang_up()
    assert read(world) == ["0", "1", "2"]
    world.close()


def test_no_server_is_an_error() -> None:
    # Its port is held, so that it is nobody else's, and nobody listens there.
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        world = World(SocketSource("127.0.0.1", port))
        with pytest.raises(ConnectorError, match=f"no connection to 127.0.0.1:{port}"):
            read(world)
        world.close()


@pytest.mark.parametrize(
    "arguments",
    [{"port": 0}, {"delimiter": ""}, {"max_retries": -2}, {"log": "s3://bucket/log"}, {"log_retention": 0}],
)
def test_what_makes_no_sense_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(ProgramError, match="SocketSource"):
        SocketSource("localhost", **{"port": 1, **arguments})


class Count(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: str, ctx: Any) -> Iterator[tuple[str, int]]:
        self.count.update((self.count.value() or 0) + 1)
        yield value, self.count.value()


def until(job: PipelineJob, condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline_s
        job.step(1)


def test_h3_with_a_write_ahead_log_no_text_of_a_socket_is_lost_or_counted_twice_over_kills(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = random.SystemRandom().randrange(1 << 30)
    print(f"seed {seed}")
    rnd, log, sent, logged = random.Random(seed), tmp_path / "log", list[str](), list[str]()
    append = WriteAheadLog.append

    def note(self: WriteAheadLog, records: list[Any]) -> LogPosition:
        position = append(self, records)
        logged.extend(records)
        return position

    monkeypatch.setattr(WriteAheadLog, "append", note)
    env = environment(tmp_path / "checkpoints", 2, **RESTARTS)
    source = SocketSource("127.0.0.1", server.port, log=str(log), log_retention=2)
    lines = env.from_source(source, WatermarkStrategy.no_watermarks(), "lines")
    counts = env.collect(lines.key_by(lambda line: line, Types.STRING()).process(Count(), Types.TUPLE([Types.STRING(), Types.LONG()])))
    server.listener.setblocking(False)
    files = 0
    with start(env) as job:
        until(job, server.accepts)
        for turn in range(60):
            if rnd.random() < 0.4:
                job.fail(f"kill {turn}")
                until(job, server.accepts)
            fresh = [f"line {rnd.randrange(9)}" for _ in range(rnd.randrange(1, 30))]
            sent.extend(fresh)
            server.send("".join(f"{line}\n" for line in fresh))
            # What is not in the log yet when the process dies is lost.
            until(job, lambda: len(logged) == len(sent))
            job.step(rnd.randrange(1, 20))
            if rnd.random() < 0.4:
                job.checkpoint()
            files = max(files, len(list(log.iterdir())))
        job.settle()
        assert job.master.restarts > 5 and logged == sent
        newest: Counter[str] = Counter()
        for line, count in counts.values:
            newest[line] = max(count, newest[line])
        assert newest == Counter(sent)
        job.checkpoint()
        assert Counter(counts.committed) == Counter((line, n + 1) for line, total in newest.items() for n in range(total))
        # The last kill may have been just now: as many checkpoints as are retained behind it need the last file alone.
        job.checkpoint()
        job.settle()
    assert len(list(log.iterdir())) == 1 < files, "what no checkpoint needs any more was not deleted"

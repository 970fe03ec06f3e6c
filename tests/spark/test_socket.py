"""A socket that is read on Spark, with the reading worker killed: what was read of it counts exactly once."""

from __future__ import annotations

import os
import random
import signal
import socket
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.faults.counting_job import RunningCount, file_sink
from tests.faults.driver_process import alive, must_have_made
from wiesel.common import Configuration, Types, WatermarkStrategy
from wiesel.connectors.write_ahead_log import BEGINNING, WriteAheadLog
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.datastream.connectors.socket import SocketSource

LIMIT_S = 300.0
KILLS = 3
REPORTED_S = 1.0
"""After so long the metrics of a reader that has connected are known."""


def until(condition: Callable[[], bool], what: str) -> None:
    deadline_s = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline_s, what
        time.sleep(0.02)


def test_h3_what_was_read_of_a_socket_counts_exactly_once_over_kills_of_the_reader(tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(1 << 30)
    print(f"seed {seed}")
    rnd, log = random.Random(seed), WriteAheadLog(str(tmp_path / "log"))
    sent: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(LIMIT_S)
        config = {
            "wiesel.spark.master": "local[8]",
            "execution.checkpointing.dir": str(tmp_path / "checkpoints"),
            "execution.checkpointing.interval": "2 s",
            "heartbeat.interval": "300 ms",
            "restart-strategy.type": "fixed-delay",
            "restart-strategy.fixed-delay.attempts": str(KILLS),
            "restart-strategy.fixed-delay.delay": "100 ms",
        }
        env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(config)).set_parallelism(2)
        source = SocketSource("127.0.0.1", server.getsockname()[1], log=str(tmp_path / "log"))
        lines = env.from_source(source, WatermarkStrategy.no_watermarks(), "lines").set_parallelism(1).uid("lines")
        pairs = lines.map(lambda line: (line, 1), Types.TUPLE([Types.STRING(), Types.INT()])).set_parallelism(1)
        counts = pairs.key_by(lambda pair: pair[0], Types.STRING()).process(RunningCount(), Types.STRING()).uid("counts")
        counts.sink_to(file_sink(tmp_path / "counts")).uid("files")
        client = env.execute_async("socket")

        def look() -> dict[str, Any]:
            return client.get_job_metrics().result()

        def reader() -> dict[str, Any]:
            return next(task for task in look()["tasks"] if task["source"])

        def logged() -> int:
            return sum(len(records) for _, records in log.after(BEGINNING))

        def send(connection: socket.socket) -> None:
            for _ in range(5):
                fresh = [f"k{rnd.randrange(7)}" for _ in range(rnd.randrange(1, 40))]
                connection.sendall("".join(f"{key}\n" for key in fresh).encode())
                sent.extend(fresh)
                time.sleep(rnd.uniform(0, 0.3))
            # What was not read yet when the worker dies is lost: nobody can ask for it again.
            until(lambda: logged() == len(sent), "all of the text in the log")

        def killed(victim: int, connection: socket.socket) -> socket.socket:
            os.kill(victim, signal.SIGKILL)
            connection.close()
            connection, _ = server.accept()
            until(lambda: reader()["pid"] not in (None, victim) and bool(reader()["metrics"]), "the next reader")
            assert not alive(victim) and look()["checkpoints"]["restored_id"] > 0
            return connection

        connection, _ = server.accept()
        until(lambda: look()["checkpoints"]["last_id"] > 0, "a checkpoint")
        read_again = 0
        for _ in range(KILLS):
            send(connection)
            connection = killed(reader()["pid"], connection)
            time.sleep(REPORTED_S)
            # Nothing new has been sent.
            read_again += reader()["metrics"]["numRecordsOut"]
        send(connection)
        assert look()["attempt"] == KILLS + 1 and read_again > 0, "nothing came from the log"
        connection.close()
        client.get_job_execution_result().result(LIMIT_S)
    must_have_made(tmp_path / "counts", Counter(f"{key} {n + 1}" for key, count in Counter(sent).items() for n in range(count)))

"""The driver program of the crash matrix: a job of the simulated schedules, with a paced source, and what it commits in a database.

The options are those of ``counting_job``. When the file ``go`` exists the source gives the rest at once. After that the program takes a
savepoint, whose path it writes into the file ``savepoint``, and lets the source end. It prints what ``JobClient.get_job_metrics`` says
as lines of JSON.
"""

from __future__ import annotations

import ast
import contextlib
import json
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from tests.faults.counting_job import HELD_BACK, TimeAtWork, configuration, option_parser  # noqa: E402
from tests.sim.schedules.jobs import ScheduledJob, Size, Surroundings, new_job  # noqa: E402
from tests.sim.schedules.source import Batches, BatchReader, Reading, Written  # noqa: E402
from wiesel.datastream import StreamExecutionEnvironment  # noqa: E402
from wiesel.spi.sink import CommitRequest, Committer, Sink, SinkWriter  # noqa: E402
from wiesel.spi.source import InputStatus, SourceReader  # noqa: E402

BATCHES = 600
SIZE = Size(BATCHES, 36 * BATCHES)
MAX_PARALLELISM = 8
LEDGER, OUT = "ledger", "out"
_LOOK_EVERY_S = 0.1


class Paced(Batches):
    """``rate`` batches per second and split, and the last ones when ``go`` exists; it ends when ``end`` does."""

    def __init__(self, written: Written, name: str, rate: float, directory: Path) -> None:
        super().__init__(written)
        self.name, self.rate, self.directory = name, rate, directory

    def create_reader(self, context: Any) -> SourceReader[Reading]:
        return PacedReader(context, self)

    def given(self, split: int) -> Path:
        """Return the file that exists when a split has given all that it has."""
        return self.directory / f"given-{self.name}-{split}"


class PacedReader(BatchReader):
    def __init__(self, context: Any, source: Paced) -> None:
        super().__init__(source.written)
        self.context, self.source = context, source
        self.time = TimeAtWork()
        self.since: dict[int, int] | None = None
        self.released = False

    def poll(self, output: Any) -> InputStatus:
        if not self.complete:
            return InputStatus.NOTHING_AVAILABLE
        if self.since is None:
            self.since = {reading.number: reading.position for reading in self.readings}
        self.released = self.released or (self.source.directory / "go").exists()
        return super().poll(output)

    def is_due(self, reading: Reading) -> bool:
        if self.released:
            return True
        assert self.since is not None
        paced = self.since[reading.number] + int(self.time.until(self.context.now_ms()) * self.source.rate / 1000)
        return reading.position < min(paced, int(len(self.written[reading.number]) * (1 - HELD_BACK)))

    def may_end(self) -> bool:
        return (self.source.directory / "end").exists()

    def all_given(self, reading: Reading) -> None:
        self.source.given(reading.number).touch()


@contextmanager
def ledger(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the database in a transaction of its own, which ends with the block."""
    with closing(sqlite3.connect(path, timeout=60, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("BEGIN IMMEDIATE")
        yield connection
        connection.execute("COMMIT")


def create_ledger(path: Path) -> None:
    with closing(sqlite3.connect(path, timeout=60)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE IF NOT EXISTS entries (part TEXT, value TEXT)")
        connection.execute("CREATE TABLE IF NOT EXISTS parts (part TEXT PRIMARY KEY)")


class LedgerSink(Sink):
    """Two phases: entries are written before the checkpoint as a part that nobody sees, and the part is made visible by the commit."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def create_writer(self, context: Any, state: Sequence[Any] = ()) -> SinkWriter:
        return LedgerWriter(self.path, f"{context.job_id} {context.attempt} {context.subtask_index}")

    def create_committer(self) -> Committer[Any]:
        return LedgerCommitter(self.path)


class LedgerWriter(SinkWriter):
    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name
        self.count = 0
        self.values: list[Any] = []
        self.prepared: list[str] = []

    def write_batch(self, values: list[Any], timestamps: list[int] | None) -> None:
        self.values.extend(values)

    def flush(self, end_of_input: bool) -> None:
        if not self.values:
            return
        self.count += 1
        part = f"{self.name} {self.count}"
        with ledger(self.path) as connection:
            connection.executemany("INSERT INTO entries VALUES (?, ?)", [(part, repr(value)) for value in self.values])
        self.prepared.append(part)
        self.values = []

    def prepare_commit(self) -> list[Any]:
        prepared, self.prepared = self.prepared, []
        return prepared


class LedgerCommitter(Committer[Any]):
    def __init__(self, path: Path) -> None:
        self.path = path

    def commit(self, requests: Sequence[CommitRequest[Any]]) -> None:
        with ledger(self.path) as connection:
            connection.executemany("INSERT OR IGNORE INTO parts VALUES (?)", [(request.committable,) for request in requests])


class Outer(Surroundings):
    """Files and a database, which outlive the processes."""

    def __init__(self, directory: Path, rate: float) -> None:
        super().__init__()
        self.directory, self.rate = directory, rate
        self.sources: list[Paced] = []

    def source(self, name: str, written: Written) -> Paced:
        self.sources.append(Paced(written, name, self.rate, self.directory))
        return self.sources[-1]

    def sink(self) -> LedgerSink:
        return LedgerSink(self.directory / LEDGER)

    def values(self) -> list[Any]:
        with closing(sqlite3.connect(self.directory / LEDGER)) as connection:
            return [ast.literal_eval(value) for (value,) in connection.execute("SELECT value FROM entries NATURAL JOIN parts")]

    def all_given(self) -> bool:
        return all(source.given(split).exists() for source in self.sources for split in range(len(source.written)))


def real_job(name: str, directory: Path, rate: float = 1.0) -> ScheduledJob:
    """Return the job of that name with its surroundings in a directory."""
    return new_job(name, directory / OUT, SIZE, Outer(directory, rate))


def build(job: ScheduledJob, env: StreamExecutionEnvironment, parallelism: int) -> None:
    env.set_parallelism(parallelism)
    env.set_max_parallelism(MAX_PARALLELISM)
    job.build(env)


def main() -> int:
    parser = option_parser()
    parser.add_argument("--job", required=True)
    options = parser.parse_args()
    create_ledger(options.directory / LEDGER)
    env = StreamExecutionEnvironment.get_execution_environment(configuration(options))
    job = real_job(options.job, options.directory, options.rate)
    build(job, env, options.parallelism)
    client = env.execute_async(options.job)
    end = client.get_job_execution_result()
    savepoint: Future[str] | None = None
    assert isinstance(job.surroundings, Outer)
    while True:
        ended = end.done()  # before the look, so that the last one is that of the end
        print(json.dumps(client.get_job_metrics().result()), flush=True)
        if ended:
            end.result()
            return 0
        if savepoint is None and job.surroundings.all_given():
            savepoint = client.trigger_savepoint(str(options.directory / "savepoints"))
        elif savepoint is not None and savepoint.done() and not (options.directory / "end").exists():
            (options.directory / "savepoint").write_text(savepoint.result())
            (options.directory / "end").touch()
        with contextlib.suppress(Exception):  # raised behind the last look
            end.result(_LOOK_EVERY_S)


if __name__ == "__main__":
    sys.exit(main())

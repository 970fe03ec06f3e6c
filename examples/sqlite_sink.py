"""A sink of one's own: results go to a table of SQLite, each exactly once.

Between two checkpoints the writers only gather rows. What they have gathered becomes part of the checkpoint, and when that is complete
the committer writes it to the table in one transaction. After a failure the same rows may come to it again; it knows them by the name of
the commit that they belong to.

    wiesel run examples/sqlite_sink.py squares.db
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing
from typing import Any

from wiesel.common import Types, WatermarkStrategy
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.datastream.connectors import NumberSequenceSource
from wiesel.datastream.connectors.base import CommitRequest, Committer, Sink, SinkWriter, WriterInitContext


class SqliteSink(Sink):
    """Writes pairs to the table ``results``.

    Args:
        path: The database; only the process of the job's JobMaster opens it.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def create_writer(self, context: WriterInitContext, state: Sequence[Any] = ()) -> SinkWriter:
        return _Writer(context)

    def create_committer(self) -> Committer[tuple[str, list[tuple[int, int]]]]:
        return _Committer(self._path)


class _Writer(SinkWriter):
    def __init__(self, context: WriterInitContext) -> None:
        # The number of the attempt is never used again, so a name never means two things.
        self._prefix = f"{context.job_id}-{context.operator_id}-{context.attempt}-{context.subtask_index}"
        self._count = 0
        self._rows: list[tuple[int, int]] = []

    def write_batch(self, values: list[Any], timestamps: list[int] | None) -> None:
        self._rows += values

    def flush(self, end_of_input: bool) -> None:
        pass  # the rows go into the checkpoint itself

    def prepare_commit(self) -> list[Any]:
        if not self._rows:
            return []
        rows, self._rows = self._rows, []
        self._count += 1
        return [(f"{self._prefix}-{self._count}", rows)]


class _Committer(Committer[tuple[str, list[tuple[int, int]]]]):
    def __init__(self, path: str) -> None:
        self._path = path
        with closing(sqlite3.connect(path)) as database:
            database.execute("CREATE TABLE IF NOT EXISTS results (number INTEGER, square INTEGER)")
            database.execute("CREATE TABLE IF NOT EXISTS commits (name TEXT PRIMARY KEY)")

    def commit(self, requests: Sequence[CommitRequest[tuple[str, list[tuple[int, int]]]]]) -> None:
        with closing(sqlite3.connect(self._path)) as database, database:
            for request in requests:
                name, rows = request.committable
                if database.execute("INSERT OR IGNORE INTO commits VALUES (?)", [name]).rowcount:
                    database.executemany("INSERT INTO results VALUES (?, ?)", rows)
                else:
                    request.signal_already_committed()


def main(path: str) -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.enable_checkpointing(500)
    numbers = env.from_source(NumberSequenceSource(1, 1000), WatermarkStrategy.no_watermarks(), "numbers")
    pairs = numbers.map(lambda n: (n, n * n), Types.TUPLE([Types.LONG(), Types.LONG()]))
    pairs.sink_to(SqliteSink(path)).name("table")
    env.execute("squares")
    with closing(sqlite3.connect(path)) as database:
        print(*database.execute("SELECT count(*), sum(square) FROM results").fetchone())


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "squares.db")

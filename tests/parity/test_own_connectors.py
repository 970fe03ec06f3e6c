"""A source and two sinks as users write them, by the interfaces alone: exactly once over a failure, on both engines."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.parity.conftest import time_limit
from tests.parity.jobs import SECONDS, FailOnce, environment, execute
from wiesel.common import Types, WatermarkStrategy
from wiesel.datastream.connectors.base import (
    Boundedness,
    CommitRequest,
    Committer,
    InputStatus,
    Sink,
    SinkWriter,
    Source,
    SourceReader,
    SplitEnumerator,
)
from wiesel.datastream.connectors.hybrid_source import HybridSource


@dataclass(frozen=True)
class Letters:
    """A split: one letter, repeated up to ``end``."""

    letter: str
    end: int
    position: int = 0

    @property
    def split_id(self) -> str:
        return self.letter


class LetterSource(Source[Letters]):
    """``a0, a1, ...``, ``b0, b1, ...``; an enumerator that finds its splits one after the other, as time goes by.

    The last two letters wait for a checkpoint that began after the reader, so that a failure behind it has something to go back to.
    """

    def __init__(self, letters: str, count: int, checkpoints: Path) -> None:
        self.letters, self.count, self.checkpoints = letters, count, str(checkpoints)

    @property
    def boundedness(self) -> Boundedness:
        return Boundedness.BOUNDED

    def create_enumerator(self, context: Any, state: Any | None = None) -> SplitEnumerator[Letters]:
        return LetterEnumerator(context, [Letters(letter, self.count) for letter in self.letters] if state is None else state)

    def create_reader(self, context: Any) -> SourceReader[Letters]:
        return LetterReader(context, Path(self.checkpoints), self.letters[-2:])


class LetterEnumerator(SplitEnumerator[Letters]):
    def __init__(self, context: Any, unknown: list[Letters]) -> None:
        self.context, self.unknown = context, list(unknown)
        self.asking: list[int] = []

    def start(self) -> None:
        self.context.call_later(20)

    def add_reader(self, subtask: int) -> None:
        return

    def handle_split_request(self, subtask: int) -> None:
        if self.unknown:
            self.asking.append(subtask)
        else:
            self.context.signal_no_more_splits(subtask)

    def on_timer(self) -> None:
        if self.unknown and self.asking:
            self.context.assign_splits({self.asking.pop(0): [self.unknown.pop(0)]})
        if not self.unknown:
            while self.asking:
                self.context.signal_no_more_splits(self.asking.pop())
        else:
            self.context.call_later(20)

    def snapshot_state(self, checkpoint_id: int) -> Any:
        return list(self.unknown)


def newest_checkpoint(checkpoints: Path) -> int:
    return max((int(found.parent.name.removeprefix("chk-")) for found in checkpoints.glob("*/chk-*/_metadata")), default=0)


class LetterReader(SourceReader[Letters]):
    poll_interval_ms = 5

    def __init__(self, context: Any, checkpoints: Path, waiting: str) -> None:
        self.context, self.checkpoints, self.waiting = context, checkpoints, waiting
        self.splits: list[Letters] = []
        self.no_more = self.asked = False
        # The one behind the newest may have begun already.
        self.enough = newest_checkpoint(checkpoints) + 2

    def poll(self, output: Any) -> InputStatus:
        if not self.splits:
            if self.no_more:
                return InputStatus.END_OF_INPUT
            if not self.asked:
                self.asked = True
                self.context.request_split()
            return InputStatus.NOTHING_AVAILABLE
        split = self.splits[0]
        if split.letter in self.waiting and newest_checkpoint(self.checkpoints) < self.enough:
            return InputStatus.NOTHING_AVAILABLE
        until = min(split.end, split.position + 5)
        output.collect([f"{split.letter}{n}" for n in range(split.position, until)], list(range(split.position, until)), split.split_id)
        self.splits[0] = replace(split, position=until)
        if until == split.end:
            output.split_finished(self.splits.pop(0).split_id)
        # Paced: there must be checkpoints before the failure and after it.
        return InputStatus.NOTHING_AVAILABLE

    def add_splits(self, splits: Sequence[Letters]) -> None:
        self.splits += splits
        self.asked = False

    def notify_no_more_splits(self) -> None:
        self.no_more = True

    def snapshot_state(self, checkpoint_id: int) -> list[Letters]:
        return list(self.splits)


def connect(path: str) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=60, isolation_level=None)


class UpsertSink(Sink):
    """Idempotent: the number of each record is kept under its key."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        with closing(connect(self.path)) as db:
            db.execute("CREATE TABLE latest (letter TEXT PRIMARY KEY, number INTEGER, writes INTEGER)")

    def create_writer(self, context: Any, state: Sequence[Any] = ()) -> SinkWriter:
        return UpsertWriter(self.path)


class UpsertWriter(SinkWriter):
    def __init__(self, path: str) -> None:
        self.path = path
        self.buffer: dict[str, int] = {}

    def write_batch(self, values: list[Any], timestamps: list[int] | None) -> None:
        for value in values:
            self.buffer[value[0]] = int(value[1:])

    def flush(self, end_of_input: bool) -> None:
        with closing(connect(self.path)) as db:
            upsert = "INSERT INTO latest VALUES (?, ?, 1) ON CONFLICT (letter) DO UPDATE SET number = excluded.number, writes = writes + 1"
            db.executemany(upsert, self.buffer.items())
        self.buffer.clear()


class LedgerSink(Sink):
    """Two phases: batches are staged under a name of their own; committing appends the staged records and is done once per name."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        with closing(connect(self.path)) as db:
            db.execute("CREATE TABLE staged (name TEXT, record TEXT)")
            db.execute("CREATE TABLE committed (name TEXT PRIMARY KEY)")
            db.execute("CREATE TABLE ledger (record TEXT)")

    def create_writer(self, context: Any, state: Sequence[Any] = ()) -> SinkWriter:
        return LedgerWriter(self.path, f"{context.job_id}-{context.attempt}-{context.subtask_index}", len(state))

    def create_committer(self) -> Committer[Any]:
        return LedgerCommitter(self.path)


class LedgerWriter(SinkWriter):
    def __init__(self, path: str, name: str, restored: int) -> None:
        self.path, self.name, self.restored = path, name, restored
        self.number = 0
        self.records: list[str] = []
        self.prepared: list[str] = []

    def write_batch(self, values: list[Any], timestamps: list[int] | None) -> None:
        self.records += values

    def flush(self, end_of_input: bool) -> None:
        if self.records:
            name = f"{self.name}-{self.number}"
            self.number += 1
            with closing(connect(self.path)) as db:
                db.execute("BEGIN IMMEDIATE")
                db.executemany("INSERT INTO staged VALUES (?, ?)", [(name, record) for record in self.records])
                db.execute("COMMIT")
            self.records = []
            self.prepared.append(name)

    def prepare_commit(self) -> list[Any]:
        prepared, self.prepared = self.prepared, []
        return prepared

    def snapshot_state(self, checkpoint_id: int) -> Any:
        return self.number


class LedgerCommitter(Committer[Any]):
    def __init__(self, path: str) -> None:
        self.path = path

    def commit(self, requests: Sequence[CommitRequest[Any]]) -> None:
        with closing(connect(self.path)) as db:
            for name in (request.committable for request in requests):
                db.execute("BEGIN IMMEDIATE")
                fresh = db.execute("INSERT OR IGNORE INTO committed VALUES (?)", (name,)).rowcount
                if fresh:
                    db.execute("INSERT INTO ledger SELECT record FROM staged WHERE name = ?", (name,))
                db.execute("COMMIT")


def rows(path: Path, query: str) -> list[Any]:
    with closing(connect(str(path))) as db:
        return db.execute(query).fetchall()


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_own_source_and_sinks_are_exact_over_a_failure(engine: str, tmp_path: Path) -> None:
    letters, count = "abcdef", 200
    env = environment(engine, tmp_path / "checkpoints")
    source = LetterSource(letters, count, tmp_path / "checkpoints")
    records = env.from_source(source, WatermarkStrategy.for_monotonous_timestamps(), "letters", Types.STRING())
    failing = records.map(FailOnce(tmp_path / "failed", lambda text: text == "e150"), Types.STRING())
    upsert, ledger = UpsertSink(tmp_path / "upsert.db"), LedgerSink(tmp_path / "ledger.db")
    # By letter, so that the records of a letter reach one writer in order.
    failing.key_by(lambda text: text[0], Types.STRING()).sink_to(upsert).uid("upsert")
    failing.rebalance().sink_to(ledger).uid("ledger")
    with time_limit(SECONDS):
        metrics = execute(env, "own connectors")
    assert (tmp_path / "failed").exists()
    assert metrics["restarts"] == 1 and metrics["checkpoints"]["restored_id"] > 0, metrics["checkpoints"]
    assert dict(rows(tmp_path / "upsert.db", "SELECT letter, number FROM latest")) == dict.fromkeys(letters, count - 1)
    expected = Counter(f"{letter}{n}" for letter in letters for n in range(count))
    assert Counter(record for (record,) in rows(tmp_path / "ledger.db", "SELECT record FROM ledger")) == expected
    # Several commits, not one at the end; and what was staged and not committed belongs to the attempt that failed.
    assert rows(tmp_path / "ledger.db", "SELECT count(*) FROM committed")[0][0] > 4
    uncommitted = rows(tmp_path / "ledger.db", "SELECT DISTINCT name FROM staged WHERE name NOT IN (SELECT name FROM committed)")
    assert {name.split("-")[1] for (name,) in uncommitted} <= {"1"}


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_sources_one_after_the_other_are_exact_over_a_failure(engine: str, tmp_path: Path) -> None:
    count, checkpoints = 200, tmp_path / "checkpoints"
    first, second = LetterSource("ab", count, checkpoints), LetterSource("cdef", count, checkpoints)
    env = environment(engine, checkpoints)
    source = HybridSource.builder(first).add_source(second).build()
    records = env.from_source(source, WatermarkStrategy.for_monotonous_timestamps(), "letters", Types.STRING())
    # Behind a checkpoint of the second source: a restart must neither lose its position nor begin with the first one.
    failing = records.map(FailOnce(tmp_path / "failed", lambda text: text == "e150"), Types.STRING())
    failing.rebalance().sink_to(LedgerSink(tmp_path / "ledger.db")).uid("ledger")
    with time_limit(SECONDS):
        metrics = execute(env, "two sources")
    assert (tmp_path / "failed").exists()
    assert metrics["restarts"] == 1 and metrics["checkpoints"]["restored_id"] > 0, metrics["checkpoints"]
    expected = Counter(f"{letter}{n}" for letter in "abcdef" for n in range(count))
    assert Counter(record for (record,) in rows(tmp_path / "ledger.db", "SELECT record FROM ledger")) == expected

"""A whole session with savepoints by the commands: stop, change the program and its backend, go on, rescale, fork."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from wiesel.common import Configuration, JobClient, Types, WatermarkStrategy
from wiesel.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from wiesel.datastream.connectors.number_seq import NumberSequenceSource
from wiesel.datastream.state import ValueStateDescriptor
from wiesel.platform.cli import main

KEYS = 4
MOST_SAVEPOINTS = 1000


class Summed(KeyedProcessFunction):
    """Counts and sums the numbers of a key."""

    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.LONG()))

    def process_element(self, value: int, ctx: Any) -> Any:
        self.count.update((self.count.value() or 0) + 1)
        self.sum.update((self.sum.value() or 0) + value)
        yield self.sum.value()


class SummedAndLargest(Summed):
    """The next version: keeps the largest number as well."""

    def open(self, runtime_context: Any) -> None:
        super().open(runtime_context)
        self.largest = runtime_context.get_state(ValueStateDescriptor("largest", Types.LONG()))

    def process_element(self, value: int, ctx: Any) -> Any:
        self.largest.update(value)
        yield from super().process_element(value, ctx)


def start(function: Summed, directory: Path, **settings: str) -> JobClient:
    options = {key.replace("__", "-").replace("_", "."): value for key, value in settings.items()}
    config = {"wiesel.engine": "local", "wiesel.rest.enabled": "true", "execution.checkpointing.dir": str(directory / "checkpoints")}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({**config, **options}))
    # One subtask reads, so the numbers of a key come in their order.
    source = NumberSequenceSource(0, 10**12)
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").uid("numbers").set_parallelism(1)
    summed = numbers.key_by(lambda n: n % KEYS, Types.LONG()).process(function, Types.LONG()).uid("summed")
    summed.filter(lambda n: n < 0).print()
    return env.execute_async("session")


def wiesel(*arguments: str) -> str:
    told = CliRunner().invoke(main, arguments)
    assert told.exit_code == 0, told.output
    return told.stdout.strip()


def counts(savepoint: str) -> dict[int, int]:
    """Return how many numbers of each key the savepoint has seen; they must be the first ones, each once."""
    rows = [json.loads(line) for line in wiesel("state", "read", savepoint, "--uid", "summed", "--trust").splitlines()]
    for row in rows:
        key, count = row["key"], row["count"]
        assert row["sum"] == count * key + KEYS * count * (count - 1) // 2
        assert row.get("largest") in (None, key + KEYS * (count - 1))
    found = dict.fromkeys(range(KEYS), 0) | {row["key"]: row["count"] for row in rows}
    assert len(found) == KEYS
    return found


def savepoint_beyond(before: dict[int, int], directory: str) -> str:
    """Take savepoints until the job has seen more of each key, and return the last one."""
    for _ in range(MOST_SAVEPOINTS):
        path = wiesel("savepoint", "session", directory, "--label", "on the way")
        now = counts(path)
        if all(now[key] > before[key] for key in before):
            return path
        wiesel("savepoint", "dispose", path)
    raise AssertionError(f"the job does not go on: {now}")


def test_x20_stop_change_start_rescale_fork(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIESEL_REGISTRY_DIR", str(tmp_path / "registry"))
    savepoints = str(tmp_path / "savepoints")
    start(Summed(), tmp_path, parallelism_default="2")
    first = savepoint_beyond(dict.fromkeys(range(KEYS), 0), savepoints)
    stopped = wiesel("stop", "session", "-p", savepoints)
    assert all(counts(stopped)[key] >= counts(first)[key] for key in range(KEYS))
    # The next version, on another backend and with another parallelism.
    client = start(
        SummedAndLargest(), tmp_path, parallelism_default="3", state_backend_type="lmdb", execution_state__recovery_path=stopped
    )
    assert wiesel("rescale", "session", "4").startswith("the job goes on from checkpoint ")
    after = savepoint_beyond(counts(stopped), savepoints)
    assert len(wiesel("savepoint", "list", savepoints).splitlines()) == 4
    # Another job goes its own way from the one that the first version was stopped with.
    wiesel("cancel", str(client.get_job_id()))
    start(Summed(), tmp_path, execution_state__recovery_path=stopped)
    fork = wiesel("stop", "session", "-p", savepoints)
    assert all(counts(fork)[key] >= counts(stopped)[key] for key in range(KEYS))
    for path in (first, stopped, after, fork):
        wiesel("savepoint", "dispose", path)
    assert wiesel("savepoint", "list", savepoints).count("\n") == 0

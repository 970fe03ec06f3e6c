"""The local engine: time that passes only where nothing else can happen."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from enum import Enum

import pytest

from wiesel.common import Configuration, JobClient, WatermarkStrategy
from wiesel.core.errors import JobExecutionError
from wiesel.datastream import StreamExecutionEnvironment
from wiesel.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy
from wiesel.datastream.functions import MapFunction
from wiesel.engine.local import executor


def test_a_job_may_take_any_time_of_the_virtual_clock() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"wiesel.engine": "local"}))
    # Two minutes, more than any time-out of the engine.
    source = DataGeneratorSource(lambda i: i, 120, RateLimiterStrategy.per_second(1))
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "one a second")
    assert sorted(stream.key_by(lambda n: n % 3).map(lambda n: n).execute_and_collect()) == list(range(120))


def leaves(value: int) -> int:
    raise SystemExit(4)


@pytest.mark.timeout(60)
def test_code_that_ends_the_process_fails_its_job_and_hangs_nobody() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"wiesel.engine": "local"}))
    env.from_collection([1, 2]).map(leaves).print()
    with pytest.raises(JobExecutionError) as caught:
        env.execute("leaves")
    assert "SystemExit: 4" in str(caught.value.__cause__) and "test_local_engine.py:28 in leaves" in str(caught.value.__cause__)


@pytest.mark.parametrize("fails", [False, True])
def test_the_end_of_a_job_is_told_when_nothing_of_it_is_left(fails: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    started, told = Future[JobClient](), list[bool]()

    def remove(path: str) -> None:
        told.append(started.result(60).get_job_execution_result().done())
        removed(path)

    removed = executor.remove_directory
    monkeypatch.setattr(executor, "remove_directory", remove)
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"wiesel.engine": "local"}))
    env.from_collection([0, 1]).map(lambda n: 1 // n if fails else n).print()
    client = env.execute_async("told")
    started.set_result(client)
    if fails:
        with pytest.raises(JobExecutionError, match="ZeroDivisionError"):
            client.get_job_execution_result().result(60)
    else:
        client.get_job_execution_result().result(60)
    assert told == [False]


def plus_one(value: int) -> int:
    return value + 1


class Color(Enum):
    RED = 1

    def shown(self) -> str:
        return self.name.lower()


class PlusOne(MapFunction):
    def map(self, value: int) -> tuple[int, str]:
        return plus_one(value), Color.RED.shown()


def test_the_users_classes_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    methods = PlusOne.__dict__["map"], Color.__dict__["shown"]
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"wiesel.engine": "local"}))
    assert list(env.from_collection([1, 2]).map(PlusOne()).execute_and_collect()) == [(2, "red"), (3, "red")]
    assert methods == (PlusOne.__dict__["map"], Color.__dict__["shown"])
    monkeypatch.setitem(globals(), "plus_one", lambda value: -value)
    assert PlusOne().map(5) == (-5, "red")


def test_a_list_that_is_yielded_again_arrives_as_it_was_each_time() -> None:
    def grow(_: int) -> Iterator[list[int]]:
        parts: list[int] = []
        for part in range(3):
            parts.append(part)
            yield parts

    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"wiesel.engine": "local"}))
    grown = env.from_collection([1]).flat_map(grow)
    # Recorded with PyFlink 2.3, chained and across an exchange.
    for stream in (grown.map(list), grown.rebalance().map(list)):
        assert list(stream.execute_and_collect()) == [[0], [0, 1], [0, 1, 2]]

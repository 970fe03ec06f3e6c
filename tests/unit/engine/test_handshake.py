"""Records leave a task only when the readers of all its channels have proved that they got its greetings."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

import pytest

from wiesel.checkpoint.messages import TaskKey
from wiesel.core.errors import JobExecutionError
from wiesel.engine.spark.handshake import ExpectedGreetings, Handshake, LevelId, greeting

PRODUCERS = LevelId(b"secret of the job", attempt=3, region=1, level=0)
SOURCES: list[TaskKey] = [(0, 0), (0, 1)]
COUNTS: list[TaskKey] = [(1, 0), (1, 1)]
SINKS: list[TaskKey] = [(2, 0)]
LEVELS: Sequence[Sequence[TaskKey]] = [SOURCES, COUNTS, SINKS]


def test_the_greetings_of_all_producers_connect_a_reader() -> None:
    expected = ExpectedGreetings(PRODUCERS, count=3, reader=2)
    assert [expected.take(greeting(PRODUCERS, producer, 2)) for producer in (2, 0, 1)] == [False, False, True]


@pytest.mark.parametrize(
    "other",
    [
        b"",
        b"records",
        greeting(replace(PRODUCERS, token=b"guessed"), 0, 2),
        greeting(replace(PRODUCERS, attempt=2), 0, 2),
        greeting(replace(PRODUCERS, region=0), 0, 2),
        greeting(replace(PRODUCERS, level=1), 0, 2),
        greeting(PRODUCERS, 3, 2),
        greeting(PRODUCERS, 0, 1),
        greeting(PRODUCERS, 1, 2),
    ],
    ids="empty records secret attempt region level producer reader twice".split(),
)
def test_a_row_that_is_no_greeting_of_a_producer_is_refused(other: bytes) -> None:
    expected = ExpectedGreetings(PRODUCERS, count=3, reader=2)
    expected.take(greeting(PRODUCERS, 1, 2))
    with pytest.raises(JobExecutionError, match="not from a task of this job"):
        expected.take(other)


def test_outputs_are_opened_when_all_readers_of_their_level_are_connected() -> None:
    opened: list[TaskKey] = []
    handshake = Handshake(LEVELS, opened.append)
    for task in [*SOURCES, *COUNTS, *SINKS]:
        handshake.on_registered(task)
    handshake.on_connected((1, 0))
    assert opened == []
    handshake.on_connected((2, 0))
    assert opened == COUNTS
    handshake.on_connected((1, 1))
    assert opened == COUNTS + SOURCES
    assert handshake.wait_for_stalled(60) is None


def test_a_task_that_registers_behind_its_readers_is_opened_then() -> None:
    opened: list[TaskKey] = []
    handshake = Handshake(LEVELS, opened.append)
    handshake.on_registered((0, 0))
    for task in COUNTS:
        handshake.on_connected(task)
    assert opened == [(0, 0)]
    handshake.on_registered((0, 1))
    assert opened == SOURCES


def test_a_reader_that_hears_nothing_is_named() -> None:
    handshake = Handshake(LEVELS, lambda task: None)
    for task in [*SOURCES, *COUNTS, *SINKS]:
        handshake.on_registered(task)
    handshake.on_connected((1, 0))
    assert handshake.wait_for_stalled(0.01) == (1, 1)


def test_the_time_counts_from_when_all_tasks_run_and_ends_with_them() -> None:
    handshake = Handshake(LEVELS, lambda task: None)
    handshake.on_registered((0, 0))
    found: list[TaskKey | None] = []
    waiting = threading.Thread(target=lambda: found.append(handshake.wait_for_stalled(0)))
    waiting.start()
    assert waiting.is_alive()
    handshake.end()
    waiting.join(60)
    assert found == [None]

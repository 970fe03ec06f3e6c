"""Ctrl-C while a session of Spark is being made, and to whom it belongs afterwards."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from wiesel.engine.spark.interrupts import interrupts_afterwards


@pytest.fixture
def pressed() -> Iterator[list[int]]:
    """What the handler of the program has been told."""
    told: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: told.append(number))
    yield told
    signal.signal(signal.SIGINT, before)


def of_pyspark(_number: int, _frame: Any) -> None:
    raise AssertionError("PySpark cancels all jobs")


def test_one_waits_until_the_end_and_reaches_who_had_it_before(pressed: list[int]) -> None:
    ended = False
    with interrupts_afterwards():
        signal.raise_signal(signal.SIGINT)
        assert pressed == []
        ended = True
    assert ended and pressed == [signal.SIGINT]


def test_nobody_is_told_of_what_has_not_happened(pressed: list[int]) -> None:
    with interrupts_afterwards():
        pass
    assert pressed == []


def test_the_second_one_does_not_wait(pressed: list[int]) -> None:
    with pytest.raises(KeyboardInterrupt), interrupts_afterwards():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("not reached")
    signal.raise_signal(signal.SIGINT)
    assert pressed == [signal.SIGINT]


def test_a_handler_that_was_set_meanwhile_is_taken_away(pressed: list[int]) -> None:
    with interrupts_afterwards():
        signal.signal(signal.SIGINT, of_pyspark)
    signal.raise_signal(signal.SIGINT)
    assert pressed == [signal.SIGINT]


def test_who_ignores_it_goes_on_to_do_so(pressed: list[int]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with interrupts_afterwards():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        signal.signal(signal.SIGINT, of_pyspark)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_other_threads_leave_it_alone(pressed: list[int]) -> None:
    handlers = []

    def make() -> None:
        with interrupts_afterwards():
            handlers.append(signal.getsignal(signal.SIGINT))

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    assert handlers == [before] == [signal.getsignal(signal.SIGINT)]

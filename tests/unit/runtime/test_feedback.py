"""The feedback edge: what a tail keeps, what a head leaves out, and events that must not overtake a barrier."""

from __future__ import annotations

from collections import deque
from random import Random
from typing import Any

import pytest

from wiesel.checkpoint.messages import EventToOperator
from wiesel.runtime.feedback.log import FeedbackLog
from wiesel.runtime.feedback.messages import Entry
from wiesel.runtime.operator_events import OperatorEvents


@pytest.mark.parametrize("seed", range(5))
def test_the_log_is_a_queue_whatever_lies_on_disk(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wiesel.runtime.feedback.log._FILE_BYTES", 400)
    random = Random(seed)
    log, expected = FeedbackLog(memory_bytes=300), deque[tuple[int, Entry]]()
    on_disk = 0
    for number in range(500):
        entry = Entry(random.randbytes(random.randrange(60)), ((0, 0, number),), number % 3)
        assert log.next == number
        log.append(entry)
        expected.append((number, entry))
        while expected and random.random() < 0.49:
            expected.popleft()
        log.drop_before(number + 1 - len(expected))
        assert list(log) == list(expected)
        assert log.bytes == sum(len(entry.payload) for _, entry in expected)
        assert log.bytes - log.bytes_on_disk <= 300
        on_disk += log.bytes_on_disk > 0
    assert on_disk > 0
    assert all(log.read(number) == entry for number, entry in expected)
    log.close()
    assert log.bytes == log.bytes_on_disk == 0


class Events:
    """Operator events of a task, and what has been delivered."""

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.events = OperatorEvents(lambda event: self.seen.append(event.event), epoch=3)

    def come(self, what: str, epoch: int) -> None:
        self.events.on_event(EventToOperator("op", what, epoch))


def test_an_event_from_behind_a_barrier_waits_for_it_and_later_ones_behind_it() -> None:
    task = Events()
    task.come("a", 3)
    task.come("b", 4)
    task.come("c", 3)
    assert task.seen == ["a"]
    assert task.events.waiting
    task.events.passed(4)
    assert task.seen == ["a", "b", "c"]
    assert not task.events.waiting
    task.events.passed(2)
    task.come("d", 4)
    assert task.seen[-1] == "d"

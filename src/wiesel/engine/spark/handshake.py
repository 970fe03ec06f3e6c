"""Internal. The handshake of a pipelined exchange: no record is sent before the right readers have connected.

Spark's shuffle server gives a channel to the first peer that requests it, without authentication, and never to a second one. So the first
row of each channel is a greeting, which only the job can create. A reader that has the greetings of all its producers reports it to the
JobMaster; when all readers have, the producers send records. An unauthenticated peer that took a channel receives a greeting only, and the
attempt fails after ``taskmanager.network.partition-request-timeout``. See ``docs/security.md``.
"""

from __future__ import annotations

import hmac
import struct
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wiesel.checkpoint.messages import TaskKey
from wiesel.core.errors import JobExecutionError

__all__ = ["ExpectedGreetings", "Handshake", "LevelId", "greeting", "not_connected"]

_HINT = "see the section on the exchange in docs/security.md"


@dataclass(frozen=True)
class LevelId:
    """The level of a Spark job from which a channel leads to the next one, with the secret of the job."""

    token: bytes
    attempt: int
    region: int
    level: int


def greeting(producers: LevelId, producer: int, reader: int) -> bytes:
    """Return the first row of the channel from partition ``producer`` to partition ``reader`` of the next level."""
    channel = struct.pack(">5i", producers.attempt, producers.region, producers.level, producer, reader)
    return channel + hmac.digest(producers.token, channel, "sha256")


class ExpectedGreetings:
    """The greetings that a reader expects: one of each producer.

    Args:
        producers: The level of the producers.
        count: Its number of partitions.
        reader: The reader's partition.
    """

    def __init__(self, producers: LevelId, count: int, reader: int) -> None:
        self._missing = {greeting(producers, producer, reader) for producer in range(count)}

    def take(self, row: bytes) -> bool:
        """Check a row and return whether it was the last greeting.

        Raises:
            JobExecutionError: If the row is no greeting, or a repeated one.
        """
        if row not in self._missing:
            raise JobExecutionError("a row of the exchange is not from a task of this job", hint=_HINT)
        self._missing.remove(row)
        return not self._missing


class Handshake:
    """The JobMaster's side, for one Spark job. Thread-safe.

    Args:
        levels: The tasks by level.
        open_output: Lets a task send records.
    """

    def __init__(self, levels: Sequence[Sequence[TaskKey]], open_output: Callable[[TaskKey], None]) -> None:
        self._levels = levels
        self._open_output = open_output
        self._level_of = {task: level for level, tasks in enumerate(levels) for task in tasks}
        self._waiting = [set(tasks) if level else set() for level, tasks in enumerate(levels)]
        self._registered: set[TaskKey] = set()
        self._ended = False
        self._changed = threading.Condition()

    def on_registered(self, task: TaskKey) -> None:
        """A task can be sent messages from now on."""
        with self._changed:
            self._registered.add(task)
            self._changed.notify_all()
            following = self._level_of[task] + 1
            is_open = following < len(self._levels) and not self._waiting[following]
        if is_open:
            self._open_output(task)

    def on_connected(self, task: TaskKey) -> None:
        """A task has the greetings of all its producers."""
        level = self._level_of[task]
        with self._changed:
            self._waiting[level].discard(task)
            self._changed.notify_all()
            # The others are notified when they register.
            ready = [] if self._waiting[level] else [t for t in self._levels[level - 1] if t in self._registered]
        for producer in ready:
            self._open_output(producer)

    def end(self) -> None:
        """The tasks have ended."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def wait_for_stalled(self, timeout_s: float) -> TaskKey | None:
        """Wait until all tasks are connected or have ended, at most ``timeout_s`` after all have registered.

        Returns:
            A task that is not connected after the timeout.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._ended or len(self._registered) == len(self._level_of))
            self._changed.wait_for(lambda: self._ended or not any(self._waiting), timeout_s)
            return None if self._ended else next((min(waiting) for waiting in self._waiting if waiting), None)


def not_connected(task: str, timeout_s: float) -> JobExecutionError:
    """Return the error of a task that has not received the greetings of all its producers in time."""
    return JobExecutionError(
        f"{task} could not connect to all of its producers within {timeout_s:.3g} s: another process may have connected to "
        "their ports in its place (it received no records), or the network does not let it through",
        hint=f"{_HINT}; where the machine is only slow, raise taskmanager.network.partition-request-timeout",
    )

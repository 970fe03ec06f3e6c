"""What goes wrong in a schedule: some faults at moments that its seed chooses, and a count of those that hit.

A fault is armed at a step and hits at the next opportunity: the next passage of its point, the next message of its kind. So it may miss, if
the job ends before; a schedule in which all of them missed proves nothing and is not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from wiesel.checkpoint.messages import AckCheckpoint, CheckpointComplete, FromTask, ToTask, TriggerCheckpoint
from wiesel.testing import InjectedFailure
from wiesel.testing._failures import MASTER_POINTS, TASK_POINTS

ALL_MASTER_POINTS = (*MASTER_POINTS, "during-commit", "running")

NETWORK = ("row-twice", "rows-swapped", "row-lost", "message-of-a-dead-attempt")
ACKS = ("ack-lost", "ack-twice", "ack-late", "trigger-lost", "notification-lost", "notification-twice", "notification-late")
CRASHES = ("attempt-fails", "driver-dies", "driver-is-replaced", "commit-fails")
MACHINE = ("storage-fails", "clock-jumps")
KINDS = (
    *NETWORK,
    *ACKS,
    *CRASHES,
    *MACHINE,
    *(f"task-dies-{point}" for point in TASK_POINTS),
    *(f"attempt-fails-{point}" for point in ALL_MASTER_POINTS),
    *(f"driver-dies-{point}" for point in ALL_MASTER_POINTS),
)
_FATAL = ("row", "task-dies", "attempt-fails", "driver-dies", "commit-fails")
FATAL = tuple(kind for kind in KINDS if kind.startswith(_FATAL) and kind != "attempt-fails-after-commit")
"""After these there is something to recover; not so when an attempt fails that has just committed its last checkpoint."""

MOST_FAULTS = 4
FIRST_STEPS = 150
LATE_STEPS = 100


class DriverDied(BaseException):
    """The process of the driver is gone, as by SIGKILL: no handler of the engine may see this."""


@dataclass
class Fault:
    """One fault, armed from a step on."""

    kind: str
    from_step: int


class Faults:
    """The faults of one schedule, over all drivers that it takes."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.step = 0
        kinds = random.sample(KINDS, random.randrange(1, MOST_FAULTS + 1))
        # A second one may undo what the first has done to the rows of a link.
        rows = [kind for kind in kinds if kind.startswith("row")]
        planned = (Fault(kind, random.randrange(FIRST_STEPS)) for kind in kinds if kind not in rows[1:])
        self.planned = sorted(planned, key=lambda fault: fault.from_step)
        self.armed: list[Fault] = []
        self.hits: Counter[str] = Counter()
        self._last = ""

    def tick(self) -> None:
        """One more step of the schedule."""
        self.step += 1
        while self.planned and self.planned[0].from_step <= self.step:
            self.armed.append(self.planned.pop(0))

    def take(self, *kinds: str) -> str | None:
        """Return the kind of an armed fault of these kinds, which hits now."""
        for fault in self.armed:
            if fault.kind in kinds:
                self.armed.remove(fault)
                self.hits[fault.kind] += 1
                self._last = fault.kind
                return fault.kind
        return None

    def missed(self) -> None:
        """The last fault made no difference: it does not count."""
        self.hits.subtract([self._last])
        self.hits = +self.hits

    # Points

    def at_task_point(self, point: str) -> None:
        if self.armed and self.take(f"task-dies-{point}"):
            raise InjectedFailure(f"the task dies {point}")

    def at_master_point(self, point: str, fail: Callable[[BaseException], None]) -> None:
        if not self.armed:
            return
        kind = self.take(f"driver-dies-{point}", f"attempt-fails-{point}")
        if kind is not None and kind.startswith("driver"):
            raise DriverDied(point)
        if kind is not None:
            fail(InjectedFailure(f"the attempt fails {point}"))

    # Messages

    def copies(self, message: FromTask | ToTask) -> tuple[int, int]:
        """Return how many copies of a message arrive now, and how many later."""
        kind = None
        if not self.armed:
            return 1, 0
        if isinstance(message, AckCheckpoint):
            kind = self.take("ack-lost", "ack-twice", "ack-late")
        elif isinstance(message, CheckpointComplete):
            kind = self.take("notification-lost", "notification-twice", "notification-late")
        elif isinstance(message, TriggerCheckpoint):
            kind = self.take("trigger-lost")
        return (1, 0) if kind is None else {"lost": (0, 0), "twice": (2, 0), "late": (0, 1)}[kind.rpartition("-")[2]]

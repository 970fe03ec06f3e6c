"""A simulation in which the network, acknowledgements, commits, the storage and the clock misbehave as a schedule says."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from tests.sim.schedules.faults import LATE_STEPS, DriverDied, Faults
from tests.sim.schedules.storage import Disk
from wiesel.checkpoint.messages import FromTask, RegisterTask, TaskKey, ToTask
from wiesel.engine.job_attempt import JobAttempt
from wiesel.engine.local.simulation import SimulatedTask, Simulation
from wiesel.graph.stage_plan import StagePlan
from wiesel.spi.sink import CommitRequest, Committer
from wiesel.testing import InjectedFailure
from wiesel.wire.buffers import END, read_buffers

JUMP_MS = 3_600_000
OUTAGES = (1, 1, 2, 3, 8)
"""How many operations of the storage fail in a row."""


class FailingCommitter(Committer[Any]):
    """Commits some and then fails, when the schedule says so."""

    def __init__(self, committer: Committer[Any], faults: Faults) -> None:
        self._committer = committer
        self._faults = faults

    def commit(self, requests: Sequence[CommitRequest[Any]]) -> None:
        if self._faults.armed and self._faults.take("commit-fails"):
            self._committer.commit(requests[: len(requests) // 2])
            raise OSError("the commit fails in its midst: injected")
        self._committer.commit(requests)

    def close(self) -> None:
        self._committer.close()


class FaultyWorld(Simulation):
    """One driver and its tasks. Each step asks one random party that can do something, which is what makes a step cheap."""

    def __init__(self, plan: StagePlan, *, faults: Faults, disk: Disk, **options: Any) -> None:
        seed = faults.random.randrange(1 << 30)
        super().__init__(plan, seed=seed, faults=lambda point, _: self._at_task_point(point), **options)
        self.faults = faults
        self.disk = disk
        self.zombie = False
        self.dead: deque[tuple[int, FromTask]] = deque()
        """What tasks of attempts that are over had sent, and what comes late."""
        self._late: list[tuple[int, Callable[[], None]]] = []
        self._answers: deque[Callable[[], None]] = deque()

    # What happens next

    def step_now(self) -> bool:
        self.steps += 1
        self.faults.tick()
        if self._requests:
            self._requests.popleft()()
            return True
        ending = next((region for region, launch in self._launches.items() if launch.ending), None)
        if ending is not None:
            self._kill(ending)
            return True
        if self.faults.armed and not self.zombie and self._strike():
            return True
        parties: list[SimulatedTask | None] = [None, *self.tasks.values()]
        now_ms = self.clock.now_ms()
        while parties:
            index = int(self.random.random() * len(parties))
            party = parties[index]
            actions = self._own_actions(now_ms) if party is None else self._task_actions(party, now_ms)
            if actions:
                actions[int(self.random.random() * len(actions))]()
                return True
            parties[index] = parties[-1]
            parties.pop()
        return self._deliver_late(all_of_them=True)

    def _own_actions(self, now_ms: int) -> list[Callable[[], None]]:
        master = self._master()
        actions: list[Callable[[], None]] = []
        for waiting in self._background.values():
            if waiting:
                actions.append(lambda waiting=waiting: self._answers.append(waiting.popleft()()))  # type: ignore[misc]
        if self._answers:
            actions.append(lambda: self._answers.popleft()())
        deadline = master.next_deadline_ms()
        if deadline is not None and deadline <= now_ms:
            actions.append(lambda: master.on_time(now_ms))
        if self.dead:
            actions.append(self._deliver_dead)
        if self._late and self._late[0][0] <= self.steps:
            actions.append(self._deliver_late)
        for region, launch in self._launches.items() if not self._late else ():
            if launch.keys and all((task := self.tasks[key]).gone and not task.outbox for key in launch.keys):
                actions.append(lambda region=region: self._over(region))  # type: ignore[misc]
        return actions

    def _task_actions(self, task: SimulatedTask, now_ms: int) -> list[Callable[[], None]]:
        actions = super()._task_actions(task, now_ms)
        if task.outbox:
            actions[0] = lambda: self._from_task(task)
        return actions

    # Messages

    def _from_task(self, task: SimulatedTask) -> None:
        attempt, message = task.attempt, task.outbox.popleft()
        self._deliver(message, lambda: self._master().on_message(attempt, message))

    def send(self, attempt: int, task: TaskKey, message: ToTask) -> None:
        self._deliver(message, lambda: super(FaultyWorld, self).send(attempt, task, message))

    def _deliver(self, message: FromTask | ToTask, deliver: Callable[[], None]) -> None:
        now, later = (1, 0) if self.zombie else self.faults.copies(message)
        for _ in range(later):
            self._hold(deliver)
        for _ in range(now):
            deliver()

    def _hold(self, deliver: Callable[[], None]) -> None:
        self._late.append((self.steps + self.random.randrange(1, LATE_STEPS), deliver))
        self._late.sort(key=lambda late: late[0])

    def _deliver_late(self, all_of_them: bool = False) -> bool:
        if not self._late or not (all_of_them or self._late[0][0] <= self.steps):
            return False
        self._late.pop(0)[1]()
        return True

    def _deliver_dead(self) -> None:
        self._master().on_message(*self.dead.popleft())

    # Faults that need no message

    def _strike(self) -> bool:
        """Let something go wrong that can go wrong at any time; return whether it was a step of its own."""
        faults, attempt = self.faults, self._master().attempt
        if attempt is not None and not attempt.ended and faults.take("attempt-fails"):
            attempt.fail(InjectedFailure("the attempt fails"))
            return True
        unread = self._waits_for("message-of-a-dead-attempt") and any(map(_unread, self.tasks.values()))
        if unread and attempt is not None and not attempt.ended:
            attempt.fail(InjectedFailure("the attempt fails with messages on their way"))
            return True
        if faults.take("driver-dies"):
            raise DriverDied("somewhere")
        if faults.take("driver-is-replaced"):
            self.zombie = True
            raise DriverDied("it stands still")
        if faults.take("clock-jumps"):
            self.pass_time(self.clock.now_ms() + JUMP_MS)
            return True
        if faults.take("storage-fails"):
            self.disk.failing = self.random.choice(OUTAGES)
        return self._meddle_with_rows()

    def _meddle_with_rows(self) -> bool:
        wanted = {fault.kind for fault in self.faults.armed} & {"row-twice", "rows-swapped", "row-lost"}
        links = [rows for task in self.tasks.values() for rows in task.links.values() if rows] if wanted else []
        if not links:
            return False
        rows = self.random.choice(links)
        for kind in sorted(wanted):
            if kind == "row-twice" and not _ends(rows[0]) and self.faults.take(kind):
                rows.insert(1, rows[0])
                return True
            if kind == "rows-swapped" and len(rows) > 1 and _same_channel(rows[0], rows[1]) and self.faults.take(kind):
                rows[0], rows[1] = rows[1], rows[0]
                return True
            if kind == "row-lost" and not _ends(rows[0]) and self.faults.take(kind):
                rows.popleft()
                return True
        return False

    def _waits_for(self, kind: str) -> bool:
        return any(fault.kind == kind for fault in self.faults.armed)

    def _at_task_point(self, point: str) -> None:
        if not self.zombie:
            self.faults.at_task_point(point)

    def _kill(self, region: int) -> None:
        if not self.zombie and self._waits_for("message-of-a-dead-attempt"):
            tasks = [task for task in self.tasks.values() if task.key in self._launches[region].keys]
            left = [(task.attempt, message) for task in tasks for message in _unread(task)]
            if left:
                self.faults.take("message-of-a-dead-attempt")
                self.dead.extend(left)
        super()._kill(region)


def _unread(task: SimulatedTask) -> list[FromTask]:
    """Return the messages of a task that the JobMaster has not got yet, but for that of its start."""
    return [message for message in task.outbox if not isinstance(message, RegisterTask)]


def _channels(row: bytes) -> set[tuple[int, int, int, int]]:
    return {(b.level, b.partition, b.edge, b.source) for b in read_buffers(row)}


def _same_channel(one: bytes, other: bytes) -> bool:
    """Return whether the order of two rows matters to anybody."""
    return bool(_channels(one) & _channels(other))


def _ends(row: bytes) -> bool:
    """Return whether a row has the end of a channel: behind that nobody looks whether something is missing or there is more."""
    return any(buffer.kind == END for buffer in read_buffers(row))


def failing_committers(attempt: JobAttempt, faults: Faults) -> None:
    """Have the committers of an attempt fail as the schedule says."""
    for sink in attempt._commits._sinks.values():
        sink.committer = FailingCommitter(sink.committer, faults)

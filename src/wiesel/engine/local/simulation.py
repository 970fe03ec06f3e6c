"""Internal. Simulation of a job in one thread: tasks, channels, control messages and the JobMaster, in a seeded order.

The order of events of each link is kept (channels and control connections are FIFO, as on Spark); among links the seed chooses. The clock
is virtual: it only advances, to the next deadline, when nothing else can happen. So a run is a function of program and seed, and waiting
costs no time.
"""

from __future__ import annotations

import operator
import pickle
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, TypeVar

from wiesel.checkpoint.local_copies import LocalBackup, LocalCopies
from wiesel.checkpoint.messages import CheckpointAborted, FromTask, Heartbeat, RegisterTask, ReportProgress, TaskFailed, TaskKey, ToTask
from wiesel.checkpoint.savepoint import SavepointFiles
from wiesel.checkpoint.store import MEMORY_LIMIT_BYTES, MemoryStateFiles, StateFiles
from wiesel.core import code_pickling
from wiesel.core.clock import ManualClock
from wiesel.core.errors import JobExecutionError, NoResourceAvailableError
from wiesel.core.options import CHECKPOINT_INLINE_THRESHOLD
from wiesel.engine.job_attempt import CHECKPOINTS
from wiesel.engine.job_master import JobMaster
from wiesel.engine.local.event_loop import SteppedEventLoop
from wiesel.engine.local.fetcher import Patience, SteppedFetcher
from wiesel.engine.task_errors import picklable_error
from wiesel.graph.stage_plan import Region, StagePlan
from wiesel.runtime.descriptor import OperatorDescriptor, TaskDescriptor
from wiesel.runtime.event_loop import Waker
from wiesel.runtime.task import StreamTask
from wiesel.state.backend import StateBackend
from wiesel.state.factory import make_backend
from wiesel.state.key_groups import key_group_range
from wiesel.wire.buffers import read_buffers

T = TypeVar("T")
_LINK_ROWS = 8
_OUTSIDE_S = 0.02
_INTERRUPTED = 0.25
_Action = Callable[[], None]


class ShippedCode:
    """Copies of task descriptors with the user's code, which is pickled once per vertex and not for each task and attempt.

    Two simulations of the same plan may share one.
    """

    def __init__(self) -> None:
        self._pickled: dict[int, tuple[list[Any], bytes]] = {}

    def copy(self, descriptor: TaskDescriptor) -> TaskDescriptor:
        """Return a deep copy, as if it had been sent to another process.

        Raises:
            Exception: Any error of pickling the user's code.
        """
        vertex = descriptor.vertex
        code: list[Any] = [each.payload for each in vertex.operators] + [each.partitioner for each in descriptor.outputs]
        before, pickled = self._pickled.get(vertex.vertex, ([], b""))
        if len(before) != len(code) or any(map(operator.is_not, before, code)):
            pickled = code_pickling.dumps(code)
            self._pickled[vertex.vertex] = code, pickled
        copies = pickle.loads(pickled)
        operators = tuple(replace(each, payload=copies[i]) for i, each in enumerate(vertex.operators))
        outputs = tuple(replace(each, partitioner=copies[len(operators) + i]) for i, each in enumerate(descriptor.outputs))
        bare = replace(descriptor, vertex=replace(vertex, operators=()), outputs=())
        copy: TaskDescriptor = pickle.loads(code_pickling.dumps(bare))
        return replace(copy, vertex=replace(copy.vertex, operators=operators), outputs=outputs)


class SimulatedTask:
    """A task, its incoming messages, and its services."""

    def __init__(self, world: Simulation, descriptor: TaskDescriptor, region: Region) -> None:
        self.world = world
        self.key: TaskKey = descriptor.key
        self.attempt = descriptor.attempt
        self.region = region
        self.level, self.partition = descriptor.level, descriptor.partition
        self.inbox: deque[ToTask] = deque()
        self.outbox: deque[FromTask] = deque()
        self.work: deque[Callable[[], Callable[[], None]]] = deque()
        self.calls: deque[Callable[[], None]] = deque()
        self.links: dict[int, deque[bytes]] = {}
        self.loops: list[SteppedEventLoop] = []
        self.fetchers: list[SteppedFetcher] = []
        self._source_waker = Waker(self._poll_again, self.calls.append)
        self.started = False
        self.gone = False
        self.more = True
        self.woken = False
        self.next_poll_ms = 0
        self._prefix = prefix = f"{descriptor.attempt}-{self.key[0]}-{self.key[1]}"
        directory = world.checkpoint_dir
        self._copies = world.local_backup.copies(descriptor.job_id, f"{self.key[0]}-{self.key[1]}", world.local_dir)
        inline_bytes = descriptor.config.get(CHECKPOINT_INLINE_THRESHOLD.key)
        self._files: StateFiles | MemoryStateFiles = (
            StateFiles(directory, descriptor.job_id, prefix, self._copies, inline_bytes)
            if directory
            else MemoryStateFiles(descriptor.job_id, prefix, world.memory_limit_bytes)
        )
        self.task = StreamTask(descriptor, self)

    # TaskServices

    @property
    def clock(self) -> ManualClock:
        """Return the virtual clock."""
        return self.world.clock

    def send(self, message: FromTask) -> None:
        """Queue a message to the JobMaster."""
        self.outbox.append(message)

    def run_async(self, work: Callable[[], T], done: Callable[[T | None, BaseException | None], None]) -> None:
        """Queue work; its result is delivered at a later step."""

        def run() -> Callable[[], None]:
            try:
                result = work()
            except (Exception, SystemExit, GeneratorExit) as error:  # noqa: BLE001 - handed to the task
                failure = error
                return lambda: done(None, failure)
            return lambda: done(result, None)

        self.work.append(run)

    def start_event_loop(self, on_results: Callable[[], None]) -> SteppedEventLoop:
        """Start an event loop on the virtual clock; it is stepped by the scheduler."""
        loop = SteppedEventLoop(self.clock.now_ms, on_results, self.calls.append)
        self.loops.append(loop)
        return loop

    def start_fetcher(self, step: Callable[[], int | None], finish: Callable[[], None]) -> SteppedFetcher:
        """Start a thread of a source reader; the scheduler says when it does its steps."""
        fetcher = SteppedFetcher(step, finish, self.clock.now_ms, self.world.patience[self.key])
        self.fetchers.append(fetcher)
        return fetcher

    def wake_source(self) -> None:
        """Have the source polled without time passing."""
        self._source_waker.wake()

    def _poll_again(self) -> None:
        self.more = True

    def make_backend(self, operator: OperatorDescriptor, descriptor: TaskDescriptor) -> StateBackend:
        """Create the state backend of one operator."""
        vertex = descriptor.vertex
        return make_backend(
            operator.state_backend or str(descriptor.config.get("state.backend.type", "hashmap")),
            operator_id=operator.operator_id,
            subtask=descriptor.subtask,
            parallelism=vertex.parallelism,
            key_group_range=key_group_range(descriptor.subtask, vertex.max_parallelism, vertex.parallelism),
            local_dir=self.world.local_dir,
            clock=self.world.clock,
            options=descriptor.config,
        )

    @property
    def local_dir(self) -> str:
        """Return the directory for files of the job."""
        return self.world.local_dir

    def state_writer(self, savepoint: str | None = None) -> StateFiles | MemoryStateFiles:
        """Return the writer of state files."""
        return self._files if savepoint is None else SavepointFiles(savepoint, self._prefix)

    def state_reader(self) -> StateFiles | MemoryStateFiles:
        """Return the reader of state files."""
        return self._files

    def local_copies(self) -> LocalCopies | None:
        """Return the copies of state files on this host."""
        return self._copies

    def reached(self, point: str) -> None:
        """Check whether this task fails here."""
        self.world.reached(point, self.key)

    # Steps

    @property
    def stepped(self) -> list[SteppedEventLoop | SteppedFetcher]:
        """Return what runs beside the task, when the scheduler says so."""
        return [*self.loops, *self.fetchers]

    def start(self) -> None:
        """Open the task and register it."""
        self.outbox.append(RegisterTask(self.key, self.task.descriptor.attempt, 0, "local"))
        self.task.start()
        self.started = True

    @property
    def input_ended(self) -> bool:
        """Return whether the input has ended."""
        if self.level == 0:
            return True
        upstream = [t for t in self.world.tasks.values() if t.region is self.region and t.level == self.level - 1]
        return all(t.gone and not t.links.get(self.partition) for t in upstream)

    @property
    def blocked(self) -> bool:
        """Return whether an outgoing link of this task is full: backpressure."""
        return any(len(rows) >= _LINK_ROWS for rows in self.links.values())

    def collect(self) -> None:
        """Put the output of the task on its links."""
        for partition, row in self.task.drain():
            self.links.setdefault(partition, deque()).append(row)

    def on_row(self, row: bytes) -> None:
        """Process a row: buffers for this task, or to be relayed."""
        for buffer in read_buffers(row):
            if buffer.level == self.level:
                self._in_slices(self.task.on_buffer_in_slices(buffer))
            else:
                self.task.rows.put(self.region.next_hop(self.level, buffer.level, buffer.partition), buffer.raw)

    def work_off(self) -> None:
        """Process a buffer of the backlog."""
        self._in_slices(self.task.work_off())

    def on_control(self) -> None:
        """Process the oldest message of the JobMaster."""
        message = self.inbox.popleft()
        if isinstance(message, ReportProgress):
            self.outbox.append(self.task.progress())
        else:
            self.task.on_control(message)
        if isinstance(message, CheckpointAborted):
            self.more = True  # a source that was waiting for it has to be polled

    def _in_slices(self, slices: Iterator[None]) -> None:
        """Process a buffer; control messages may be processed between slices of its records, and rows if the task waits for barriers."""
        chance = self.world.random.random
        for _ in slices:
            if self.inbox and chance() < _INTERRUPTED:
                self.on_control()
            if self.task.ahead or (self.task.hurried and chance() < _INTERRUPTED):
                self.task.interrupt()

    @property
    def takes_rows(self) -> bool:
        """Return whether the task accepts rows now."""
        return self.task.hurried or not (self.blocked or self.task.paused or self.task.backlogged)

    def poll(self) -> None:
        """Let a source emit."""
        self.more = self.task.poll()
        if self.woken and not self.more:
            # The last status of the reader may be older than its wake-up.
            self.woken, self.more = False, True
        if not self.more:
            self.next_poll_ms = self.clock.now_ms() + max(1, self.task.poll_interval_ms)


@dataclass
class _Launch:
    """The tasks of a region that an attempt has started."""

    attempt: int
    keys: list[TaskKey]
    ending: bool = False
    error: BaseException | None = None

    def ends(self, error: BaseException | None) -> None:
        """Let its tasks end at the next step."""
        self.ending = True
        self.error = self.error or error


class Simulation:
    """The running tasks and the JobMaster. ``run`` continues until the job has ended."""

    def __init__(
        self,
        plan: StagePlan,
        *,
        seed: int,
        clock: ManualClock,
        checkpoint_dir: str | None,
        local_dir: str,
        local_backup: LocalBackup | None = None,
        memory_limit_bytes: int = MEMORY_LIMIT_BYTES,
        faults: Callable[[str, TaskKey], None] | None = None,
        shipped_code: ShippedCode | None = None,
    ) -> None:
        self.plan = plan
        self.clock = clock
        self.checkpoint_dir = checkpoint_dir
        self.local_dir = local_dir
        self.local_backup = local_backup or LocalBackup()
        self.memory_limit_bytes = memory_limit_bytes
        self.random = Random(seed)
        self.tasks: dict[TaskKey, SimulatedTask] = {}
        self.master: JobMaster | None = None
        self.steps = 0
        self.slots: int | None = None
        """Number of tasks that can run concurrently; None: unlimited."""
        self._launches: dict[int, _Launch] = {}
        """Running launches by region."""
        self.patience: defaultdict[TaskKey, Patience] = defaultdict(Patience)
        self._background: dict[str, deque[Callable[[], Callable[[], None]]]] = {}
        self._requests: deque[Callable[[], None]] = deque()
        self._faults = faults
        self._shipped_code = ShippedCode() if shipped_code is None else shipped_code

    # Launcher

    def launch(self, attempt: int, plan: StagePlan, regions: Mapping[int, dict[TaskKey, TaskDescriptor]]) -> None:
        """Create the tasks of an attempt; each gets its own copy of the user's code, as on Spark."""
        self.plan = plan
        free, needed = self.free_slots(), sum(map(len, regions.values()))
        places = {(s.vertex, s.index): r for r in self.plan.regions for s in r.place}
        for region, tasks in regions.items():
            launch = self._launches[region] = _Launch(attempt, list(tasks))
            if free is not None and free < needed:
                launch.ends(NoResourceAvailableError(f"the job needs {needed} slots at the same time, there are {free}"))
            else:
                self._make_tasks(launch, tasks, places)

    def _make_tasks(self, launch: _Launch, tasks: dict[TaskKey, TaskDescriptor], places: Mapping[TaskKey, Region]) -> None:
        for key, descriptor in tasks.items():
            copy = self._shipped_code.copy(descriptor)
            try:
                self.tasks[key] = SimulatedTask(self, copy, places[key])
            except (Exception, SystemExit, GeneratorExit) as error:  # noqa: BLE001 - as on Spark: the task fails
                launch.ends(picklable_error(error, descriptor))
                return

    def free_slots(self) -> int | None:
        """Return how many more tasks could run."""
        return None if self.slots is None else max(0, self.slots - sum(not task.gone for task in self.tasks.values()))

    def kept_levels(self) -> dict[int, list[int]]:
        """Return no retained results: rows are passed on, not stored."""
        return {}

    def cancel(self, attempt: int, region: int) -> None:
        """End all tasks of a region at the next step."""
        launch = self._launches.get(region)
        if launch is not None and launch.attempt == attempt:
            launch.ends(None)

    def send(self, attempt: int, task: TaskKey, message: ToTask) -> None:
        """Queue a message to a task."""
        target = self.tasks.get(task)
        if target is not None and target.attempt == attempt and not target.gone:
            target.inbox.append(message)

    # Background

    def run(self, work: Callable[[], T], done: Callable[[T | None, BaseException | None], None], lane: str = CHECKPOINTS) -> None:
        """Queue blocking work of the master."""

        def step() -> Callable[[], None]:
            try:
                result = work()
            except (Exception, SystemExit, GeneratorExit) as error:  # noqa: BLE001 - handed to the master
                failure = error
                return lambda: done(None, failure)
            return lambda: done(result, None)

        self._background.setdefault(lane, deque()).append(step)

    def request(self, call: Callable[[], None]) -> None:
        """Have ``call`` run by the scheduler (thread-safe)."""
        self._requests.append(call)

    def answer_the_rest(self) -> None:
        """Answer requests that were too late for the scheduler, as the job has ended."""
        while self._requests:
            self._requests.popleft()()

    def reached(self, point: str, task: TaskKey) -> None:
        """A task has reached a named point."""
        if self._faults is not None:
            self._faults(point, task)

    # The scheduler

    def run_job(self, master: JobMaster) -> None:
        """Run until the job has ended."""
        self.master = master
        while not master.result.done():
            self.step()

    def step(self) -> None:
        """Execute one step: a possible event, or else advance time to the next deadline."""
        if self.step_now():
            return
        for task in self.tasks.values():
            if task.started and not task.gone:
                task.task.on_starved()
        if any(task.outbox for task in self.tasks.values()):
            return
        deadline = self.next_deadline()
        outside = [each for task in self.tasks.values() for each in task.stepped if each.waits_outside]
        if outside:
            self._wait_outside(outside, deadline)
            return
        if deadline is None:
            raise JobExecutionError("the job stands still: nothing can happen and nothing is due", steps=self.steps)
        self.pass_time(max(self.clock.now_ms(), deadline))

    def _wait_outside(self, outside: Sequence[SteppedEventLoop | SteppedFetcher], deadline: int | None) -> None:
        """Let real and virtual time pass while requests wait for connections or threads, and fetchers for their clients."""
        started_s = time.monotonic()
        left_s = _OUTSIDE_S if deadline is None else (deadline - self.clock.now_ms()) / 1e3
        for each in outside:
            each.wait_outside(max(0.0, min(left_s, _OUTSIDE_S)) / len(outside))
        self.pass_time(self.clock.now_ms() + max(1, round((time.monotonic() - started_s) * 1e3)))

    def step_now(self) -> bool:
        """Execute one step that is possible without time passing; return False if there is none."""
        self.steps += 1
        if self._requests:
            self._requests.popleft()()
            return True
        ending = next((region for region, launch in self._launches.items() if launch.ending), None)
        if ending is not None:
            self._kill(ending)
            return True
        actions = self._possible()
        if actions:
            self.random.choice(actions)()
        return bool(actions)

    def pass_time(self, now_ms: int) -> None:
        """Set the clock and notify the JobMaster."""
        self.clock.set(now_ms)
        self._master().on_time(now_ms)

    def wake_sources(self) -> int:
        """Poll all idle sources and fetchers again without time passing; return their number."""
        unfinished = [t for t in self.tasks.values() if t.started and t.task.polled and not t.task.finished]
        waiting = [t for t in unfinished if not t.more]
        for task in unfinished:
            task.woken, task.more = task.more, True
        return len(waiting) + sum(fetcher.hurry() for task in unfinished for fetcher in task.fetchers)

    def _master(self) -> JobMaster:
        if self.master is None:
            raise JobExecutionError("the simulation has no job")
        return self.master

    def _possible(self) -> list[_Action]:
        master = self._master()
        actions: list[_Action] = []
        now_ms = self.clock.now_ms()
        actions += [lambda waiting=waiting: waiting.popleft()()() for waiting in self._background.values() if waiting]  # type: ignore[misc]
        deadline = master.next_deadline_ms()
        if deadline is not None and deadline <= now_ms:
            actions.append(lambda: master.on_time(now_ms))
        for task in self.tasks.values():
            actions += self._task_actions(task, now_ms)
        for region, launch in self._launches.items():
            if launch.keys and all((task := self.tasks[key]).gone and not task.outbox for key in launch.keys):
                actions.append(lambda region=region: self._over(region))  # type: ignore[misc]
        return actions

    def _over(self, region: int) -> None:
        """Handle the end of all tasks of a region."""
        launch = self._launches.pop(region)
        for key in launch.keys:
            self.tasks.pop(key, None)
        self._master().on_launch_ended(launch.attempt, launch.error, region)

    def _task_actions(self, task: SimulatedTask, now_ms: int) -> list[_Action]:
        actions: list[_Action] = []
        if task.outbox:
            actions.append(lambda: self._master().on_message(task.attempt, task.outbox.popleft()))
        for partition, rows in task.links.items():
            target = self._at(task.region, task.level + 1, partition)
            if rows and target.started and target.takes_rows:
                actions.append(lambda rows=rows, target=target: self._do(target, lambda: target.on_row(rows.popleft())))  # type: ignore[misc]
        if task.gone:
            return actions
        if not task.started:
            actions.append(lambda: self._do(task, task.start))
            return actions
        if task.inbox:
            actions.append(lambda: self._do(task, task.on_control))
        if task.work:
            actions.append(lambda: task.calls.append(task.work.popleft()()))
        if task.calls:
            actions.append(lambda: self._do(task, lambda: task.calls.popleft()()))
        actions += [lambda each=each: self._do(task, each.step) for each in task.stepped if each.ready]  # type: ignore[misc]
        if task.task.backlogged and not task.blocked and not task.task.paused:
            actions.append(lambda: self._do(task, task.work_off))
        can_poll = task.task.polled and not task.task.finished and not task.task.paused and not task.blocked
        if can_poll and (task.more or task.next_poll_ms <= now_ms):
            actions.append(lambda: self._do(task, task.poll))
        deadline = task.task.next_deadline_ms()
        if deadline is not None and deadline <= now_ms:
            actions.append(lambda: self._do(task, lambda: task.task.on_time(now_ms)))
        if task.task.finished and not task.work and not task.calls and task.input_ended:
            actions.append(lambda: self._do(task, lambda: self._leave(task)))
        return actions

    def _leave(self, task: SimulatedTask) -> None:
        task.outbox.append(Heartbeat(task.key, task.task.metrics()))
        task.task.close()
        task.gone = True

    def _at(self, region: Region, level: int, partition: int) -> SimulatedTask:
        subtask = region.levels[level][partition]
        return self.tasks[(subtask.vertex, subtask.index)]

    def _do(self, task: SimulatedTask, action: _Action) -> None:
        try:
            action()
            task.collect()
        except (Exception, SystemExit, GeneratorExit) as error:  # noqa: BLE001 - the task fails, not the scheduler
            failed = TaskFailed(task.key, picklable_error(error, task.task.descriptor))
            self._master().on_message(task.attempt, failed)

    def _kill(self, region: int) -> None:
        """Kill all tasks of a region at once: data in flight is lost."""
        launch = self._launches[region]
        for task in [self.tasks[key] for key in launch.keys if key in self.tasks]:
            if not task.gone:
                try:
                    task.task.close()
                except (Exception, SystemExit, GeneratorExit) as error:  # noqa: BLE001 - it is being killed; only the first failure matters
                    launch.error = launch.error or error
        self._over(region)

    def next_deadline(self) -> int | None:
        """Return the time (ms) of the next deadline, which may have passed, or None."""
        deadlines: list[int] = []
        master_deadline = self._master().next_deadline_ms()
        if master_deadline is not None:
            deadlines.append(master_deadline)
        for task in self.tasks.values():
            if task.gone or not task.started:
                continue
            deadline = task.task.next_deadline_ms()
            if deadline is not None:
                deadlines.append(deadline)
            if task.task.polled and not task.task.finished and not task.task.paused:
                deadlines.append(task.next_poll_ms)
            deadlines += [due for each in task.stepped if (due := each.next_deadline_ms()) is not None]
        return min(deadlines, default=None)



"""Drives a source without an engine: readers and an enumerator in one thread, with snapshots at any point."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from typing import Any

from wiesel.core import code_pickling
from wiesel.core.clock import ManualClock
from wiesel.core.errors import ConnectorError
from wiesel.core.metrics import MetricRegistry
from wiesel.engine.spark.step_thread import StepThread
from wiesel.spi.source import InputStatus, Source, SourceReaderMetricGroup, SplitEnumeratorMetricGroup

WAITS_AT_MOST = 10_000


class Enumerators:
    """The context of an enumerator; carries its messages to the readers."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.parallelism = world.parallelism
        self.due_ms: int | None = None
        self.metrics = MetricRegistry()
        self.metric_group = SplitEnumeratorMetricGroup(self.metrics.group())
        self.calls: list[tuple[int, int | None, Any, Any]] = []

    def assign_splits(self, splits: Mapping[int, Sequence[Any]]) -> None:
        for subtask, given in splits.items():
            # As over the network: a reader gets copies.
            self.world.readers[subtask].reader.add_splits(pickle.loads(pickle.dumps(list(given))))

    def signal_no_more_splits(self, subtask: int) -> None:
        self.world.readers[subtask].reader.notify_no_more_splits()

    def send_event_to_source_reader(self, subtask: int, event: Any) -> None:
        self.world.readers[subtask].events.append(pickle.loads(pickle.dumps(event)))

    def call_later(self, delay_ms: int) -> None:
        self.due_ms = self.world.clock.now_ms() + delay_ms

    def call_async(self, work: Any, handler: Any, *, initial_delay_ms: int = 0, period_ms: int | None = None) -> None:
        self.calls.append((self.world.clock.now_ms() + initial_delay_ms, period_ms, work, handler))
        self.on_time()

    def on_time(self) -> None:
        """Do the work that is due, at once, and hand its result on."""
        now_ms = self.world.clock.now_ms()
        due = [call for call in self.calls if call[0] <= now_ms]
        self.calls = [call for call in self.calls if call[0] > now_ms]
        for _, period_ms, work, handler in due:
            try:
                result, raised = work(), None
            except ConnectorError as error:
                result, raised = None, error
            handler(result, raised)
            if period_ms is not None:
                self.calls.append((now_ms + period_ms, period_ms, work, handler))


class Reader:
    """A reader, its context and its output."""

    def __init__(self, world: World, subtask: int) -> None:
        self.world = world
        self.subtask_index = subtask
        self.parallelism = world.parallelism
        self.values: list[Any] = []
        self.chunks: list[int] = []
        self.by_split: dict[str, int] = {}
        self.wanted = 1 << 20
        self.asked = False
        self.sent: list[Any] = []
        self.events: list[Any] = []
        self.ended = False
        self.finished_splits: list[str] = []
        self.metrics = MetricRegistry()
        self.metric_group = SourceReaderMetricGroup(self.metrics.group())
        self.reader = world.source.create_reader(self)

    def request_split(self) -> None:
        self.asked = True

    def send_source_event_to_coordinator(self, event: Any) -> None:
        self.sent.append(pickle.loads(pickle.dumps(event)))

    def now_ms(self) -> int:
        return self.world.clock.now_ms()

    def start_fetcher(self, step: Any, finish: Any) -> StepThread:
        return StepThread(step, finish)

    def wake(self) -> None:
        pass

    def collect(self, values: list[Any], timestamps: list[int] | None = None, split_id: str = "") -> None:
        assert isinstance(values, list)
        self.chunks.append(len(values))
        self.values += values
        self.by_split[split_id] = self.by_split.get(split_id, 0) + len(values)

    def split_finished(self, split_id: str) -> None:
        self.finished_splits.append(split_id)

    def poll(self) -> InputStatus:
        status = self.reader.poll(self)  # type: ignore[arg-type]
        self.ended = status is InputStatus.END_OF_INPUT
        return status


class World:
    """A source with its readers. ``restore`` is what ``snapshot`` returned."""

    def __init__(self, source: Source[Any], parallelism: int = 1, restore: Any = None, clock: ManualClock | None = None) -> None:
        self.source: Source[Any] = pickle.loads(code_pickling.dumps(source))
        self.parallelism = parallelism
        self.clock = clock or ManualClock(0)
        self.readers: list[Reader] = []
        self.context = Enumerators(self)
        state, splits = (None, []) if restore is None else restore
        self.enumerator = self.source.create_enumerator(self.context, state)  # type: ignore[arg-type]
        self.readers = [Reader(self, i) for i in range(parallelism)]
        restored = [split for given in splits for split in given]
        for i in range(parallelism) if restored else ():
            # At the same parallelism readers keep their splits.
            self.readers[i].reader.add_splits(splits[i] if parallelism == len(splits) else restored[i::parallelism])
        self.enumerator.start()
        for i, reader in enumerate(self.readers):
            self.enumerator.add_reader(i)
            reader.reader.start()

    def step(self, subtask: int) -> InputStatus:
        """Let a reader poll once, and answer what it has asked for."""
        reader = self.readers[subtask]
        if reader.ended:
            return InputStatus.END_OF_INPUT
        while reader.asked or reader.sent or reader.events:
            if reader.asked:
                reader.asked = False
                self.enumerator.handle_split_request(subtask)
            self._bring_events(reader)
            if reader.events:
                reader.reader.handle_source_event(reader.events.pop(0))
        status = reader.poll()
        self._bring_events(reader)
        return status

    def _bring_events(self, reader: Reader) -> None:
        while reader.sent:
            self.enumerator.handle_source_event(reader.subtask_index, reader.sent.pop(0))

    def advance(self, ms: int) -> None:
        """Let time pass."""
        self.clock.set(self.clock.now_ms() + ms)
        if self.context.due_ms is not None and self.context.due_ms <= self.clock.now_ms():
            self.context.due_ms = None
            self.enumerator.on_timer()
        self.context.on_time()

    def run(self) -> list[Any]:
        """Read to the end; return all values, reader by reader."""
        try:
            for _ in range(WAITS_AT_MOST):
                for i in range(self.parallelism):
                    self.step(i)
                if all(r.ended for r in self.readers):
                    return self.values()
            raise AssertionError("the source does not end")
        finally:
            self.close()

    def values(self) -> list[Any]:
        return [value for reader in self.readers for value in reader.values]

    def snapshot(self) -> Any:
        """Return the state of enumerator and readers, as it comes back from a checkpoint."""
        state = (self.enumerator.snapshot_state(1), [r.reader.snapshot_state(1) for r in self.readers])
        return pickle.loads(pickle.dumps(state))

    def close(self) -> None:
        for reader in self.readers:
            reader.reader.close()
        self.enumerator.close()


def read_with_restarts(source: Source[Any], parallelism: int, every: int) -> list[Any]:
    """Read to the end, restarting from a snapshot after ``every`` polls of each reader; what came after the snapshot is dropped."""
    world, values = World(source, parallelism), []
    for _ in range(WAITS_AT_MOST):
        for n in range(every * parallelism):
            world.step(n % parallelism)
        if all(r.ended for r in world.readers):
            values += world.values()
            world.close()
            return values
        state = world.snapshot()
        values += world.values()
        # Some more records, which the crash undoes.
        for n in range(3):
            if not world.readers[n % parallelism].ended:
                world.step(n % parallelism)
        world.close()
        world = World(source, parallelism, state)
    raise AssertionError("the source does not end")

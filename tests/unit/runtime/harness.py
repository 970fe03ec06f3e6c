"""One operator under test: push records, watermarks and time in, read what comes out in order.

::

    harness = OperatorHarness(keyed_process_operator, payload={"function": Count()}, key=lambda v: v[0])
    harness.push([("a", 1), ("b", 2)], timestamps=[10, 20])
    harness.watermark(15)
    assert harness.output == [Record(...), ..., Watermark(15)]

    snapshot = harness.snapshot()
    again = harness.restored(snapshot)     # a new operator of the same kind with the state of the snapshot
"""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from wiesel.core.clock import ManualClock
from wiesel.core.ids import MAX_TIMESTAMP
from wiesel.runtime.operator import OperatorContext, OperatorSnapshot, StreamOperator
from wiesel.state.backend import KeyGroupRange, StateBackend, StateFile, StateHandle
from wiesel.state.factory import make_backend
from wiesel.wire.batch import Batch


class Record(NamedTuple):
    value: Any
    timestamp: int | None = None


class Watermark(NamedTuple):
    timestamp: int


class Side(NamedTuple):
    tag: str
    value: Any
    timestamp: int | None = None


class Status(NamedTuple):
    idle: bool


class MemoryFiles:
    """State files in memory: writer and reader."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}

    def write(self, name_hint: str, data: Any) -> StateFile:
        raw = b"".join(bytes(part) for part in data)
        name = f"{name_hint}-{len(self.contents)}"
        self.contents[name] = raw
        return StateFile(name, len(raw), zlib.crc32(raw))

    def read(self, file: StateFile) -> bytes:
        return file.inline if file.inline is not None else self.contents[file.name]


class CollectingOutput:
    """The output of the operator under test."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.batches: list[Batch] = []

    @staticmethod
    def _records(batch: Batch) -> list[tuple[Any, int | None]]:
        timestamps = [None] * len(batch.values) if batch.timestamps is None else batch.timestamps
        return list(zip(batch.values, timestamps, strict=True))

    def emit(self, batch: Batch) -> None:
        self.batches.append(batch)
        self.events += [Record(value, timestamp) for value, timestamp in self._records(batch)]

    def emit_side(self, tag: str, batch: Batch) -> None:
        self.events += [Side(tag, value, timestamp) for value, timestamp in self._records(batch)]

    def emit_watermark(self, timestamp: int) -> None:
        self.events.append(Watermark(timestamp))

    def emit_status(self, idle: bool) -> None:
        self.events.append(Status(idle))


class CountingMetrics:
    """Counters by name; what operators and functions count can be read in ``counts``."""

    def __init__(self) -> None:
        self.counts: dict[str, CountingMetrics.Counter] = {}

    class Counter:
        def __init__(self) -> None:
            self.count = 0

        def inc(self, n: int = 1) -> None:
            self.count += n

    def counter(self, name: str) -> Any:
        return self.counts.setdefault(name, CountingMetrics.Counter())

    def value(self, name: str) -> int:
        return self.counts[name].count if name in self.counts else 0


@dataclass(frozen=True)
class HarnessSnapshot:
    handle: StateHandle
    files: MemoryFiles
    operator: OperatorSnapshot | None


class OperatorHarness:
    """Drives one operator as a task would.

    Args:
        operator: A factory of the registry (called with params and payload), or a ready operator (which cannot be restored anew).
        key: Computes the keys of pushed records where ``keys`` are not given; one function, or two for two-input operators.
        backend: ``hashmap``, ``lmdb``, or a function that makes a backend. All key groups are this subtask's.
        local_dir: For backends with working files (pass pytest's ``tmp_path``).
    """

    def __init__(
        self,
        operator: StreamOperator | Callable[[dict[str, Any], Any], StreamOperator],
        *,
        params: dict[str, Any] | None = None,
        payload: Any = None,
        key: Callable[[Any], Any] | Sequence[Callable[[Any], Any]] | None = None,
        backend: str | Callable[[], StateBackend] = "hashmap",
        local_dir: str = "",
        parallelism: int = 1,
        subtask_index: int = 0,
        max_parallelism: int = 128,
        attempt: int = 0,
        clock_ms: int = 0,
        error_policy: str = "fail",
        config: dict[str, Any] | None = None,
        job_parameters: dict[str, str] | None = None,
        metrics: Any = None,
        name: str = "under test",
        user_location: str = "program.py:7",
        restore_from: HarnessSnapshot | None = None,
        open: bool = True,  # noqa: A002
    ) -> None:
        arguments = {k: v for k, v in locals().items() if k not in ("self", "restore_from")}
        self._arguments = arguments
        # Tasks get pickled functions: the same object in two harnesses would share what it remembers.
        copied = _copy(payload)
        self.operator = operator if isinstance(operator, StreamOperator) else operator(dict(params or {}), copied)
        self.clock = ManualClock(clock_ms)
        self.collected = CollectingOutput()
        self.backend = self._make_backend(backend, local_dir, parallelism, subtask_index, max_parallelism)
        self.metrics = CountingMetrics() if metrics is None else metrics
        self.asked_times: list[int] = []
        self._keys = [key, key] if callable(key) else key
        self.context = OperatorContext(
            operator_id="0" * 32,
            name=name,
            uid=None,
            subtask_index=subtask_index,
            parallelism=parallelism,
            max_parallelism=max_parallelism,
            attempt=attempt + 1,
            restarts=attempt,
            job_id="job",
            job_name="job",
            task_name=name,
            clock=self.clock,
            backend=self.backend,
            metrics=self.metrics,
            job_parameters=dict(job_parameters or {}),
            config=dict(config or {}),
            register_processing_timer=self.asked_times.append,
            error_policy=error_policy,
            restored_checkpoint_id=0 if restore_from is None else 1,
            user_location=user_location,
        )
        if restore_from is not None:
            self.backend.restore([restore_from.handle], restore_from.files)
        self.operator.setup(self.context, self.collected)
        if open:
            self.operator.open()

    def _make_backend(
        self, backend: str | Callable[[], StateBackend], local_dir: str, parallelism: int, subtask_index: int, max_parallelism: int
    ) -> StateBackend:
        if callable(backend):
            return backend()
        return make_backend(
            backend,
            operator_id="0" * 32,
            subtask=subtask_index,
            parallelism=parallelism,
            key_group_range=KeyGroupRange(0, max_parallelism, max_parallelism),
            local_dir=local_dir,
            clock=self.clock,
            options={},
        )

    @property
    def output(self) -> list[Any]:
        """All that came out, in order: Record, Side, Watermark and Status."""
        return self.collected.events

    @property
    def values(self) -> list[Any]:
        """The values of the main output."""
        return [e.value for e in self.output if isinstance(e, Record)]

    def side(self, tag: str) -> list[Any]:
        """The values of a side output."""
        return [e.value for e in self.output if isinstance(e, Side) and e.tag == tag]

    @property
    def watermarks(self) -> list[int]:
        """The watermarks that came out."""
        return [e.timestamp for e in self.output if isinstance(e, Watermark)]

    def take(self) -> list[Any]:
        """Return the output so far and forget it."""
        events = list(self.output)
        self.output.clear()
        return events

    def push(
        self, values: Sequence[Any], timestamps: Sequence[int | None] | None = None, keys: Sequence[Any] | None = None, input_index: int = 0
    ) -> None:
        """Hand in one batch."""
        values = list(values)
        if keys is None and self._keys is not None:
            keys = [self._keys[input_index](v) for v in values]
        self.operator.process_batch(
            Batch(values, None if timestamps is None else list(timestamps), None if keys is None else list(keys)), input_index
        )

    def watermark(self, timestamp: int) -> None:
        """Advance event time."""
        self.operator.process_watermark(timestamp)

    def status(self, idle: bool) -> None:
        """Tell the operator that its inputs are idle or active."""
        self.operator.process_status(idle)

    def advance_processing_time(self, by_ms: int) -> None:
        """Move the clock to each time that the operator has asked for, in order, and at last by ``by_ms`` in all."""
        end = self.clock.now_ms() + by_ms
        while due := sorted(t for t in self.asked_times if t <= end):
            now = max(due[0], self.clock.now_ms())
            self.asked_times[:] = [t for t in self.asked_times if t > now]
            self.clock.set(now)
            self.operator.on_processing_time(now)
        self.clock.set(end)

    def end_input(self, inputs: int = 1) -> None:
        """End a bounded input: the last watermark, the end of each input, finish."""
        self.watermark(MAX_TIMESTAMP)
        for index in range(inputs):
            self.operator.end_input(index)
        self.operator.finish()

    def close(self) -> None:
        """Close the operator and its backend."""
        self.operator.close()
        self.backend.close()

    def snapshot(self, checkpoint_id: int = 1) -> HarnessSnapshot:
        """Take a snapshot; the operator goes on."""
        operator_part = self.operator.snapshot_state(checkpoint_id)
        files = MemoryFiles()
        handle = self.backend.snapshot(checkpoint_id, full=True).run(files)
        self.operator.notify_checkpoint_complete(checkpoint_id)
        return HarnessSnapshot(handle, files, operator_part)

    def restored(self, snapshot: HarnessSnapshot, **changed: Any) -> OperatorHarness:
        """Return a harness with a new operator that starts from a snapshot."""
        return OperatorHarness(**{**self._arguments, "clock_ms": self.clock.now_ms(), **changed}, restore_from=snapshot)


def _copy(payload: Any) -> Any:
    import cloudpickle

    return pickle.loads(cloudpickle.dumps(payload))

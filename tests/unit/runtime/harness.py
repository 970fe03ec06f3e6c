"""One operator made by its factory, with what the factory gets: below the API that :mod:`wiesel.testing` starts from.

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
from collections.abc import Callable, Sequence
from typing import Any

from wiesel.checkpoint.snapshot import OperatorStateSnapshot
from wiesel.core import code_pickling
from wiesel.core.clock import ManualClock
from wiesel.runtime.operator import OperatorContext, StreamOperator
from wiesel.state.backend import KeyGroupRange, StateBackend
from wiesel.state.factory import make_backend
from wiesel.testing import Record, SideRecord, Watermark, WatermarkStatus
from wiesel.testing._driver import OperatorDriver, run_clock
from wiesel.testing.events import EventLog
from wiesel.testing.snapshots import files_in_memory
from wiesel.wire.batch import Batch

Side, Status = SideRecord, WatermarkStatus

__all__ = ["OperatorHarness", "Record", "Side", "Status", "Watermark"]


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

    def gauge(self, name: str, value: Any) -> None:
        """Take a gauge, which no test reads."""

    def value(self, name: str) -> int:
        return self.counts[name].count if name in self.counts else 0


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
        restore_from: OperatorStateSnapshot | None = None,
        open: bool = True,  # noqa: A002
    ) -> None:
        arguments = {k: v for k, v in locals().items() if k not in ("self", "restore_from")}
        self._arguments = arguments
        # Tasks get pickled functions: the same object in two harnesses would share what it remembers.
        copied = pickle.loads(code_pickling.dumps(payload))
        self.operator = operator if isinstance(operator, StreamOperator) else operator(dict(params or {}), copied)
        self.clock = ManualClock(clock_ms)
        self.collected = EventLog()
        self.backend = self._make_backend(backend, local_dir, parallelism, subtask_index, max_parallelism)
        self.metrics = CountingMetrics() if metrics is None else metrics
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
            register_processing_timer=lambda at_ms: None,
            error_policy=error_policy,
            restored_checkpoint_id=0 if restore_from is None else 1,
            user_location=user_location,
        )
        self.driver = OperatorDriver(self.operator, self.context, self.collected)
        if restore_from is not None and restore_from.state is not None:
            self.driver.restore([restore_from.state], files_in_memory("restored"))
        if open:
            self.driver.open()

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
    def asked_times(self) -> list[int]:
        """The processing times for which the operator wants to be called."""
        return self.driver.asked_times

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
        self.driver.process(
            Batch(values, None if timestamps is None else list(timestamps), None if keys is None else list(keys)), input_index
        )

    def watermark(self, timestamp: int) -> None:
        """Advance event time."""
        self.driver.watermark(timestamp)

    def status(self, idle: bool) -> None:
        """Tell the operator that its inputs are idle or active."""
        self.driver.status(idle)

    def advance_processing_time(self, by_ms: int) -> None:
        """Move the clock to each time that the operator has asked for, in order, and at last by ``by_ms`` in all."""
        run_clock(self.clock, [self.driver], self.clock.now_ms() + by_ms)

    def end_input(self, inputs: int = 1) -> None:
        """End a bounded input: the last watermark, the end of each input, finish."""
        self.driver.end_input(range(inputs))

    def close(self) -> None:
        """Close the operator and its backend."""
        self.driver.close()

    def snapshot(self, checkpoint_id: int = 1) -> OperatorStateSnapshot:
        """Take a full snapshot; the operator goes on."""
        return self.driver.snapshot(checkpoint_id, files_in_memory(str(checkpoint_id)), full=True)

    def restored(self, snapshot: OperatorStateSnapshot, **changed: Any) -> OperatorHarness:
        """Return a harness with a new operator that starts from a snapshot."""
        return OperatorHarness(**{**self._arguments, "clock_ms": self.clock.now_ms(), **changed}, restore_from=snapshot)

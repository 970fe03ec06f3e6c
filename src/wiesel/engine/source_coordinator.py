"""Internal. The coordinator of a source: its enumerator, and everything that calls it, in the JobMaster's thread.

Blocking work of an enumerator (``call_async``), and its creation after a failure, run in a lane of the source's own, so that they delay
neither checkpoints nor other sources. Calls that come before the enumerator is there wait for it, in their order.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from wiesel.checkpoint.messages import AssignSplits, EventToOperator, NoMoreSplits, TaskKey, ToTask
from wiesel.core.clock import Clock
from wiesel.core.errors import WieselError
from wiesel.core.metrics import MetricRegistry
from wiesel.graph.job_graph import JobVertex
from wiesel.runtime.user_code import locate
from wiesel.spi.source import SplitEnumerator, SplitEnumeratorMetricGroup

__all__ = ["SourceCoordinator", "SourcePort"]

T = TypeVar("T")


class SourcePort(Protocol):
    """Services of the JobMaster for a source coordinator. All methods return at once."""

    def send(self, task: TaskKey, message: ToTask) -> None:
        """Send a message to a task, in order."""
        ...

    def run_async(self, work: Callable[[], T], done: Callable[[T | None, BaseException | None], None], lane: str) -> None:
        """Run ``work`` elsewhere, in the order of the calls of its lane; then ``done`` in the master's thread."""
        ...


@dataclass
class _Call:
    """Work that an enumerator wants done, maybe again and again."""

    work: Callable[[], Any]
    handler: Callable[[Any, BaseException | None], None]
    period_ms: int | None
    due_ms: int


class SourceCoordinator:
    """The enumerator of one source in one attempt, and the context that it is given.

    Args:
        vertex: The vertex that begins with the source.
        attempt: The number of the attempt: work of an earlier one that hangs must not hold this one up.
        state: What ``snapshot_state`` returned at the checkpoint that is restored; None at the first start.
        port: The shell.
        clock: The time.
        fail: Called with what the enumerator has raised; the tasks of the source are restarted.
    """

    def __init__(
        self, vertex: JobVertex, attempt: int, state: Any, port: SourcePort, clock: Clock, fail: Callable[[BaseException], None]
    ) -> None:
        head = vertex.operators[0]
        self._source = head.node.operator.payload["source"]
        self.name, self._made_at = head.node.name, head.node.user_location
        self._vertex, self._parallelism = vertex.index, vertex.parallelism
        self._operator_id = head.operator_id
        self._lane = f"source-{vertex.index}-{attempt}"
        self._state = state
        self._metrics = MetricRegistry(clock)
        self._metric_group = SplitEnumeratorMetricGroup(self._metrics.group())
        self._port = port
        self._clock = clock
        self._fail = fail
        self._enumerator: SplitEnumerator[Any] | None = None
        self._waiting: list[Callable[[SplitEnumerator[Any]], None]] = []
        self._calls: list[_Call] = []
        self._timer_ms: int | None = None
        self._closed = False

    # Life

    def create(self) -> None:
        """Create the enumerator now, in this thread.

        Raises:
            WieselError: The source cannot be read, with its name and where it was made.
        """
        try:
            self._enumerator = self._source.create_enumerator(self, self._state)
        except WieselError as error:
            self._locate(error)
            raise

    def create_async(self) -> None:
        """Create the enumerator in the lane of the source."""

        def created(enumerator: SplitEnumerator[Any] | None, error: BaseException | None) -> None:
            if self._closed:
                if enumerator is not None:
                    enumerator.close()
            elif error is not None:
                self._failed(error)
            else:
                self._enumerator = enumerator
                waiting, self._waiting = self._waiting, []
                for call in waiting:
                    self._call(call)

        # A copy, as a checkpoint may store the state meanwhile.
        self._run(lambda: self._source.create_enumerator(self, pickle.loads(pickle.dumps(self._state))), created)

    def start(self) -> None:
        """Start the enumerator."""
        self._call(lambda enumerator: enumerator.start())

    def close(self) -> None:
        """Close the enumerator. Results of its work that come later have no effect."""
        self._closed = True
        if self._enumerator is not None:
            self._enumerator.close()

    # Events

    def add_reader(self, subtask: int) -> None:
        """A reader has started."""
        self._call(lambda enumerator: enumerator.add_reader(subtask))

    def handle_split_request(self, subtask: int) -> None:
        """A reader asks for another split."""
        self._call(lambda enumerator: enumerator.handle_split_request(subtask))

    def handle_source_event(self, subtask: int, event: Any) -> None:
        """A reader has sent an event."""
        self._call(lambda enumerator: enumerator.handle_source_event(subtask, event))

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """A checkpoint is complete."""
        self._call(lambda enumerator: enumerator.notify_checkpoint_complete(checkpoint_id))

    def snapshot_state(self, checkpoint_id: int) -> Any:
        """Return the state of the enumerator; while it is not there, what it will be created with: no reader has got anything of it.

        What the enumerator raises fails the tasks of the source.
        """
        if self._enumerator is None:
            return self._state
        try:
            return self._enumerator.snapshot_state(checkpoint_id)
        except Exception as error:  # noqa: BLE001 - of a connector: the source fails, not the JobMaster
            self._failed(error)
            return None

    @property
    def due_ms(self) -> int | None:
        """Return when ``on_time`` has to be called next (ms), or None."""
        due = [call.due_ms for call in self._calls]
        if self._timer_ms is not None:
            due.append(self._timer_ms)
        return min(due, default=None)

    def on_time(self, now_ms: int) -> None:
        """Call the timer of the enumerator and begin its work, if they are due."""
        if self._timer_ms is not None and now_ms >= self._timer_ms:
            self._timer_ms = None
            self._call(lambda enumerator: enumerator.on_timer())
        due = [call for call in self._calls if now_ms >= call.due_ms]
        self._calls = [call for call in self._calls if now_ms < call.due_ms]
        for call in due:
            self._begin(call)

    def _call(self, call: Callable[[SplitEnumerator[Any]], None]) -> None:
        if self._closed:
            return
        if self._enumerator is None:
            self._waiting.append(call)
            return
        try:
            call(self._enumerator)
        except Exception as error:  # noqa: BLE001 - of a connector: the source fails, not the JobMaster
            self._failed(error)

    def _failed(self, error: BaseException) -> None:
        if isinstance(error, WieselError):
            self._locate(error)
        self._fail(error)

    def _locate(self, error: WieselError) -> None:
        locate(error, f"source {self.name!r}" + (f" (made at {self._made_at})" if self._made_at else ""))

    # Work elsewhere

    def _run(self, work: Callable[[], T], done: Callable[[T | None, BaseException | None], None]) -> None:
        self._port.run_async(work, done, self._lane)

    def _begin(self, call: _Call) -> None:
        def done(result: Any, error: BaseException | None) -> None:
            self._call(lambda _: call.handler(result, error))
            if call.period_ms is not None and not self._closed:
                call.due_ms = self._clock.now_ms() + call.period_ms
                self._calls.append(call)

        self._run(call.work, done)

    # SplitEnumeratorContext

    @property
    def parallelism(self) -> int:
        """Return the number of readers."""
        return self._parallelism

    @property
    def metric_group(self) -> SplitEnumeratorMetricGroup:
        """Return the metrics of the enumerator."""
        return self._metric_group

    def metrics(self) -> dict[str, Any]:
        """Return the metrics of the enumerator by name. Any thread may ask."""
        return self._metrics.snapshot()

    def assign_splits(self, splits: Mapping[int, Sequence[Any]]) -> None:
        """Send splits to readers."""
        for subtask, given in splits.items():
            self._port.send((self._vertex, subtask), AssignSplits(self._operator_id, list(given)))

    def signal_no_more_splits(self, subtask: int) -> None:
        """Tell a reader that no further split will come."""
        self._port.send((self._vertex, subtask), NoMoreSplits(self._operator_id))

    def send_event_to_source_reader(self, subtask: int, event: Any) -> None:
        """Send an event to a reader."""
        # It may come at any time: messages to one task stay in order, so a trigger that was sent before is processed before.
        self._port.send((self._vertex, subtask), EventToOperator(self._operator_id, event, 0))

    def call_later(self, delay_ms: int) -> None:
        """Have ``on_timer`` called after a time."""
        self._timer_ms = self._clock.now_ms() + delay_ms

    def call_async(
        self,
        work: Callable[[], Any],
        handler: Callable[[Any, BaseException | None], None],
        *,
        initial_delay_ms: int = 0,
        period_ms: int | None = None,
    ) -> None:
        """Run work elsewhere, and call ``handler`` with its result."""
        call = _Call(work, handler, period_ms, self._clock.now_ms() + initial_delay_ms)
        if initial_delay_ms > 0:
            self._calls.append(call)
        else:
            self._begin(call)

"""Internal. Operator chains: results are passed to the next operator by method call, without serialisation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wiesel.runtime.isolation import isolated
from wiesel.runtime.operator import StreamOperator
from wiesel.runtime.record_writer import EdgeWriter
from wiesel.wire.batch import Batch
from wiesel.wire.events import IterationBarrier, StreamStatus, Watermark


class ChainOutput:
    """Output of one operator to its chained operators and outgoing edges, for main and side outputs.

    Args:
        now_ms: The wall clock.
        isolate: Each of several consumers gets separate values, as after an exchange; else they share them (``pipeline.object-reuse``).
    """

    def __init__(self, now_ms: Callable[[], int], *, isolate: bool = True) -> None:
        self._now_ms = now_ms
        self._isolate = isolate
        self._next: list[StreamOperator] = []
        self._writers: list[EdgeWriter] = []
        self._side_next: dict[str, list[StreamOperator]] = {}
        self._side_writers: dict[str, list[EdgeWriter]] = {}
        self.records_out = 0
        self.watermark: int | None = None

    def add_operator(self, operator: StreamOperator, side_tag: str | None) -> None:
        """Chain an operator to the main output or to a side output."""
        (self._next if side_tag is None else self._side_next.setdefault(side_tag, [])).append(operator)

    def add_writer(self, writer: EdgeWriter, side_tag: str | None) -> None:
        """Add an edge to the main output or to a side output."""
        (self._writers if side_tag is None else self._side_writers.setdefault(side_tag, [])).append(writer)

    def emit(self, batch: Batch) -> None:
        """Hand records to all consumers of the main output."""
        if not batch.values:
            return
        self.records_out += batch.records
        self._hand_on(batch, self._next, self._writers)

    def emit_side(self, tag: str, batch: Batch) -> None:
        """Emit records to the consumers of a side output, if there are any."""
        if batch.values:
            self._hand_on(batch, self._side_next.get(tag, ()), self._side_writers.get(tag, ()))

    def _hand_on(self, batch: Batch, operators: Sequence[StreamOperator], writers: Sequence[EdgeWriter]) -> None:
        if writers:
            now_ms = self._now_ms()
            for writer in writers:
                writer.emit(batch, now_ms)
        # Operators may change their input: all but one of the consumers need a copy, including writers with pending records.
        shared = len(operators) if writers else len(operators) - 1
        for i, operator in enumerate(operators):
            operator.process_batch(self._copy(batch) if i < shared else batch)

    def _copy(self, batch: Batch) -> Batch:
        values = list(map(isolated, batch.values)) if self._isolate else list(batch.values)
        return Batch(values, batch.timestamps and list(batch.timestamps), batch.keys)

    def emit_watermark(self, timestamp: int) -> None:
        """Hand a watermark on, to main and side outputs."""
        self.watermark = timestamp
        event = Watermark(timestamp)
        for operator in self._all_operators():
            operator.context.watermark = timestamp
            operator.process_watermark(timestamp)
        for writer in self._all_writers():
            writer.broadcast_event(event)

    def emit_status(self, idle: bool) -> None:
        """Hand a change between active and idle on."""
        event = StreamStatus.IDLE if idle else StreamStatus.ACTIVE
        for operator in self._all_operators():
            operator.process_status(idle)
        for writer in self._all_writers():
            writer.broadcast_event(event)

    def emit_iteration_barrier(self, barrier: IterationBarrier) -> None:
        """Hand a barrier of an iteration on, to main and side outputs."""
        for operator in self._all_operators():
            operator.process_iteration_barrier(barrier)
        for writer in self._all_writers():
            writer.broadcast_event(barrier)

    def _all_operators(self) -> list[StreamOperator]:
        return self._next + [o for side in self._side_next.values() for o in side]

    def _all_writers(self) -> list[EdgeWriter]:
        return self._writers + [w for side in self._side_writers.values() for w in side]

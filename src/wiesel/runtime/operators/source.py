"""Internal. The source operator: polls a reader, stamps its records, and merges the watermarks of its splits."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from wiesel.core.clock import PausableClock
from wiesel.core.errors import InvariantError, ProgramError
from wiesel.core.ids import MAX_TIMESTAMP, MIN_TIMESTAMP
from wiesel.core.options import ALIGNMENT_ALLOW_UNALIGNED_SPLITS
from wiesel.runtime.alignment import AlignWatermark, SourceAlignment
from wiesel.runtime.operator import OperatorSnapshot, StreamOperator
from wiesel.runtime.operator_states import OperatorStates
from wiesel.runtime.slicing import MOST_RECORDS, SliceSizer, cut
from wiesel.runtime.source_metrics import SourceMetrics
from wiesel.runtime.user_code import map_all
from wiesel.spi.source import Boundedness, FetcherThread, InputStatus, Source, SourceReader, SourceReaderMetricGroup
from wiesel.spi.state import OperatorStateStore
from wiesel.spi.watermark import WatermarkGenerator, WatermarkStrategy
from wiesel.wire.batch import Batch

_ONLY_SPLIT = ""
_MOST_INTERVALS = 5


class _SplitOutput:
    """Watermark output of one split; keeps the highest watermark and whether the split is idle."""

    __slots__ = ("clock", "generator", "idle", "operator", "watermark")

    def __init__(self, operator: SourceOperator, clock: PausableClock, generator: WatermarkGenerator) -> None:
        self.operator = operator
        self.clock = clock
        self.generator = generator
        self.watermark = MIN_TIMESTAMP
        self.idle = False

    def emit_watermark(self, timestamp: int) -> None:
        if timestamp > self.watermark:
            self.watermark = timestamp
        self.mark_active()
        self.operator.emit_merged()

    def mark_idle(self) -> None:
        if not self.idle:
            self.idle = True
            self.operator.emit_merged()

    def mark_active(self) -> None:
        self.idle = False


class SourceOperator(StreamOperator):
    """Head of a chain without inputs.

    Splits that are finished leave the merge. While no split is active but some are idle, the operator is idle; when there is no split
    at all, it is idle too, so that a subtask without work does not hold event time back.
    """

    def __init__(self, source: Source[Any], strategy: WatermarkStrategy | None, coerce: Callable[[Any], Any] | None) -> None:
        self.source = source
        self._strategy = strategy or WatermarkStrategy.no_watermarks()
        self._coerce = coerce
        self._splits: dict[str, _SplitOutput] = {}
        self._assigned: set[str] = set()
        self._paused: set[str] = set()
        self._pauses_splits = True
        self._without_splits: _SplitOutput | None = None
        self._emitted = MIN_TIMESTAMP
        self._idle = False
        self._ended = False
        self._next_emit_ms: int | None = None
        self._alignment: SourceAlignment | None = None
        self.bounded = source.boundedness is Boundedness.BOUNDED
        self.checkpoint_requested = False
        self._request_split: Callable[[], None] | None = None
        self._pending: deque[tuple[str, Batch] | Callable[[], None]] = deque()
        self._status = InputStatus.MORE_AVAILABLE
        self._silent_from_ms: int | None = None
        self._sizer = SliceSizer()
        self.most_at_once = MOST_RECORDS

    def bind(self, request_split: Callable[[], None], restored_splits: list[Any] | None) -> None:
        """Take what the task offers to the reader. Called between ``setup`` and ``open``."""
        self._request_split = request_split
        self._restored = restored_splits

    # SourceReaderContext

    @property
    def subtask_index(self) -> int:
        """Return the index of this subtask."""
        return self.context.subtask_index

    @property
    def parallelism(self) -> int:
        """Return the number of subtasks of the source."""
        return self.context.parallelism

    @property
    def metric_group(self) -> SourceReaderMetricGroup:
        """Return the metrics of the reader."""
        return self._metrics.group

    def request_split(self) -> None:
        """Ask the enumerator for another split."""
        if self._request_split is not None:
            self._request_split()

    def send_source_event_to_coordinator(self, event: Any) -> None:
        """Send an event to the enumerator."""
        if self.context.send_event is not None:
            self.context.send_event(event)

    def now_ms(self) -> int:
        """Return the processing time."""
        return self.context.clock.now_ms()

    def start_fetcher(self, step: Callable[[], int | None], finish: Callable[[], None]) -> FetcherThread:
        """Start a thread of the reader."""
        start = self.context.start_fetcher
        if start is None:
            raise InvariantError(f"source {self.context.name!r} got no threads")
        return start(step, finish)

    def wake(self) -> None:
        """Have the task poll soon."""
        if self.context.wake_source is not None:
            self.context.wake_source()

    def get_operator_state_store(self) -> OperatorStateStore:
        """Return the operator state."""
        return OperatorStates(self.context.backend)

    # Life

    def open(self) -> None:
        """Make the reader and give it the restored splits."""
        self._assigner = self._strategy.create_timestamp_assigner(self.context.clock)
        # In BATCH mode time does not pass within the input: there is one watermark, at its end.
        batch = self.context.config.get("execution.runtime-mode") == "BATCH"
        self._progressive = not batch
        self._idleness_clock = PausableClock(self.context.clock)
        self._interval_ms = 0 if batch else int(self.context.config.get("pipeline.auto-watermark-interval", 200))
        self._metrics = SourceMetrics(self.context.metrics, self.context.clock, lambda: self._emitted)
        self.reader: SourceReader[Any] = self.source.create_reader(self)
        if self._restored:
            self.add_splits(self._restored)
        self.reader.start()
        if self._interval_ms > 0:
            self._next_emit_ms = self.now_ms() + self._interval_ms
            self.context.register_processing_timer(self._next_emit_ms)
        self._start_alignment()

    def _start_alignment(self) -> None:
        settings = self._strategy.alignment
        if settings is not None and self._progressive and self.context.send_event is not None:
            self._alignment = SourceAlignment(settings, self.context.send_event, self.now_ms())
            self.context.register_processing_timer(self._alignment.next_report_ms)

    def add_splits(self, splits: list[Any]) -> None:
        """Give splits to the reader."""
        self.reader.add_splits(splits)
        self._assigned.update(split.split_id for split in splits)
        if self.reader.splits_hold_watermarks:
            for split in splits:
                self._add_split(split.split_id)

    def on_event(self, event: Any) -> None:
        """Take a limit of the alignment, or give an event of the enumerator to the reader."""
        if isinstance(event, AlignWatermark):
            if self._alignment is not None:
                self._alignment.set_limit(event.limit)
                self._is_held()
                self._align_splits(self._alignment)
        else:
            self.reader.handle_source_event(event)

    def poll(self) -> InputStatus:
        """Process a slice of what the reader has emitted, or let it emit more, unless others of its alignment group are too far behind."""
        if self._is_held():
            return InputStatus.NOTHING_AVAILABLE
        if not self._pending:
            self._status = self.reader.poll(self)
            if self._status is InputStatus.NOTHING_AVAILABLE and not self._pending:
                self._metrics.idle()
        if self._pending:
            self._silent_from_ms = None
            self._process_slice()
            if self._alignment is not None:
                # Not only now and then: a slice at a time, so that no more than one is read beyond the limit.
                self._emit_of_generators()
        if self._alignment is not None:
            self._align_splits(self._alignment)
        return InputStatus.MORE_AVAILABLE if self._pending else self._status

    @property
    def poll_interval_ms(self) -> int:
        """Return how long to wait after a poll that found nothing: up to five times the default for a reader that has been silent."""
        interval_ms = self.reader.poll_interval_ms
        if interval_ms != SourceReader.poll_interval_ms:
            return interval_ms
        now_ms = self.now_ms()
        if self._silent_from_ms is None:
            self._silent_from_ms = now_ms
        return interval_ms * min(_MOST_INTERVALS, 1 + (now_ms - self._silent_from_ms) // 1000)

    def _is_held(self) -> bool:
        """Return whether others are too far behind; the time until they are not counts for no idleness."""
        held = self._alignment is not None and self._alignment.holds(self._emitted)
        self._idleness_clock.set_paused(held)
        return held

    def _align_splits(self, alignment: SourceAlignment) -> None:
        """Pause splits that are ahead of the others, resume those that are so no longer; a single split holds the subtask instead."""
        if not self._pauses_splits:
            return
        ahead: set[str] = set()
        if len(self._assigned) > 1:
            limit = alignment.split_limit(self._emitted)
            ahead = {split_id for split_id, split in self._splits.items() if split.watermark > limit} & self._assigned
        pause, resume = ahead - self._paused, self._paused - ahead
        if not pause and not resume:
            return
        try:
            self.reader.pause_or_resume_splits(sorted(pause), sorted(resume))
        except NotImplementedError as error:
            self._pauses_splits = False
            if not self.context.config.get(ALIGNMENT_ALLOW_UNALIGNED_SPLITS.key):
                raise ProgramError(
                    f"watermark alignment has to pause splits of the source, but {error}",
                    hint=f"set {ALIGNMENT_ALLOW_UNALIGNED_SPLITS.key} to true to align its subtasks only",
                ) from error
            return
        self._paused = ahead
        for split_id in pause | resume:
            self._splits[split_id].clock.set_paused(split_id in pause)

    def process_pending(self) -> None:
        """Process all that the reader has emitted: its position is behind it."""
        while self._pending:
            self._process_slice()

    def _process_slice(self) -> None:
        item = self._pending.popleft()
        if not isinstance(item, tuple):
            item()
            return
        split_id, batch = item
        part, rest = cut(batch, min(self._sizer.size, self.most_at_once))
        if rest is not None:
            self._pending.appendleft((split_id, rest))
        now = self.context.clock.monotonic_s
        started_s = now()
        self._process(part.values, part.timestamps, split_id)
        self._sizer.took(len(part.values), now() - started_s)

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """A source has no input."""
        raise AssertionError("a source has no input")

    # ReaderOutput

    @property
    def wanted(self) -> int:
        """Return how many records are processed before the task looks up again."""
        return min(self._sizer.size, self.most_at_once)

    def collect(self, values: list[Any], timestamps: list[int] | None = None, split_id: str = _ONLY_SPLIT) -> None:
        """Take records of one split; they are processed slice by slice."""
        if values:
            self._pending.append((split_id, Batch(values, timestamps)))

    def _process(self, values: list[Any], timestamps: list[Any] | None, split_id: str) -> None:
        """Stamp records, watch their timestamps, hand them on."""
        if self._coerce is not None:
            values = self._coerce(values)
        split = self._split(split_id)
        split.idle = False
        if self._idle:
            self._set_idle(False)
        if self._assigner is not None:
            extract = self._assigner.extract_timestamp
            known = timestamps if timestamps is not None else [MIN_TIMESTAMP] * len(values)
            timestamps = map_all(extract, values, known)
        self._metrics.emitted(values, timestamps)
        generator = split.generator
        if not generator.emits_per_event:
            generator.on_events(values, timestamps if timestamps is not None else [MIN_TIMESTAMP] * len(values), split)
            self.output.emit(Batch(values, timestamps))
        else:
            self._collect_singly(values, timestamps, split)

    def _collect_singly(self, values: list[Any], timestamps: list[int] | None, split: _SplitOutput) -> None:
        """A generator that may emit per record: each record goes out before the watermark that it causes."""
        for i, value in enumerate(values):
            timestamp = timestamps[i] if timestamps is not None else MIN_TIMESTAMP
            self.output.emit(Batch([value], None if timestamps is None else [timestamp]))
            split.generator.on_event(value, timestamp, split)

    def emit_watermark(self, timestamp: int, split_id: str = _ONLY_SPLIT) -> None:
        """Take a watermark that the source itself knows."""
        self._in_order(lambda: self._split(split_id).emit_watermark(timestamp))

    def mark_idle(self, split_id: str = _ONLY_SPLIT) -> None:
        """The source declares a split idle."""
        self._in_order(lambda: self._split(split_id).mark_idle())

    def _in_order(self, action: Callable[[], None]) -> None:
        """Do it behind the records that the reader has emitted before."""
        if self._pending:
            self._pending.append(action)
        else:
            action()

    def _split(self, split_id: str) -> _SplitOutput:
        return self._splits.get(split_id) or self._add_split(split_id)

    def split_finished(self, split_id: str) -> None:
        """The split is read: it no longer holds the others back."""
        self._in_order(lambda: self._drop_split(split_id))

    def _drop_split(self, split_id: str) -> None:
        split = self._splits.pop(split_id, None)
        self._metrics.remove_split(split_id)
        self._assigned.discard(split_id)
        self._paused.discard(split_id)
        if split is not None and self._splits:
            self.emit_merged()

    def request_checkpoint(self) -> None:
        """The source wants a checkpoint at this position."""
        self.checkpoint_requested = True

    def _add_split(self, split_id: str) -> _SplitOutput:
        clock = PausableClock(self._idleness_clock)
        split = self._splits[split_id] = _SplitOutput(self, clock, self._strategy.create_watermark_generator(clock))
        self._metrics.add_split(split_id, lambda: split.watermark)
        return split

    # Time

    def emit_merged(self) -> None:
        """Emit the minimum over the active splits if it has advanced, or idleness if there is none."""
        if self._ended:
            return
        active = [s.watermark for s in self._splits.values() if not s.idle]
        if not active:
            if self._splits:
                # As in the valve of a task: with all splits idle event time moves to the furthest of them.
                self._advance(max(s.watermark for s in self._splits.values()))
                self._set_idle(True)
            return
        if self._idle:
            self._set_idle(False)
        self._advance(min(active))

    def _advance(self, timestamp: int) -> None:
        if timestamp > self._emitted and self._progressive:
            self._emitted = timestamp
            self.output.emit_watermark(timestamp)

    def _set_idle(self, idle: bool) -> None:
        if self._idle != idle:
            self._idle = idle
            self.output.emit_status(idle)

    def on_processing_time(self, now_ms: int) -> None:
        """Emit periodic watermarks, and tell the alignment how far they are."""
        self._emit_periodically(now_ms)
        alignment = self._alignment
        if alignment is not None and now_ms >= alignment.next_report_ms and not self._ended:
            alignment.report(self._emitted, now_ms, free=self._idle)
            self.context.register_processing_timer(alignment.next_report_ms)

    def _emit_periodically(self, now_ms: int) -> None:
        if self._next_emit_ms is None or now_ms < self._next_emit_ms or self._ended:
            return
        self._emit_of_generators()
        if self._alignment is not None:
            self._align_splits(self._alignment)
        if not self._splits:
            self._look_at_idleness()
        self._next_emit_ms = now_ms + self._interval_ms
        self.context.register_processing_timer(self._next_emit_ms)

    def _emit_of_generators(self) -> None:
        for split in list(self._splits.values()):
            split.generator.on_periodic_emit(split)

    def _look_at_idleness(self) -> None:
        """A subtask of which no split has said anything becomes idle too, if the strategy knows idleness."""
        if self._without_splits is None:
            self._without_splits = _SplitOutput(
                self, self._idleness_clock, self._strategy.create_watermark_generator(self._idleness_clock)
            )
        nobody = self._without_splits
        nobody.generator.on_periodic_emit(nobody)
        if nobody.idle:
            self._set_idle(True)

    def end_of_input(self, *, drain: bool = False) -> None:
        """The reader has ended, or the job is drained: a bounded source, or any that is drained, moves event time to its end."""
        if self.bounded or drain:
            self._emit_of_generators()
            if self._idle:
                self._set_idle(False)
            self._emitted = MAX_TIMESTAMP
            self.output.emit_watermark(MAX_TIMESTAMP)
        self._ended = True
        if self._alignment is not None:
            self._alignment.report(self._emitted, self.now_ms(), free=True)

    def snapshot_state(self, checkpoint_id: int, timestamp_ms: int = 0) -> OperatorSnapshot | None:
        """Take the reader's positions; ``process_pending`` was called before the barrier."""
        return OperatorSnapshot(reader_splits=list(self.reader.snapshot_state(checkpoint_id)))

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Tell the reader, which may acknowledge upstream now."""
        self.reader.notify_checkpoint_complete(checkpoint_id)

    def close(self) -> None:
        """Close the reader."""
        reader = getattr(self, "reader", None)
        if reader is not None:
            reader.close()


def source_operator(params: dict[str, Any], payload: Any) -> SourceOperator:
    """Make the operator of a source node."""
    output_type = payload.get("output_type")
    coerce = output_type.compile_batch_coercer() if output_type is not None else None
    return SourceOperator(payload["source"], payload.get("watermark_strategy"), coerce)


__all__ = ["SourceOperator", "source_operator"]

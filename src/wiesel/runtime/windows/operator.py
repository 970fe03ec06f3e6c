"""Internal. The general window operator: any assigner, trigger and function."""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from typing import Any

from wiesel.core.errors import ProgramError
from wiesel.core.ids import MAX_TIMESTAMP, MIN_TIMESTAMP
from wiesel.core.metrics import LATE_COUNTER
from wiesel.runtime.checkpointed import CheckpointedFunctions
from wiesel.runtime.operator import OperatorSnapshot
from wiesel.runtime.operators.function_operator import object_reuse
from wiesel.runtime.operators.timed import TimedOperator
from wiesel.runtime.results import ResultCollector
from wiesel.runtime.runtime_context import StreamingRuntimeContext
from wiesel.runtime.timer_service import InternalTimerService
from wiesel.runtime.user_code import UserCode, raise_failure
from wiesel.runtime.windows.contents import WindowContents, make_contents
from wiesel.runtime.windows.contexts import AssignerContext, CachingRuntimeContext, WindowTriggerContext
from wiesel.runtime.windows.evaluation import make_evaluation
from wiesel.runtime.windows.layout import check_unshared
from wiesel.runtime.windows.merging import MERGING_SET, MergingWindowSet
from wiesel.runtime.windows.namespaces import decode_window, encode_window
from wiesel.runtime.windows.results import FailedWindow, WindowResults
from wiesel.runtime.windows.spec import WindowSpec
from wiesel.spi.windows.trigger import TriggerResult
from wiesel.state.key_context import NO_KEY, KeyContext
from wiesel.wire.batch import Batch

__all__ = ["WindowOperator"]


_CONTINUE = TriggerResult.CONTINUE
_FIRE = TriggerResult.FIRE
_FIRE_AND_PURGE = TriggerResult.FIRE_AND_PURGE
_PURGE = TriggerResult.PURGE


class WindowOperator(TimedOperator):
    """Assigns each record to windows, adds it to their contents, calls the trigger, and evaluates windows when it fires.

    Results have the timestamp of the event that made the trigger fire: that of the timer (usually the end of the window), or that of the
    record (late records, counts). A window is dropped when the watermark (or clock) has passed its end plus the allowed lateness.
    """

    ends_keys = True

    def __init__(self, spec: WindowSpec) -> None:
        self.spec = spec
        self.assigner = spec.assigner
        self.trigger = spec.trigger
        self.event_time = spec.event_time
        self.lateness_ms = spec.allowed_lateness_ms
        self._opened = False

    def open(self) -> None:
        """Restore state and timers, then open the user's functions."""
        context, spec = self.context, self.spec
        self.key_context = KeyContext()
        self.guard = UserCode(context, self.output)
        self.results = WindowResults(
            self.output, ResultCollector(self.output, self.guard, spec.output_type), spec.late_tag, object_reuse(context)
        )
        self.timers = InternalTimerService(context, self.key_context, self._on_event_time, self._on_processing_time)
        self.timers.open()
        self.late_dropped = context.metrics.counter(LATE_COUNTER)
        if context.restored_checkpoint_id and not spec.share_slices:
            check_unshared(context, spec)
        self.contents = self._make_contents()
        self.trigger_context = WindowTriggerContext(context, self.key_context, self.timers)
        runtime_context = StreamingRuntimeContext(context, self.key_context)
        self.assigner_context = AssignerContext(CachingRuntimeContext(context, self.key_context), self.timers.current_processing_time)
        self.merging: MergingWindowSet | None = None
        if spec.merging:
            self.merging = MergingWindowSet(self.assigner, context.backend.table(MERGING_SET), self)
        self._opened = True
        self._checkpointed = CheckpointedFunctions(spec.functions, context, runtime_context, self.guard)
        self._checkpointed.initialize()
        for function in spec.functions:
            self.guard.open(function, runtime_context)
        self.evaluation = make_evaluation(spec, context, self.key_context, self.timers)
        self._process = self._process_merging if self.merging is not None else self._process_plain

    def snapshot_state(self, checkpoint_id: int, timestamp_ms: int = 0) -> OperatorSnapshot | None:
        """Let the user's functions bring their operator state up to date."""
        self._checkpointed.snapshot(checkpoint_id, timestamp_ms)
        return None

    def close(self) -> None:
        """Close the user's functions."""
        if self._opened:
            for function in self.spec.functions:
                self.guard.close(function)

    # Input

    def process_batch(self, batch: Batch, input_index: int = 0) -> None:
        """Process records; results go out once, at the end."""
        values = batch.values
        keys: Any = repeat(0) if batch.keys is None else batch.keys
        timestamps: Any = repeat(None) if batch.timestamps is None else batch.timestamps
        process, key_context = self._process, self.key_context
        try:
            for value, key, timestamp in zip(values, keys, timestamps):  # noqa: B905 - repeat has no end
                key_context.key = key
                try:
                    process(value, key, timestamp)
                except Exception as error:  # noqa: BLE001 - whatever a user's function raises is about its record
                    self._failed(error, value, timestamp)
        finally:
            key_context.key = NO_KEY
            self.results.flush()

    def _failed(self, error: Exception, record: Any, timestamp: int | None) -> None:
        failure = self.guard.failed(error, record, timestamp)
        if failure is not None:
            raise_failure(failure, error)

    def _process_plain(self, value: Any, key: Any, timestamp: int | None) -> None:
        context = self.trigger_context
        skipped = True
        time = MIN_TIMESTAMP if timestamp is None else timestamp
        for window in self.assigner.assign_windows(value, time, self.assigner_context):
            cleanup = self._cleanup_time(window)
            if self.event_time and cleanup <= self.timers.current_watermark:
                continue
            skipped = False
            namespace = encode_window(window)
            self._register_cleanup(cleanup, namespace)
            self.contents.add(key, namespace, value)
            context.namespace = namespace
            result = self.trigger.on_element(value, time, window, context)
            if result is not _CONTINUE:
                self._react(result, key, window, namespace, namespace, timestamp)
        if skipped:
            self._skipped(value, timestamp)

    def _process_merging(self, value: Any, key: Any, timestamp: int | None) -> None:
        context, merging = self.trigger_context, self.merging
        if merging is None:
            return
        skipped = True
        time = MIN_TIMESTAMP if timestamp is None else timestamp
        for new_window in self.assigner.assign_windows(value, time, self.assigner_context):
            namespace, state_window = merging.add(key, encode_window(new_window))
            window = decode_window(namespace)
            cleanup = self._cleanup_time(window)
            if self.event_time and cleanup <= self.timers.current_watermark:
                merging.retire(key, namespace)
                continue
            skipped = False
            self._register_cleanup(cleanup, namespace)
            self.contents.add(key, state_window, value)
            context.namespace = namespace
            result = self.trigger.on_element(value, time, window, context)
            if result is not _CONTINUE:
                self._react(result, key, window, namespace, state_window, timestamp)
        if skipped:
            self._skipped(value, timestamp)

    def _register_cleanup(self, cleanup: int, namespace: Any) -> None:
        """See to it that a window is dropped in the end. Comes before the user's code, which may fail and be skipped."""
        if cleanup == MAX_TIMESTAMP:
            return
        if self.event_time:
            self.timers.register_event_time_timer(cleanup, namespace)
        else:
            self.timers.register_processing_time_timer(cleanup, namespace)

    def _react(self, result: TriggerResult, key: Any, window: Any, namespace: Any, state_window: Any, timestamp: int | None) -> None:
        """Do what the trigger says about an element that was added."""
        if result is _FIRE or result is _FIRE_AND_PURGE:
            contents = self.contents.get(key, state_window)
            if contents is None:
                return
            self._evaluate(key, window, namespace, state_window, contents, timestamp)
            if result is _FIRE_AND_PURGE or self.spec.full_windows_end:
                self.contents.clear(key, state_window)
        elif result is _PURGE:
            self.contents.clear(key, state_window)

    def _make_contents(self) -> WindowContents:
        return make_contents(self.context.backend, self.spec)

    def _evaluate(self, key: Any, window: Any, namespace: Any, state_window: Any, contents: list[Any], timestamp: int | None) -> None:
        """Have the user's function make results of the contents, which are kept under ``state_window``."""
        self.results.add(self.evaluation.evaluate(key, window, namespace, contents), timestamp)

    def _skipped(self, value: Any, timestamp: int | None) -> None:
        """Handle a record that is in no window: if that is because it is late, drop and count it, or send it to the side output."""
        time = MIN_TIMESTAMP if timestamp is None else timestamp
        if not self.event_time or time + self.lateness_ms > self.timers.current_watermark:
            return
        self._drop_late(value, timestamp)

    def _drop_late(self, value: Any, timestamp: int | None) -> None:
        if self.spec.late_tag is not None:
            self.results.add_late(value, timestamp)
        else:
            self.late_dropped.inc()

    # Time

    def end_key(self) -> None:
        """Fire the windows of the key."""
        self._fire(lambda _: self.timers.end_key(), MAX_TIMESTAMP)

    def _emit_fired(self) -> None:
        self.results.flush()

    def _on_event_time(self, timestamp: int, key: Any, namespace: Any) -> None:
        self._on_timer(self.trigger.on_event_time, timestamp, key, namespace, self.event_time)

    def _on_processing_time(self, timestamp: int, key: Any, namespace: Any) -> None:
        self._on_timer(self.trigger.on_processing_time, timestamp, key, namespace, not self.event_time)

    def _on_timer(self, ask: Callable[..., TriggerResult], timestamp: int, key: Any, namespace: Any, may_end: bool) -> None:
        state_window = namespace if self.merging is None else self.merging.state_window(key, namespace)
        if state_window is None:
            # The window has merged into another one, and its trigger has left this timer.
            return
        window = decode_window(namespace)
        context = self.trigger_context
        context.namespace = namespace
        try:
            result = ask(timestamp, window, context)
            if result is _FIRE or result is _FIRE_AND_PURGE:
                contents = self.contents.get(key, state_window)
                if contents is not None:
                    self._evaluate(key, window, namespace, state_window, contents, timestamp)
            if result is _PURGE or result is _FIRE_AND_PURGE:
                self.contents.clear(key, state_window)
        except Exception as error:  # noqa: BLE001 - whatever a user's function raises is about this window
            self._failed(error, FailedWindow(key, window, timestamp), timestamp)
        if may_end and timestamp == self._cleanup_time(window):
            self._drop(key, window, namespace, state_window)

    def _drop(self, key: Any, window: Any, namespace: Any, state_window: Any) -> None:
        """Remove all that is kept for a window."""
        self.contents.clear(key, state_window)
        self.trigger_context.namespace = namespace
        self.trigger.clear(window, self.trigger_context)
        if self.evaluation.needs_clear:
            self.evaluation.clear(window, namespace)
        if self.merging is not None:
            self.merging.retire(key, namespace)

    def _cleanup_time(self, window: Any) -> int:
        """Return when a window is dropped; MAX_TIMESTAMP for never."""
        end: int = window.max_timestamp()
        return min(end + self.lateness_ms, MAX_TIMESTAMP) if self.event_time else end

    # Merging

    def merged(self, result: Any, sources: list[Any], state_window: Any, other_state_windows: list[Any]) -> None:
        """Have trigger, timers and contents follow a merge of windows. Called by the merging window set.

        Raises:
            ProgramError: The assigner's merge made a window that has already ended.
        """
        key, context = self.key_context.key, self.trigger_context
        window = decode_window(result)
        self._check_not_ended(window)
        # A window that is itself the result keeps its state; the trigger must not clear it below.
        gone = [s for s in sources if s != result]
        context.namespace = result
        context.merged = gone
        self.trigger.on_merge(window, context)
        for namespace in gone:
            context.namespace = namespace
            merged_window = decode_window(namespace)
            self.trigger.clear(merged_window, context)
            cleanup = self._cleanup_time(merged_window)
            if cleanup != MAX_TIMESTAMP and self.event_time:
                self.timers.delete_event_time_timer(cleanup, namespace)
            elif cleanup != MAX_TIMESTAMP:
                self.timers.delete_processing_time_timer(cleanup, namespace)
        if other_state_windows:
            self.contents.merge(key, state_window, other_state_windows)

    def _check_not_ended(self, window: Any) -> None:
        now = self.timers.current_watermark if self.event_time else self.timers.current_processing_time()
        if self._cleanup_time(window) <= now:
            time = "current watermark" if self.event_time else "current processing time"
            raise ProgramError(
                f"{self.assigner!r} merged windows into {window!r}, which ends before the {time} ({now})",
                hint="merge_windows must return windows that cover what they are made of",
                operator=self.context.name,
            )

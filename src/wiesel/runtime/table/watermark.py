"""Internal. Watermark assigner of tables: watermarks from an expression over each row.

As in Flink a watermark is emitted after each row that advances it by more than ``pipeline.auto-watermark-interval`` since the last one, and
by the clock at that interval; both start at 0. A table may set emission after a number of rows, or by the clock only.

If a downstream operator reads watermarks between rows, a batch is split after each row with a watermark. Otherwise a batch is emitted
whole, followed by the last of its watermarks. Only if a row is late by a watermark of an earlier row of the batch, the batch is split
before that row: so lateness never depends on the batching of rows.

A subtask without rows for a configured time is idle: downstream operators do not wait for its watermark then.

Retry semantics: as in Flink the watermark is not part of checkpoints; after a restore it starts with the first row.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

import numpy as np

from wiesel.columnar.evaluation import Frame, as_array, evaluate
from wiesel.columnar.expressions import Expression
from wiesel.columnar.row_batch import RowBatch
from wiesel.columnar.windows import Times, milliseconds
from wiesel.core.durations import to_millis
from wiesel.core.errors import UserFunctionError
from wiesel.core.ids import MAX_TIMESTAMP, MIN_TIMESTAMP
from wiesel.graph.specs import WATERMARKS_BY_ROW
from wiesel.runtime.operators.function_operator import auto_watermark_interval_ms, is_batch
from wiesel.runtime.table.base import TableOperator
from wiesel.spi.watermark import WatermarkAlignment

__all__ = ["IDLE_TIMEOUT", "WatermarkEmission", "WatermarkOperator", "watermark_operator"]

IDLE_TIMEOUT = "table.exec.source.idle-timeout"


@dataclass(frozen=True)
class WatermarkEmission:
    """Settings of the emission of watermarks.

    Attributes:
        strategy: ``on-event``: after rows; ``on-periodic``: by the clock; empty: both, after rows if it advances by more than the interval.
        gap: Number of rows between watermarks, for ``on-event``.
        idle_ms: Idle timeout; None for that of the job (``table.exec.source.idle-timeout``).
        alignment: Watermark alignment with other tables; None for none.
    """

    strategy: str = ""
    gap: int = 1
    idle_ms: int | None = None
    alignment: WatermarkAlignment | None = None

    @property
    def by_interval(self) -> bool:
        """True if watermarks are emitted after rows that advance them by more than the interval, as by default."""
        return not self.strategy and self.gap == 1

    @property
    def by_clock(self) -> bool:
        """True if the clock emits them, too."""
        return self.strategy == "on-periodic" or self.by_interval


class WatermarkOperator(TableOperator):
    """Emits watermarks.

    Args:
        column: The column with the event time.
        name: Its name in messages.
        watermark: The expression; NULL means no watermark for a row.
        emission: Settings of the emission.
        by_row: A downstream operator reads watermarks between rows.
    """

    def __init__(
        self,
        column: int,
        name: str,
        watermark: Expression,
        emission: WatermarkEmission = WatermarkEmission(),
        *,
        by_row: bool = False,
    ) -> None:
        self._column = column
        self._name = name
        self._expression = watermark
        self._emission = emission
        self._by_row = by_row
        # Flink's operator starts at 0: times before 1970 do not advance it.
        self._watermark = 0 if emission.by_interval else MIN_TIMESTAMP
        self._greatest = self._watermark
        self._rows = 0
        self._idle = False

    def open(self) -> None:
        """Check whether time advances before the end, and start the timer."""
        super().open()
        self._progressive = not is_batch(self.context)
        idle = self._emission.idle_ms
        self._idle_ms = to_millis(self.context.config.get(IDLE_TIMEOUT, 0)) if idle is None else idle
        self._last_ms = self.context.clock.now_ms()
        self._interval_ms = interval = auto_watermark_interval_ms(self.context)
        by_clock = self._emission.by_clock and interval > 0
        self._tick_ms = 0
        if self._progressive and (by_clock or self._idle_ms > 0):
            self._tick_ms = interval if interval > 0 else self._idle_ms
            self.context.register_processing_timer(self._last_ms + self._tick_ms)

    def on_processing_time(self, now_ms: int) -> None:
        """Emit the watermark of the rows so far, and check for idleness."""
        if not self._tick_ms:
            return
        if self._emission.by_clock:
            self._advance(self._greatest)
        if self._idle_ms and not self._idle and now_ms - self._last_ms >= self._idle_ms:
            self._idle = True
            self.output.emit_status(True)
        self.context.register_processing_timer(now_ms + self._tick_ms)

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Emit the rows, followed by watermarks."""
        column = rows.rows.column(self._column)
        if column.null_count:
            raise UserFunctionError(
                f"the event time {self._name} of a row is NULL", hint="leave such rows out in the table's source, or give them a time"
            )
        if not self._progressive:
            self.emit_rows(rows)
            return
        if self._idle_ms:
            self._note_rows()
        found = as_array(evaluate(self._expression, Frame(rows.rows, self.session)), len(rows))
        marks = valid = milliseconds(found.drop_null())
        if found.null_count:
            marks = np.full(len(found), MIN_TIMESTAMP, np.int64)
            marks[found.is_valid().to_numpy(zero_copy_only=False)] = valid
        running = np.maximum(np.maximum.accumulate(self._emitted(marks)), self._watermark)
        ends = self._advances(running) if self._by_row else self._late_places(milliseconds(column), running)
        start = 0
        for end in [*ends, len(rows)]:
            self.emit_rows(rows if end - start == len(rows) else RowBatch(rows.rows.slice(start, end - start), _part(rows, start, end)))
            self._advance(int(running[end - 1]))
            start = end

    def _note_rows(self) -> None:
        self._last_ms = self.context.clock.now_ms()
        if self._idle:
            self._idle = False
            self.output.emit_status(False)

    def _emitted(self, marks: Times) -> Times:
        """Return for each row the watermark emitted after it, the minimum if there is none."""
        emission = self._emission
        if emission.strategy == "on-periodic":
            self._greatest = max(self._greatest, int(marks.max()))
            return np.full(len(marks), MIN_TIMESTAMP, np.int64)
        if emission.gap == 1 and not emission.by_interval:
            return marks
        running = np.maximum(np.maximum.accumulate(marks), self._greatest)
        self._greatest = int(running[-1])
        if emission.by_interval:
            return self._far_enough(running)
        numbers = self._rows + 1 + np.arange(len(marks))
        self._rows = int(numbers[-1]) % emission.gap
        return np.where(numbers % emission.gap == 0, running, MIN_TIMESTAMP)

    def _far_enough(self, running: Times) -> Times:
        """Return for each row the last watermark emitted up to it, where only those at a sufficient distance from the last count."""
        interval, last = self._interval_ms, self._watermark
        if not interval or running[-1] - last <= interval:
            return running if not interval else np.full(len(running), last, np.int64)
        rises = np.diff(running, prepend=last)
        if rises[rises > 0].min() > interval:
            return running
        places: list[int] = []
        known = running.tolist()
        place = bisect_right(known, last + interval)
        while place < len(known):
            places.append(place)
            place = bisect_right(known, known[place] + interval, place)
        found = np.full(len(running), last, np.int64)
        found[places] = running[places]
        return np.maximum.accumulate(found)

    def _advances(self, running: Times) -> list[int]:
        """Return the indexes after the rows that advance the watermark."""
        places = np.flatnonzero(np.diff(running, prepend=self._watermark)) + 1
        return places[places < len(running)].tolist()  # type: ignore[no-any-return]

    @staticmethod
    def _late_places(times: Times, running: Times) -> list[int]:
        """Return the indexes of late rows, which a watermark must precede."""
        late = np.flatnonzero(times[1:] <= running[:-1]) + 1
        places: list[int] = []
        emitted = None
        for place in late.tolist():
            if running[place - 1] != emitted:
                emitted = running[place - 1]
                places.append(place)
        return places

    def _advance(self, watermark: int) -> None:
        if watermark > self._watermark:
            self._watermark = watermark
            self.output.emit_watermark(watermark)

    def process_watermark(self, timestamp: int) -> None:
        """Drop watermarks from upstream except the final one, which ends a bounded input."""
        if timestamp == MAX_TIMESTAMP:
            self._tick_ms = 0
            if self._idle:
                self._note_rows()
            self._advance(timestamp)

    def process_status(self, idle: bool) -> None:
        """Drop the upstream status, if this operator checks idleness itself."""
        if not self._idle_ms:
            self.output.emit_status(idle)


def _part(rows: RowBatch, start: int, end: int) -> Any:
    return None if rows.kinds is None else rows.kinds[start:end]


def watermark_operator(params: dict[str, Any], payload: dict[str, Any]) -> WatermarkOperator:
    """Return the operator of a spec."""
    by_row = bool(params.get(WATERMARKS_BY_ROW))
    return WatermarkOperator(payload["column"], payload["name"], payload["watermark"], payload["emission"], by_row=by_row)

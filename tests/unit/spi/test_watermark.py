"""Watermark strategies and generators; the formulas are Flink's (``maxTimestamp - bound - 1``)."""

from __future__ import annotations

import datetime
import pickle
import random
from typing import Any

import pytest

from wiesel.core.clock import ManualClock
from wiesel.core.durations import Duration
from wiesel.core.errors import ProgramError
from wiesel.core.ids import MIN_TIMESTAMP
from wiesel.spi.watermark import (
    BoundedOutOfOrdernessWatermarks,
    TimestampAssigner,
    WatermarkAlignment,
    WatermarkGenerator,
    WatermarkOutput,
    WatermarkStrategy,
)


class Output:
    def __init__(self) -> None:
        self.seen: list[Any] = []

    def emit_watermark(self, timestamp: int) -> None:
        self.seen.append(timestamp)

    def mark_idle(self) -> None:
        self.seen.append("idle")

    def mark_active(self) -> None:
        self.seen.append("active")


class Seconds(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value) * 1000


class Punctuated(WatermarkGenerator):
    def on_event(self, event: Any, event_timestamp: int, output: WatermarkOutput) -> None:
        if event == "end":
            output.emit_watermark(event_timestamp)

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Emit nothing."""


def generator(strategy: WatermarkStrategy, clock: ManualClock | None = None) -> WatermarkGenerator:
    return strategy.create_watermark_generator(clock or ManualClock())


def test_monotonous_timestamps() -> None:
    watermarks, out = generator(WatermarkStrategy.for_monotonous_timestamps()), Output()
    watermarks.on_periodic_emit(out)
    for timestamp in (0, 5, 3):
        watermarks.on_event("x", timestamp, out)
        watermarks.on_periodic_emit(out)
    assert out.seen == [MIN_TIMESTAMP, -1, 4, 4]


def test_bounded_out_of_orderness() -> None:
    watermarks, out = generator(WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(10))), Output()
    watermarks.on_periodic_emit(out)
    watermarks.on_event("x", 100, out)
    watermarks.on_periodic_emit(out)
    watermarks.on_event("x", MIN_TIMESTAMP, out)
    watermarks.on_periodic_emit(out)
    assert out.seen == [MIN_TIMESTAMP, 89, 89]


def test_batches_give_what_single_records_give() -> None:
    seed = random.randrange(2**32)
    rng = random.Random(seed)
    single, batch = BoundedOutOfOrdernessWatermarks(7), BoundedOutOfOrdernessWatermarks(7)
    ones, many = Output(), Output()
    for _ in range(200):
        timestamps = [rng.randrange(-50, 1000) for _ in range(rng.randrange(4))]
        for timestamp in timestamps:
            single.on_event(None, timestamp, ones)
        batch.on_events([None] * len(timestamps), timestamps, many)
        single.on_periodic_emit(ones)
        batch.on_periodic_emit(many)
    assert ones.seen == many.seen, f"seed {seed}"


def test_no_watermarks() -> None:
    watermarks, out = generator(WatermarkStrategy.no_watermarks()), Output()
    watermarks.on_events(["x"], [5], out)
    watermarks.on_event("x", 5, out)
    watermarks.on_periodic_emit(out)
    assert out.seen == []
    assert not WatermarkStrategy.no_watermarks().has_watermarks


def test_a_generator_of_the_users_own_sees_each_record_in_order() -> None:
    watermarks, out = generator(WatermarkStrategy.for_generator(Punctuated)), Output()
    assert watermarks.emits_per_event
    watermarks.on_events(["a", "end", "b", "end"], [1, 2, 3, 4], out)
    watermarks.on_periodic_emit(out)
    assert out.seen == [2, 4]


def test_idleness_starts_at_an_emission_without_records_and_ends_with_a_record() -> None:
    clock, out = ManualClock(), Output()
    watermarks = generator(WatermarkStrategy.for_monotonous_timestamps().with_idleness(Duration.of_millis(100)), clock)
    watermarks.on_event("x", 5, out)
    for now_ms in (0, 50, 120, 150, 151, 200):
        clock.set(now_ms)
        watermarks.on_periodic_emit(out)
    # 0: there was a record; 50: quiet from now on; 120 and 150: not yet 100 ms; 151: idle; 200: still, said once only.
    assert out.seen == [4, 4, 4, 4, "idle"]
    out.seen.clear()
    watermarks.on_events(["x"], [9], out)
    watermarks.on_periodic_emit(out)
    assert out.seen == [8]


def test_an_input_that_never_had_a_record_becomes_idle() -> None:
    clock, out = ManualClock(), Output()
    watermarks = generator(WatermarkStrategy.for_monotonous_timestamps().with_idleness("100 ms"), clock)
    watermarks.on_periodic_emit(out)
    watermarks.on_events([], [], out)
    clock.set(101)
    watermarks.on_periodic_emit(out)
    assert out.seen == [MIN_TIMESTAMP, "idle"]


def test_the_assigner_is_set_in_place_and_kept_by_copies() -> None:
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    assert strategy.with_timestamp_assigner(Seconds()) is strategy
    idle = strategy.with_idleness(datetime.timedelta(seconds=1)).with_watermark_alignment("g", Duration.of_seconds(2))
    assert idle is not strategy
    assert strategy.idle_timeout_ms is None
    assert idle.idle_timeout_ms == 1000
    assert idle.alignment == WatermarkAlignment("g", 2000, 1000)
    assert idle.timestamp_assigner is not None
    assert idle.timestamp_assigner.extract_timestamp(3, 0) == 3000


def test_a_function_will_do_as_assigner_and_strategies_are_plain_data() -> None:
    strategy = WatermarkStrategy.for_bounded_out_of_orderness("5 s").with_timestamp_assigner(Seconds())
    again = pickle.loads(pickle.dumps(strategy))
    assert again.timestamp_assigner.extract_timestamp(2, 0) == 2000
    assert repr(again) == "WatermarkStrategy(bounded out-of-orderness 5000 ms)"
    by_function = WatermarkStrategy.no_watermarks().with_timestamp_assigner(lambda value, old: value + old)
    assert by_function.timestamp_assigner is not None
    assert by_function.timestamp_assigner.extract_timestamp(1, 2) == 3


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: WatermarkStrategy.for_bounded_out_of_orderness(-1), "negative: -1 ms"),
        (lambda: WatermarkStrategy.no_watermarks().with_idleness(0), "not positive: 0 ms"),
        (lambda: WatermarkStrategy.no_watermarks().with_timestamp_assigner(5), "with_timestamp_assigner got 5"),  # type: ignore[arg-type]
        (lambda: WatermarkStrategy.for_generator(Punctuated()), "cannot be called"),  # type: ignore[arg-type]
        (lambda: generator(WatermarkStrategy.for_generator(lambda: 5)), "returned 5"),  # type: ignore[arg-type,return-value]
    ],
)
def test_mistakes_are_named(action: Any, message: str) -> None:
    with pytest.raises(ProgramError, match=message) as e:
        action()
    assert e.value.hint

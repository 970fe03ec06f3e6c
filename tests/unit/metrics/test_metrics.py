"""Metrics of a subtask."""

from __future__ import annotations

import json

import pytest

from wiesel.core.clock import ManualClock
from wiesel.core.errors import ProgramError
from wiesel.core.metrics import MetricRegistry, merge_counts
from wiesel.metrics import Counter, Distribution, Meter, Metric, MetricGroup


def test_groups_name_metrics() -> None:
    registry = MetricRegistry(ManualClock())
    group = registry.group("op")
    assert isinstance(group, MetricGroup)
    counter = group.add_group("g").add_group("key", "value").counter("n")
    assert isinstance(counter, Counter)
    assert isinstance(counter, Metric)
    counter.inc()
    counter.inc(5)
    counter.dec(2)
    group.gauge("size", lambda: 7)
    registry.group().counter("root").inc()
    assert counter.get_count() == 4
    assert registry.snapshot() == {"op.g.key.value.n": 4, "op.size": 7, "root": 1}


def test_the_same_name_is_the_same_metric() -> None:
    group = MetricRegistry(ManualClock()).group()
    group.counter("n").inc()
    assert group.counter("n").get_count() == 1
    with pytest.raises(ProgramError, match="metric 'n' is a SimpleCounter and was asked for as a SimpleMeter"):
        group.meter("n")


def test_a_gauge_that_raises_is_left_out_and_does_not_fail_the_rest(caplog: pytest.LogCaptureFixture) -> None:
    registry = MetricRegistry(ManualClock())
    registry.group().gauge("bad", lambda: 1 // 0)
    registry.group().counter("good")
    assert registry.snapshot() == registry.snapshot() == {"good": 0}
    assert [record.getMessage() for record in caplog.records] == [
        "gauge bad raised ZeroDivisionError: integer division or modulo by zero; it is omitted from the metrics"
    ]
    registry.group().gauge("bad", lambda: 3)
    assert registry.snapshot()["bad"] == 3
    with pytest.raises(ProgramError, match="cannot be called"):
        registry.group().gauge("worse", 5)  # type: ignore[arg-type]


def test_meters_give_events_per_second_over_their_span() -> None:
    clock = ManualClock()
    registry = MetricRegistry(clock)
    meter = registry.group().meter("m", 10)
    assert isinstance(meter, Meter)
    assert registry.snapshot() == {"m": {"count": 0, "rate": 0.0}}
    for second in range(1, 31):
        clock.set(second * 1000)
        meter.mark_event(20)
        rate = registry.snapshot()["m"]["rate"]
    assert rate == 20.0
    for second in range(31, 61):
        clock.set(second * 1000)
        rate = registry.snapshot()["m"]["rate"]
    assert rate == 0.0
    assert meter.get_count() == 600


def test_distributions() -> None:
    registry = MetricRegistry(ManualClock())
    distribution = registry.group().distribution("d")
    assert isinstance(distribution, Distribution)
    assert registry.snapshot()["d"] == {"count": 0, "sum": 0, "min": None, "max": None, "mean": None}
    for value in (3, -1, 4):
        distribution.update(value)
    assert registry.snapshot()["d"] == {"count": 3, "sum": 6, "min": -1, "max": 4, "mean": 2.0}
    json.dumps(registry.snapshot())


def test_snapshots_of_subtasks_add_up() -> None:
    def snapshot(*values: int) -> dict[str, object]:
        registry = MetricRegistry(ManualClock())
        registry.group().counter("n").inc(len(values))
        registry.group().gauge("name", lambda: "x")  # type: ignore[arg-type,return-value]
        for value in values:
            registry.group().distribution("d").update(value)
        registry.group().distribution("d")
        return registry.snapshot()

    assert merge_counts([snapshot(3, 1), snapshot(), snapshot(8)]) == {
        "n": 3,
        "d": {"count": 3, "sum": 12, "min": 1, "max": 8, "mean": 4.0},
    }

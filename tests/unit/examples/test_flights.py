"""The demo's program on the local engine, against a batch computation of the same records."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from examples.flights import data, job
from examples.flights.source import BOUND_MS, FlightSource, watermark_at
from tests.unit.examples import batch
from wiesel.common import Configuration
from wiesel.datastream import StreamExecutionEnvironment

pytestmark = pytest.mark.slow

DAYS = 10
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def directory() -> Path:
    return data.prepare(ROOT / ".cache" / "flights")


def run(directory: Path, days: float, parallelism: int, seed: int) -> dict[str, list[dict[str, Any]]]:
    config = Configuration.from_dict({"wiesel.engine": "local", "wiesel.local.seed": seed})
    env = StreamExecutionEnvironment.get_execution_environment(config).set_parallelism(parallelism)
    results = job.build(env, FlightSource(directory, days))
    named = [stream.map(lambda record, name=name: (name, record)) for name, stream in results._asdict().items()]
    collected: dict[str, list[dict[str, Any]]] = {name: [] for name in results._fields}
    with named[0].union(*named[1:]).execute_and_collect() as records:
        for name, record in records:
            collected[name].append(record)
    return collected


def test_results_are_those_of_a_batch_computation(directory: Path) -> None:
    found = run(directory, DAYS, parallelism=2, seed=1)
    on_time, late = batch.split_late(data.read_all(directory, DAYS))
    assert len(on_time) > 8000
    assert Counter(tuple(hour.values()) for hour in as_batch(found["hours"])) == batch.hours(on_time)
    assert Counter((b["aircraft"], tuple(b["delays_min"])) for b in found["build_ups"]) == batch.build_ups(on_time)
    assert len(found["build_ups"]) >= 10
    assert Counter(r["flight"] for r in found["late"]) == Counter(f"{f.carrier}{f.number}" for f in late)
    assert len(late) >= 20


def as_batch(hours: list[dict[str, Any]]) -> list[dict[str, Any]]:
    order = ("airport", "hour", "flights", "cancelled", "mean_delay_min", "max_delay_min", "delayed_share")
    return [{name: hour[name] for name in order} for hour in hours]


@pytest.mark.parametrize(("parallelism", "seed"), [(1, 2), (2, 3), (3, 4)])
def test_what_is_late_does_not_depend_on_the_run(directory: Path, parallelism: int, seed: int) -> None:
    def lines(results: dict[str, list[dict[str, Any]]]) -> Counter[str]:
        return Counter(name + json.dumps(record) for name, records in results.items() for record in records)

    assert lines(run(directory, 3, parallelism, seed)) == lines(run(directory, 3, 2, 1))


def test_nothing_usual_is_late_and_every_straggler_is() -> None:
    departure_ms = data.FIRST_DAY_MS + 12_345_678
    for offset_ms in range(0, 900_000, 60_000):
        usual_ms = departure_ms + offset_ms + data.USUAL_REPORT_MS
        assert watermark_at(usual_ms - offset_ms) < departure_ms
        assert watermark_at(departure_ms + offset_ms + data.STRAGGLER_REPORT_MS[0]) >= departure_ms
    assert data.USUAL_REPORT_MS < BOUND_MS


def test_the_records_are_those_of_the_package(directory: Path) -> None:
    assert data.count(directory) == 336_776
    flights = data.read_all(directory, 31)
    assert all(a.reported_ms <= b.reported_ms for a, b in pairwise(flights))
    # The first flight of the data: UA1545, scheduled for 05:15 of 1 January and two minutes late.
    first = next(f for f in flights if (f.carrier, f.number) == ("UA", 1545))
    assert (first.aircraft, first.origin, first.destination, first.delay_min) == ("N14228", "EWR", "IAH", 2)
    assert job.local_time(first.departure_ms) == "2013-01-01T05:17-05:00"
    after_ms = [f.reported_ms - f.departure_ms for f in flights]
    stragglers = sum(ms > BOUND_MS for ms in after_ms)
    assert 2 < 1000 * stragglers / len(flights) < 6
    assert sum(ms <= 10 * data.MINUTE_MS for ms in after_ms) > 0.85 * len(flights)
    disorder = sum(a.departure_ms > b.departure_ms for a, b in pairwise(flights))
    assert disorder > len(flights) / 10

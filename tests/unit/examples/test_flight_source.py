"""The demo's source by itself: positions, shares, the pace of the replay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from examples.flights.data import FIRST_DAY_MS, MINUTE_MS, Flight
from examples.flights.source import BOUND_MS, STEP_MS, Feed, FlightSource
from wiesel.datastream.connectors.base import InputStatus, SourceReader


class Context:
    """Both contexts, with a clock that is set."""

    def __init__(self, parallelism: int = 1) -> None:
        self.parallelism = parallelism
        self.subtask_index = 0
        self.time_ms = 0
        self.assigned: dict[int, list[Feed]] = {}
        self.complete: list[int] = []

    def now_ms(self) -> int:
        return self.time_ms

    def request_split(self) -> None:
        raise AssertionError("feeds are assigned without a request")

    def assign_splits(self, splits: dict[int, list[Feed]]) -> None:
        for subtask, feeds in splits.items():
            self.assigned.setdefault(subtask, []).extend(feeds)

    def signal_no_more_splits(self, subtask: int) -> None:
        self.complete.append(subtask)

    def call_later(self, delay_ms: int) -> None:
        raise AssertionError("there is nothing to look for later")


class Output:
    wanted = 1 << 20

    def __init__(self) -> None:
        self.events: list[Any] = []

    def collect(self, values: list[Any], timestamps: list[int] | None = None, split_id: str = "") -> None:
        self.events += values

    def emit_watermark(self, timestamp: int, split_id: str = "") -> None:
        self.events.append(timestamp)

    @property
    def flights(self) -> list[Flight]:
        return [e for e in self.events if isinstance(e, Flight)]


def flight(carrier: str, number: int, minute: int) -> Flight:
    at_ms = FIRST_DAY_MS + minute * MINUTE_MS
    return Flight(carrier, number, f"N{number}", "JFK", "BOS", at_ms - 3 * MINUTE_MS, 0, at_ms)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Three airlines with 12, 6 and 5 reports, one every seven minutes each."""
    for carrier, count in (("AA", 12), ("BB", 6), ("CC", 5)):
        rows = [flight(carrier, n, 7 * n + len(carrier)) for n in range(count)]
        table = pa.table({name: [getattr(r, name) for r in rows] for name in Flight._fields})
        pq.write_table(table, tmp_path / f"{carrier}.parquet", row_group_size=4)
    return tmp_path


def reader_of(source: FlightSource, context: Context, feeds: list[Feed]) -> SourceReader[Feed]:
    reader = source.create_reader(context)
    reader.add_splits(feeds)
    reader.start()
    reader.notify_no_more_splits()
    return reader


def read_to_the_end(reader: SourceReader[Feed]) -> Output:
    output = Output()
    while reader.poll(output) is not InputStatus.END_OF_INPUT:
        pass
    return output


def all_feeds(source: FlightSource) -> list[Feed]:
    context = Context()
    source.create_enumerator(context).add_reader(0)
    assert context.complete == [0]
    return context.assigned[0]


def test_feeds_are_merged_behind_watermarks(directory: Path) -> None:
    source = FlightSource(directory)
    output = read_to_the_end(reader_of(source, Context(), all_feeds(source)))
    assert len(output.flights) == 23
    assert [f.reported_ms for f in output.flights] == sorted(f.reported_ms for f in output.flights)
    watermark = None
    for event in output.events:
        if isinstance(event, Flight):
            assert watermark == event.reported_ms // STEP_MS * STEP_MS - BOUND_MS - 1
        else:
            assert watermark is None or event > watermark
            watermark = event


def test_a_reader_goes_on_where_its_checkpoint_was_taken(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("examples.flights.source._POLL_RECORDS", 1)  # a step at a time
    source = FlightSource(directory)
    whole = read_to_the_end(reader_of(source, Context(), all_feeds(source))).events
    steps = sum(not isinstance(e, Flight) for e in whole)
    for polls in range(steps + 1):
        reader, before = reader_of(source, Context(), all_feeds(source)), Output()
        for _ in range(polls):
            reader.poll(before)
        after = read_to_the_end(reader_of(source, Context(), reader.snapshot_state(1)))
        assert before.events + after.events == whole


def test_feeds_are_shared_out_evenly_and_once(directory: Path) -> None:
    source = FlightSource(directory)
    context = Context(parallelism=2)
    enumerator = source.create_enumerator(context)
    enumerator.add_reader(1)
    restored = source.create_enumerator(context, enumerator.snapshot_state(1))
    restored.add_reader(1)
    restored.add_reader(0)
    feeds = {subtask: [feed.split_id for feed in feeds] for subtask, feeds in context.assigned.items()}
    assert sorted(feeds[0] + feeds[1]) == ["AA", "BB", "CC"]
    assert sorted(len(f) for f in feeds.values()) == [1, 2]
    assert context.complete == [1, 1, 0]


def test_the_replay_keeps_the_pace(directory: Path) -> None:
    source = FlightSource(directory, speed_up=900)  # a quarter of an hour in a second
    context = Context()
    reader, output = reader_of(source, context, all_feeds(source)), Output()
    seen = []
    for context.time_ms in (0, 999, 1000, 1999, 3000):
        assert reader.poll(output) is InputStatus.NOTHING_AVAILABLE
        seen.append((output.flights[-1].reported_ms - FIRST_DAY_MS) // STEP_MS)
    assert seen == [0, 0, 1, 1, 3]


def test_a_replay_goes_on_where_it_was_when_its_machine_stood_still(directory: Path) -> None:
    source = FlightSource(directory, speed_up=900)
    context = Context()
    reader, output = reader_of(source, context, all_feeds(source)), Output()
    seen = []
    for context.time_ms in (0, 1000, 61_000, 62_000):
        assert reader.poll(output) is InputStatus.NOTHING_AVAILABLE
        seen.append((output.flights[-1].reported_ms - FIRST_DAY_MS) // STEP_MS)
    assert seen == [0, 1, 3, 4]


def test_a_part_of_the_year_is_read(directory: Path) -> None:
    hour = FlightSource(directory, days=1 / 24)
    flights = read_to_the_end(reader_of(hour, Context(), all_feeds(hour))).flights
    assert 0 < len(flights) < 23
    assert max(f.reported_ms for f in flights) < FIRST_DAY_MS + 60 * MINUTE_MS

"""The gate: order, alignment, and event time over channels that are active, idle or finished."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from wiesel.core.errors import InvariantError
from wiesel.core.ids import MAX_TIMESTAMP
from wiesel.runtime.input_gate import (
    AbortCheckpoint,
    AdvanceTime,
    ChangeStatus,
    InputEnded,
    InputGate,
    PassIterationBarrier,
    Records,
    TakeCheckpoint,
    WatermarkValve,
)
from wiesel.wire.batch import Batch
from wiesel.wire.buffers import DATA, Buffer, decode_batch, encode_batch, encode_event, header, read_buffers
from wiesel.wire.events import Barrier, EndOfInput, Event, IterationBarrier, StreamStatus, Watermark


class Feed:
    """Makes the buffers of several channels and notes the steps that the gate yields."""

    def __init__(self, channels: int, *, exactly_once: bool = True) -> None:
        self.gate = InputGate({(0, c): 0 for c in range(channels)}, exactly_once=exactly_once)
        self.sequences = [0] * channels
        self.steps: list[object] = []

    def _push(self, channel: int, kind: int, payload: bytes) -> None:
        row = header(1, 0, 0, channel, kind, self.sequences[channel], len(payload)) + payload
        self.sequences[channel] += 1
        (buffer,) = read_buffers(row)
        self.take(buffer)

    def take(self, buffer: Buffer) -> None:
        for step in self.gate.on_buffer(buffer):
            self.steps.append(decode_batch(step.payload).values if isinstance(step, Records) else step)

    def data(self, channel: int, *values: object) -> None:
        self._push(channel, DATA, encode_batch(Batch(list(values))))

    def event(self, channel: int, event: Event) -> None:
        self._push(channel, *encode_event(event))


def test_alignment_holds_back_the_channel_whose_barrier_has_come() -> None:
    feed = Feed(2)
    barrier = Barrier(1, 0)
    feed.data(0, "a1")
    feed.event(0, barrier)
    feed.data(0, "a2")
    feed.data(1, "b1")
    assert feed.gate.held_bytes > 0
    feed.event(1, barrier)
    feed.data(1, "b2")
    assert feed.steps == [["a1"], ["b1"], TakeCheckpoint(barrier), ["a2"], ["b2"]]
    assert feed.gate.held_bytes == 0


def test_a_buffer_that_was_interrupted_goes_on_only_when_it_is_asked_for() -> None:
    feed = Feed(1)
    row = header(1, 0, 0, 0, DATA, 0, len(payload := encode_batch(Batch([1, 2, 3])))) + payload
    (buffer,) = read_buffers(row)
    steps = feed.gate.on_buffer(buffer)
    assert isinstance(next(steps), Records)
    (rest,) = read_buffers(header(1, 0, 0, 0, DATA, 0, len(payload := encode_batch(Batch([2, 3])))) + payload)
    feed.gate.put_back(rest)
    assert list(steps) == [] and feed.gate.backlog == 1, "receivers have no room for the rest"
    (step,) = feed.gate.work_off()
    assert isinstance(step, Records) and decode_batch(step.payload).values == [2, 3]


@pytest.mark.parametrize("step", [1, -1], ids=["lost", "twice"])
def test_a_buffer_that_is_lost_or_comes_twice_is_noticed(step: int) -> None:
    feed = Feed(2)
    feed.data(0, "a1")
    feed.data(1, "b1")
    feed.sequences[1] += step
    with pytest.raises(InvariantError, match="expected buffer 1, got"):
        feed.data(1, "b2")
    assert feed.steps == [["a1"], ["b1"]]


def test_at_least_once_does_not_hold_back() -> None:
    feed = Feed(2, exactly_once=False)
    barrier = Barrier(1, 0)
    feed.event(0, barrier)
    feed.data(0, "a2")
    feed.event(1, barrier)
    assert feed.steps == [["a2"], TakeCheckpoint(barrier)]


def test_a_newer_barrier_gives_the_older_checkpoint_up_and_keeps_the_order_of_each_channel() -> None:
    feed = Feed(3)
    feed.event(0, Barrier(1, 0))
    feed.data(0, "a1")
    feed.event(1, Barrier(2, 0))  # channel 1 never got barrier 1
    feed.data(0, "a2")
    feed.event(0, Barrier(2, 0))
    feed.data(0, "a3")
    feed.event(2, Barrier(2, 0))
    assert feed.steps == [AbortCheckpoint(1), ["a1"], ["a2"], TakeCheckpoint(Barrier(2, 0)), ["a3"]]


def test_abort_by_the_coordinator_releases_what_was_held() -> None:
    feed = Feed(2)
    feed.event(0, Barrier(5, 0))
    feed.data(0, "a")
    feed.gate.abort(5)
    released = [decode_batch(s.payload).values for s in feed.gate.work_off() if isinstance(s, Records)]
    assert released == [["a"]]
    feed.event(1, Barrier(5, 0))
    assert feed.steps == []


def test_a_channel_that_ends_counts_as_aligned() -> None:
    feed = Feed(2)
    feed.event(0, Barrier(1, 0))
    feed.event(1, Watermark(MAX_TIMESTAMP))
    feed.event(1, EndOfInput())
    assert feed.steps == [TakeCheckpoint(Barrier(1, 0))]
    assert not feed.gate.ended


def test_all_ended_ends_the_input_and_moves_time_to_its_end() -> None:
    feed = Feed(2)
    for channel in (0, 1):
        feed.event(channel, Watermark(MAX_TIMESTAMP))
        feed.event(channel, EndOfInput())
    assert feed.steps == [AdvanceTime(MAX_TIMESTAMP), InputEnded(0)]
    assert feed.gate.ended


def test_event_time_is_the_minimum_and_idle_channels_do_not_count() -> None:
    feed = Feed(2)
    feed.event(0, Watermark(10))
    feed.event(1, Watermark(3))
    feed.event(1, StreamStatus.IDLE)
    feed.event(0, StreamStatus.IDLE)
    feed.event(1, StreamStatus.ACTIVE)
    feed.event(1, Watermark(5))  # behind: held until it has caught up
    feed.event(1, Watermark(12))
    assert feed.steps == [AdvanceTime(3), AdvanceTime(10), ChangeStatus(True), ChangeStatus(False), AdvanceTime(12)]


def test_a_finished_channel_does_not_push_idle_ones_to_the_end_of_time() -> None:
    # FLINK-38477: finished + idle must not be +infinity, in whatever order.
    for order in ("finish-first", "idle-first"):
        feed = Feed(2)
        feed.event(1, Watermark(7))
        if order == "idle-first":
            feed.event(1, StreamStatus.IDLE)
        feed.event(0, Watermark(MAX_TIMESTAMP))
        feed.event(0, EndOfInput())
        if order == "finish-first":
            feed.event(1, StreamStatus.IDLE)
        times = [s.timestamp for s in feed.steps if isinstance(s, AdvanceTime)]
        assert feed.gate.valve.idle
        if order == "finish-first":
            assert times == [7]


def test_valve_never_falls() -> None:
    valve = WatermarkValve([(0, 0)])
    assert valve.watermark((0, 0), 5) == 5
    assert valve.watermark((0, 0), 4) is None
    assert valve.current == 5


@given(st.integers(0, 2**32), st.integers(1, 4), st.booleans())
def test_snapshots_are_consistent_cuts(seed: int, channels: int, exactly_once: bool) -> None:
    """Whatever the order of arrival: with alignment the snapshot holds exactly the records before the barrier of each channel."""
    note(f"seed {seed}")
    random = Random(seed)
    scripts: list[list[object]] = []
    before = set()
    for channel in range(channels):
        script: list[object] = []
        for checkpoint in (1, 2, None):
            for i in range(random.randrange(4)):
                value = (channel, checkpoint, i)
                script.append(value)
            script.append(Barrier(checkpoint, 0) if checkpoint else EndOfInput())
        scripts.append(script)
    feed = Feed(channels, exactly_once=exactly_once)
    while any(scripts):
        channel = random.choice([c for c in range(channels) if scripts[c]])
        item = scripts[channel].pop(0)
        feed.event(channel, item) if isinstance(item, (Barrier, EndOfInput)) else feed.data(channel, item)
    seen: list[tuple[int, int | None, int]] = []
    taken = []
    for step in feed.steps:
        if isinstance(step, list):
            seen += step
        elif isinstance(step, TakeCheckpoint):
            taken.append(step.barrier.checkpoint_id)
            before = {v for v in seen if v[1] is None or v[1] > step.barrier.checkpoint_id}
            if exactly_once:
                assert not before, "a record behind the barrier was processed before the snapshot"
    # Without alignment a channel may run two barriers ahead here; then the newer one gives the older up.
    assert taken == [1, 2] if exactly_once else taken[-1] == 2
    for channel in range(channels):
        mine = [v for v in seen if v[0] == channel]
        assert mine == sorted(mine, key=lambda v: (v[1] or 99, v[2])), "order within the channel"


def test_an_iteration_barrier_goes_on_when_all_open_channels_have_it_and_holds_nothing_back() -> None:
    feed = Feed(3)
    barrier = IterationBarrier(7, 1)
    feed.event(0, barrier)
    feed.data(0, "a")
    feed.event(1, barrier)
    assert feed.steps == [["a"]]
    feed.event(2, EndOfInput())
    assert feed.steps[1] == PassIterationBarrier(barrier)


def test_iteration_barriers_of_several_loops_do_not_count_for_each_other() -> None:
    feed = Feed(2)
    feed.event(0, IterationBarrier(7, 1))
    feed.event(1, IterationBarrier(8, 1))
    assert feed.steps == []
    feed.event(1, IterationBarrier(7, 1))
    assert feed.steps == [PassIterationBarrier(IterationBarrier(7, 1))]


def test_a_newer_iteration_barrier_takes_the_place_of_an_older_one_that_will_never_be_complete() -> None:
    feed = Feed(2)
    for number in range(1, 100):
        feed.event(0, IterationBarrier(7, number))
    feed.event(1, IterationBarrier(7, 1))
    assert feed.steps == []
    assert len(feed.gate._iteration_barriers) == 1
    feed.event(1, IterationBarrier(7, 99))
    assert feed.steps == [PassIterationBarrier(IterationBarrier(7, 99))]

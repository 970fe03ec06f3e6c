"""Checkpoints whose barriers overtake records: what is recorded, what aligns all the same, and that nothing is lost or comes twice."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from wiesel.runtime.flow import InputFlow
from wiesel.runtime.input_gate import AbortCheckpoint, AdvanceTime, InputGate, Recorded, Records, TakeCheckpoint
from wiesel.wire.batch import Batch
from wiesel.wire.buffers import DATA, END, decode_batch, decode_event, encode_batch, encode_event, header, read_buffers
from wiesel.wire.events import Barrier, EndOfInput, Event, Watermark

ALIGNED_EDGE = 7


class Feed:
    """Makes the buffers of several channels, and notes what the gate wants done."""

    def __init__(self, channels: int, *, aligned: int = 0) -> None:
        self.keys = [(0, c) for c in range(channels)] + [(ALIGNED_EDGE, c) for c in range(aligned)]
        self.gate = InputGate(dict.fromkeys(self.keys, 0), exactly_once=True, aligned_edges=frozenset({ALIGNED_EDGE}))
        self.sequences = [0] * len(self.keys)
        self.steps: list[object] = []

    def _push(self, channel: int, kind: int, payload: bytes) -> None:
        edge, source = self.keys[channel]
        row = header(1, 0, edge, source, kind, self.sequences[channel], len(payload)) + payload
        self.sequences[channel] += 1
        self.note(self.gate.on_buffer(next(read_buffers(row))))

    def note(self, steps: object) -> None:
        for step in steps:  # type: ignore[attr-defined]
            if isinstance(step, Records):
                self.steps += decode_batch(step.payload).values
            elif isinstance(step, Recorded):
                self.steps.append(("recorded", step.barrier.checkpoint_id, contents(step)))
            else:
                self.steps.append(step)

    def data(self, channel: int, *values: object) -> None:
        self._push(channel, DATA, encode_batch(Batch(list(values))))

    def event(self, channel: int, event: Event) -> None:
        self._push(channel, *encode_event(event))

    def overtake(self, checkpoint_id: int = 1) -> None:
        self.note(self.gate.overtake(Barrier(checkpoint_id, 0)))

    def work_off(self) -> None:
        while self.gate.backlog:
            self.note(self.gate.work_off())


def contents(step: Recorded) -> list[object]:
    """Return records and events that were recorded, in order."""
    found: list[object] = []
    for buffer in step.buffers:
        assert buffer.kind != END
        found += decode_batch(buffer.payload).values if buffer.kind == DATA else [decode_event(buffer.kind, buffer.payload)]
    return found


def test_the_snapshot_is_taken_at_once_and_what_comes_before_the_barriers_is_recorded() -> None:
    feed = Feed(2)
    feed.data(0, "a1")
    feed.overtake()
    assert feed.steps == ["a1", TakeCheckpoint(Barrier(1, 0), True)] and feed.gate.recording
    feed.data(0, "a2")
    feed.event(1, Watermark(5))
    feed.event(1, Barrier(1, 0))
    feed.data(1, "b2")
    feed.data(0, "a3")
    feed.event(0, Barrier(1, 0))
    assert feed.steps[2:] == [("recorded", 1, ["a2", Watermark(5), "a3"])] and not feed.gate.recording
    feed.data(0, "a4")
    feed.work_off()
    assert feed.steps[3:] == ["a2", "b2", "a3", "a4"]
    assert feed.gate.backlog_bytes == 0


def test_a_switch_in_the_midst_of_an_alignment_lets_the_channels_go_on_that_were_held_back() -> None:
    feed = Feed(3)
    feed.event(0, Barrier(1, 0))
    feed.data(0, "a behind")
    feed.data(1, "b before")
    assert feed.steps == ["b before"] and feed.gate.held_bytes > 0
    feed.overtake()
    assert feed.steps[1:] == [TakeCheckpoint(Barrier(1, 0), True)] and feed.gate.held_bytes == 0
    feed.data(1, "b on its way")
    feed.event(1, Barrier(1, 0))
    feed.event(2, Barrier(1, 0))
    assert feed.steps[2:] == [("recorded", 1, ["b on its way"])]
    feed.work_off()
    assert feed.steps[3:] == ["a behind", "b on its way"]


def test_barriers_of_broadcast_and_pointwise_edges_do_not_overtake() -> None:
    feed = Feed(2, aligned=1)
    feed.event(0, Barrier(1, 0))
    feed.overtake()
    feed.data(0, "held back")
    feed.data(2, "rule")
    assert feed.steps == ["rule"] and not feed.gate.recording
    feed.event(2, Barrier(1, 0))
    assert feed.steps[1:] == [TakeCheckpoint(Barrier(1, 0), True)]
    feed.data(2, "rule behind")
    feed.data(1, "on its way")
    feed.event(1, Barrier(1, 0))
    assert feed.steps[2:] == [("recorded", 1, ["on its way"])]
    feed.work_off()
    assert feed.steps[3:] == ["held back", "rule behind", "on its way"]


def test_a_task_with_nothing_but_such_edges_aligns() -> None:
    feed = Feed(0, aligned=2)
    feed.overtake()
    feed.event(0, Barrier(1, 0))
    feed.data(1, "before")
    feed.event(1, Barrier(1, 0))
    assert feed.steps == ["before", TakeCheckpoint(Barrier(1, 0))]


def test_a_checkpoint_that_was_taken_before_is_not_taken_again() -> None:
    feed = Feed(1)
    feed.event(0, Barrier(1, 0))
    feed.overtake()
    assert feed.steps == [TakeCheckpoint(Barrier(1, 0))]


def test_a_channel_that_ends_has_nothing_more_to_record() -> None:
    feed = Feed(2)
    feed.overtake()
    feed.data(0, "last")
    feed.event(0, EndOfInput())
    feed.event(1, EndOfInput())
    assert feed.steps[1:] == [("recorded", 1, ["last"])]
    assert not feed.gate.ended
    feed.work_off()
    assert feed.steps[2] == "last" and feed.gate.ended


def test_a_newer_barrier_gives_the_recording_up() -> None:
    feed = Feed(2)
    feed.overtake()
    feed.data(0, "a")
    feed.event(0, Barrier(2, 0))
    assert feed.steps[1:] == [AbortCheckpoint(1)] and not feed.gate.recording
    feed.event(1, Barrier(2, 0))
    feed.work_off()
    assert feed.steps[2:] == ["a", TakeCheckpoint(Barrier(2, 0))]


def test_the_coordinator_gives_the_recording_up() -> None:
    feed = Feed(2)
    feed.overtake()
    feed.data(0, "a")
    feed.gate.abort(1)
    feed.event(0, Barrier(1, 0))
    feed.work_off()
    assert feed.steps[1:] == ["a"] and not feed.gate.recording and feed.gate.pending is None


def test_records_that_wait_from_the_checkpoint_before_go_into_the_next_one_as_well() -> None:
    feed = Feed(2)
    feed.overtake(1)
    feed.data(0, "a1")
    feed.event(0, Barrier(1, 0))
    feed.data(0, "a2")
    feed.event(1, Barrier(1, 0))
    feed.event(0, Barrier(2, 0))
    feed.data(0, "a3")
    feed.overtake(2)
    assert feed.steps[1:] == [("recorded", 1, ["a1"]), TakeCheckpoint(Barrier(2, 0), True)]
    feed.event(1, Barrier(2, 0))
    feed.work_off()
    assert feed.steps[3:] == [("recorded", 2, ["a1", "a2"]), "a1", "a2", "a3"]


def test_a_gate_with_no_open_channel_has_nothing_to_overtake() -> None:
    feed = Feed(1)
    feed.event(0, EndOfInput())
    before = len(feed.steps)
    feed.overtake()
    assert len(feed.steps) == before


def test_watermarks_of_the_backlog_count_when_they_are_processed() -> None:
    feed = Feed(1)
    feed.overtake()
    feed.data(0, "early")
    feed.event(0, Watermark(10))
    feed.event(0, Barrier(1, 0))
    assert feed.gate.valve.current < 0
    feed.work_off()
    assert feed.steps[-2:] == ["early", AdvanceTime(10)]


@pytest.mark.parametrize("aligned", [0, 2])
@given(seed=st.integers(0, 2**32), channels=st.integers(1, 4))
def test_snapshot_and_recorded_buffers_are_what_came_before_the_barriers(seed: int, channels: int, aligned: int) -> None:
    """Whatever the order of arrival, and whenever each checkpoint begins to overtake, if at all."""
    note(f"seed {seed}")
    random = Random(seed)
    count = channels + aligned
    scripts: list[list[object]] = []
    for channel in range(count):
        script: list[object] = []
        for checkpoint in (1, 2, 3, 4):
            script += [(channel, checkpoint, i) for i in range(random.randrange(4))]
            script.append(Barrier(checkpoint, 0) if checkpoint < 4 else EndOfInput())
        scripts.append(script)
    everything = {v for script in scripts for v in script if isinstance(v, tuple)}
    feed = Feed(channels, aligned=aligned)
    complete = 0
    while any(scripts) or feed.gate.backlog:
        # As the coordinator does it: a checkpoint begins when the one before is complete, so no channel is two barriers ahead.
        open_scripts = [c for c in range(count) if scripts[c] and not is_ahead(scripts[c][0], complete)]
        choices = ["bring"] * 3 * bool(open_scripts) + ["work off"] * bool(feed.gate.backlog) + ["overtake"]
        choice = random.choice(choices)
        if choice == "overtake" and complete < 3:
            feed.overtake(complete + 1)
        elif choice == "work off":
            feed.note(feed.gate.work_off())
        elif choice == "bring":
            channel = random.choice(open_scripts)
            item = scripts[channel].pop(0)
            feed.event(channel, item) if isinstance(item, (Barrier, EndOfInput)) else feed.data(channel, item)
        complete = max([complete, *(done_of(feed.steps))])
    check(feed.steps, everything, count)


def is_ahead(item: object, complete: int) -> bool:
    return isinstance(item, Barrier) and item.checkpoint_id > complete + 1


def done_of(steps: list[object]) -> list[int]:
    aligned = [s.barrier.checkpoint_id for s in steps if isinstance(s, TakeCheckpoint) and not s.unaligned]
    return aligned + [s[1] for s in steps if isinstance(s, tuple) and s[0] == "recorded"]


def check(steps: list[object], everything: set[tuple[int, int, int]], count: int) -> None:
    processed: list[tuple[int, int, int]] = []
    at_snapshot: dict[int, set[tuple[int, int, int]]] = {}
    recorded: dict[int, list[tuple[int, int, int]]] = {}
    for step in steps:
        if isinstance(step, TakeCheckpoint):
            at_snapshot[step.barrier.checkpoint_id] = set(processed)
        elif isinstance(step, tuple) and step[0] == "recorded":
            recorded[step[1]] = step[2]
        elif isinstance(step, tuple):
            processed.append(step)
    assert sorted(processed) == sorted(everything), "each record is processed once"
    for channel in range(count):
        mine = [v for v in processed if v[0] == channel]
        assert mine == sorted(mine), "order within the channel"
    assert set(at_snapshot) == {1, 2, 3}
    for checkpoint, seen in at_snapshot.items():
        before = {v for v in everything if v[1] <= checkpoint}
        flying = recorded.get(checkpoint, [])
        assert len(flying) == len(set(flying)) and not seen & set(flying)
        assert seen | set(flying) == before, "snapshot and recorded buffers make a consistent cut"


@pytest.mark.parametrize("holds_producers", [False, True])
def test_what_an_alignment_holds_back_counts_as_taken_once(holds_producers: bool) -> None:
    feed = Feed(2)
    flow = InputFlow(feed.keys, 1000, 200, lambda: 0.0)
    feed.gate = InputGate(dict.fromkeys(feed.keys, 0), exactly_once=True, flow=flow, holds_producers=holds_producers)

    def taken() -> dict[tuple[int, int], int]:
        return dict(flow._taken)

    feed.event(0, Barrier(1, 0))
    before = taken()[0, 0]
    feed.data(0, "held")
    held_bytes = feed.gate.held_bytes
    assert held_bytes > 0 and feed.steps == []
    assert taken() == {(0, 0): before if holds_producers else before + held_bytes, (0, 1): 0}
    feed.event(1, Barrier(1, 0))
    feed.work_off()
    assert feed.steps[-1] == "held"
    assert taken()[0, 0] == before + held_bytes

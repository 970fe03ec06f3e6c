"""How far producers may run ahead: by the rate of a busy task, and as far as they like when it is not."""

from __future__ import annotations

from collections import deque

import pytest

from wiesel.runtime.flow import FIRST_BYTES, InputFlow, Taken
from wiesel.runtime.record_writer import ChannelTarget, Distributor, EdgeWriter, RowSink
from wiesel.wire.batch import Batch
from wiesel.wire.buffers import HEADER_BYTES, Buffer, decode_batch, read_buffers
from wiesel.wire.events import Watermark

A, B = (0, 0), (0, 1)


class Feed:
    """A flow on a clock that is set by hand, and what it tells."""

    def __init__(self, *channels: tuple[int, int]) -> None:
        self.now_s = 0.0
        self.flow = InputFlow(channels, target_ms=1000, period_ms=200, clock=lambda: self.now_s)
        self.windows: list[int | None] = []
        self.last: Taken | None = None

    def process(self, channel: tuple[int, int], size: int, seconds: float) -> None:
        """Process one buffer; time is told at its beginning and its end, as the shell does."""
        self.flow.took(channel, size)
        self.on_time()
        self.now_s += seconds
        self.on_time()

    def on_time(self) -> None:
        now_ms = round(self.now_s * 1e3)
        due_ms = self.flow.deadline_ms(now_ms)
        if due_ms is not None and due_ms <= now_ms:
            self._note(self.flow.on_time(now_ms))

    def idle(self, seconds: float = 0.0) -> None:
        self._note(self.flow.on_idle())
        self.now_s += seconds

    def _note(self, told: Taken | None) -> None:
        if told is not None:
            self.last = told
            self.windows.append(told.window)


def test_a_busy_task_lets_wait_what_it_processes_in_the_target() -> None:
    feed = Feed(A, B)
    for _ in range(500):
        feed.process(A, 400, 0.010)
        feed.process(B, 400, 0.010)
    # 40 kB a second, on two channels.
    assert feed.last is not None and feed.last.window is not None and abs(feed.last.window - 20_000) < 1000
    assert feed.last.bytes_by_channel.keys() == {A, B}


def test_channels_over_which_nothing_comes_take_no_share() -> None:
    feed = Feed(A, B)
    for _ in range(1000):
        feed.process(A, 400, 0.010)
    assert feed.last is not None and feed.last.window is not None and abs(feed.last.window - 40_000) < 1000


def test_a_task_that_waits_for_input_is_measured_while_it_has_some() -> None:
    feed = Feed(A)
    for _ in range(300):
        feed.process(A, 1000, 0.010)
        feed.idle(0.100)
    # 100 kB a second; with the time in which it has nothing to do it would be 9 kB.
    assert feed.last is not None and feed.last.window is not None and abs(feed.last.window - 100_000) < 15_000


def test_a_fast_task_sets_no_limit_and_tells_nothing_more() -> None:
    feed = Feed(A)
    for _ in range(100):
        feed.process(A, 2000, 0.0001)
        feed.idle(0.001)
    assert feed.windows[-1] is None
    told = len(feed.windows)
    for _ in range(2000):
        feed.process(A, 65_536, 0.001)
    assert len(feed.windows) == told


def test_large_records_have_a_limit_where_small_ones_of_that_rate_have_none() -> None:
    feed = Feed(A)
    for _ in range(300):
        feed.process(A, 1 << 20, 0.100)
    assert feed.last is not None and feed.last.window is not None and 9 << 20 < feed.last.window < 11 << 20


def test_large_records_are_limited_by_what_the_exchange_brings_to_a_task_that_is_faster() -> None:
    feed = Feed(A, B)
    for _ in range(400):
        feed.process(A, 1 << 20, 0.010)
        feed.idle(0.240)
    # 4 MB a second come over one channel, and twice as much may be on its way; the task could take 100 MB a second.
    assert feed.last is not None and feed.last.window is not None and 7 << 20 < feed.last.window < 11 << 20
    for _ in range(400):
        feed.process(A, 1 << 20, 0.010)
        feed.idle(0.040)
    assert feed.windows[-1] is None, "20 MB a second: the exchange holds less than that"


def test_a_task_that_has_nothing_to_do_widens_the_limit_step_by_step_until_there_is_none() -> None:
    feed = Feed(A)
    feed.idle()
    assert feed.windows == [], "it has taken nothing: the limit is not the reason"
    feed.process(A, FIRST_BYTES // 4, 0)
    feed.idle()
    assert feed.windows == [], "its producer may send more, and has not"
    for _ in range(8):
        for _ in range(4):
            feed.process(A, (feed.flow._window or 4) // 4, 0)
        feed.idle()
    assert feed.windows == [FIRST_BYTES * 4**n for n in range(1, 7)] + [None]


def test_a_task_never_widens_the_limit_beyond_what_it_has_shown() -> None:
    feed = Feed(A)
    for _ in range(20):
        feed.process(A, 100, 0.500)
        feed.idle(0.010)
    # 200 bytes a second, from the first buffer on.
    assert feed.windows and all(window is not None and window <= 200 for window in feed.windows)


def test_a_slow_buffer_is_forgotten_when_the_next_ones_are_fast() -> None:
    feed = Feed(A)
    feed.process(A, 100, 60.0)
    for _ in range(3000):
        feed.process(A, 1000, 0.0002)
        feed.idle(0.001)
    assert feed.windows[-1] is None


def test_bursts_of_a_task_whose_receiver_is_slow_do_not_widen_the_limit() -> None:
    feed = Feed(A)
    for _ in range(50):
        feed.process(A, 100, 0.100)
    settled = len(feed.windows)
    for _ in range(50):  # the receiver takes a whole limit at once, and the rest of the second nothing
        for _ in range(8):
            feed.process(A, 100, 0.0001)
            feed.idle()
        feed.process(A, 200, 0.9)
    # 1,000 bytes a second; 800 bytes in a millisecond are no rate.
    assert feed.windows[settled:] and all(window is not None and window < 2000 for window in feed.windows[settled:])


def test_few_messages_are_sent_while_nothing_comes_near_the_limit() -> None:
    feed = Feed(A)
    for _ in range(2000):
        feed.process(A, 1000, 0.010)
    told = len(feed.windows)
    for _ in range(100):  # 20 s with a fifth of that
        feed.process(A, 200, 0.002)
        feed.idle(0.198)
    assert len(feed.windows) - told <= 1
    assert feed.windows[-1] is not None


@pytest.mark.parametrize("record_ms", [1, 5, 50, 100])
def test_what_waits_for_a_slow_task_stays_what_it_takes_in_some_seconds(record_ms: int) -> None:
    """A writer that is as fast as it may be, and a receiver that takes so long for each record; both in steps of a virtual clock."""
    writer, rows = writer_to(0)
    now_ms = 0
    flow = InputFlow([(0, 0)], target_ms=1000, period_ms=200, clock=lambda: now_ms / 1e3)
    writer.limit(FIRST_BYTES)
    on_the_way: deque[Buffer] = deque()
    sent = processed = 0
    most_ms = 0
    free_at_ms = 0
    for now_ms in range(0, 60_000, 10):
        while not writer.ahead:
            room = writer.inputs_at_once(sent)
            count = 4096 if room is None else min(4096, max(1, room))
            writer.emit(Batch([sent + i for i in range(count)], None, [(sent + i) % 1000 for i in range(count)]), now_ms)
            sent += count
        writer.on_time(now_ms)
        on_the_way.extend(buffer for _, row in rows.drain() for buffer in read_buffers(row))
        while free_at_ms <= now_ms and on_the_way:
            buffer = on_the_way.popleft()
            flow.took((0, 0), len(buffer.raw))
            free_at_ms = now_ms + record_ms * len(decode_batch(buffer.payload).values)
            processed += len(decode_batch(buffer.payload).values)
        due_ms = flow.deadline_ms(now_ms)
        if due_ms is not None and due_ms <= now_ms and (told := flow.on_time(now_ms)):
            writer.limit(told.window, taken=told.bytes_by_channel[(0, 0)])
        most_ms = max(most_ms, (sent - processed) * record_ms + free_at_ms - now_ms)
    assert processed * record_ms > 55_000, "the receiver was kept busy"
    assert most_ms < 4000, "from the first record on"


def test_nothing_is_due_while_nothing_is_taken() -> None:
    flow = Feed(A).flow
    assert flow.deadline_ms(0) is None and flow.on_time(1000) is None


def writer_to(*partitions: int) -> tuple[EdgeWriter, RowSink]:
    rows = RowSink()
    targets = [ChannelTarget(1, p, p) for p in partitions]
    return EdgeWriter(0, 0, targets, Distributor(), rows, buffer_bytes=65536, timeout_ms=100), rows


def test_a_writer_is_ahead_when_more_is_on_its_way_than_may_be() -> None:
    writer, rows = writer_to(0, 1)
    assert not writer.ahead
    writer.limit(100)
    writer.emit(Batch([b"x" * 200]), 0)
    writer.flush()
    ((_, row),) = rows.drain()
    (buffer,) = read_buffers(row)
    assert len(buffer.raw) == HEADER_BYTES + len(buffer.payload) and writer.ahead
    writer.limit(100, taken=len(buffer.raw) - 100, target=(1, 0))
    assert not writer.ahead
    writer.broadcast_event(Watermark(1))
    assert writer.ahead
    writer.limit(None, target=(1, 0))
    assert not writer.ahead, "the other channel has sent next to nothing"


def test_a_channel_is_half_way_before_its_writer_is_ahead() -> None:
    writer, _ = writer_to(0)
    assert not writer.half_way
    writer.limit(500)
    writer.emit(Batch([b"x" * 300]), 0)
    writer.flush()
    assert writer.half_way and not writer.ahead
    writer.limit(500, taken=300, target=(1, 0))
    assert not writer.half_way


@pytest.mark.parametrize(
    ("records_in", "records_out", "at_once"),
    [(0, 0, 10), (99, 0, 640), (1_000_000, 0, 640), (999, 499, 20), (100, 100, 10), (99, 299, 3), (9, 9999, 1)],
)
def test_slices_follow_from_the_room_and_from_the_outputs_per_input(records_in: int, records_out: int, at_once: int) -> None:
    writer, _ = writer_to(0)
    assert writer.inputs_at_once(records_in) is None, "no limit"
    writer.records_out = records_out
    writer.limit(640)  # a record is taken for 64 bytes before the first one
    assert writer.inputs_at_once(records_in) == at_once


def test_buffers_are_small_where_little_may_be_on_its_way() -> None:
    writer, rows = writer_to(0)
    writer.limit(16384)
    writer.emit(Batch([bytes([i % 251]) * 60 for i in range(1000)]), 0)
    sizes = [len(b.raw) for _, row in rows.drain() for b in read_buffers(row)]
    assert sizes, "a batch is one buffer at least"
    writer.emit(Batch([bytes([i % 251]) * 60 for i in range(70)]), 1)
    assert rows, "4 kB are a full buffer now"
    writer.limit(None)
    rows.drain()
    writer.emit(Batch([bytes([i % 251]) * 60 for i in range(70)]), 2)
    assert not rows

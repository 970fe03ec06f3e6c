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


def a_second(flow: InputFlow, start_ms: int, per_period: int) -> Taken | None:
    """Take so many bytes of channel A in each of five periods; return what was told last."""
    told = None
    for period in range(5):
        flow.took(A, per_period)
        begin_ms = start_ms + period * 200
        assert flow.deadline_ms(begin_ms) == begin_ms + 200
        told = flow.on_time(begin_ms + 200)
    return told


def test_a_busy_task_lets_wait_what_it_takes_in_the_target() -> None:
    flow = InputFlow([A, B], target_ms=1000, period_ms=200)
    for second in range(5):
        told = a_second(flow, second * 1000, per_period=8000)
    # 40 kB a second, on two channels.
    assert told is not None and abs(told.window - 20_000) < 100
    assert told.bytes_by_channel == {A: 25 * 8000, B: 0}


def test_a_fast_task_sets_no_limit_and_tells_nothing_more() -> None:
    flow = InputFlow([A], target_ms=1000, period_ms=200)
    first = flow.took(A, 2_000_000), flow.deadline_ms(0), flow.on_time(200)
    assert first[2] == Taken({A: 2_000_000}, None)
    assert a_second(flow, 200, per_period=2_000_000) is None


def test_a_task_that_has_nothing_to_do_widens_the_limit_until_there_is_none() -> None:
    flow = InputFlow([A], target_ms=1000, period_ms=200)
    assert flow.on_idle() is None, "it has taken nothing: the limit is not the reason"
    flow.took(A, FIRST_BYTES // 4)
    assert flow.on_idle() is None, "its producer may send more, and has not"
    windows = []
    for _ in range(6):
        flow.took(A, flow._window or 1)
        told = flow.on_idle()
        windows.append(told and told.window)
    assert windows == [4 * FIRST_BYTES, 16 * FIRST_BYTES, 64 * FIRST_BYTES, 256 * FIRST_BYTES, None, None] and told is None
    # The rate of a period in which it was starved limits nothing.
    flow.deadline_ms(0)
    assert flow.on_time(200) is None


def test_a_limit_is_never_too_small_for_some_buffers() -> None:
    flow = InputFlow([A], target_ms=1000, period_ms=200)
    for second in range(10):
        told = a_second(flow, second * 1000, per_period=10)
    assert told is not None and told.window == 256


def test_a_buffer_that_takes_longer_than_a_period_does_not_count_as_fast() -> None:
    flow = InputFlow([A], target_ms=1000, period_ms=200)
    windows = []
    for now_ms in range(0, 14_000, 50):
        if now_ms % 700 == 0:
            flow.took(A, 700)
        due_ms = flow.deadline_ms(now_ms)
        if due_ms is not None and due_ms <= now_ms:
            told = flow.on_time(now_ms)
            windows.append(told and told.window)
    # 700 bytes in 700 ms; the first period is one of the first buffer alone.
    assert len(windows) == 20 and all(window is not None and 900 < window < 1100 for window in windows[-10:]), windows


@pytest.mark.parametrize("record_ms", [1, 5, 50])
def test_what_waits_for_a_slow_task_stays_what_it_takes_in_some_seconds(record_ms: int) -> None:
    """A writer that is as fast as it may be, and a receiver that takes so long for each record; both in steps of a virtual clock."""
    writer, rows = writer_to(0)
    flow = InputFlow([(0, 0)], target_ms=1000, period_ms=200)
    writer.limit(FIRST_BYTES)
    on_the_way: deque[Buffer] = deque()
    sent = processed = 0
    most_ms = 0
    free_at_ms = 0
    for now_ms in range(0, 60_000, 10):
        while not writer.ahead:
            writer.emit(Batch([sent + i for i in range(64)], None, [(sent + i) % 1000 for i in range(64)]), now_ms)
            sent += 64
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
        if now_ms > 20_000:
            most_ms = max(most_ms, (sent - processed) * record_ms + free_at_ms - now_ms)
    assert processed * record_ms > 55_000, "the receiver was kept busy"
    # A batch of 64 records is sent as a whole: 3.2 s of 50 ms each.
    assert most_ms < 2500 + 64 * record_ms * 2


def test_nothing_is_due_while_nothing_is_taken() -> None:
    flow = InputFlow([A], target_ms=1000, period_ms=200)
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

"""How far producers may run ahead: by the rate of a busy task, and as far as they like when it is not."""

from __future__ import annotations

from wiesel.runtime.flow import FIRST_BYTES, InputFlow, Taken
from wiesel.runtime.record_writer import ChannelTarget, Distributor, EdgeWriter, RowSink
from wiesel.wire.batch import Batch
from wiesel.wire.buffers import HEADER_BYTES, read_buffers
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
    windows = []
    for _ in range(4):
        flow.took(A, FIRST_BYTES)
        told = flow.on_idle()
        windows.append(told and told.window)
    assert windows == [4 * FIRST_BYTES, 16 * FIRST_BYTES, None, None] and told is None
    # The rate of a period in which it was starved limits nothing.
    flow.deadline_ms(0)
    assert flow.on_time(200) is None


def test_a_limit_is_never_too_small_for_some_buffers() -> None:
    flow = InputFlow([A], target_ms=1000, period_ms=200)
    for second in range(10):
        told = a_second(flow, second * 1000, per_period=10)
    assert told is not None and told.window == 2048


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

"""The output side: who gets which record, and when a buffer leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from wiesel.core.errors import ProgramError
from wiesel.runtime.record_writer import ByChannel, ChannelTarget, Distributor, EdgeWriter, Pace, RoundRobin, RowSink
from wiesel.wire.batch import Batch
from wiesel.wire.buffers import DATA, decode_batch, decode_event, read_buffers
from wiesel.wire.events import Barrier, Watermark


class Channels:
    """An edge writer with its rows decoded again."""

    def __init__(
        self, n: int, distributor: Distributor, *, timeout_ms: int = 100, buffer_bytes: int = 1 << 20, broadcast: bool = False
    ) -> None:
        self.rows = RowSink()
        targets = [ChannelTarget(1, c, c) for c in range(n)]
        self.writer = EdgeWriter(
            0, 0, targets, distributor, self.rows, buffer_bytes=buffer_bytes, timeout_ms=timeout_ms, broadcast=broadcast
        )

    def received(self) -> dict[int, list[object]]:
        out: dict[int, list[object]] = {}
        for partition, row in self.rows.drain():
            for buffer in read_buffers(row):
                assert buffer.partition == partition
                items = out.setdefault(partition, [])
                if buffer.kind == DATA:
                    items += decode_batch(buffer.payload).values
                else:
                    items.append(decode_event(buffer.kind, buffer.payload))
        return out


def by_value(choose: Callable[[int], int]) -> ByChannel:
    def channels(batch: Batch, n: int) -> Sequence[int]:
        return [choose(v) for v in batch.values]

    return ByChannel(channels)


def test_round_robin_goes_on_where_it_stopped() -> None:
    c = Channels(3, RoundRobin(0))
    c.writer.emit(Batch([0, 1, 2, 3]), 0)
    c.writer.emit(Batch([4, 5]), 0)
    c.writer.flush()
    assert c.received() == {0: [0, 3], 1: [1, 4], 2: [2, 5]}


def test_by_channel_keeps_order_timestamps_and_keys_together() -> None:
    c = Channels(2, by_value(lambda v: v % 2))
    c.writer.emit(Batch([1, 2, 3, 4, 6], [10, 20, 30, 40, 60], ["a", "b", "c", "d", "f"]), 0)
    c.writer.flush()
    batches = {p: [decode_batch(b.payload) for b in read_buffers(row)] for p, row in c.rows.drain()}
    assert [(b.values, b.timestamps, b.keys) for b in batches[0]] == [([2, 4, 6], [20, 40, 60], ["b", "d", "f"])]
    assert [(b.values, b.timestamps, b.keys) for b in batches[1]] == [([1, 3], [10, 30], ["a", "c"])]


def test_a_channel_that_does_not_exist_is_a_clear_error() -> None:
    c = Channels(2, by_value(lambda v: v))
    with pytest.raises(ProgramError, match="chose channel 7 of 2"):
        c.writer.emit(Batch([0, 7]), 0)


def test_a_full_buffer_leaves_at_once() -> None:
    c = Channels(1, Distributor(), buffer_bytes=1000)
    c.writer.emit(Batch(["x" * 600]), 0)
    c.writer.emit(Batch(["y" * 600] * 20), 0)
    assert len(c.received()[0]) >= 20


def test_a_waiting_buffer_leaves_when_its_timeout_has_passed() -> None:
    c = Channels(1, Distributor(), timeout_ms=100)
    c.writer.emit(Batch(["a"]), 1000)
    c.writer.emit(Batch(["b"]), 1050)
    assert c.writer.deadline_ms() == 1100
    c.writer.on_time(1099)
    assert c.received() == {}
    c.writer.on_time(1100)
    assert c.received() == {0: ["a", "b"]}
    assert c.writer.deadline_ms() is None


def test_what_would_leave_too_late_leaves_before_a_long_slice() -> None:
    c = Channels(1, Distributor(), timeout_ms=100)
    c.writer.flush_before(10_000, 1_000)
    assert c.received() == {}, "nothing waits"
    c.writer.emit(Batch(["a"]), 1_000)
    c.writer.flush_before(100, 1_000)
    assert c.received() == {}
    c.writer.flush_before(101, 1_000)
    assert c.received() == {0: ["a"]}
    assert c.writer.deadline_ms() is None


def test_timeout_zero_sends_every_batch_and_minus_one_waits_until_full_or_an_event() -> None:
    at_once = Channels(1, Distributor(), timeout_ms=0)
    at_once.writer.emit(Batch(["a"]), 0)
    assert at_once.received() == {0: ["a"]}
    only_full = Channels(1, Distributor(), timeout_ms=-1)
    only_full.writer.emit(Batch(["a"]), 0)
    assert only_full.writer.deadline_ms() is None
    only_full.writer.on_time(10**12)
    assert only_full.received() == {}


def test_with_nothing_else_to_do_a_buffer_leaves_after_a_quarter_of_its_timeout_since_the_last() -> None:
    c = Channels(1, Distributor(), timeout_ms=100)
    c.writer.emit(Batch([1]), 1_000)
    c.writer.on_idle(1_000)
    assert c.received() == {0: [1]}  # the last one left long ago: at once
    c.writer.emit(Batch([2]), 1_010)
    c.writer.on_idle(1_010)
    assert c.received() == {}
    assert c.writer.idle_deadline_ms() == 1_025
    c.writer.emit(Batch([3]), 1_020)
    c.writer.on_idle(1_025)
    assert c.received() == {0: [2, 3]}
    assert c.writer.idle_deadline_ms() is None


def test_idle_flushes_keep_a_distance_that_grows_with_the_channels_up_to_the_timeout() -> None:
    for channels, timeout_ms, distance_ms in [(1, 5, 1), (3, 5, 3), (64, 5, 5), (2, 100, 25), (64, 100, 64), (500, 100, 100)]:
        c = Channels(channels, RoundRobin(0), timeout_ms=timeout_ms)
        c.writer.emit(Batch([1]), 1_000)
        c.writer.on_idle(1_000)
        c.writer.emit(Batch([2]), 1_000)
        assert c.writer.idle_deadline_ms() == 1_000 + distance_ms


def test_a_writer_without_timeout_does_not_flush_when_idle() -> None:
    c = Channels(1, Distributor(), timeout_ms=-1)
    c.writer.emit(Batch([1]), 1_000)
    c.writer.on_idle(9_000)
    assert c.received() == {}


def test_a_full_buffer_holds_what_a_channel_moves_in_eight_milliseconds() -> None:
    pace = Pace(65_536, channels=2)
    pace.at(0)
    assert pace.full_bytes == 65_536
    now_ms = 0
    for _ in range(20):  # 4 MB/s over two channels: 2,000 bytes per ms and channel
        pace.bytes += 400_000
        now_ms += 100
        pace.at(now_ms)
    assert pace.full_bytes == pytest.approx(16_000, rel=0.01)
    for _ in range(20):  # nothing: never less than 4 KB
        now_ms += 100
        pace.at(now_ms)
    assert pace.full_bytes == 4_096
    for _ in range(20):  # 100 MB/s: never more than the option says
        pace.bytes += 10_000_000
        now_ms += 100
        pace.at(now_ms)
    assert pace.full_bytes == 65_536


def test_an_event_flushes_and_goes_to_all_channels_behind_the_records() -> None:
    c = Channels(2, by_value(lambda v: 0))
    c.writer.emit(Batch([1, 2]), 0)
    c.writer.broadcast_event(Barrier(3, 7))
    c.writer.broadcast_event(Watermark(9))
    assert c.received() == {0: [1, 2, Barrier(3, 7), Watermark(9)], 1: [Barrier(3, 7), Watermark(9)]}


def test_broadcast_sends_all_records_to_all_channels() -> None:
    c = Channels(3, Distributor(), broadcast=True)
    c.writer.emit(Batch([1, 2]), 0)
    c.writer.flush()
    assert c.received() == {0: [1, 2], 1: [1, 2], 2: [1, 2]}


def test_records_with_and_without_timestamps_share_a_buffer() -> None:
    c = Channels(1, Distributor())
    c.writer.emit(Batch([1]), 0)
    c.writer.emit(Batch([2], [20]), 0)
    c.writer.flush()
    ((_, row),) = c.rows.drain()
    (buffer,) = read_buffers(row)
    assert decode_batch(buffer.payload).timestamps == [None, 20]


def test_what_is_received_is_read_in_place() -> None:
    c = Channels(2, RoundRobin(0))
    c.writer.emit(Batch(list(range(1_000))), 0)
    c.writer.flush()
    for _, row in c.rows.drain():
        for buffer in read_buffers(row):
            assert buffer.payload.obj is row
            assert buffer.raw.obj is row

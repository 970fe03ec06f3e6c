"""What workers pass on for others: where to, in which order, bounded, and to the end of it."""

from __future__ import annotations

import random
import threading
import time

import pytest

from wiesel.engine.spark.arrow_rows import row_batch
from wiesel.engine.spark.relay import Outlet, OutletClosedError, Relay
from wiesel.wire.buffers import DATA, header, read_buffers

LEVEL, NEXT = 2, 3
PATIENCE_S = 100.0


def buffer(level: int, partition: int, sequence: int, size: int = 5) -> bytes:
    payload = bytes([sequence % 256]) * size
    return header(level, partition, 0, 0, DATA, sequence, size) + payload


def test_buffers_go_to_their_target_or_to_its_relay_and_are_not_touched() -> None:
    relay = Relay(LEVEL, NEXT)
    own, behind, far = buffer(LEVEL, 0, 1), buffer(LEVEL + 1, 2, 2), buffer(LEVEL + 2, 4, 3)
    assert relay.take(own) == ([], True)
    assert relay.take(behind) == ([(2, behind)], False)
    assert relay.take(far) == ([(4 % NEXT, far)], False)
    rows, has_own = relay.take(far + own + behind + far)
    assert has_own and dict(rows) == {1: far + far, 2: behind}


def test_each_threads_batches_keep_their_order() -> None:
    """Channels stay FIFO: what is relayed and what the task emits are of different channels, each put out by one thread."""
    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    outlet, relay, count = Outlet(), Relay(LEVEL, NEXT), 300

    def put(partition: int, chance: random.Random, done: threading.Event) -> None:
        for sequence in range(count):
            row = buffer(LEVEL + 1, partition, sequence)
            rows = relay.take(row)[0] if partition == 0 else [(partition, row)]
            outlet.put(row_batch(rows, []), [p for p, _ in rows])
            if chance.random() < 0.02:
                time.sleep(0.001)
        done.set()

    finished = [threading.Event(), threading.Event()]
    for partition, done in enumerate(finished):
        threading.Thread(target=put, args=(partition, random.Random(seed + partition), done), daemon=True).start()
    threading.Thread(target=lambda: [*(done.wait(PATIENCE_S) for done in finished), outlet.end()], daemon=True).start()
    seen: dict[int, list[int]] = {0: [], 1: []}
    last: dict[int, bool] = {}
    for batch in outlet.batches():
        for partition, row in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True):
            last[partition] = row is None
            seen[partition] += [] if row is None else [b.sequence for b in read_buffers(row)]
    assert seen == {0: list(range(count)), 1: list(range(count))}
    assert last == {0: True, 1: True}, "a filler is behind the last row of each partition"


def test_a_filler_follows_when_nothing_else_does() -> None:
    outlet = Outlet()
    batches = outlet.batches()
    outlet.put(row_batch([(4, b"a")], []), [4])
    outlet.put(row_batch([(4, b"b")], []), [4])
    assert [next(batches).to_pydict() for _ in range(3)] == [{"p": [4], "v": [b"a"]}, {"p": [4], "v": [b"b"]}, {"p": [4], "v": [None]}]


def test_who_puts_out_more_than_is_taken_waits_until_nobody_takes_it_any_more() -> None:
    outlet, batch, ended = Outlet(), row_batch([(0, b"a")], []), threading.Event()
    put: list[int] = []

    def work() -> None:
        try:
            for number in range(100):
                outlet.put(batch)
                put.append(number)
        except OutletClosedError:
            ended.set()

    for _ in range(2):
        threading.Thread(target=work, daemon=True).start()
    batches = outlet.batches()
    next(batches)
    next(batches)
    deadline_s = time.monotonic() + PATIENCE_S
    while len(put) < 3 and time.monotonic() < deadline_s:
        time.sleep(0.01)
    time.sleep(0.1)
    assert len(put) == 3  # one was let go of, and two wait or are being taken
    outlet.close()
    assert ended.wait(PATIENCE_S)


def test_an_error_comes_out_behind_what_was_there_before() -> None:
    outlet = Outlet()
    outlet.put(row_batch([(0, b"a")], []))
    outlet.end(ValueError("broken"))
    batches = outlet.batches()
    next(batches)
    with pytest.raises(ValueError, match="broken"):
        next(batches)

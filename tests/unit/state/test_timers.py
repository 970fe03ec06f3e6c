"""Timer queues."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from wiesel.state import timers as timers_module
from wiesel.state.timers import HeapTimerQueue


def drained(queue: HeapTimerQueue, until: int) -> list[tuple[int, object, object]]:
    return list(queue.pop_until(until))


def test_timers_fire_in_the_order_of_their_times() -> None:
    queue = HeapTimerQueue("event")
    for timestamp, key in [(5, "a"), (3, "b"), (5, "c"), (9, "d"), (3, "b")]:
        queue.register(timestamp, key)
    assert (len(queue), queue.next_timestamp()) == (4, 3)
    assert drained(queue, 5) == [(3, "b", None), (5, "a", None), (5, "c", None)]
    assert (len(queue), queue.next_timestamp()) == (1, 9)


def test_deleted_timers_do_not_fire() -> None:
    queue = HeapTimerQueue("event")
    queue.register(1, "a")
    queue.register(1, "a", "window")
    queue.delete(1, "a")
    queue.delete(1, "a")
    queue.delete(7, "never")
    assert drained(queue, 10) == [(1, "a", "window")]
    assert queue.next_timestamp() is None
    assert len(queue) == 0


def test_changes_while_firing_are_honoured() -> None:
    queue = HeapTimerQueue("event")
    for timestamp in (1, 2, 3, 4):
        queue.register(timestamp, "k")
    fired = []
    for timestamp, _, _ in queue.pop_until(4):
        fired.append(timestamp)
        if fired == [1, 2]:
            queue.delete(3, "k")
            queue.register(2, "k")  # now due: fires again
            queue.register(1, "late")
            queue.register(5, "not yet")
    assert fired == [1, 2, 1, 2, 4]
    assert drained(queue, 10) == [(5, "not yet", None)]


def test_timers_that_are_put_off_again_and_again_do_not_pile_up() -> None:
    queue = HeapTimerQueue("processing")
    for timestamp in range(100_000):
        queue.delete(timestamp - 1, "k")
        queue.register(timestamp, "k")
    assert len(queue) == 1
    assert len(queue._heap) < 5_000
    for _ in range(10_000):
        queue.register(7, "k")
        queue.delete(7, "k")
    assert len(queue._heap) < 5_000
    assert drained(queue, 10**9) == [(99_999, "k", None)]


@given(st.lists(st.tuples(st.sampled_from(["register", "delete", "pop"]), st.integers(0, 8), st.sampled_from("abc")), max_size=60))
def test_queue_against_a_set(steps: list[tuple[str, int, str]]) -> None:
    few, timers_module._FEW_EMPTY = timers_module._FEW_EMPTY, 2
    try:
        queue, model = HeapTimerQueue("event"), set()
        for step, timestamp, key in steps:
            if step == "pop":
                due = sorted(timer for timer in model if timer[0] <= timestamp)
                fired = drained(queue, timestamp)
                assert Counter(fired) == Counter((t, k, None) for t, k in due)
                assert [timer[0] for timer in fired] == [timer[0] for timer in due]
                model -= set(due)
            else:
                getattr(queue, step)(timestamp, key)
                (model.add if step == "register" else model.discard)((timestamp, key))
            assert len(queue) == len(model)
            assert queue.next_timestamp() == min((t for t, _ in model), default=None)
    finally:
        timers_module._FEW_EMPTY = few

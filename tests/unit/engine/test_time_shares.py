"""What the time of a task goes into, also as long as it waits."""

from __future__ import annotations

from wiesel.engine.spark.time_shares import TimeShares


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def told(shares: TimeShares) -> tuple[int, int, int]:
    metrics = shares.metrics()
    return metrics["busyTimeMsPerSecond"], metrics["idleTimeMsPerSecond"], metrics["backPressuredTimeMsPerSecond"]


def test_time_is_shared_out_between_work_and_what_was_waited_for() -> None:
    clock = Clock()
    shares = TimeShares(clock)
    clock.now += 1
    shares.begin("idle")
    clock.now += 3
    shares.end()
    shares.begin("backpressured")
    clock.now += 4
    shares.end()
    assert told(shares) == (125, 375, 500)
    clock.now += 0.1  # too short to say anything
    assert told(shares) == (125, 375, 500)
    clock.now += 0.15
    assert told(shares) == (1000, 0, 0)


def test_a_wait_that_has_not_ended_counts_already_and_only_once() -> None:
    clock = Clock()
    shares = TimeShares(clock)
    shares.begin("backpressured")
    for _ in range(3):
        clock.now += 2
        assert told(shares) == (0, 0, 1000)
    clock.now += 1
    shares.end()
    clock.now += 3
    assert told(shares) == (750, 0, 250)

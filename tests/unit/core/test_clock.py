"""The machine's clock, when somebody sets it."""

from __future__ import annotations

import time

import pytest

from wiesel.core.clock import SystemClock

HOUR_MS = 3_600_000


def test_time_never_goes_back_and_never_stands_still_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    wall_ms = 1_000 * HOUR_MS
    monkeypatch.setattr(time, "time_ns", lambda: wall_ms * 1_000_000)
    clock = SystemClock()
    assert clock.now_ms() == wall_ms
    wall_ms += HOUR_MS
    assert clock.now_ms() == wall_ms, "set forward: it follows"
    before_ms = wall_ms
    wall_ms -= 3 * HOUR_MS
    assert clock.now_ms() == before_ms, "set back: it goes on from where it was"
    wall_ms += 700
    assert clock.now_ms() == before_ms + 700
    wall_ms -= 900
    assert clock.now_ms() == before_ms + 700, "by little: it waits"
    wall_ms += 1_000
    assert clock.now_ms() == before_ms + 800
    wall_ms += 10 * HOUR_MS
    assert clock.now_ms() == before_ms + 10 * HOUR_MS + 800
    assert SystemClock().now_ms() == wall_ms, "another process begins with the time as it is"

"""Windows by local time: what clocks show, and from which watermark on a window is over, against a search through all instants."""

from __future__ import annotations

import datetime
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest

from wiesel.columnar.window_zones import WindowZone

HOUR = 3_600_000
LOCAL = pa.timestamp("ms", "UTC")
ZONES = ["America/New_York", "Europe/Berlin", "Australia/Sydney", "Asia/Kolkata", "America/St_Johns", "Africa/Casablanca", "UTC"]
STEP = 900_000


def millis(*of: int) -> int:
    return int(datetime.datetime(*of, tzinfo=datetime.timezone.utc).timestamp()) * 1_000  # type: ignore[misc]


def shown(zone: str, instant: int) -> int:
    """Return what clocks show at an instant, as if it were of UTC."""
    there = datetime.datetime.fromtimestamp(instant / 1_000, ZoneInfo(zone))
    return instant + int(there.utcoffset().total_seconds()) * 1_000  # type: ignore[union-attr]


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("day", [(2024, 3, 10), (2024, 3, 31), (2024, 4, 7), (2024, 10, 6), (2024, 10, 27), (2024, 11, 3), (2024, 6, 1)])
def test_a_window_is_over_when_no_clock_can_show_a_time_in_it_any_more(zone: str, day: tuple[int, int, int]) -> None:
    windows = WindowZone(LOCAL, zone)
    start = millis(*day)
    instants = np.arange(start - 20 * HOUR, start + 44 * HOUR, STEP)
    local = np.array([shown(zone, int(instant)) for instant in instants])
    assert windows.local(instants).tolist() == local.tolist()
    for end in range(start, start + 24 * HOUR, HOUR):
        last = int(instants[local < end].max()) + STEP - 1  # offsets change at full quarters of an hour
        # Of a window that ends in an hour that is skipped, it is the first instant behind that hour.
        skipped = not (local == end - HOUR).any()
        assert windows.over_at(end) == last + skipped, datetime.datetime.fromtimestamp(end / 1_000, datetime.timezone.utc)
    ends = np.array([start, start + 5 * HOUR, start])
    assert windows.over(ends).tolist() == [windows.over_at(int(end)) for end in ends]


@pytest.mark.parametrize("zone", ZONES)
def test_points_of_local_times(zone: str) -> None:
    windows = WindowZone(LOCAL, zone)
    for day in ((2024, 3, 10), (2024, 11, 3), (2024, 6, 1)):
        times = np.arange(millis(*day), millis(*day) + 24 * HOUR, HOUR // 2)
        for local, point in zip(times.tolist(), windows.points(times).tolist(), strict=True):
            if shown(zone, point) != local:  # clocks skip it
                assert shown(zone, point) == local + HOUR and shown(zone, point - 2 * HOUR) < local - HOUR // 2
            else:
                assert shown(zone, point - HOUR) != local  # the first time that they show it


def test_times_without_a_zone_of_their_own_are_as_they_are() -> None:
    times = np.array([0, 5, 10])
    for windows in (WindowZone(pa.timestamp("ms"), "America/New_York"), WindowZone(LOCAL, "utc")):
        assert windows.local(times) is times and windows.points(times) is times
        assert windows.over(times).tolist() == [-1, 4, 9] and windows.over_at(10) == 9

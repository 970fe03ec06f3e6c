"""What the demo's results must be, computed in one go with pandas and plain loops from the prepared records."""

from __future__ import annotations

from collections import Counter
from itertools import compress
from typing import Any

import pandas as pd

from examples.flights.data import Flight

QUARTER_MS, HALF_HOUR_MS, HOUR_MS = 900_000, 1_800_000, 3_600_000


def split_late(flights: list[Flight]) -> tuple[list[Flight], list[Flight]]:
    """Return (in time, late): late is what departed half an hour or more before the quarter in which it was reported."""
    late = [f.departure_ms < f.reported_ms - f.reported_ms % QUARTER_MS - HALF_HOUR_MS for f in flights]
    return [f for f, is_late in zip(flights, late, strict=True) if not is_late], list(compress(flights, late))


def hours(on_time: list[Flight]) -> Counter[tuple[Any, ...]]:
    """Return (airport, start of the hour in New York, flights, cancelled, mean, maximum, share above 15 minutes)."""
    frame = pd.DataFrame(on_time)
    frame["hour_ms"] = frame["departure_ms"] // HOUR_MS * HOUR_MS
    rows: Counter[tuple[Any, ...]] = Counter()
    for (airport, hour_ms), group in frame.groupby(["origin", "hour_ms"]):
        start = pd.Timestamp(hour_ms, unit="ms", tz="UTC").tz_convert("America/New_York").isoformat(timespec="minutes")
        delays = group["delay_min"].dropna()
        figures = (round(delays.mean(), 2), int(delays.max()), round((delays > 15).mean(), 4)) if len(delays) else (None,) * 3
        rows[(airport, start, len(delays), int(group["delay_min"].isna().sum()), *figures)] += 1
    return rows


def build_ups(on_time: list[Flight]) -> Counter[tuple[Any, ...]]:
    """Return (aircraft, delays so far) of every leg that is at least the third in a row that adds to the delay of its aircraft."""
    found: Counter[tuple[Any, ...]] = Counter()
    frame = pd.DataFrame([f for f in on_time if f.delay_min is not None]).sort_values(["departure_ms", "number"])
    for aircraft, legs in frame.groupby("aircraft"):
        delay = legs["delay_min"].astype(int)
        after_a_night = ~(legs["departure_ms"].diff() < 12 * HOUR_MS)
        before = delay.shift(1, fill_value=0).clip(lower=0).where(~after_a_night, 0)
        adds = delay > before
        run = (after_a_night | ~adds).cumsum()
        for _, delays in delay[adds].groupby(run[adds]):
            for length in range(3, len(delays) + 1):
                found[(aircraft, tuple(delays[:length]))] += 1
    return found

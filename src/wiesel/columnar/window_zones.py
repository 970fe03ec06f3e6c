"""Internal. Windows in local time: their bounds in a time zone, and the watermarks at which they end.

Windows over instants (TIMESTAMP_LTZ, processing time) follow the local time of the session's time zone: a day has 23 or 25 hours where
summer time begins or ends. All arithmetic on windows is done with local times, as if they were UTC.
"""

from __future__ import annotations

import datetime
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.windows import Times
from wiesel.core.ids import MAX_TIMESTAMP

__all__ = ["WindowZone"]

_HOUR = 3_600_000
_EPOCH = datetime.datetime(1970, 1, 1)


class WindowZone:
    """The time zone of windows.

    Args:
        kind: The type of the windows' time; times without time zone are not converted.
        name: The time zone of the session.
    """

    def __init__(self, kind: Any, name: str) -> None:
        pointed = pa.types.is_timestamp(kind) and kind.tz is not None
        self._name = name if pointed and name.upper() not in ("UTC", "Z", "GMT") else None

    def local(self, times: Times) -> Times:
        """Convert instants (ms) to local time."""
        if self._name is None:
            return times
        points = pa.array(times, pa.int64()).view(pa.timestamp("ms", self._name))
        return pc.local_timestamp(points).view(pa.int64()).to_numpy()  # type: ignore[no-any-return]

    def points(self, local_times: Times) -> Times:
        """Return the first instants of local times; times in a gap are shifted by its length."""
        if self._name is None:
            return local_times
        known, places = np.unique(local_times, return_inverse=True)
        return np.array([_point(self._name, local) for local in known.tolist()], np.int64)[places]

    def over(self, ends: Times) -> Times:
        """Return the watermarks at which windows with these (local) ends are complete.

        As Flink's timers of windows: a repeated hour belongs to the window both times, and a window that ends in a skipped hour is complete
        when the following hour begins.
        """
        if self._name is None:
            return ends - 1
        known, places = np.unique(ends, return_inverse=True)
        return np.array([_last_point(self._name, end - 1) for end in known.tolist()], np.int64)[places]

    def over_at(self, end: int) -> int:
        """Return the watermark at which one window is complete."""
        return end - 1 if self._name is None else _last_point(self._name, end - 1)


@lru_cache(maxsize=4096)
def _point(zone: str, local: int) -> int:
    shown = _EPOCH + datetime.timedelta(milliseconds=local)
    offset = shown.replace(tzinfo=ZoneInfo(zone)).utcoffset()  # the first one of a repeated time, the one before of a skipped time
    assert offset is not None  # noqa: S101 - for the type checker
    return local - offset // datetime.timedelta(milliseconds=1)


def _change(zone: str, early: int, late: int) -> int:
    """Return the instant between two others at which the offset of the zone changes."""
    while late - early > 1:
        middle = (early + late) // 2
        early, late = (early, middle) if _offset(zone, middle) == _offset(zone, late) else (middle, late)
    return late


def _offset(zone: str, point: int) -> datetime.timedelta | None:
    return (_EPOCH + datetime.timedelta(milliseconds=point)).replace(tzinfo=datetime.timezone.utc).astimezone(ZoneInfo(zone)).utcoffset()


@lru_cache(maxsize=4096)
def _last_point(zone: str, local: int) -> int:
    if local >= MAX_TIMESTAMP - 1:
        return local
    first, hour_later = _point(zone, local), _point(zone, local + _HOUR)
    if first == hour_later:
        return _change(zone, first - 2 * _HOUR, first)
    return first + _HOUR if hour_later - first > _HOUR else first

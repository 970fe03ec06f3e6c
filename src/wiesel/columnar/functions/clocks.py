"""Internal. Current time in the session's zone: that of each batch in a stream, of the start of the query in batch mode; the watermark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.arrow_types import arrow_type
from wiesel.columnar.expressions import Call
from wiesel.columnar.functions.intervals import DAY_MS
from wiesel.columnar.functions.registry import ScalarFunction, register
from wiesel.columnar.functions.signatures import kind_of, never_null, returning_null, taking
from wiesel.columnar.functions.times import local
from wiesel.core.ids import MIN_TIMESTAMP
from wiesel.types import logical as t

__all__: list[str] = []

_LAST_MS = 9_223_372_036_854
"""The last ms representable in timestamps with nanoseconds, which hold TIMESTAMP of more than six digits."""


def _now(frame: Any, always: bool = False) -> Any:
    session = frame.session
    milliseconds = session.started_ms if session.is_batch and not always else int(session.clock.now_ms())
    return pa.scalar(milliseconds, pa.timestamp("ms", "UTC"))


def _shown(frame: Any) -> Any:
    return local(_now(frame), frame.session.time_zone)


def _date(call: Call, frame: Any, operands: list[Any]) -> Any:
    return pc.floor_temporal(_shown(frame), unit="day").cast(pa.date32())


def _time(call: Call, frame: Any, operands: list[Any]) -> Any:
    return pa.scalar(_shown(frame).value % DAY_MS // 1000 * 1000, pa.int32()).cast(pa.time32("ms"))


def _watermark(call: Call, frame: Any, operands: list[Any]) -> Any:
    """Return the watermark as a value of the type of its column; NULL before the first one."""
    of = arrow_type(call.data_type)
    watermark = frame.session.watermark()
    if watermark <= MIN_TIMESTAMP:
        return pa.scalar(None, of)
    # The final watermark is after all times.
    return pc.cast(pa.scalar(min(watermark, _LAST_MS), pa.timestamp("ms", of.tz)), of, safe=False)


def _register(name: str, result: t.DataType, evaluate: Callable[..., Any]) -> None:
    register(ScalarFunction(name, taking(never_null(result)), evaluate, deterministic=False))


for _name in ("CURRENT_TIMESTAMP", "NOW"):
    _register(_name, t.LocalZonedTimestampType(3), lambda call, frame, operands: _now(frame))
_register("CURRENT_ROW_TIMESTAMP", t.LocalZonedTimestampType(3), lambda call, frame, operands: _now(frame, always=True))
_register("PROCTIME", t.LocalZonedTimestampType(3), lambda call, frame, operands: _now(frame, always=True))
_register("LOCALTIMESTAMP", t.TimestampType(3), lambda call, frame, operands: _shown(frame))
_register("CURRENT_DATE", t.DateType(), _date)
for _name in ("CURRENT_TIME", "LOCALTIME"):
    _register(_name, t.TimeType(0), _time)
_TIMES = kind_of("<TIMESTAMP *ROWTIME*>", t.TimestampType, t.LocalZonedTimestampType)
_of_time = taking(returning_null(lambda arguments: arguments.types[0]), _TIMES)
register(ScalarFunction("CURRENT_WATERMARK", _of_time, _watermark, deterministic=False))

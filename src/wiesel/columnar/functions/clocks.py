"""Internal. The time now, in the session's zone: of each batch in a stream, of the start of the query in batch mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.expressions import Call
from wiesel.columnar.functions.intervals import DAY_MS
from wiesel.columnar.functions.registry import ScalarFunction, register
from wiesel.columnar.functions.signatures import never_null, taking
from wiesel.columnar.functions.times import local
from wiesel.types import logical as t

__all__: list[str] = []


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

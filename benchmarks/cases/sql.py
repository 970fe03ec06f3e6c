"""Queries in SQL beside Nexmark's: with a function in Python, and how soon a window's results come."""

from __future__ import annotations

from functools import partial

from frame.case import PYFLINK, WIESEL, Case, Run, Scale, Target
from frame.data import lines_of_100_bytes

from cases.latency import FIGURES, PYFLINK_LOW_LATENCY, WARM_UP_S
from cases.settings import pyflink_tuned

FILES = 4
EVERY = 1009
RATE = 5_000


def _udf(label: str, engine: str, records: int, function: str, **other: object) -> Run:
    # Each file has the numbers from 0 up.
    found = (records // FILES - 1) // EVERY + 1
    expected = {"count": FILES * found, "total": FILES * EVERY * (found * (found - 1) // 2)}
    arguments = {"records": records, "input": partial(lines_of_100_bytes, records, FILES), "every": EVERY, "function": function}
    return Run(label, engine, "programs/sql_udf.py", arguments, expected, **other)  # type: ignore[arg-type]


def _functions(scale: Scale) -> Case:
    many, fewer = scale.records(20_000_000, 4_000_000), scale.records(4_000_000, 1_000_000)
    return Case(
        "sql-udf",
        "SQL with a Python function over lines of 100 bytes, steady rate (records/s)",
        (
            _udf("wiesel", WIESEL, many, "number"),
            _udf("wiesel, pandas", WIESEL, many, "numbers"),
            _udf("pyflink", PYFLINK, fewer, "number", conf=pyflink_tuned()),
            _udf("pyflink, pandas", PYFLINK, fewer, "numbers", conf=pyflink_tuned()),
        ),
        (
            Target(">= 15x PyFlink", "rate", "wiesel", "pyflink", at_least=15),
            Target("PyFlink's CPU per record / Wiesel's", "steady_cpu_us", "pyflink", "wiesel"),
            Target("with pandas / PyFlink with pandas", "rate", "wiesel, pandas", "pyflink, pandas"),
        ),
    )


def _windows(label: str, engine: str, seconds: int, buffer_timeout_ms: int, **other: object) -> Run:
    records = RATE * (seconds + WARM_UP_S)
    arguments = {"records": records, "rate": RATE, "buffer-timeout-ms": buffer_timeout_ms, "warm-up-s": WARM_UP_S}
    return Run(label, engine, "programs/sql_latency.py", arguments, {"total": records}, **other)  # type: ignore[arg-type]


def _latency(scale: Scale) -> Case:
    seconds = scale.records(30, 10)
    return Case(
        "sql-latency",
        f"from the end of a window of 200 ms to its results in SQL, {RATE:,} rows/s (ms)",
        (
            _windows("wiesel, 5 ms", WIESEL, seconds, 5),
            _windows("wiesel, 100 ms", WIESEL, seconds, 100),
            _windows("pyflink, 5 ms", PYFLINK, seconds, 5, conf=PYFLINK_LOW_LATENCY),
        ),
        (
            Target("p99 <= 100 ms, buffer timeout 5 ms", "p99_ms", "wiesel, 5 ms", at_most=100),
            Target("PyFlink's p99 / Wiesel's, 5 ms each", "p99_ms", "pyflink, 5 ms", "wiesel, 5 ms"),
        ),
        figures=FIGURES[:-1],
    )


def cases(scale: Scale) -> list[Case]:
    """Return the cases."""
    return [_functions(scale), _latency(scale)]

"""(b) Stateless Python functions on records of 100 bytes."""

from __future__ import annotations

from functools import partial

from frame.case import PYFLINK, WIESEL, Case, Run, Scale, Target
from frame.data import lines_of_100_bytes

from cases.settings import pyflink_tuned

PROGRAM = "programs/map_filter.py"
FILES = 4
UNCHAINED = {"pipeline.operator-chaining.enabled": "false"}


def _expected(records: int) -> dict[str, int]:
    # Each file has the numbers from 0 up; those that 4 divides are filtered out.
    each = records // FILES
    kept = each - (each + 3) // 4
    total = each * (each - 1) // 2 - 4 * (((each + 3) // 4) * ((each + 3) // 4 - 1) // 2)
    return {"count": FILES * kept, "total": FILES * total}


def _run(label: str, engine: str, records: int, **other: object) -> Run:
    arguments = {"records": records, "input": partial(lines_of_100_bytes, records, FILES)}
    return Run(label, engine, PROGRAM, arguments, _expected(records), **other)  # type: ignore[arg-type]


def cases(scale: Scale) -> list[Case]:
    """Return the cases."""
    return [
        Case(
            "map-filter",
            "map and filter of lines of 100 bytes, steady rate (records/s)",
            (
                _run("wiesel", WIESEL, scale.records(20_000_000, 4_000_000)),
                _run("wiesel, unchained", WIESEL, scale.records(10_000_000, 2_000_000), conf=UNCHAINED),
                _run("pyflink", PYFLINK, scale.records(4_000_000, 1_000_000), conf=pyflink_tuned()),
            ),
            (
                Target("CPU per record without chains / with", "steady_cpu_us", "wiesel, unchained", "wiesel", at_least=1),
                Target(">= 6x PyFlink", "rate", "wiesel", "pyflink", at_least=6),
                Target("PyFlink's CPU per record / Wiesel's", "steady_cpu_us", "pyflink", "wiesel"),
            ),
        )
    ]

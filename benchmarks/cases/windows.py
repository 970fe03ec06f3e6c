"""(c) Event-time tumbling windows with a Python aggregate function."""

from __future__ import annotations

from frame.case import PYFLINK, WIESEL, Case, Run, Scale, Target

from cases.settings import pyflink_tuned

PROGRAM = "programs/windows.py"
KEYS, PER_WINDOW = 1_000, 10


def _run(label: str, engine: str, records: int, **other: object) -> Run:
    # One result per key and window; the sums of the values are those of the sequence.
    expected = {"count": records // PER_WINDOW, "total": records * (records - 1) // 2}
    arguments = {"records": records, "keys": KEYS, "per-window": PER_WINDOW}
    return Run(label, engine, PROGRAM, arguments, expected, **other)  # type: ignore[arg-type]


def cases(scale: Scale) -> list[Case]:
    """Return the cases."""
    return [
        Case(
            "windows",
            f"tumbling event-time windows, {KEYS:,} keys, {PER_WINDOW} records per key and window, steady rate (records/s)",
            (
                _run("wiesel", WIESEL, scale.records(10_000_000, 2_000_000)),
                _run("pyflink", PYFLINK, scale.records(1_000_000, 200_000), conf=pyflink_tuned(KEYS)),
            ),
            (
                Target(">= 15x PyFlink", "rate", "wiesel", "pyflink", at_least=15),
                Target("PyFlink's CPU per record / Wiesel's", "steady_cpu_us", "pyflink", "wiesel"),
            ),
        )
    ]

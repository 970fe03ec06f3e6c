"""(c) Event-time windows with a Python aggregate function: tumbling, sliding and session windows."""

from __future__ import annotations

from dataclasses import replace

from frame.case import PYFLINK, WIESEL, Case, Run, Scale, Target

from cases.settings import pyflink_tuned

PROGRAM = "programs/windows.py"
KEYS, PER_WINDOW = 1_000, 10


def _run(label: str, engine: str, records: int, **other: object) -> Run:
    # One result per key and window; the sums of the values are those of the sequence.
    expected = {"count": records // PER_WINDOW, "total": records * (records - 1) // 2}
    arguments = {"records": records, "keys": KEYS, "per-window": PER_WINDOW}
    return Run(label, engine, PROGRAM, arguments, expected, **other)  # type: ignore[arg-type]


def _session_run(label: str, engine: str, records: int, **other: object) -> Run:
    run = _run(label, engine, records, **other)
    return replace(run, arguments={**run.arguments, "kind": "session"})


def _sliding_run(label: str, engine: str, windows: int, slides: int, per_window: int, **other: object) -> Run:
    """Return a run over so many window lengths; each record is in as many windows as there are slides in one."""
    keys = 100
    records = windows * keys * per_window
    expected = {"count": keys * (windows * slides + slides - 1), "total": slides * (records * (records - 1) // 2)}
    arguments = {"records": records, "keys": keys, "per-window": per_window, "kind": "sliding", "slides": slides}
    return Run(label, engine, PROGRAM, arguments, expected, **other)  # type: ignore[arg-type]


def _sessions(scale: Scale) -> Case:
    return Case(
        "session-windows",
        f"event-time session windows, {KEYS:,} keys, {PER_WINDOW} records per session, steady rate (records/s)",
        (
            _session_run("wiesel", WIESEL, scale.records(5_000_000, 1_000_000)),
            _session_run("pyflink", PYFLINK, scale.records(400_000, 100_000), conf=pyflink_tuned(KEYS)),
        ),
        (
            Target(">= 10x PyFlink", "rate", "wiesel", "pyflink", at_least=10),
            Target("PyFlink's CPU per record / Wiesel's", "steady_cpu_us", "pyflink", "wiesel"),
        ),
    )


def _sliding(scale: Scale) -> Case:
    windows = scale.records(100, 20)
    return Case(
        "sliding-windows",
        "sliding event-time windows, 100 keys, by the number of slides in a window, steady rate (records/s)",
        (
            # What is not shared costs by the number of slides, and more when the state outgrows the caches.
            *(_sliding_run(f"wiesel, {slides} slides", WIESEL, max(2, windows * 10 // slides), slides, 500) for slides in (10, 50, 250)),
            *(
                _sliding_run(f"wiesel, {slides} slides, shared", WIESEL, windows, slides, 500, conf={"wiesel.windows.share-slices": "true"})
                for slides in (10, 50, 250)
            ),
            _sliding_run("wiesel, 20 slides", WIESEL, 5 * windows, 20, 80),
            _sliding_run("pyflink, 20 slides", PYFLINK, scale.records(4, 2), 20, 80, conf=pyflink_tuned(2_000), once=True),
        ),
        (
            Target(">= 10x PyFlink", "rate", "wiesel, 20 slides", "pyflink, 20 slides", at_least=10),
            Target("rate with 250 slides / with 10", "rate", "wiesel, 250 slides", "wiesel, 10 slides"),
            Target(
                "the same with shared slices: nearly constant",
                "rate",
                "wiesel, 250 slides, shared",
                "wiesel, 10 slides, shared",
                at_least=0.5,
            ),
        ),
    )


def cases(scale: Scale) -> list[Case]:
    """Return the cases."""
    return [
        _sessions(scale),
        _sliding(scale),
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

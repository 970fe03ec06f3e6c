"""(d) The time from source to sink over two exchanges."""

from __future__ import annotations

from frame.case import PYFLINK, WIESEL, Case, Run, Scale, Target

PROGRAM = "programs/latency.py"
FIGURES = ("p50_ms", "p99_ms", "p999_ms", "max_ms", "rate")
WARM_UP_S = 5

# What a PyFlink user sets for latency: bundles that end after 5 ms.
PYFLINK_LOW_LATENCY = {"python.fn-execution.bundle.time": 5}


def paced_run(label: str, engine: str, rate: int, seconds: int, buffer_timeout_ms: int, **other: object) -> Run:
    """Return a run at a steady rate (records/s)."""
    records = rate * (seconds + WARM_UP_S)
    arguments = {"records": records, "rate": rate, "buffer-timeout-ms": buffer_timeout_ms, "warm-up-s": WARM_UP_S}
    return Run(label, engine, PROGRAM, arguments, {"count": records, "total": records * (records - 1) // 2}, **other)  # type: ignore[arg-type]


def saturated_run(
    label: str, engine: str, records: int, sample: int, *, buffer_timeout_ms: int = 100, **other: object
) -> Run:
    """Return a run whose source is faster than the job; of each ``sample`` records one tells its age."""
    arguments = {"records": records, "rate": 0, "buffer-timeout-ms": buffer_timeout_ms, "warm-up-s": 3, "sample": sample}
    return Run(label, engine, PROGRAM, arguments, {"count": records, "total": records * (records - 1) // 2}, **other)  # type: ignore[arg-type]


def _paced(scale: Scale, rate: int, name: str) -> Case:
    seconds = scale.records(30, 10)
    return Case(
        f"latency-{name}",
        f"latency over two exchanges at {rate:,} records/s (ms)",
        (
            paced_run("wiesel, 5 ms", WIESEL, rate, seconds, 5),
            paced_run("wiesel, 100 ms", WIESEL, rate, seconds, 100),
            paced_run("pyflink, 5 ms", PYFLINK, rate, seconds, 5, conf=PYFLINK_LOW_LATENCY),
            paced_run("pyflink, defaults", PYFLINK, rate, seconds, 100),
        ),
        (
            Target("p50 <= 10 ms, buffer timeout 5 ms", "p50_ms", "wiesel, 5 ms", at_most=10),
            Target("p99 <= 50 ms, buffer timeout 5 ms", "p99_ms", "wiesel, 5 ms", at_most=50),
            Target("p99 <= 150 ms, buffer timeout 100 ms", "p99_ms", "wiesel, 100 ms", at_most=150),
            Target("PyFlink's p50 / Wiesel's, 5 ms each", "p50_ms", "pyflink, 5 ms", "wiesel, 5 ms"),
            Target("PyFlink's p99 / Wiesel's, 5 ms each", "p99_ms", "pyflink, 5 ms", "wiesel, 5 ms"),
        ),
        figures=FIGURES,
    )


def _full(scale: Scale) -> Case:
    return Case(
        "latency-saturated",
        "latency over two exchanges while the source is faster than the job (ms)",
        (
            saturated_run("wiesel", WIESEL, scale.records(15_000_000, 4_000_000), 101),
            saturated_run("pyflink", PYFLINK, scale.records(400_000, 100_000), 11),
        ),
        (
            Target("p99 <= 500 ms, buffer timeout 100 ms", "p99_ms", "wiesel", at_most=500),
            Target("PyFlink's p99 / Wiesel's", "p99_ms", "pyflink", "wiesel"),
        ),
        figures=FIGURES,
    )


EVERY_SECOND = {"execution.checkpointing.interval": "1s", "execution.checkpointing.dir": "file://{folder}/checkpoints"}
BARRIERS: dict[str, dict[str, object]] = {
    "no checkpoints": {},
    "aligned": EVERY_SECOND,
    "unaligned": {**EVERY_SECOND, "execution.checkpointing.unaligned.enabled": True},
    "at least once": {**EVERY_SECOND, "execution.checkpointing.mode": "AT_LEAST_ONCE"},
}


def _during_checkpoints(scale: Scale) -> list[Case]:
    """What the ways to treat barriers cost in latency; snapshots are asynchronous in all of them."""
    seconds, records = scale.records(30, 10), scale.records(15_000_000, 4_000_000)
    paced = tuple(paced_run(name, WIESEL, 5_000, seconds, 5, conf=conf) for name, conf in BARRIERS.items())
    full = tuple(saturated_run(name, WIESEL, records, 101, conf=conf) for name, conf in BARRIERS.items())
    slower = tuple(
        Target(f"p99, {name} / without", "p99_ms", name, "no checkpoints") for name in BARRIERS if name != "no checkpoints"
    )
    return [
        Case("latency-checkpoints", "latency with a checkpoint each second, 5,000 records/s (ms)", paced, slower, figures=FIGURES),
        Case("latency-checkpoints-saturated", "the same while the source is faster than the job (ms)", full, slower, figures=FIGURES),
    ]


def cases(scale: Scale) -> list[Case]:
    """Return the cases."""
    return [_paced(scale, 200, "200"), _paced(scale, 5_000, "5000"), _full(scale), *_during_checkpoints(scale)]

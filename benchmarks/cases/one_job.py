"""(g) One job with one configuration: throughput, how it scales, latency, and the time to recover from a kill."""

from __future__ import annotations

from frame.case import WIESEL, Case, Run, Scale, Target

PROGRAM = "programs/one_job.py"
RATE = 2_000
CONF = {
    "execution.checkpointing.interval": "1s",
    "execution.checkpointing.dir": "file://{folder}/checkpoints",
    "execution.buffer-timeout.interval": "5ms",
    "restart-strategy.type": "fixed-delay",
    "restart-strategy.fixed-delay.delay": "0s",
    "restart-strategy.fixed-delay.attempts": "3",
}


def _run(label: str, records: int, **arguments: object) -> Run:
    expected = {"count": records, "total": records * (records - 1) // 2}
    return Run(label, WIESEL, PROGRAM, {"records": records, **arguments}, expected, CONF)


def cases(scale: Scale) -> list[Case]:
    """Return the case."""
    paced, many = RATE * scale.records(40, 15), scale.records(10_000_000, 2_000_000)
    killed = Run(
        "killed in its midst",
        WIESEL,
        PROGRAM,
        {"records": paced, "rate": RATE, "kill-at": paced // 4},
        {"counted": paced},
        CONF,
    )
    return [
        Case(
            "one-job",
            f"running count per key, a checkpoint each second, buffer timeout 5 ms: as fast as it goes, at {RATE:,} records/s, and killed",
            (
                _run("saturated, parallelism 1", many, parallelism=1),
                _run("saturated, parallelism 2", many, parallelism=2),
                _run(f"{RATE:,} records/s", paced, rate=RATE),
                killed,
            ),
            (
                Target("x the rate of parallelism 1", "rate", "saturated, parallelism 2", "saturated, parallelism 1"),
                Target("p99 in ms", "p99_ms", f"{RATE:,} records/s"),
                Target("ms from the kill to the next result", "recovery_ms", "killed in its midst"),
            ),
            figures=("rate", "p50_ms", "p99_ms", "max_ms", "recovery_ms"),
        )
    ]

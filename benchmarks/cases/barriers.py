"""How long checkpoints take behind a function that takes its time, by the way barriers are treated and with a limit to what waits."""

from __future__ import annotations

from frame.case import WIESEL, Case, CheckFailed, Result, Run, Scale, Target

from cases.checkpoints import EVERY_SECOND

PROGRAM = "programs/barriers.py"
MS = 5
MODES: dict[str, dict[str, object]] = {
    "aligned, no debloating": {"taskmanager.network.memory.buffer-debloat.enabled": False},
    "aligned": {},
    "at least once": {"execution.checkpointing.mode": "AT_LEAST_ONCE"},
    "unaligned": {"execution.checkpointing.unaligned.enabled": True},
}


def _some(result: Result) -> None:
    if result["checkpoints"] < 3:
        raise CheckFailed(f"only {result['checkpoints']} checkpoints were completed")


def cases(scale: Scale) -> list[Case]:
    """Return the case."""
    seconds = scale.records(60, 20)
    runs = tuple(
        Run(
            mode,
            WIESEL,
            PROGRAM,
            {"records": 100_000_000, "ms": MS, "seconds": seconds, "checkpoints": "{folder}/checkpoints"},
            {},
            {**EVERY_SECOND, **conf},
            # Without a limit the first one may take longer than the whole run.
            check=None if mode == "aligned, no debloating" else _some,
        )
        for mode, conf in MODES.items()
    )
    return [
        Case(
            "barriers",
            f"checkpoints behind a function that takes {MS} ms a record, one started each second, for {seconds} s (ms)",
            runs,
            tuple(Target(f"median < 3 s, {run.label}", "p50_ms", run.label, at_most=3_000) for run in runs[1:]),
            figures=("checkpoints", "first_ms", "p50_ms", "max_ms", "alignment_ms", "in_flight_kb"),
        )
    ]

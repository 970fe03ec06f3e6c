"""(e) What a checkpoint every second costs."""

from __future__ import annotations

from frame.case import WIESEL, Case, CheckFailed, Result, Scale, Target

from cases.keyed_count import count_run

KEYS = 1_000_000
BACKENDS = ("hashmap", "lmdb")

EVERY_SECOND = {"execution.checkpointing.interval": "1s", "execution.checkpointing.dir": "file://{folder}/checkpoints"}


def some_were_taken(result: Result) -> None:
    if not result.get("checkpoints"):
        raise CheckFailed("no checkpoint was completed, so nothing was compared")


def _targets(backend: str) -> tuple[Target, Target]:
    pair = (f"{backend}, every second", f"{backend}, none")
    return (
        Target(f">= 0.9 of the rate without, {backend}", "rate", *pair, at_least=0.9),
        Target(f"CPU per record / without, {backend}", "steady_cpu_us", *pair),
    )


def cases(scale: Scale) -> list[Case]:
    """Return the cases."""
    records = scale.records(20_000_000, 6_000_000)
    runs = []
    for backend in BACKENDS:
        conf = {"state.backend.type": backend}
        runs.append(count_run(f"{backend}, none", WIESEL, records, KEYS, conf=conf))
        runs.append(
            count_run(
                f"{backend}, every second",
                WIESEL,
                records,
                KEYS,
                conf={**conf, **EVERY_SECOND},
                arguments={"checkpoints": "{folder}/checkpoints"},
                check=some_were_taken,
            )
        )
    return [
        Case(
            "checkpoints",
            "running count per key, 1,000,000 keys, with and without a checkpoint each second (records/s)",
            tuple(runs),
            tuple(target for backend in BACKENDS for target in _targets(backend)),
            figures=("rate", "checkpoints"),
        )
    ]

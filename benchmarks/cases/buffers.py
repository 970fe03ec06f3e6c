"""(i) Throughput and latency over buffer sizes and timeouts (feature N4)."""

from __future__ import annotations

from frame.case import WIESEL, Case, Run, Scale, Target

from cases.latency import FIGURES, WARM_UP_S, paced_run, saturated_run

SIZES_KB = (1, 8, 64)
TIMEOUTS_MS = (0, 5, 100)
# Small buffers are full before a timeout of 100 ms, large ones are not: at 200 records/s neither would be.
RATE = 5_000


def _size(size_kb: int) -> dict[str, object]:
    return {"wiesel.exchange.row-size": f"{size_kb} kb"}


def _saturated(scale: Scale) -> Case:
    records = scale.records(6_000_000, 2_000_000)
    runs = tuple(
        saturated_run(f"{size_kb} KB, {timeout_ms} ms", WIESEL, records, 101, buffer_timeout_ms=timeout_ms, conf=_size(size_kb))
        for size_kb in SIZES_KB
        for timeout_ms in TIMEOUTS_MS
    )
    return Case(
        "buffers-saturated",
        "a source that is faster than the job, by size and timeout of the buffers (records/s; ms)",
        runs,
        (Target("x the rate with small buffers, timeout 100 ms", "rate", "64 KB, 100 ms", "1 KB, 100 ms"),),
        figures=("rate", "steady_cpu_us", "p50_ms", "p99_ms"),
    )


def _paced(scale: Scale) -> Case:
    seconds = scale.records(20, 10)
    runs: tuple[Run, ...] = tuple(
        paced_run(f"{size_kb} KB, {timeout_ms} ms", WIESEL, RATE, seconds, timeout_ms, conf=_size(size_kb))
        for size_kb in (SIZES_KB[0], SIZES_KB[-1])
        for timeout_ms in TIMEOUTS_MS
    )
    return Case(
        "buffers-paced",
        f"{RATE:,} records/s, by size and timeout of the buffers, from the {WARM_UP_S}th second on (ms)",
        runs,
        (
            Target("x the median with a timeout of 5 ms", "p50_ms", "64 KB, 100 ms", "64 KB, 5 ms"),
            Target("x the CPU per record with a timeout of 5 ms", "steady_cpu_us", "64 KB, 100 ms", "64 KB, 5 ms"),
            Target("x the median with small buffers", "p50_ms", "64 KB, 100 ms", "1 KB, 100 ms"),
            Target("x the CPU per record with small buffers", "steady_cpu_us", "64 KB, 100 ms", "1 KB, 100 ms"),
        ),
        figures=(*FIGURES, "steady_cpu_us"),
    )


def cases(scale: Scale) -> list[Case]:
    """Return the cases."""
    return [_saturated(scale), _paced(scale)]

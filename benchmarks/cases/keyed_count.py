"""(a) The running count per key, against PyFlink and Spark's transformWithState."""

from __future__ import annotations

from frame.case import PYFLINK, SPARK, WIESEL, Case, Run, Scale, Target

from cases.settings import pyflink_huge_bundles, pyflink_tuned

PROGRAM = "programs/keyed_count.py"
SPARK_PROGRAM = "peers/spark_tws/keyed_count.py"


def expected(records: int, keys: int) -> dict[str, int]:
    """Return what the meter must see when keys come round robin: each key counts from 1 up to its number of records."""
    rounds, rest = divmod(records, keys)
    return {"count": records, "total": (keys - rest) * rounds * (rounds + 1) // 2 + rest * (rounds + 1) * (rounds + 2) // 2}


def count_run(label: str, engine: str, records: int, keys: int, **other: object) -> Run:
    """Return a run of the shared program."""
    arguments = {"records": records, "keys": keys, **other.pop("arguments", {})}  # type: ignore[dict-item]
    return Run(label, engine, PROGRAM, arguments, expected(records, keys), **other)  # type: ignore[arg-type]


def _spark(label: str, records: int, keys: int, batch: int, api: str, **other: object) -> Run:
    arguments = {"records": records, "keys": keys, "batch": batch, "api": api}
    return Run(label, SPARK, SPARK_PROGRAM, arguments, expected(records, keys), **other)  # type: ignore[arg-type]


def _few_keys(scale: Scale) -> Case:
    keys = 10_000
    flink, batch = scale.records(1_500_000, 400_000), scale.records(500_000, 200_000)
    return Case(
        "keyed-count-10k",
        "running count per key, 10,000 keys, steady rate (records/s)",
        (
            count_run("wiesel", WIESEL, scale.records(20_000_000, 4_000_000), keys),
            count_run("pyflink", PYFLINK, flink, keys, conf=pyflink_tuned(keys)),
            count_run("pyflink, 20 s bundles", PYFLINK, scale.records(3_000_000, 600_000), keys, conf=pyflink_huge_bundles(keys)),
            count_run("pyflink, defaults", PYFLINK, scale.records(200_000, 100_000), keys, once=True),
            _spark("spark rows", 8 * batch, keys, batch, "row"),
            _spark("spark pandas", 4 * batch, keys, batch, "pandas"),
        ),
        (
            Target(">= 40x PyFlink", "rate", "wiesel", "pyflink", at_least=40),
            Target("PyFlink's CPU per record / Wiesel's", "steady_cpu_us", "pyflink", "wiesel"),
            Target(">= 8x Spark, by rows", "rate", "wiesel", "spark rows", at_least=8),
            Target("Spark's CPU per record / Wiesel's, by rows", "steady_cpu_us", "spark rows", "wiesel"),
            Target("x Spark, by pandas", "rate", "wiesel", "spark pandas"),
            Target("x PyFlink with bundles of 20 s", "rate", "wiesel", "pyflink, 20 s bundles"),
            Target("x PyFlink as installed", "rate", "wiesel", "pyflink, defaults"),
        ),
    )


def _many_keys(scale: Scale) -> Case:
    keys = 1_000_000
    batch = scale.records(1_000_000, 250_000)
    # Beyond the first round of the keys, so that state is found and not only made; at some thousand records/s that takes its time.
    flink = scale.records(1_500_000, 100_000)
    return Case(
        "keyed-count-1m",
        "running count per key, 1,000,000 keys, steady rate (records/s)",
        (
            count_run("wiesel", WIESEL, scale.records(20_000_000, 4_000_000), keys),
            count_run("pyflink", PYFLINK, flink, keys, conf=pyflink_tuned(keys), once=True, timeout_s=3600),
            # Spark takes minutes for each of these micro-batches.
            _spark("spark rows", 3 * batch, keys, batch, "row", once=True, timeout_s=3600),
            _spark("spark pandas", 2 * scale.records(200_000, 20_000), keys, scale.records(200_000, 20_000), "pandas"),
        ),
        (
            Target(">= 30x PyFlink", "rate", "wiesel", "pyflink", at_least=30),
            Target("PyFlink's CPU per record / Wiesel's", "steady_cpu_us", "pyflink", "wiesel"),
            Target(">= 6x Spark, by rows", "rate", "wiesel", "spark rows", at_least=6),
            Target("Spark's CPU per record / Wiesel's, by rows", "steady_cpu_us", "spark rows", "wiesel"),
            Target("x Spark, by pandas", "rate", "wiesel", "spark pandas"),
        ),
    )


def _with_start(scale: Scale) -> Case:
    keys, records = 10_000, scale.records(5_000_000, 500_000)
    return Case(
        "keyed-count-total",
        f"running count per key, 10,000 keys, {records:,} records with start-up and end (s)",
        (
            count_run("wiesel", WIESEL, records, keys),
            count_run("pyflink", PYFLINK, records, keys, conf=pyflink_tuned(keys), once=True, timeout_s=3600),
        ),
        (Target(">= 15x PyFlink, start-up included", "wall_s", "pyflink", "wiesel", at_least=None if scale.quick else 15),),
        figures=("wall_s", "startup_s", "cpu_s"),
    )


def cases(scale: Scale) -> list[Case]:
    """Return the cases."""
    return [_few_keys(scale), _many_keys(scale), _with_start(scale)]

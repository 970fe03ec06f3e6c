"""Bounded data over three times the memory that the algorithms may take: word count, and a join with an aggregation."""

from __future__ import annotations

from collections.abc import Callable

from frame.case import PYFLINK, SPARK, WIESEL, Case, Run, Scale, Target

from cases.settings import pyflink_tuned

SUBTASKS = 2
WORD_BYTES = RECORD_BYTES = 100
"""Of a counted word, and of a record that is joined, with its key."""

REGIONS = 1_000


def _memory(data_bytes: int) -> dict[str, object]:
    """Return the setting with which a task has a third of its share of the data as memory."""
    return {"taskmanager.memory.managed.size": data_bytes // SUBTASKS // 3}


def _ours(job: str, program: str, arguments: dict[str, int], expected: dict[str, int], data_bytes: int) -> tuple[Run, Run]:
    memory = _memory(data_bytes)
    return (
        Run("wiesel", WIESEL, "programs/batch_dataset.py", {**arguments, "job": job}, expected, memory),
        Run("wiesel-streams", WIESEL, program, arguments, expected, memory),
    )


def _beside_spark(name: str, title: str, job: str, program: str, arguments: dict[str, int], expected: dict[str, int], size: int) -> Case:
    return Case(
        name,
        title,
        (
            *_ours(job, program, arguments, expected, size),
            Run("spark", SPARK, "peers/spark_batch/batch.py", {**arguments, "job": job}, expected),
        ),
        (Target("x plain PySpark", "wall_s", "spark", "wiesel"),),
        figures=("wall_s", "cpu_s"),
    )


def _beside_pyflink(name: str, title: str, job: str, program: str, arguments: dict[str, int], expected: dict[str, int], size: int) -> Case:
    return Case(
        name,
        title,
        (
            *_ours(job, program, arguments, expected, size),
            Run("pyflink", PYFLINK, program, arguments, expected, pyflink_tuned(), once=True, timeout_s=3600),
        ),
        (
            Target(">= 10x PyFlink, start-up included", "wall_s", "pyflink", "wiesel", at_least=10),
            Target("the same program in BATCH mode, start-up included", "wall_s", "pyflink", "wiesel-streams", at_least=10),
        ),
        figures=("wall_s", "cpu_s"),
    )


def _word_count(make: Callable[..., Case], name: str, records: int, words: int) -> Case:
    return make(
        name,
        f"{words:,} different words in {records:,} texts of two, with start-up and end (s)",
        "word_count",
        "programs/batch_word_count.py",
        {"records": records, "words": words},
        # The numbers go over all words, and so do their halves.
        {"count": words, "total": 2 * records},
        words * WORD_BYTES,
    )


def _join(make: Callable[..., Case], name: str, records: int, customers: int) -> Case:
    return make(
        name,
        f"{records:,} orders joined with {customers:,} customers, summed by region, with start-up and end (s)",
        "join",
        "programs/batch_join.py",
        {"records": records, "customers": customers},
        # Amounts go from 0 to 99 in turn; every order has a customer, and every region has orders.
        {"count": REGIONS, "total": records // 100 * 4950},
        customers * RECORD_BYTES,
    )


def cases(scale: Scale) -> list[Case]:
    """Return the cases: beside plain PySpark, and beside PyFlink with as much as takes it two to three minutes (the full size: hours)."""
    full, keys = scale.records(5_000_000, 500_000), scale.records(1_000_000, 100_000)
    return [
        _word_count(_beside_spark, "batch-word-count", full, keys),
        _join(_beside_spark, "batch-join", full, keys),
        _word_count(_beside_pyflink, "batch-small-word-count", scale.records(40_000, 10_000), scale.records(8_000, 2_000)),
        _join(_beside_pyflink, "batch-small-join", scale.records(60_000, 10_000), scale.records(12_000, 2_000)),
    ]

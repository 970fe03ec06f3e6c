"""Bounded data over three times the memory that the algorithms may take: word count, and a join with an aggregation."""

from __future__ import annotations

from frame.case import PYFLINK, SPARK, WIESEL, Case, Run, Scale, Target

from cases.settings import pyflink_tuned

SUBTASKS = 2
WORD_BYTES = RECORD_BYTES = 100
"""Of a counted word, and of a record that is joined, with its key."""

REGIONS = 1_000


def _memory(data_bytes: int) -> dict[str, object]:
    """Return the setting with which a task has a third of its share of the data as memory."""
    return {"taskmanager.memory.managed.size": data_bytes // SUBTASKS // 3}


def _case(name: str, title: str, job: str, program: str, arguments: dict[str, int], expected: dict[str, int], data_bytes: int) -> Case:
    memory = _memory(data_bytes)
    return Case(
        name,
        title,
        (
            Run("wiesel", WIESEL, "programs/batch_dataset.py", {**arguments, "job": job}, expected, memory),
            Run("wiesel-streams", WIESEL, program, arguments, expected, memory),
            Run("pyflink", PYFLINK, program, arguments, expected, pyflink_tuned(), once=True, timeout_s=3600),
            Run("spark", SPARK, "peers/spark_batch/batch.py", {**arguments, "job": job}, expected),
        ),
        (
            Target(">= 10x PyFlink, start-up included", "wall_s", "pyflink", "wiesel", at_least=10),
            Target("x plain PySpark", "wall_s", "spark", "wiesel"),
        ),
        figures=("wall_s", "cpu_s"),
    )


def _word_count(scale: Scale) -> Case:
    records, words = scale.records(5_000_000, 500_000), scale.records(1_000_000, 100_000)
    return _case(
        "batch-word-count",
        f"{words:,} different words in {records:,} texts of two, with start-up and end (s)",
        "word_count",
        "programs/batch_word_count.py",
        {"records": records, "words": words},
        # The numbers go over all words, and so do their halves.
        {"count": words, "total": 2 * records},
        words * WORD_BYTES,
    )


def _join(scale: Scale) -> Case:
    records, customers = scale.records(5_000_000, 500_000), scale.records(1_000_000, 100_000)
    return _case(
        "batch-join",
        f"{records:,} orders joined with {customers:,} customers, summed by region, with start-up and end (s)",
        "join",
        "programs/batch_join.py",
        {"records": records, "customers": customers},
        # Amounts go from 0 to 99 in turn; every order has a customer, and every region has orders.
        {"count": REGIONS, "total": records // 100 * 4950},
        customers * RECORD_BYTES,
    )


def cases(scale: Scale) -> list[Case]:
    """Return the cases."""
    return [_word_count(scale), _join(scale)]

"""Window operators under test: payloads, the three ways to run them, and functions that show what they were given."""

from __future__ import annotations

from typing import Any

from tests.unit.runtime.harness import OperatorHarness, Record, Side
from wiesel.runtime.operators.window import window_operator
from wiesel.runtime.windows.operator import WindowOperator
from wiesel.runtime.windows.spec import WindowSpec
from wiesel.spi.functions import AggregateFunction, ProcessAllWindowFunction, ProcessWindowFunction


def general_operator(params, payload):
    """The operator that takes no short cut."""
    return WindowOperator(WindowSpec.of(payload))


WAYS = {"chosen": window_operator, "general": general_operator}
"""``chosen``: what a job runs, the fast way if there is one."""


def payload(assigner: Any, **given: Any) -> dict[str, Any]:
    return {
        "assigner": assigner,
        "trigger": None,
        "allowed_lateness_ms": 0,
        "late_tag": None,
        "function": None,
        "function_kind": "pass_through",
        "incremental": None,
        "incremental_kind": None,
        "all": False,
        "output_type": None,
        **given,
    }


def processing(function: Any = None) -> dict[str, Any]:
    return {"function": Shown() if function is None else function, "function_kind": "process"}


def reducing(function: Any) -> dict[str, Any]:
    return {"incremental": function, "incremental_kind": "reduce"}


def aggregating(function: Any = None) -> dict[str, Any]:
    return {"incremental": Count() if function is None else function, "incremental_kind": "aggregate"}


def windows(assigner: Any, way: str = "chosen", harness: dict[str, Any] | None = None, **given: Any) -> OperatorHarness:
    """Return a harness; records are tuples, keyed by their first field."""
    return OperatorHarness(WAYS[way], payload=payload(assigner, **given), key=lambda v: v[0], **(harness or {}))


def feed(harness: OperatorHarness, records: list[tuple[Any, int]]) -> OperatorHarness:
    """Push records one by one, the timestamp being the second field, with a watermark equal to the highest timestamp after each."""
    highest = None
    for record in records:
        harness.push([record], [record[1]])
        highest = record[1] if highest is None else max(highest, record[1])
        harness.watermark(highest)
    return harness


def results(harness: OperatorHarness) -> list[tuple[Any, int | None]]:
    """Return (value, timestamp) of the main output and forget all output."""
    return [(e.value, e.timestamp) for e in harness.take() if isinstance(e, Record)]


def late(harness: OperatorHarness, tag: str = "late") -> list[tuple[Any, int | None]]:
    return [(e.value, e.timestamp) for e in harness.output if isinstance(e, Side) and e.tag == tag]


def state_size(harness: OperatorHarness) -> int:
    """Return the number of entries and timers that the operator keeps."""
    backend = harness.backend
    names = [("window-contents", harness.operator.contents.table)]
    merging = getattr(harness.operator, "merging", None)
    if merging is not None:
        names.append(("merging", merging._table))
    return sum(len(table) for _, table in names) + len(backend.timers("event")) + len(backend.timers("processing"))


class Shown(ProcessWindowFunction):
    """Gives (key, window, watermark, elements)."""

    def process(self, key, context, elements):
        yield (key, str(context.window()), context.current_watermark(), list(elements))


class ShownAll(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield (str(context.window()), list(elements))


class Count(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + 1

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


class Values(AggregateFunction):
    """Keeps the third fields in a list that it changes in place."""

    def create_accumulator(self):
        return []

    def add(self, value, accumulator):
        accumulator.append(value[2])
        return accumulator

    def get_result(self, accumulator):
        return sorted(accumulator)

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b

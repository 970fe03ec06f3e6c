"""Broadcast rules, asynchronous calls, interval joins and patterns."""

from __future__ import annotations

from frame.case import PYFLINK, WIESEL, Case, Run, Scale, Target

from cases.settings import pyflink_tuned

CALLS_AT_A_TIME, CALL_S, SUBTASKS = 100, 0.01, 2
JOIN_KEYS, JOIN_BOUND = 1_000, 1_000
PATTERN_KEYS, STAGES = 1_000, 3


def _all_numbers(records: int) -> dict[str, int]:
    return {"count": records, "total": records * (records - 1) // 2}


def _broadcast(scale: Scale) -> Case:
    def run(label: str, engine: str, records: int, **other: object) -> Run:
        return Run(label, engine, "programs/broadcast_rules.py", {"records": records}, _all_numbers(records), **other)  # type: ignore[arg-type]

    return Case(
        "broadcast-rules",
        "each record looked up in broadcast state, steady rate (records/s)",
        (
            run("wiesel", WIESEL, scale.records(10_000_000, 2_000_000)),
            run("pyflink", PYFLINK, scale.records(500_000, 100_000), conf=pyflink_tuned()),
        ),
        (
            Target(">= 10x PyFlink", "rate", "wiesel", "pyflink", at_least=10),
            Target("PyFlink's CPU per record / Wiesel's", "steady_cpu_us", "pyflink", "wiesel"),
        ),
    )


def _async(scale: Scale) -> Case:
    ideal = SUBTASKS * CALLS_AT_A_TIME / CALL_S

    def run(label: str, engine: str, records: int, **other: object) -> Run:
        arguments = {"records": records, "capacity": CALLS_AT_A_TIME}
        return Run(label, engine, "programs/async_calls.py", arguments, _all_numbers(records), **other)  # type: ignore[arg-type]

    return Case(
        "async-calls",
        f"asynchronous calls of 10 ms, {CALLS_AT_A_TIME} at a time in each of {SUBTASKS} subtasks; the ideal is {ideal:,.0f} (records/s)",
        (
            run("wiesel", WIESEL, scale.records(500_000, 100_000)),
            run("pyflink", PYFLINK, scale.records(200_000, 50_000), conf=pyflink_tuned(), once=True),
        ),
        (
            Target(">= 0.9 of the ideal concurrency", "calls_at_a_time", "wiesel", at_least=0.9 * CALLS_AT_A_TIME),
            Target("x PyFlink", "rate", "wiesel", "pyflink"),
        ),
        figures=("rate", "calls_at_a_time"),
    )


def _joined(records: int) -> dict[str, int]:
    """Return number of pairs and sum of their left sides: halves with the same times, a record per ms, keys in turn."""
    share = records // SUBTASKS
    count = total = 0
    for rounds in range(-(JOIN_BOUND // JOIN_KEYS), JOIN_BOUND // JOIN_KEYS + 1):
        first, behind = max(0, -rounds * JOIN_KEYS), min(share, share - rounds * JOIN_KEYS)
        # Each of the two left records of a time meets the two right ones of the other time.
        count += SUBTASKS * SUBTASKS * (behind - first)
        total += SUBTASKS * (SUBTASKS * ((first + behind - 1) * (behind - first) // 2) + share * (behind - first))
    return {"count": count, "total": total}


def _interval_join(scale: Scale) -> Case:
    records = scale.records(2_000_000, 400_000)
    arguments = {"records": records, "keys": JOIN_KEYS, "bound": JOIN_BOUND}
    return Case(
        "interval-join",
        f"two streams joined by key and time, {JOIN_KEYS:,} keys, six pairs for each record of a side, steady rate (records/s of one side)",
        (Run("wiesel", WIESEL, "programs/interval_join.py", arguments, _joined(records)),),
    )


def _patterns(scale: Scale) -> Case:
    rounds = scale.records(1_500, 300)
    share = PATTERN_KEYS * STAGES * (rounds // STAGES)
    records = SUBTASKS * share
    # The third events of matches: those whose round leaves 2 when divided by 3.
    thirds = [(half * share, round_ * PATTERN_KEYS) for half in range(SUBTASKS) for round_ in range(2, share // PATTERN_KEYS, STAGES)]
    total = sum(PATTERN_KEYS * (begin + first) + PATTERN_KEYS * (PATTERN_KEYS - 1) // 2 for begin, first in thirds)
    expected = {"count": records // STAGES, "total": total}
    arguments = {"records": records, "keys": PATTERN_KEYS}
    return Case(
        "patterns",
        f"a pattern of {STAGES} stages, {SUBTASKS * PATTERN_KEYS:,} keys, steady rate (records/s)",
        (Run("wiesel", WIESEL, "programs/patterns.py", arguments, expected),),
    )


def cases(scale: Scale) -> list[Case]:
    """Return the cases."""
    return [_broadcast(scale), _async(scale), _interval_join(scale), _patterns(scale)]

"""Internal. Calls of aggregate functions in plans, in one phase or in two, with Flink's names of accumulators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wiesel.sql.plan.relations import AggregateCall

__all__ = ["PhaseCalls", "call_text", "phase_calls"]

_ACCUMULATORS = {"AVG": ("sum", "count")}


@dataclass(frozen=True)
class PhaseCalls:
    """Calls of an aggregate in two phases: what the local phase selects, and what the global one does for each call."""

    local: tuple[str, ...]
    merged: tuple[str, ...]


def call_text(call: AggregateCall, names: Sequence[str], *, retracts: bool) -> str:
    """Return a call over columns with names; one that also retracts rows says so."""
    arguments = ", ".join(names[index] for index in call.arguments) or "*"
    return f"{_function(call, retracts=retracts)}({'DISTINCT ' if call.distinct else ''}{arguments}){_condition(call, names)}"


def phase_calls(calls: Sequence[AggregateCall], names: Sequence[str], *, retracts: bool) -> PhaseCalls:
    """Return calls over columns with names in two phases."""
    local: list[str] = []
    merged: list[str] = []
    distinct: dict[tuple[int, ...], str] = {}
    count = 0
    for call in calls:
        kinds = _ACCUMULATORS.get(call.function, ("count1" if not call.arguments else call.function.lower(),))
        accumulators = [f"{kind}${count + place}" for place, kind in enumerate(kinds)]
        count += len(kinds)
        kept = accumulators[0] if len(accumulators) == 1 else f"({', '.join(accumulators)})"
        function = _function(call, retracts=retracts)
        arguments = ", ".join(names[index] for index in call.arguments) or "*"
        if call.distinct:
            values = distinct.setdefault(call.arguments, f"distinct${len(distinct)}")
            arguments, passed = f"{values} {arguments}", f"{values} {kept}"
        else:
            passed = kept
        local.append(f"{function}({arguments}){_condition(call, names)} AS {kept}")
        merged.append(f"{function}({passed})")
    local += [f"DISTINCT({', '.join(names[index] for index in columns)}) AS {values}" for columns, values in distinct.items()]
    return PhaseCalls(tuple(local), tuple(merged))


def _function(call: AggregateCall, *, retracts: bool) -> str:
    return f"{call.function}_RETRACT" if retracts else call.function


def _condition(call: AggregateCall, names: Sequence[str]) -> str:
    return "" if call.filter is None else f" FILTER {names[call.filter]}"

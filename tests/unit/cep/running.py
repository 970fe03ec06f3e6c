"""Runs the JSON cases of ``pattern_cases`` on Wiesel's matcher."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.unit.state.backends import new_backend
from wiesel.cep import AfterMatchSkipStrategy, Pattern, WithinType
from wiesel.cep.compiler import compile_pattern
from wiesel.cep.matcher import Matcher
from wiesel.cep.partial_matches import PartialMatches
from wiesel.core.errors import WieselError

KEY = "key"


def condition(types: str, ref: str = "", below: int = 0) -> Any:
    """An event is of one of the types; with ``ref`` its value and those of that pattern's events are below a bound."""
    if not ref:
        return lambda event: event[1] in types

    def iterative(event: Any, ctx: Any) -> bool:
        return event[1] in types and event[2] + sum(e[2] for e in ctx.get_events_for_pattern(ref)) < below

    return iterative


def build(steps: list[dict[str, Any]], skip: list[str]) -> Pattern:
    """Return the pattern of a case."""
    strategy = getattr(AfterMatchSkipStrategy, skip[0])(*skip[1:2])
    strategy = strategy.throw_exception_on_miss() if len(skip) > 2 else strategy
    pattern: Any = None
    for step in steps:
        part: Any = build(step["group"], ["no_skip"]) if "group" in step else step["name"]
        pattern = Pattern.begin(part, strategy) if pattern is None else getattr(pattern, step["link"])(part)
        _quantify(pattern, step)
    return pattern


def _quantify(pattern: Pattern, step: dict[str, Any]) -> None:
    if "on" in step:
        pattern.where(condition(step["on"], step.get("ref", ""), step.get("below", 0)))
    if "times" in step:
        minimum, maximum = step["times"]
        if maximum is None:
            pattern.times_or_more(minimum, step.get("gap"))
        else:
            pattern.times(minimum, maximum, step.get("gap"))
    if "until" in step:
        pattern.until(condition(step["until"]))
    if "inner" in step:
        {"consecutive": pattern.consecutive, "combinations": pattern.allow_combinations}[step["inner"]]()
    if step.get("greedy"):
        pattern.greedy()
    if step.get("optional"):
        pattern.optional()
    if "within" in step:
        pattern.within(step["within"])
    if "within_gap" in step:
        pattern.within(step["within_gap"], WithinType.PREVIOUS_AND_CURRENT)


def new_tables() -> PartialMatches:
    """Return empty tables."""
    return PartialMatches(new_backend("hashmap", Path(".")), None)


def run(case: dict[str, Any]) -> dict[str, Any]:
    """Return what CepCases writes: ``refused``, or ``matches`` and ``rest``, and ``failed`` if the strategy raised."""
    try:
        pattern = build(case["steps"], case["skip"])
        automaton = compile_pattern(pattern)
    except WieselError as error:
        return {"refused": error.message}
    tables = new_tables()
    matcher = Matcher(automaton, pattern.get_after_match_skip_strategy(), tables, lambda: 0, True)
    out: list[Any] = []
    result: dict[str, Any] = {"matches": out}
    try:
        for step, (kind, value, time) in enumerate(case["events"]):
            matches, timed_out = matcher.advance(KEY, time)
            out += [[step, None, shown(m)] for m in matches] + [[step, at, shown(m)] for m, at in timed_out]
            if kind != "@":
                event = (step, kind, value)
                out += [[step, None, shown(m)] for m in matcher.process(KEY, event, time, first(matcher, event))[0]]
    except WieselError as error:
        result["failed"] = error.message
    groups = tables.groups.get(KEY) or {}
    result["rest"] = 1 + sum(len(runs) + len(complete) for start, group in groups.items() if start != -1 for runs, complete in [group[1:]])
    check_shares(tables)
    return result


def first(matcher: Matcher, event: Any) -> Any:
    looks = matcher.first_look([event])
    return None if looks is None else looks[0]


def shown(match: dict[str, list[Any]]) -> list[Any]:
    return [[name, [e[0] for e in events]] for name, events in match.items()]


def check_shares(tables: PartialMatches) -> None:
    """Nodes and events are exactly those that runs refer to, with the right counts."""
    groups, nodes = tables.groups.get(KEY) or {}, tables.nodes.get(KEY) or {}
    ends = [n for start, g in groups.items() if start != -1 for n in [*(run[1] for run in g[1]), *g[2]]]
    counts: dict[int, int] = {}
    for node in [*ends, *(entry[2] for entry in nodes.values() if entry[2])]:
        counts[node] = counts.get(node, 0) + 1
    assert counts == {node: entry[3] for node, entry in nodes.items()}
    events: dict[int, int] = {}
    for entry in nodes.values():
        events[entry[1]] = events.get(entry[1], 0) + 1
    assert set(events) == set(tables.events.get(KEY) or {})
    assert {n: c for n, c in events.items() if c > 1} == (tables.shared.get(KEY) or {})

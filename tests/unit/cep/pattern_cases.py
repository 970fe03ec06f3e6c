"""Patterns and events as JSON, made at random; real Flink runs them by tests/differential/java/CepCases.java."""

from __future__ import annotations

import random
from typing import Any

TYPES = "abcd"
STRATEGIES = ("no_skip", "no_skip", "skip_to_next", "skip_past_last_event", "skip_to_first", "skip_to_last")


def random_case(seed: int) -> dict[str, Any]:
    """Return a pattern of one to four parts and a stream of up to twelve events."""
    rng = random.Random(seed)
    names = iter("ABCDEFGH")
    steps = _sequence(rng, names, rng.choice((1, 2, 2, 3, 3, 4)), depth=0)
    named = [s["name"] for s in steps if "name" in s]
    strategy = [rng.choice(STRATEGIES if named else STRATEGIES[:4])]
    if strategy[0] in ("skip_to_first", "skip_to_last"):
        strategy.append(rng.choice(named))
        if rng.random() < 0.2:
            strategy.append("throws")
    # At the end, what must not follow needs a time of its own: one given to an earlier pattern makes Flink forget the condition.
    if steps[-1]["link"] == "not_followed_by":
        steps[-1]["within"] = rng.choice((3, 5, 8, 12))
    elif rng.random() < 0.4:
        rng.choice(steps[-1:] * 3 + steps)["within"] = rng.choice((3, 5, 8, 12))
    return {"steps": steps, "skip": strategy, "events": _events(rng)}


def _sequence(rng: random.Random, names: Any, length: int, depth: int) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    for index in range(length):
        last_of_group = depth > 0 and index == length - 1
        link = (
            "begin" if index == 0 else rng.choice(("next", "followed_by", "followed_by", "followed_by_any", "not_next", "not_followed_by"))
        )
        link = "followed_by" if last_of_group and link == "not_followed_by" else link
        step: dict[str, Any] = {"link": link}
        is_not = link.startswith("not")
        if not is_not and depth < 2 and rng.random() < 0.15:
            step["group"] = _sequence(rng, names, rng.choice((1, 2, 2, 3)), depth + 1)
        else:
            step["name"] = next(names, None) or f"P{rng.randrange(10**6)}"
            step["on"] = rng.choice((*TYPES, "ab", "bc", "abcd", rng.choice(TYPES)))
            known = _names(steps)
            if rng.random() < 0.15:
                step["ref"] = rng.choice([*known, step["name"]])
                step["below"] = rng.choice((3, 5, 8))
        if not is_not:
            _quantify(rng, step)
        if depth == 0 and rng.random() < 0.05:
            step["within_gap"] = rng.choice((2, 3))
        steps.append(step)
    return steps


def _quantify(rng: random.Random, step: dict[str, Any]) -> None:
    if rng.random() < 0.45:
        step["times"] = rng.choice(([1, None], [1, None], [2, None], [2, 2], [1, 2], [1, 3], [2, 3], [3, 3]))
        if rng.random() < 0.1:
            step["gap"] = rng.choice((2, 3))
        if step["times"][1] is None and rng.random() < 0.25:
            step["until"] = rng.choice(TYPES)
        inner = rng.random()
        if inner < 0.25:
            step["inner"] = "consecutive"
        elif inner < 0.5:
            step["inner"] = "combinations"
        if "group" not in step and step.get("inner") != "combinations" and rng.random() < 0.35:
            step["greedy"] = True
    if rng.random() < 0.25:
        step["optional"] = True


def ends_a_group(steps: list[dict[str, Any]]) -> bool:
    """Say whether a repeated group has a condition that ends it."""
    return any("group" in s and ("until" in s or ends_a_group(s["group"])) for s in steps)


def _names(steps: list[dict[str, Any]]) -> list[str]:
    return [name for s in steps for name in (_names(s["group"]) if "group" in s else [s["name"]])]


def _events(rng: random.Random) -> list[list[Any]]:
    events: list[list[Any]] = []
    time = 0
    for _ in range(rng.randint(4, 11)):
        time += rng.choice((0, 1, 1, 1, 2, 4))
        events.append(["@" if rng.random() < 0.07 else rng.choice(TYPES), rng.randint(0, 3), time])
    events.append(["@", 0, time + 100])
    return events

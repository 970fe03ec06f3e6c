"""The matcher against a model that enumerates all matches by the rules of contiguity, without states.

Each pattern stands for a number of *slots*, one per event that it takes. A match is a choice of the numbers, and of rising positions in
the stream for the slots, so that each slot's event has its type and nothing lies before it that its contiguity forbids:

* strict: nothing;
* relaxed: no event that fits the slot;
* non-deterministic relaxed: no restriction;
* with ``not_next``: the event directly after the one before does not fit what is forbidden;
* with ``not_followed_by``: no event up to and including the slot's own fits it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.cep.running import build, run
from wiesel.cep import CEP, PatternProcessFunction
from wiesel.testing import StreamHarness

TYPES = "abc"


@dataclass(frozen=True)
class Slot:
    name: str
    on: str
    link: str
    nots: tuple[tuple[str, str], ...] = ()


INNER = {"consecutive": "next", "combinations": "followed_by_any", "": "followed_by"}


def slots_of(steps: list[dict[str, Any]]) -> Iterator[list[Slot]]:
    """All sequences of slots that the quantifiers allow."""
    choices = []
    nots: tuple[tuple[str, str], ...] = ()
    for step in steps:
        if step["link"].startswith("not"):
            nots = (*nots, (step["link"], step["on"]))
            continue
        low, high = step.get("times", [1, 1])
        counts = [*([0] if step.get("optional") else []), *range(low, (high or len(TYPES) * 4) + 1)]
        inner = Slot(step["name"], step["on"], INNER[step.get("inner", "")])
        first = Slot(step["name"], step["on"], step["link"], nots)
        choices.append([[first, *[inner] * (n - 1)] if n else [] for n in counts])
        nots = ()
    for choice in product(*choices):
        yield [slot for slots in choice for slot in slots]


def fits(slot: Slot, events: str, before: int | None, at: int) -> bool:
    if events[at] not in slot.on:
        return False
    if before is None:
        return True
    between = events[before + 1 : at]
    if slot.link == "next" and between:
        return False
    if slot.link == "followed_by" and any(e in slot.on for e in between):
        return False
    for kind, forbidden in slot.nots:
        watched = events[before + 1 : before + 2] if kind == "not_next" else events[before + 1 : at + 1]
        if any(e in forbidden for e in watched):
            return False
    return True


def placements(slots: list[Slot], events: str, taken: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    if len(taken) == len(slots):
        yield taken
        return
    before = taken[-1] if taken else None
    for at in range(0 if before is None else before + 1, len(events)):
        if fits(slots[len(taken)], events, before, at):
            yield from placements(slots, events, (*taken, at))


def model(steps: list[dict[str, Any]], events: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for slots in slots_of(steps):
        if 0 < len(slots) <= len(events):
            for taken in placements(slots, events):
                found[" ".join(f"{slot.name}{at}" for slot, at in zip(slots, taken, strict=True))] += 1
    return found


@st.composite
def sequences(draw: st.DrawFn) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    for index in range(draw(st.integers(1, 3))):
        if index and not steps[-1].get("optional") and "times" not in steps[-1] and draw(st.booleans()) and draw(st.booleans()):
            kind = draw(st.sampled_from(["not_next", "not_followed_by"]))
            steps.append({"name": f"N{index}", "link": kind, "on": draw(st.sampled_from(TYPES))})
        after_not = bool(steps) and steps[-1]["link"].startswith("not")
        links = ["followed_by", "followed_by_any"] if after_not else ["next", "followed_by", "followed_by_any"]
        step: dict[str, Any] = {"name": "PQR"[index], "link": draw(st.sampled_from(links)) if index else "begin"}
        # An event that is both forbidden and wanted is left out: what it does depends on whether more is to follow.
        forbidden = steps[-1]["on"] if after_not else ""
        step["on"] = draw(st.sampled_from([t for t in ("a", "b", "c", "ab", "bc") if not forbidden or forbidden not in t]))
        if not after_not:
            times = draw(st.sampled_from([None, None, [1, None], [2, None], [2, 2], [1, 2], [1, 3]]))
            if times is not None:
                step["times"] = times
                inner = draw(st.sampled_from(["", "consecutive", "combinations"]))
                step.update({"inner": inner} if inner else {})
            if draw(st.booleans()) and draw(st.booleans()):
                step["optional"] = True
        steps.append(step)
    return steps


@given(sequences(), st.text(alphabet=TYPES, min_size=1, max_size=7))
@settings(max_examples=250, deadline=None, print_blob=True)
def test_matcher_finds_what_the_rules_allow(steps: list[dict[str, Any]], events: str) -> None:
    result = run({"steps": steps, "skip": ["no_skip"], "events": [[e, 0, i] for i, e in enumerate(events)]})
    given_matches = Counter(" ".join(f"{name}{at}" for name, taken in match for at in taken) for _, _, match in result["matches"])
    assert given_matches == model(steps, events)


class Told(PatternProcessFunction):
    """The key of a match, and its events as the model writes them."""

    def process_match(self, match: dict[str, list[tuple[str, str, int]]], ctx: Any) -> Iterator[tuple[str, str]]:
        (key,) = {event[0] for events in match.values() for event in events}
        yield key, " ".join(f"{name}{event[2]}" for name, events in match.items() for event in events)


@st.composite
def runs(draw: st.DrawFn) -> list[tuple[int, str, int]]:
    """Parts of a run between two snapshots: parallelism, backend, and how many events there are at most."""
    part = st.tuples(st.integers(1, 4), st.sampled_from(["hashmap", "lmdb"]), st.integers(0, 5))
    return draw(st.lists(part, min_size=1, max_size=4))


@given(sequences(), st.lists(st.tuples(st.sampled_from("kmn"), st.sampled_from(TYPES)), min_size=1, max_size=14), runs(), st.randoms())
@settings(max_examples=60, deadline=None, print_blob=True)
def test_matches_of_all_keys_go_on_over_snapshots_at_any_parallelism(
    steps: list[dict[str, Any]], typed: list[tuple[str, str]], parts: list[tuple[int, str, int]], random: Any
) -> None:
    seen: Counter[str] = Counter()
    events = []
    for key, kind in typed:
        events.append((key, kind, seen[key]))
        seen[key] += 1
    rest = list(enumerate(events))
    found: Counter[tuple[str, str]] = Counter()
    snapshot = None
    for number, (parallelism, backend, most) in enumerate(parts):
        last = number == len(parts) - 1
        now, rest = (rest, []) if last else (rest[:most], rest[most:])
        with StreamHarness(
            lambda s: CEP.pattern(s.key_by(lambda e: e[0]), build(steps, ["no_skip"])).process(Told()),
            parallelism=parallelism,
            max_parallelism=8,
            state_backend=backend,
            restore_from=snapshot,
        ) as harness:
            for time, event in now:
                harness.push(event, time)
                # Events wait in state for the watermark: some for longer than to the next snapshot.
                if random.random() < 0.5:
                    harness.advance_watermark(time)
            if last:
                harness.end_input()
            found.update(harness.values)
            snapshot = harness.snapshot()
    expected: Counter[tuple[str, str]] = Counter()
    for key in seen:
        for match, count in model(steps, "".join(event[1] for event in events if event[0] == key)).items():
            expected[key, match] = count
    assert found == expected


def test_model_of_an_example() -> None:
    # a b+ with combinations on a b b: b1; b1 b2; and not b2 alone, as the first b is relaxed.
    steps = [
        {"name": "P", "link": "begin", "on": "a"},
        {"name": "Q", "link": "followed_by", "on": "b", "times": [1, None], "inner": "combinations"},
    ]
    assert model(steps, "abb") == Counter(["P0 Q1", "P0 Q1 Q2"])

"""Patterns over short streams, with all matches worked out by hand from the rules that Flink's documentation states.

A stream is a text like ``a1 c b1``: an event per word, whose type is its letter, one ms apart from 1 on. The matches are written in the
order of their last events; those of the same last event in any order, which is not defined.
"""

from __future__ import annotations

import pytest

from tests.unit.cep.running import first, new_tables
from wiesel.cep import AfterMatchSkipStrategy, Pattern
from wiesel.cep.compiler import compile_pattern
from wiesel.cep.matcher import Matcher

S = AfterMatchSkipStrategy


def on(pattern: Pattern) -> Pattern:
    """Accept the events whose type is the pattern's name."""
    letter = pattern.get_name()[0]
    return pattern.where(lambda event: event[0] == letter)


def begin(name: str, strategy: AfterMatchSkipStrategy | None = None) -> Pattern:
    return on(Pattern.begin(name, strategy))


def nxt(pattern: Pattern, name: str) -> Pattern:
    return on(pattern.next(name))


def then(pattern: Pattern, name: str) -> Pattern:
    return on(pattern.followed_by(name))


def any_(pattern: Pattern, name: str) -> Pattern:
    return on(pattern.followed_by_any(name))


def never(pattern: Pattern, name: str) -> Pattern:
    return on(pattern.not_followed_by(name))


def not_next(pattern: Pattern, name: str) -> Pattern:
    return on(pattern.not_next(name))


def matches(pattern: Pattern, stream: str, until: int | None = None) -> list[str]:
    """The matches, each as the events in the order of their coming."""
    matcher = Matcher(compile_pattern(pattern), pattern.get_after_match_skip_strategy(), new_tables(), lambda: 0, False)
    found: list[str] = []
    for time, event in enumerate(stream.split(), 1):
        now = [*matcher.advance("k", time)[0], *matcher.process("k", event, time, first(matcher, event))[0]]
        found += sorted(" ".join(e for events in m.values() for e in events) for m in now)
    if until is not None:
        found += sorted(" ".join(e for events in m.values() for e in events) for m in matcher.advance("k", until)[0])
    return found


GROUP = nxt(begin("a"), "b")

CASES = {
    # The documentation's example of contiguity between patterns: "a b" on the stream a, c, b1, b2.
    # Strict: c comes directly after a, so nothing. Relaxed: c is passed over, b1 is the first b. Non-deterministic: b1 may be passed over.
    "strict": (nxt(begin("a"), "b"), "a c b1 b2", []),
    "strict, directly": (nxt(begin("a"), "b"), "a b1 b2", ["a b1"]),
    "relaxed": (then(begin("a"), "b"), "a c b1 b2", ["a b1"]),
    "non-deterministic": (any_(begin("a"), "b"), "a c b1 b2", ["a b1", "a b2"]),
    # Each a begins a match of its own.
    "relaxed, two beginnings": (then(begin("a"), "b"), "a1 a2 b1", ["a1 b1", "a2 b1"]),
    "strict, two beginnings": (nxt(begin("a"), "b"), "a1 a2 b1", ["a2 b1"]),
    "non-deterministic, two beginnings": (any_(begin("a"), "b"), "a1 a2 b1 b2", ["a1 b1", "a2 b1", "a1 b2", "a2 b2"]),
    # The documentation's example within looping patterns: "a b+ c" on a, b1, d1, b2, d2, b3, c.
    # Strict inside (consecutive): after b1 comes d1, so b1 stands alone; b2 and b3 could follow a only over b's, which followed_by
    # (relaxed) does not pass over: the matches begin at b1; and c is reached from b1 over all that is no c.
    "loop, consecutive": (then(then(begin("a"), "b").one_or_more().consecutive(), "c"), "a b1 d1 b2 d2 b3 c", ["a b1 c"]),
    # Relaxed inside: d1 and d2 are passed over, but no b is: b1; b1 b2; b1 b2 b3.
    "loop, relaxed": (
        then(then(begin("a"), "b").one_or_more(), "c"),
        "a b1 d1 b2 d2 b3 c",
        ["a b1 b2 b3 c", "a b1 b2 c", "a b1 c"],
    ),
    # Combinations inside: b1 first (relaxed from a), then any subset of b2, b3.
    "loop, combinations": (
        then(then(begin("a"), "b").one_or_more().allow_combinations(), "c"),
        "a b1 d1 b2 d2 b3 c",
        ["a b1 b2 b3 c", "a b1 b2 c", "a b1 b3 c", "a b1 c"],
    ),
    # followed_by_any before the loop: the first b may be any; with relaxed inside no further b is passed over.
    "loop behind followed_by_any": (
        then(any_(begin("a"), "b").one_or_more(), "c"),
        "a b1 b2 b3 c",
        ["a b1 b2 b3 c", "a b1 b2 c", "a b1 c", "a b2 b3 c", "a b2 c", "a b3 c"],
    ),
    # The documentation's example of consecutive() and without: c a1 a2 a3 d a4 b, pattern c a+ b.
    # consecutive: a1; a1 a2; a1 a2 a3 (d breaks); without: d is passed over as well.
    "c a+ b, consecutive": (
        then(then(begin("c"), "a").one_or_more().consecutive(), "b"),
        "c d a1 a2 a3 d a4 b",
        ["c a1 a2 a3 b", "c a1 a2 b", "c a1 b"],
    ),
    "c a+ b, relaxed": (
        then(then(begin("c"), "a").one_or_more(), "b"),
        "c d a1 a2 a3 d a4 b",
        ["c a1 a2 a3 a4 b", "c a1 a2 a3 b", "c a1 a2 b", "c a1 b"],
    ),
    # allow_combinations: a1 first, then any subset of the three others: 8.
    "c a+ b, combinations": (
        then(then(begin("c"), "a").one_or_more().allow_combinations(), "b"),
        "c d a1 a2 a3 d a4 b",
        ["c a1 a2 a3 a4 b", "c a1 a2 a3 b", "c a1 a2 a4 b", "c a1 a2 b", "c a1 a3 a4 b", "c a1 a3 b", "c a1 a4 b", "c a1 b"],
    ),
    # A loop at the end matches with each further event.
    "loop at the end": (then(begin("a"), "b").one_or_more(), "a b1 b2", ["a b1", "a b1 b2"]),
    # A loop at the beginning: each a begins one.
    "loop at the beginning": (nxt(begin("a").one_or_more(), "b"), "a1 a2 b", ["a1 a2 b", "a2 b"]),
    # Relaxed from a+ to b: the run that has only a1 waits for b over a2, as a2 is no b.
    "loop at the beginning, relaxed": (then(begin("a").one_or_more(), "b"), "a1 a2 b", ["a1 a2 b", "a1 b", "a2 b"]),
    # times
    "times(2)": (begin("a").times(2), "a1 a2 a3", ["a1 a2", "a2 a3"]),
    "times(2), over others": (begin("a").times(2), "a1 x a2", ["a1 a2"]),
    "times(2), consecutive": (begin("a").times(2).consecutive(), "a1 x a2 a3", ["a2 a3"]),
    "times(2), combinations": (begin("a").times(2).allow_combinations(), "a1 a2 a3", ["a1 a2", "a1 a3", "a2 a3"]),
    "times(1, 2)": (begin("a").times(1, 2), "a1 a2", ["a1", "a1 a2", "a2"]),
    "times(2, 3) then b": (nxt(begin("a").times(2, 3), "b"), "a1 a2 a3 b", ["a1 a2 a3 b", "a2 a3 b"]),
    "times(3) then b": (nxt(begin("a").times(3), "b"), "a1 a2 a3 a4 b", ["a2 a3 a4 b"]),
    "times_or_more(2)": (nxt(begin("a").times_or_more(2), "b"), "a1 a2 a3 b", ["a1 a2 a3 b", "a2 a3 b"]),
    "times_or_more(2), too few": (nxt(begin("a").times_or_more(2), "b"), "a1 b", []),
    # optional
    "optional, there": (then(then(begin("a"), "b").optional(), "c"), "a b c", ["a b c", "a c"]),
    "optional, missing": (then(then(begin("a"), "b").optional(), "c"), "a c", ["a c"]),
    "optional, strict": (nxt(nxt(begin("a"), "b").optional(), "c"), "a b c", ["a b c"]),
    "optional, strict, missing": (nxt(nxt(begin("a"), "b").optional(), "c"), "a c", ["a c"]),
    "optional, strict, something else": (nxt(nxt(begin("a"), "b").optional(), "c"), "a x c", []),
    "optional at the beginning": (nxt(begin("a").optional(), "b"), "a b1 b2", ["a b1", "b1", "b2"]),
    "optional at the end": (nxt(begin("a"), "b").optional(), "a b", ["a", "a b"]),
    "optional times": (nxt(nxt(begin("a"), "b").times(2).optional(), "c"), "a b1 b2 c a c a b c", ["a b1 b2 c", "a c"]),
    "optional loop": (nxt(nxt(begin("a"), "b").one_or_more().optional(), "c"), "a b1 b2 c a c", ["a b1 b2 c", "a c"]),
    "times(0, 1)": (nxt(nxt(begin("a"), "b").times(0, 1), "c"), "a b c a c", ["a b c", "a c"]),
    # greedy: what both a+ and the next pattern would take goes to a+.
    "greedy": (
        Pattern.begin("a").where(lambda e: e[0] == "a").one_or_more().greedy().next("x").where(lambda e: True),
        "a1 a2 b",
        ["a1 a2 b", "a2 b"],
    ),
    # Not greedy: x may be a2, too.
    "not greedy": (
        Pattern.begin("a").where(lambda e: e[0] == "a").one_or_more().next("x").where(lambda e: True),
        "a1 a2 b",
        ["a1 a2", "a1 a2 b", "a2 b"],
    ),
    "greedy times": (
        Pattern.begin("a").where(lambda e: e[0] == "a").times(1, 2).greedy().next("x").where(lambda e: True),
        "a1 a2 b",
        ["a1 a2 b", "a2 b"],
    ),
    "greedy optional": (
        Pattern.begin("c")
        .where(lambda e: e[0] == "c")
        .next("a")
        .where(lambda e: e[0] == "a")
        .one_or_more()
        .optional()
        .greedy()
        .next("x")
        .where(lambda e: e[0] in "ab"),
        "c a b",
        ["c a b"],
    ),
    # until: with b no more a is taken; the b itself is not part of the match.
    "until": (begin("a").one_or_more().until(lambda e: e[0] == "b"), "a1 a2 b a3", ["a1", "a1 a2", "a2", "a3"]),
    # The documentation's warning example: a+ until b, with c between, relaxed.
    "until, relaxed": (then(begin("a").one_or_more().until(lambda e: e[0] == "x"), "c"), "a1 x a2 c", ["a1 c", "a2 c"]),
    "until, combinations": (
        begin("a").one_or_more().allow_combinations().until(lambda e: e[0] == "x"),
        "a1 a2 a3 x a4",
        ["a1", "a1 a2", "a2", "a1 a2 a3", "a1 a3", "a2 a3", "a3", "a4"],
    ),
    # not_next: the event directly after a must not be b.
    "not_next, forbidden": (then(not_next(begin("a"), "b"), "c"), "a b c", []),
    "not_next, something else": (then(not_next(begin("a"), "b"), "c"), "a x b c", ["a c"]),
    "not_next, the next itself": (then(not_next(begin("a"), "b"), "c"), "a c", ["a c"]),
    # At the end, the next event decides.
    "not_next at the end": (not_next(begin("a"), "b"), "a1 x a2 b", ["a1"]),
    "not_next at the end, no event": (not_next(begin("a"), "b"), "a", []),
    # not_followed_by: no b between a and c. The documentation's example: a c b1 b2 with "a not(c) b" gives nothing.
    "never, documentation": (then(never(begin("a"), "c"), "b"), "a c b1 b2", []),
    "never, absent": (then(never(begin("a"), "c"), "b"), "a d b1 b2", ["a b1"]),
    "never, after": (then(never(begin("a"), "c"), "b"), "a b1 c", ["a b1"]),
    "never, second beginning": (then(never(begin("a"), "c"), "b"), "a1 c a2 b", ["a2 b"]),
    # What must not follow a loop also ends it inside.
    "never after a loop": (then(never(begin("a").one_or_more(), "c"), "b"), "a1 c a2 b", ["a2 b"]),
    # Behind an optional pattern: c is forbidden until a b or, without it, the d has come.
    "never, then optional": (then(then(never(begin("a"), "c"), "b").optional(), "d"), "a b c d", ["a b d"]),
    # Groups
    "group twice": (Pattern.begin(GROUP).times(2), "a1 b1 a2 b2", ["a1 a2 b1 b2"]),
    "group twice, broken": (Pattern.begin(GROUP).times(2).consecutive(), "a1 b1 x a2 b2", []),
    "group one or more": (Pattern.begin(GROUP).one_or_more(), "a1 b1 a2 b2", ["a1 b1", "a1 a2 b1 b2", "a2 b2"]),
    "group optional": (
        begin("c").next(nxt(begin("a"), "b")).optional().next("d").where(lambda e: e[0] == "d"),
        "c a b d c d",
        ["c a b d", "c d"],
    ),
    "group relaxed": (begin("c").followed_by(nxt(begin("a"), "b")), "c x a b", ["c a b"]),
    "group strict": (begin("c").next(nxt(begin("a"), "b")), "c x a b c a b", ["c a b"]),
    "group, each time": (begin("c").followed_by_any(nxt(begin("a"), "b")), "c a1 b1 a2 b2", ["c a1 b1", "c a2 b2"]),
    # The table of skip strategies in the documentation: "b+ c" on b1 b2 b3 c.
    "b+ c, no_skip": (nxt(begin("b", S.no_skip()).one_or_more().consecutive(), "c"), "b1 b2 b3 c", ["b1 b2 b3 c", "b2 b3 c", "b3 c"]),
    # Matches begun with b1 are given up, and there are none.
    "b+ c, skip_to_next": (
        nxt(begin("b", S.skip_to_next()).one_or_more().consecutive(), "c"),
        "b1 b2 b3 c",
        ["b1 b2 b3 c", "b2 b3 c", "b3 c"],
    ),
    "b+ c, skip_past_last_event": (
        nxt(begin("b", S.skip_past_last_event()).one_or_more().consecutive(), "c"),
        "b1 b2 b3 c",
        ["b1 b2 b3 c"],
    ),
    # Nothing began before b1.
    "b+ c, skip_to_first": (
        nxt(begin("b", S.skip_to_first("b")).one_or_more().consecutive(), "c"),
        "b1 b2 b3 c",
        ["b1 b2 b3 c", "b2 b3 c", "b3 c"],
    ),
    # All that began before b3 is given up.
    "b+ c, skip_to_last": (nxt(begin("b", S.skip_to_last("b")).one_or_more().consecutive(), "c"), "b1 b2 b3 c", ["b1 b2 b3 c", "b3 c"]),
    # The second table: (a | b | c) (b | c) c+ d on a b c1 c2 c3 d; here with c+ greedy, which leaves the longest.
    "skip_to_first c": (
        nxt(
            Pattern.begin("A", S.skip_to_first("c"))
            .where(lambda e: e[0] in "abc")
            .next("B")
            .where(lambda e: e[0] in "bc")
            .next("c")
            .where(lambda e: e[0] == "c")
            .one_or_more()
            .greedy(),
            "d",
        ),
        "a b c1 c2 c3 d",
        ["a b c1 c2 c3 d", "c1 c2 c3 d"],
    ),
    # The third table: a b+ with no_skip and with skip_to_next on a b1 b2 b3.
    "a b+, no_skip": (then(begin("a", S.no_skip()), "b").one_or_more(), "a b1 b2 b3", ["a b1", "a b1 b2", "a b1 b2 b3"]),
    "a b+, skip_to_next": (then(begin("a", S.skip_to_next()), "b").one_or_more(), "a b1 b2 b3", ["a b1"]),
    # A match waits until those that began earlier are decided: a1 ... could still become a1 x c, so b d comes out only then.
    "matches wait": (
        Pattern.begin("a", S.skip_past_last_event())
        .where(lambda e: e[0] in "ab")
        .followed_by("end")
        .where(lambda e, ctx: {"a": "c", "b": "d"}[ctx.get_events_for_pattern("a")[0][0]] == e[0]),
        "a1 b1 d c",
        ["a1 c"],
    ),
    # Time: the last event must come less than 3 ms after the first.
    "within": (then(begin("a"), "b").within(3), "a1 x b1 a2 x x b2", ["a1 b1"]),
    # Nothing forbidden came within 3 ms of a1; c comes 2 ms after a2.
    "never at the end": (never(begin("a"), "c").within(3), "a1 x x x a2 x c", ["a1"]),
    "never at the end, by time": (never(begin("a"), "c").within(3), "a1 x", ["a1"]),
}


@pytest.mark.parametrize("name", CASES)
def test_matches(name: str) -> None:
    pattern, stream, expected = CASES[name]
    assert matches(pattern, stream, until=1000) == expected


def test_iterative_condition_of_the_documentation() -> None:
    # "middle" takes events while the sum of what it has taken and the new one is below 5: the first is 1, 2 makes 3, 4 would make 7.
    pattern = (
        Pattern.begin("middle")
        .one_or_more()
        .where(lambda value, ctx: int(value[1]) + sum(int(e[1]) for e in ctx.get_events_for_pattern("middle")) < 5)
    )
    assert matches(pattern, "f1 f2 f4") == ["f1", "f1 f2", "f2", "f4"]


def test_or_where_takes_either() -> None:
    pattern = Pattern.begin("x").where(lambda e: e[0] == "a").or_where(lambda e: e[0] == "b")
    assert matches(pattern, "a1 b1 c1") == ["a1", "b1"]


def test_several_where_must_all_hold() -> None:
    pattern = Pattern.begin("x").where(lambda e: e[0] == "a").where(lambda e: e[1] == "2")
    assert matches(pattern, "a1 a2 b2") == ["a2"]


def test_without_condition_all_is_taken() -> None:
    assert matches(Pattern.begin("x").next("y"), "a b c") == ["a b", "b c"]

"""Patterns that cannot be: the error, with the line of the call, before anything runs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from wiesel.cep import CEP, AfterMatchSkipStrategy, MalformedPatternException, Pattern, SimpleCondition, WithinType
from wiesel.cep.compiler import compile_pattern
from wiesel.datastream import StreamExecutionEnvironment


class Never(SimpleCondition):
    def filter(self, value: object, ctx: object = None) -> bool:
        return False


def a() -> Pattern:
    return Pattern.begin("a")


CALLS: dict[str, tuple[Callable[[], object], str]] = {
    "optional twice": (lambda: a().optional().optional(), "optional already"),
    "quantifier twice": (lambda: a().one_or_more().times(2), "has one quantifier"),
    "quantifier of not": (lambda: a().not_next("b").times(2), "must not occur"),
    "optional not": (lambda: a().not_followed_by("b").optional(), "must not occur"),
    "not after optional": (lambda: a().optional().not_followed_by("b"), "after the optional pattern"),
    "not_next after optional": (lambda: a().optional().not_next("b"), "after the optional pattern"),
    "optional after greedy": (lambda: a().one_or_more().greedy().next("b").optional(), "follows the greedy pattern"),
    "greedy single": (lambda: a().greedy(), "occur several times"),
    "greedy combinations": (lambda: a().one_or_more().allow_combinations().greedy(), "contradicts"),
    "greedy group": (lambda: Pattern.begin(a()).one_or_more().greedy(), "group"),
    "where of a group": (lambda: Pattern.begin(a()).where(lambda e: True), "group"),
    "or_where of a group": (lambda: Pattern.begin(a()).or_where(lambda e: True), "group"),
    "subtype of a group": (lambda: Pattern.begin(a()).subtype(int), "group"),
    "not of a group": (lambda: a().not_next(Pattern.begin("b")), "not a group"),  # type: ignore[arg-type]
    "consecutive single": (lambda: a().consecutive(), "occur several times"),
    "combinations single": (lambda: a().allow_combinations(), "occur several times"),
    "consecutive twice": (lambda: a().one_or_more().consecutive().consecutive(), "called already"),
    "both": (lambda: a().one_or_more().consecutive().allow_combinations(), "either"),
    "until without loop": (lambda: a().times(2).until(lambda e: True), "that loop"),
    "until twice": (lambda: a().one_or_more().until(lambda e: True).until(lambda e: True), "already"),
    "times 0": (lambda: a().times(0), "at least 1"),
    "times backwards": (lambda: a().times(3, 2), "at least 3"),
    "times_or_more 0": (lambda: a().times_or_more(0), "at least 1"),
    "no name": (lambda: Pattern.begin(""), "name of a pattern"),
    "no condition": (lambda: a().where("x > 1"), "needs a condition"),  # type: ignore[arg-type]
    "class as condition": (lambda: a().where(Never), "instead of an instance"),
    "condition of three": (lambda: a().where(lambda x, y, z: True), "does not take"),
    "within nothing": (lambda: a().within(0), "at least 1 ms"),
    "within a thing": (lambda: a().within(object()), "no length of time"),
    "miss of no_skip": (lambda: AfterMatchSkipStrategy.no_skip().throw_exception_on_miss(), "cannot miss"),
    "skip to nothing": (lambda: AfterMatchSkipStrategy.skip_to_first(""), "name of a pattern"),
    "same names": (lambda: compile_pattern(a().next("a")), "have the name 'a'"),
    "same names in a group": (lambda: compile_pattern(a().next(Pattern.begin("b").next("a"))), "have the name 'a'"),
    "reserved name": (lambda: compile_pattern(a().next("$endState$")), r"\$endState\$"),
    "unknown name to skip to": (lambda: compile_pattern(Pattern.begin("a", AfterMatchSkipStrategy.skip_to_last("z"))), "'z'"),
    "never without time": (lambda: compile_pattern(a().not_followed_by("b")), "without a time limit"),
    "never at the end of a group": (lambda: compile_pattern(Pattern.begin(a().not_followed_by("b")).next("c")), "a group ends"),
    "gap longer than all": (
        lambda: compile_pattern(a().next("b").within(5, WithinType.PREVIOUS_AND_CURRENT).within(3)),
        "more time than its parts",
    ),
    # A group that may match nothing, repeated: Flink does not come back from it.
    "endless": (lambda: compile_pattern(Pattern.begin(a().optional().next("b").optional()).one_or_more().next("c")), "without end"),
}


@pytest.mark.parametrize("name", CALLS)
def test_refused(name: str) -> None:
    call, message = CALLS[name]
    with pytest.raises(MalformedPatternException, match=message) as raised:
        call()
    assert __file__ in raised.value.message
    assert raised.value.hint


def test_refused_when_the_stream_gets_the_pattern() -> None:
    stream = StreamExecutionEnvironment.get_execution_environment().from_collection([1])
    with pytest.raises(MalformedPatternException, match="have the name 'a'"):
        CEP.pattern(stream, a().next("a"))

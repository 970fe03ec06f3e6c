"""Calls that come more than once are computed once per batch."""

from __future__ import annotations

import pyarrow as pa

from wiesel.columnar.common_parts import with_common_parts
from wiesel.columnar.evaluation import Frame, Session, evaluate
from wiesel.columnar.expressions import Expression, InputRef, Literal
from wiesel.columnar.functions.registry import call
from wiesel.columnar.functions.user_functions import UserFunction, user_call
from wiesel.types import logical as t

COLUMN = InputRef(t.BigIntType(), 0, "n")


def _counted(deterministic: bool) -> tuple[list[int], list[Expression]]:
    calls: list[int] = []

    def plus(n: int) -> int:
        calls.append(n)
        return n + 1

    function = UserFunction("plus", plus, t.BigIntType(), deterministic=deterministic)
    inner = [user_call(function, [COLUMN]) for _ in range(2)]
    return calls, [call("*", [inner[0], Literal(t.BigIntType(), 2)]), call("*", [inner[1], Literal(t.BigIntType(), 3)])]


def _values(expressions: list[Expression]) -> list[list[int]]:
    made, repeated = with_common_parts(expressions)
    frame = Frame(pa.record_batch({"n": [1, 2]}), Session(), repeated)
    return [evaluate(each, frame).to_pylist() for each in made]


def test_equal_calls_are_computed_once() -> None:
    calls, expressions = _counted(deterministic=True)
    assert _values(expressions) == [[4, 6], [6, 9]]
    assert calls == [1, 2]


def test_what_has_another_value_each_time_is_computed_each_time() -> None:
    calls, expressions = _counted(deterministic=False)
    assert _values(expressions) == [[4, 6], [6, 9]]
    assert calls == [1, 2, 1, 2]


def test_zeros_of_either_sign_are_not_the_same() -> None:
    zeros = [call("ABS", [Literal(t.DoubleType(), zero)]) for zero in (0.0, -0.0)]
    made, repeated = with_common_parts(zeros)
    assert made[0] is not made[1]
    assert not repeated

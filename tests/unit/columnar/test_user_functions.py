"""Functions of users in expressions."""

from __future__ import annotations

import pickle
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from wiesel.columnar.evaluation import Frame, Session, as_array, evaluate
from wiesel.columnar.expressions import Expression
from wiesel.columnar.functions import user_functions
from wiesel.core.errors import ProgramError, UserFunctionError
from wiesel.sql.binding.expressions import ExpressionBinder
from wiesel.sql.binding.scope import Scope, Source
from wiesel.sql.language.parser import parse_statement
from wiesel.sql.language.statements import Query
from wiesel.sql.plan.relations import Field
from wiesel.table import DataTypes
from wiesel.table.udf import ScalarFunction, UserDefinedScalarFunctionWrapper, udf
from wiesel.types import logical as t

ROWS = pa.RecordBatch.from_pydict({"a": pa.array([1, 2, None], pa.int32()), "b": pa.array([10, 20, 30], pa.int64())})
SCOPE = Scope([Source("t", (Field("a", t.IntType()), Field("b", t.BigIntType())), 0)])


def bound(expression: str, **functions: Any) -> Expression:
    sql = f"SELECT {expression} AS x FROM t"
    statement = parse_statement(sql)
    assert isinstance(statement, Query)
    binder = ExpressionBinder(sql, SCOPE)
    binder.user_functions = {name.upper(): wrapper.function for name, wrapper in functions.items()}
    return binder.bind(statement.tree.expressions[0].this)


def values(expression: Expression) -> list[Any]:
    return as_array(evaluate(expression, Frame(ROWS, Session())), 3).to_pylist()  # type: ignore[no-any-return]


def made(wrapper: Any) -> UserDefinedScalarFunctionWrapper:
    assert isinstance(wrapper, UserDefinedScalarFunctionWrapper)
    return wrapper


def test_per_row() -> None:
    @udf(result_type=DataTypes.BIGINT())
    def add(a: int | None, b: int) -> int:
        return (a or 0) + b

    found = bound("add(a, b) * 2", add=add)
    assert found.data_type == t.BigIntType()
    assert values(found) == [22, 44, 60]


def test_per_batch() -> None:
    with_pandas = udf(lambda a, b: a.fillna(0) + b, result_type="DOUBLE", func_type="pandas")
    assert values(bound("f(a, b)", f=with_pandas)) == [11.0, 22.0, 30.0]
    with_arrow = udf(lambda a, b: pc.add(a, b), [DataTypes.BIGINT(), DataTypes.BIGINT()], DataTypes.BIGINT(), func_type="arrow")
    assert values(bound("f(a, b)", f=with_arrow)) == [11, 22, None]


def test_arguments_are_cast_to_the_types_of_the_function() -> None:
    text = udf(lambda value: value, [DataTypes.STRING()], DataTypes.STRING())
    assert values(bound("f(a)", f=text)) == ["1", "2", None]
    with pytest.raises(ProgramError, match="takes 1 arguments, not 2"):
        bound("f(a, b)", f=text)


class Counted(ScalarFunction):
    """Counts how often it was opened."""

    def __init__(self) -> None:
        self.opened = 0

    def open(self, function_context: Any) -> None:
        self.opened += 1

    def eval(self, a: Any) -> int:
        return self.opened


def test_functions_are_opened_once_in_each_process() -> None:
    found = bound("f(a)", f=udf(Counted(), result_type="INT"))
    assert values(found) == values(found) == [1, 1, 1]
    elsewhere = pickle.loads(pickle.dumps(found))
    assert values(elsewhere) == [2, 2, 2]


def test_what_goes_wrong_is_told() -> None:
    divided = udf(lambda a: 1 // (a - 2), result_type="INT", name="divided")
    with pytest.raises(UserFunctionError, match=r"'divided' raised ZeroDivisionError: .* \(for \(2,\)\)"):
        values(bound("f(a)", f=divided))
    with pytest.raises(UserFunctionError, match=r"returned a value that is no INT: .*\n  made at .*test_user_functions\.py:\d+\n"):
        values(bound("f(a)", f=udf(lambda a: "x", result_type="INT")))
    with pytest.raises(UserFunctionError, match="returned 1 values for 3 rows"):
        values(bound("f(a)", f=udf(lambda a: a[:1], result_type="INT", func_type="arrow")))


def helper(value: int) -> int:
    return 1 // (value - 2)


@pytest.mark.parametrize("kind", ["general", "pandas", "arrow", "async"])
def test_the_line_that_raised_is_told(kind: str) -> None:
    async def later(a: int) -> int:
        return helper(a)

    function = later if kind == "async" else lambda a: helper(2)
    with pytest.raises(UserFunctionError) as caught:
        values(bound("f(a)", f=udf(function, result_type="INT", **({} if kind == "async" else {"func_type": kind}))))
    location = f"{__file__}:{helper.__code__.co_firstlineno + 1} in helper"
    assert f"\n  at {location}\n" in str(caught.value) and caught.value.details["location"] == location
    trace = str(caught.value.details["user_traceback"])
    assert "in helper" in trace and "ZeroDivisionError" in caught.value.message and "src/wiesel" not in trace


def test_the_row_is_named_whatever_a_function_raises() -> None:
    def ends(*row: int | None) -> int:
        if row == (2, 20) or not row:
            raise StopIteration("here")
        return 1

    function = udf(ends, result_type="INT", name="ends")
    with pytest.raises(UserFunctionError, match=r"'ends' raised StopIteration: .*\(for \(2, 20\)\)"):
        values(bound("f(a, b)", f=function))
    with pytest.raises(UserFunctionError, match=r"'ends' raised StopIteration: .*\(for \(\)\)"):
        values(bound("f()", f=function))


def test_what_is_not_deterministic_is_called_for_each_row() -> None:
    calls: list[int] = []

    def count(*row: int) -> int:
        calls.append(1)
        return len(calls)

    counted = udf(count, result_type="INT", deterministic=False)
    assert values(bound("f()", f=counted)) == [1, 2, 3]
    assert values(bound("f(7)", f=counted)) == [4, 5, 6]
    same = udf(count, result_type="INT")
    assert values(bound("f()", f=same)) == [7, 7, 7]


def test_wrong_declarations_are_refused() -> None:
    with pytest.raises(ProgramError, match="the result type of a function is None"):
        made(udf(lambda a: a))
    with pytest.raises(ProgramError, match="kind of function is 'vector'"):
        made(udf(lambda a: a, result_type="INT", func_type="vector"))


@pytest.mark.parametrize("rows", [0, 1, 3, 4, 7, 9])
@pytest.mark.parametrize("fails_at", [None, 0, 2, 3, 8])
def test_rows_that_are_computed_in_parts(monkeypatch: pytest.MonkeyPatch, rows: int, fails_at: int | None) -> None:
    monkeypatch.setattr(user_functions, "_TOGETHER", 3)

    def tenfold(n: int) -> int:
        if n == fails_at:
            raise ValueError("no more")
        return 10 * n

    frame = Frame(pa.record_batch({"a": pa.array(range(rows), pa.int32())}), Session())
    expression = bound("f(a)", f=udf(tenfold, result_type=DataTypes.BIGINT()))
    if fails_at is not None and fails_at < rows:
        with pytest.raises(UserFunctionError, match=rf"ValueError: no more \(for \({fails_at},\)\)"):
            evaluate(expression, frame)
    else:
        assert evaluate(expression, frame).to_pylist() == [10 * n for n in range(rows)]


def test_calls_without_arguments_are_computed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_functions, "_TOGETHER", 2)
    numbers = iter(range(100))
    expression = bound("f()", f=udf(lambda: next(numbers), result_type=DataTypes.BIGINT(), deterministic=False))
    assert values(expression) == [0, 1, 2]

"""Values of declared types become what PyFlink 2.3 makes of them; its results are in ``tests/differential/goldens_type_values.json``."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from tests.differential import type_values
from wiesel.common import Configuration, Row, Types
from wiesel.core.errors import JobExecutionError, TypeMismatchError
from wiesel.datastream import StreamExecutionEnvironment

TABLE: dict[str, dict[str, str]] = json.loads(Path(type_values.__file__).with_name("goldens_type_values.json").read_text())
NAMES = type_values.namespace(Types, Row)

# PyFlink's coder reads beyond the end of rows that are too short and drops what is too much. NaN and infinity as BIG_DEC end the job
# in Java.
REFUSED_HERE = {"(1, 'a', 2)", "Row(1)", "Row(1, 'a', 2)"}

# Of times before 1970 its coder makes some a second later, and of those beyond 2262 others altogether.
OTHER_TIMES_IN_FLINK = ("before", "datetime.datetime(9999, 12, 31, 23, 59, 59, 999999)")


def refused_on_purpose(declared: str, value: str) -> bool:
    return value in REFUSED_HERE or ("BIG_DEC" in declared and ("float('nan')" in value or "float('inf')" in value))


@pytest.mark.parametrize("declared", TABLE)
def test_values_become_what_flink_makes_of_them(declared: str) -> None:
    coerce = eval(f"Types.{declared}", NAMES).coerce
    for expression, expected in TABLE[declared].items():
        try:
            result = type_values.shown(coerce(eval(expression, NAMES)))
        except TypeMismatchError:
            assert expected.startswith("!") or refused_on_purpose(declared, expression), expression
        else:
            other_time = "SQL_TIMESTAMP" in declared and any(time in expression for time in OTHER_TIMES_IN_FLINK)
            assert expected.startswith("!") or (result == expected) != other_time, expression


@pytest.mark.parametrize(("declared", "wrong"), [(Types.SQL_DATE(), "2024-01-02"), (Types.SQL_DATE(), 5), (Types.INSTANT(), 5)])
def test_results_that_are_no_dates_and_instants_are_refused(declared: Any, wrong: Any) -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"wiesel.engine": "local"}))
    with pytest.raises(JobExecutionError, match=r"which is not an? (DateTypeInfo|Instant)"):
        list(env.from_collection([wrong]).map(lambda value: value, declared).execute_and_collect())


def collected(values: list[Any], declared: Any) -> list[Any]:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"wiesel.engine": "local"}))
    return list(env.from_collection(values, declared).execute_and_collect())


# The expected values below were recorded by real jobs, as Java takes part in them.


def test_elements_of_tuples_may_be_none_where_flink_takes_it() -> None:
    declared = Types.TUPLE([Types.STRING(), Types.BIG_INT(), Types.BIG_DEC(), Types.SQL_DATE()])
    assert collected([(None, None, None, None)], declared) == [(None, None, None, None)]
    for number in (Types.BYTE(), Types.SHORT(), Types.INT(), Types.LONG(), Types.FLOAT(), Types.DOUBLE(), Types.BOOLEAN(), Types.CHAR()):
        with pytest.raises(TypeMismatchError):
            collected([("a", None)], Types.TUPLE([Types.STRING(), number]))


def test_numbers_in_collections_of_strings_are_their_java_text() -> None:
    values = [True, 5, 2**40, 1.5, 2.0, 1.23, NAMES["D"]("1.5"), "ab"]
    expected = ["true", "5", "1099511627776", "1.5", "2.0", "1.23", "1.5", "ab"]
    assert collected(values, Types.STRING()) == expected
    assert collected([(1, v) for v in values], Types.TUPLE([Types.INT(), Types.STRING()])) == [(1, text) for text in expected]
    for refused in (NAMES["date"], [1, 2], b"ab"):
        with pytest.raises(TypeMismatchError):
            collected([refused], Types.STRING())


def test_floats_come_back_as_their_shortest_decimal() -> None:
    pair = Types.ROW_NAMED(["n", "x"], [Types.INT(), Types.FLOAT()])
    assert collected([1.23, 0.1, 16777216.0, 1e-45], Types.FLOAT()) == [1.23, 0.1, 16777216.0, 1.4e-45]
    assert collected([Row(n=1, x=1.23), Row(n=2, x=None)], pair) == [Row(n=1, x=1.23), Row(n=2, x=None)]
    assert collected([(1, [0.1, 1.23])], Types.TUPLE([Types.INT(), Types.LIST(Types.FLOAT())])) == [(1, [0.1, 1.23])]
    assert collected([{"a": 0.3}], Types.MAP(Types.STRING(), Types.FLOAT())) == [{"a": 0.3}]
    assert math.isnan(collected([float("nan")], Types.FLOAT())[0])


def test_functions_see_floats_of_32_bits_and_their_results_come_back_short() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"wiesel.engine": "local"}))
    stream = env.from_collection([1.23], Types.FLOAT())
    assert list(stream.map(lambda x: x * 2, Types.FLOAT()).union(stream).map(repr).execute_and_collect()) == [
        "2.4600000381469727",
        "1.2300000190734863",
    ]
    assert list(stream.map(lambda x: x * 2, Types.FLOAT()).execute_and_collect()) == [2.46]

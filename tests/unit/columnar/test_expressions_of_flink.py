"""Expressions have the types and values that real Flink gives them (recorded by ``record_sql_expressions.py``)."""

from __future__ import annotations

import base64
import datetime
import decimal
import json
import random
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.differential.sql_samples import COLUMNS, ROWS, ZONES
from tests.unit.columnar.java_values import in_order, java_text
from wiesel.columnar.arrow_types import arrow_schema
from wiesel.columnar.evaluation import Frame, Session, as_array, evaluate
from wiesel.columnar.expressions import Expression
from wiesel.core.errors import ExpressionError, ProgramError
from wiesel.sql.binding.expressions import ExpressionBinder
from wiesel.sql.binding.scope import Scope, Source
from wiesel.sql.language.parser import parse_statement
from wiesel.sql.language.statements import Query
from wiesel.sql.plan.relations import Field
from wiesel.types import logical as t
from wiesel.types.logical_parser import parse_data_type

SEED = random.randrange(10**6)
GOLDENS = Path(__file__).parents[2] / "differential" / "goldens"
TYPES = {name: parse_data_type(kind) for name, kind in COLUMNS.items()}


def _value(value: Any, of: t.DataType) -> Any:
    if value is None:
        return None
    if isinstance(of, t.DecimalType):
        unit = decimal.Decimal(1).scaleb(-of.scale)
        return decimal.Decimal(value).quantize(unit, context=decimal.Context(prec=50))
    if isinstance(of, t.DateType):
        return datetime.date.fromisoformat(value)
    if isinstance(of, t.TimeType):
        return datetime.time.fromisoformat(value)
    if isinstance(of, t.TimestampType | t.LocalZonedTimestampType):
        return datetime.datetime.fromisoformat(value.replace("Z", "+00:00"))
    if isinstance(of, t.VarBinaryType):
        return base64.b64decode(value)
    return list(value.items()) if isinstance(of, t.MapType) else value


def sample_rows() -> pa.RecordBatch:
    """Return the rows over which Flink evaluated the expressions."""
    schema = arrow_schema(TYPES.items())
    rows = [json.loads(row, parse_float=decimal.Decimal) for row in ROWS]
    columns = []
    for name, of in TYPES.items():
        values = [_value(row[name], of) for row in rows]
        floats = isinstance(of, t.FloatType | t.DoubleType)
        columns.append(pa.array([float(value) if floats and value is not None else value for value in values], schema.field(name).type))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


SAMPLES = sample_rows()
FIELDS = tuple(Field(name, of) for name, of in TYPES.items())


def bound(expression: str) -> Expression:
    """Return an expression over the sample columns."""
    sql = f"SELECT {expression} AS x FROM samples"
    statement = parse_statement(sql)
    assert isinstance(statement, Query)
    return ExpressionBinder(sql, Scope([Source("samples", FIELDS, 0)])).bind(statement.tree.expressions[0].this)


def texts(expression: Expression, rows: pa.RecordBatch, zone: str = "UTC") -> list[str | None]:
    """Return the values for some rows, as Java says them."""
    column = as_array(evaluate(expression, Frame(rows, Session(zone))), rows.num_rows)
    column.validate(full=True)
    return [java_text(column[i], expression.data_type) for i in range(rows.num_rows)]


def goldens() -> list[Any]:
    """Return what was recorded of each expression."""
    found = [{**entry, "zone": zone} for name, zone in ZONES.items() for entry in json.loads((GOLDENS / f"{name}.json").read_text())]
    return [entry for entry in found if entry["expression"] not in NOT_IMITATED and (entry["zone"], entry["expression"]) not in BEFORE_1970]


UNSUPPORTED = re.compile(r"\bCURRENT_DATABASE\b")
"""What there is no function for; such expressions are refused."""

NOT_IMITATED = {
    "GREATEST(p, i, d)": "Flink fails with a NullPointerException for NULL among decimals; here it is NULL, as for other types",
    "LEAST(p, q)": "as GREATEST",
    "ATAN2(d, p)": "Flink cannot compute it for a DOUBLE and a DECIMAL",
    "SIGN(ti)": "Flink's generated code does not compile for TINYINT",
    "CAST('x' AS DECIMAL(5, 2))": "Flink says 0.00 for literals; here it fails, as for other types",
    "CAST(CAST(0.1 AS FLOAT) AS DOUBLE)": "Flink does not round literals to FLOAT before it makes them DOUBLE",
    ".5": "one digit more is counted: the parser writes it as 0.5",
    "ROUND(2.567, n)": "Flink moves the point where the digits are no literal",
    "TRUNCATE(q, n)": "as ROUND",
    "LPAD('a,b;c', -1, 'a')": "Flink says that it is never NULL, and it is",
    "ABS(INTERVAL '1' DAY)": "Flink's planner reads it and cannot compute it",
    "SIN(d)": "the last digit of a sine is not the same in C and in Java",
    "TO_TIMESTAMP(s, s)": "letters that are no part of a pattern are refused; for Flink they are text",
    "TO_DATE(s, s)": "as TO_TIMESTAMP",
    "LOG10(LN(1e3))": "the last digit of a logarithm is not the same in C and in Java",
    "s = TRUE": "a text equals no truth value in Flink, whatever it says; here it is refused",
    "'true' = b": "as s = TRUE",
    "b = 'yes'": "as s = TRUE",
    "'12345678901234567890.5' > 12345678901234567890.4": "Flink refuses literals of more than 19 digits",
    "TRY_PARSE_JSON(s, b)": "Flink fails with a NullPointerException where it is not said whether keys may be there twice; here it is NULL",
    "PARSE_JSON('{\"abc\": 1, \"\": [2]}')[v]": "Flink cannot compute the name of a field, it takes literals only",
    "CASE WHEN n = 1 THEN PARSE_JSON('1') ELSE NULL END": "Flink's planner cannot let a VARIANT that is never NULL be one that may be",
    "ARRAY[TRY_PARSE_JSON(s), PARSE_JSON('[1]')]": "as CASE",
    "MAP_FROM_ARRAYS(arr, arr)": "keys that are NULL are refused, maps of Arrow cannot hold them",
}


BEFORE_1970 = {
    ("America/New_York", expression)
    for expression in (
        "EXTRACT(YEAR FROM tz)",
        "EXTRACT(HOUR FROM tz)",
        "EXTRACT(DAY FROM tz)",
        "EXTRACT(DOW FROM tz)",
        "HOUR(tz)",
        "FLOOR(tz TO MONTH)",
    )
}
"""Where the clock shows a time before 1970, Flink counts parts backwards (the hour is -5) and takes the next day; here they are right."""


def fails_always(golden: dict[str, Any]) -> bool:
    """Return whether Flink refuses an expression, or fails for all rows, which may be refused as well."""
    return "values" not in golden or all(isinstance(value, dict) for value in golden["values"])


@pytest.mark.parametrize("golden", [pytest.param(entry, id=entry["expression"]) for entry in goldens()])
def test_as_in_flink(golden: dict[str, Any]) -> None:
    if UNSUPPORTED.search(golden["expression"]):
        with pytest.raises(ProgramError, match="there is no function"):
            bound(golden["expression"])
        return
    if fails_always(golden):
        with pytest.raises((ProgramError, ExpressionError)):
            texts(bound(golden["expression"]), SAMPLES, golden["zone"])
        return
    expression = bound(golden["expression"])
    assert expression.data_type.as_summary_string() == golden["type"]
    fails = [isinstance(value, dict) for value in golden["values"]]
    if not any(fails):
        assert texts(expression, SAMPLES, golden["zone"]) == [in_order(value, expression.data_type) for value in golden["values"]]
        places = random.Random(SEED).choices(range(SAMPLES.num_rows), k=20)
        expected = [in_order(golden["values"][place], expression.data_type) for place in places]
        shuffled = SAMPLES.take(pa.array(places))
        assert texts(expression, shuffled.slice(3), golden["zone"]) == expected[3:], f"seed {SEED}"
        assert texts(expression, shuffled.slice(20), golden["zone"]) == []
    for place, value in enumerate(golden["values"]):
        row = SAMPLES.slice(place, 1)
        if fails[place]:
            with pytest.raises(ExpressionError, match=r"has no value"):
                texts(expression, row, golden["zone"])
        else:
            assert texts(expression, row, golden["zone"]) == [in_order(value, expression.data_type)]

"""``str()`` of expressions is that of real Flink (``tests/differential/record_expression_texts.py``)."""

from __future__ import annotations

import json
import sys
from decimal import Decimal
from pathlib import Path

DIFFERENTIAL = Path(__file__).parents[2] / "differential"
sys.path.insert(0, str(DIFFERENTIAL))

from expression_text_cases import EXPRESSIONS  # noqa: E402

from wiesel.table import DataTypes, expression, expressions, udf  # noqa: E402

GOLDENS = json.loads((DIFFERENTIAL / "goldens" / "expression_texts.json").read_text(encoding="utf-8"))


def test_expressions_have_the_text_of_flink() -> None:
    names = {**vars(expression), **vars(expressions), "DataTypes": DataTypes, "Decimal": Decimal}
    names |= {name: expressions.col(name) for name in "abc"}
    assert list(GOLDENS) == EXPRESSIONS
    assert {each: str(eval(each, names)) for each in EXPRESSIONS} == GOLDENS  # noqa: S307 - it evaluates what is written beside it


def test_calls_of_functions_have_their_name() -> None:
    def plus_one(value: int) -> int:
        return value + 1

    assert str(udf.udf(plus_one, result_type="INT")(expressions.col("a") + 1)) == "plus_one(plus(a, 1))"
    assert repr(expressions.col("a")) == "a"

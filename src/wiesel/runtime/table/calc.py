"""Internal. Filters and projections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from wiesel.columnar.common_parts import with_common_parts
from wiesel.columnar.evaluation import Frame, as_array, evaluate, evaluate_all
from wiesel.columnar.expressions import Expression
from wiesel.columnar.row_batch import RowBatch
from wiesel.runtime.table.base import TableOperator

__all__ = ["calc_operator", "expand_operator"]


class CalcOperator(TableOperator):
    """The rows for which a condition is true, as other columns."""

    def __init__(self, condition: Expression | None, expressions: Sequence[Expression] | None, schema: pa.Schema | None) -> None:
        self._condition, self._of_condition = condition, frozenset[int]()
        if condition is not None:
            (self._condition,), self._of_condition = with_common_parts([condition])
        self._expressions, self._of_expressions = expressions, frozenset[int]()
        if expressions is not None:
            self._expressions, self._of_expressions = with_common_parts(expressions)
        self._schema = schema

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Filter, then project."""
        if self._condition is not None:
            rows = rows.filter(as_array(evaluate(self._condition, Frame(rows.rows, self.session, self._of_condition)), len(rows)))
        if self._expressions is not None and len(rows):
            rows = rows.with_rows(evaluate_all(self._expressions, self._schema, Frame(rows.rows, self.session, self._of_expressions)))
        self.emit_rows(rows)


def calc_operator(params: dict[str, Any], payload: dict[str, Any]) -> CalcOperator:
    """Return the operator of a spec."""
    return CalcOperator(payload["condition"], payload["expressions"], payload["schema"])


class ExpandOperator(TableOperator):
    """Each row once per projection, one projection behind the other."""

    def __init__(self, projections: Sequence[Sequence[Expression]], schema: pa.Schema) -> None:
        self._projections = projections
        self._schema = schema

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Project all rows by each projection."""
        frame = Frame(rows.rows, self.session)
        for expressions in self._projections:
            self.emit_rows(rows.with_rows(evaluate_all(expressions, self._schema, frame)))


def expand_operator(params: dict[str, Any], payload: dict[str, Any]) -> ExpandOperator:
    """Return the operator of a spec."""
    return ExpandOperator(payload["projections"], payload["schema"])

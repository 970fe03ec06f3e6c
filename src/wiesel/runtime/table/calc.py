"""Internal. Filters and projections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.common_parts import with_common_parts
from wiesel.columnar.evaluation import Frame, as_array, evaluate, evaluate_all
from wiesel.columnar.expressions import Expression
from wiesel.columnar.row_batch import RowBatch, concat
from wiesel.runtime.table.base import TableOperator
from wiesel.runtime.table.rounds import is_per_record

__all__ = ["calc_operator", "expand_operator"]


class CalcOperator(TableOperator):
    """Filters rows by a condition and projects them."""

    def __init__(self, condition: Expression | None, expressions: Sequence[Expression] | None, schema: pa.Schema | None) -> None:
        # In one frame, so that values computed by the condition are reused for the remaining rows.
        conditions = [] if condition is None else [condition]
        made, self._repeated = with_common_parts([*conditions, *(expressions or ())])
        self._condition = None if condition is None else made[0]
        self._expressions = None if expressions is None else made[len(conditions) :]
        self._schema = schema

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Filter, then project."""
        frame = Frame(rows.rows, self.session, self._repeated)
        if self._condition is not None:
            mask = as_array(evaluate(self._condition, frame), len(rows))
            if mask.true_count < len(rows):
                self._emit_chosen(rows, frame, mask)
                return
        if self._expressions is not None:
            rows = rows.with_rows(evaluate_all(self._expressions, self._schema, frame))
        self.emit_rows(rows)

    def _emit_chosen(self, rows: RowBatch, frame: Frame, mask: pa.BooleanArray) -> None:
        if self._expressions is None:
            self.emit_rows(rows.filter(mask))
        elif mask.true_count:
            projected = evaluate_all(self._expressions, self._schema, frame.filter(mask))
            self.emit_rows(RowBatch(projected, rows.kinds_of(mask)))


def calc_operator(params: dict[str, Any], payload: dict[str, Any]) -> CalcOperator:
    """Return the operator of a spec."""
    return CalcOperator(payload["condition"], payload["expressions"], payload["schema"])


class ExpandOperator(TableOperator):
    """Emits each row once per projection: projection by projection, or row by row with changelog-per-record."""

    def __init__(self, projections: Sequence[Sequence[Expression]], schema: pa.Schema) -> None:
        self._projections = projections
        self._schema = schema

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Project all rows by each projection."""
        frame = Frame(rows.rows, self.session)
        found = (rows.with_rows(evaluate_all(expressions, self._schema, frame)) for expressions in self._projections)
        if is_per_record(self.context):
            places = np.arange(len(self._projections) * len(rows)).reshape(-1, len(rows)).T.ravel()
            self.emit_rows(concat(list(found)).take(places))
            return
        for each in found:
            self.emit_rows(each)


def expand_operator(params: dict[str, Any], payload: dict[str, Any]) -> ExpandOperator:
    """Return the operator of a spec."""
    return ExpandOperator(payload["projections"], payload["schema"])

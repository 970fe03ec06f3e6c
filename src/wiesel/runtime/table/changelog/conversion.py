"""Internal. Conversion between changes and insert-only rows with an operation code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.row_batch import UPDATE_BEFORE, RowBatch
from wiesel.core.errors import UserFunctionError
from wiesel.runtime.table.base import TableOperator

__all__ = ["ChangelogSpec", "drop_update_before", "from_changelog_operator", "to_changelog_operator"]


@dataclass(frozen=True)
class ChangelogSpec:
    """Encoding of changes.

    Attributes:
        codes: For encoding: the code of each row kind; other kinds are dropped.
        kinds: For decoding: the row kind of each code.
        op: The column of the code.
        schema: The columns of the results.
    """

    codes: Mapping[int, str]
    kinds: Mapping[str, int]
    op: int
    schema: pa.Schema


class ToChangelogOperator(TableOperator):
    """Prepends the code of each change to its columns."""

    def __init__(self, spec: ChangelogSpec) -> None:
        self._schema = spec.schema
        self._kinds = np.array(sorted(spec.codes), np.uint8)
        self._codes = pa.array([spec.codes[kind] for kind in sorted(spec.codes)], pa.string())

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Encode changes."""
        told = np.flatnonzero(np.isin(rows.kinds_or_inserts(), self._kinds))
        if len(told) < len(rows):
            rows = rows.take(told)
        codes = self._codes.take(pa.array(np.searchsorted(self._kinds, rows.kinds_or_inserts())))
        self.emit_rows(RowBatch(pa.RecordBatch.from_arrays([codes, *rows.rows.columns], schema=self._schema)))


class FromChangelogOperator(TableOperator):
    """Decodes changes from rows with codes."""

    def __init__(self, spec: ChangelogSpec) -> None:
        self._spec = spec
        self._codes = pa.array(list(spec.kinds), pa.string())
        self._kinds = np.array(list(spec.kinds.values()), np.uint8)

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Read changes."""
        codes = rows.rows.column(self._spec.op)
        places = pc.index_in(codes, self._codes)
        if places.null_count:
            code = codes[pc.index(places.is_null(), True).as_py()].as_py()
            known = ", ".join(self._spec.kinds)
            message = f"{code!r} is no code of a change in FROM_CHANGELOG; the codes are {known}"
            raise UserFunctionError(message, hint="name it in op_mapping, or filter such rows out")
        columns = [column for index, column in enumerate(rows.rows.columns) if index != self._spec.op]
        kinds = self._kinds[places.to_numpy()]
        batch = pa.RecordBatch.from_arrays(columns, schema=self._spec.schema)
        self.emit_rows(RowBatch(batch, kinds if kinds.any() else None))


class DropUpdateBeforeOperator(TableOperator):
    """Drops UPDATE_BEFORE rows, which no consumer reads."""

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Emit all other rows."""
        if rows.kinds is not None and (rows.kinds == UPDATE_BEFORE).any():
            rows = rows.take(np.flatnonzero(rows.kinds != UPDATE_BEFORE))
        if len(rows):
            self.emit_rows(rows)


def drop_update_before(params: dict[str, Any], payload: Any) -> DropUpdateBeforeOperator:
    """Return the operator."""
    return DropUpdateBeforeOperator()


def to_changelog_operator(params: dict[str, Any], payload: ChangelogSpec) -> ToChangelogOperator:
    """Return the operator of a spec."""
    return ToChangelogOperator(payload)


def from_changelog_operator(params: dict[str, Any], payload: ChangelogSpec) -> FromChangelogOperator:
    """Return the operator of a spec."""
    return FromChangelogOperator(payload)

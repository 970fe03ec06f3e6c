"""Internal. User-defined table aggregates: for each changed group, the old rows are retracted and the new ones emitted.

Retry semantics: state is, per key, the number of rows and the pickled accumulator; nothing else outlives a batch.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from wiesel.columnar.aggregates.user_aggregates import UserAggregate
from wiesel.columnar.functions.user_functions import call_failure, python_columns
from wiesel.columnar.grouping import group_by
from wiesel.columnar.keys import key_tuples
from wiesel.columnar.row_batch import DELETE, INSERT, RowBatch
from wiesel.columnar.rows import DECIMALS_OF_FUNCTIONS, column_array
from wiesel.core.errors import UserFunctionError
from wiesel.runtime.table.base import TableOperator, state_ttl
from wiesel.runtime.table.rounds import rounds_of
from wiesel.runtime.table.row_signs import row_signs
from wiesel.types.row import Row

__all__ = ["TableAggregateSpec", "table_aggregate_operator"]


@dataclass(frozen=True)
class TableAggregateSpec:
    """Attributes: the key columns, the arguments, the function, and the schema of the results."""

    keys: tuple[int, ...]
    arguments: tuple[int, ...]
    function: UserAggregate
    schema: pa.Schema


class TableAggregateOperator(TableOperator):
    """Aggregates by key; the results are rows."""

    def __init__(self, spec: TableAggregateSpec) -> None:
        self._spec = spec

    def open(self) -> None:
        """Initialise the state."""
        super().open()
        self._table = self.context.backend.table("groups", ttl=state_ttl(self.context))
        self._rounds = rounds_of(self.context, self._spec.keys, self._change, self.emit_rows)

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Change the groups of the rows."""
        if self._rounds is None:
            self._change(rows)
        else:
            self._rounds.process(rows)

    def _change(self, rows: RowBatch) -> None:
        spec, columns = self._spec, rows.rows.columns
        groups = group_by([columns[index] for index in spec.keys], len(rows))
        taken = rows.rows.select(spec.keys).take(pa.array(groups.first))
        keys = key_tuples(taken, range(len(spec.keys))) if spec.keys else [()]
        arguments = [columns[index] for index in spec.arguments]
        values = list(zip(*python_columns(arguments), strict=True)) if arguments else [()] * len(rows)
        signs = row_signs(rows)
        places = np.split(groups.order, np.cumsum(groups.sizes())[:-1])
        owners: list[int] = []
        kinds: list[int] = []
        found: list[Any] = []
        for group, (key, mine) in enumerate(zip(keys, places, strict=True)):
            of_rows = [1] * len(mine) if signs is None else signs[mine].tolist()
            for kind, row in self._changes(key, [values[place] for place in mine.tolist()], of_rows):
                owners.append(group)
                kinds.append(kind)
                found.append(row)
        if found:
            self._send(taken, owners, kinds, found)

    def _changes(self, key: Any, rows: Sequence[tuple[Any, ...]], signs: Sequence[int]) -> list[tuple[int, tuple[Any, ...]]]:
        """Return the rows of a group before and after an update."""
        function = self._spec.function
        stored = self._table.get(key)
        count, accumulator = (0, function.prepared().create_accumulator()) if stored is None else (stored[0], pickle.loads(stored[1]))
        before = [] if stored is None else self._rows(accumulator)
        accumulator = function.changed(accumulator, rows, signs)
        count += sum(signs)
        if count > 0:
            self._table.put(key, (count, pickle.dumps(accumulator)))
            after = self._rows(accumulator)
        else:
            self._table.remove(key)
            after = []
        return [(DELETE, row) for row in before] + [(INSERT, row) for row in after]

    def _rows(self, accumulator: Any) -> list[tuple[Any, ...]]:
        function = self._spec.function
        try:
            every = list(function.prepared().emit_value(accumulator) or ())
        except Exception as error:
            raise call_failure(function.name, error, "an accumulator") from error
        return [tuple(row._values) if isinstance(row, Row) else row if isinstance(row, tuple) else (row,) for row in every]

    def _send(self, keys: pa.RecordBatch, owners: list[int], kinds: list[int], found: list[tuple[Any, ...]]) -> None:
        schema, width = self._spec.schema, len(self._spec.keys)
        own = keys.take(pa.array(owners, pa.int64())).columns
        try:
            columns = zip(*found, strict=True)
            results = zip(columns, list(schema)[width:], strict=True)
            made = [column_array(values, field.type, DECIMALS_OF_FUNCTIONS) for values, field in results]
        except (pa.ArrowException, TypeError, ValueError, OverflowError, AttributeError) as error:
            raise UserFunctionError(
                f"the function {self._spec.function.name!r} returned rows that do not fit its result type: {error}",
                hint="return Row(...) with a value for each field, or declare another type",
            ) from error
        rows = pa.RecordBatch.from_arrays([*own, *made], schema=schema)
        kept = np.array(kinds, np.uint8)
        changes = RowBatch(rows, kept if kept.any() else None)
        if self._rounds is None:
            self.emit_rows(changes)
        else:
            self._rounds.add(changes, np.array(owners, np.int64))


def table_aggregate_operator(params: dict[str, Any], payload: TableAggregateSpec) -> TableAggregateOperator:
    """Return the operator of a spec."""
    return TableAggregateOperator(payload)

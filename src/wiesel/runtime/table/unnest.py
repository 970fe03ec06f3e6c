"""Internal. UNNEST: joins rows with the elements of a collection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wiesel.columnar.evaluation import Frame, as_array, evaluate
from wiesel.columnar.expressions import Expression
from wiesel.columnar.grouping import Places
from wiesel.columnar.row_batch import RowBatch
from wiesel.runtime.table.base import TableOperator

__all__ = ["UnnestSpec", "unnest_operator"]


@dataclass(frozen=True)
class UnnestSpec:
    """Specification of UNNEST.

    Attributes:
        collection: A list or map over the columns of the input.
        counted: For multisets: repeat each element by its count.
        spread: Elements are rows or entries, whose fields become columns.
        outer: Emit rows without elements with NULLs.
        numbered: Append the ordinals of elements.
        schema: The columns of the results.
    """

    collection: Expression
    counted: bool
    spread: bool
    outer: bool
    numbered: bool
    schema: pa.Schema


class UnnestOperator(TableOperator):
    """Unnests the collections of a batch at once."""

    def __init__(self, spec: UnnestSpec) -> None:
        self._spec = spec

    def process_rows(self, rows: RowBatch, input_index: int) -> None:
        """Emit each row once per element."""
        spec = self._spec
        lists = as_array(evaluate(spec.collection, Frame(rows.rows, self.session)), len(rows))
        if pa.types.is_map(lists.type):
            lists = lists.cast(pa.list_(pa.struct([lists.type.key_field, lists.type.item_field])))
        owners = pc.list_parent_indices(lists).to_numpy(zero_copy_only=False).astype(np.int64)
        elements = pc.list_flatten(lists)
        if spec.counted:
            elements, counts = elements.flatten()
            places = np.repeat(np.arange(len(owners)), counts.to_numpy(zero_copy_only=False))
            elements, owners = elements.take(pa.array(places)), owners[places]
        columns = list(elements.flatten()) if spec.spread else [elements]
        if spec.numbered:
            columns.append(pa.array(_numbers(owners), pa.int32()))
        if spec.outer:
            owners, columns = _with_lonely(owners, columns, len(rows))
        if len(owners):
            self._send(rows, owners, columns)

    def _send(self, rows: RowBatch, owners: Places, columns: list[pa.Array]) -> None:
        schema = self._spec.schema
        own = rows.take(owners)
        types = list(schema.types)[-len(columns) :]
        made = [*own.rows.columns, *(column.cast(of) for column, of in zip(columns, types, strict=True))]
        self.emit_rows(own.with_rows(pa.RecordBatch.from_arrays(made, schema=schema)))


def _numbers(owners: Places) -> Places:
    """Return the ordinal of each element in its collection, from 1."""
    starts = np.flatnonzero(np.append(True, owners[1:] != owners[:-1])) if len(owners) else np.zeros(0, np.int64)
    return np.arange(len(owners)) - np.repeat(starts, np.diff(np.append(starts, len(owners)))) + 1


def _with_lonely(owners: Places, columns: list[pa.Array], count: int) -> tuple[Places, list[pa.Array]]:
    """Return the owners of elements merged with those without elements, which get NULLs."""
    lonely = np.flatnonzero(np.bincount(owners, minlength=count) == 0)
    if not len(lonely):
        return owners, columns
    every = np.concatenate([owners, lonely])
    order = np.argsort(every, kind="stable")
    places = pa.array(order, mask=order >= len(owners))
    return every[order], [column.take(places) for column in columns]


def unnest_operator(params: dict[str, Any], payload: UnnestSpec) -> UnnestOperator:
    """Return the operator of a spec."""
    return UnnestOperator(payload)

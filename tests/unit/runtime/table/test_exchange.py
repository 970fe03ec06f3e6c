"""Batches of rows between subtasks: shared out by the key groups of their rows, also those that an unaligned checkpoint holds."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from wiesel.columnar.row_batch import RowBatch
from wiesel.graph.specs import ColumnKeys
from wiesel.runtime.descriptor import RestoredEdge, RestoredInFlight
from wiesel.runtime.in_flight import InFlightSnapshot, data_buffer, restored_buffers
from wiesel.runtime.table.exchange import ByColumns
from wiesel.state.key_groups import key_group, subtask_for_key_group
from wiesel.testing.snapshots import files_in_memory
from wiesel.wire.batch import Batch
from wiesel.wire.buffers import decode_batch, encode_batch


class Pending:
    """What a channel gets."""

    def __init__(self) -> None:
        self.rows: list[RowBatch] = []

    def add(self, values: list[RowBatch], timestamps: Any, keys: Any) -> None:
        self.rows += values


def some_rows(different: int, *, nulls: bool = True) -> RowBatch:
    numbers = [place % different if place % 7 or not nulls else None for place in range(60)]
    columns = [pa.array(numbers, pa.int64()), pa.array([f"t{place}" for place in range(60)])]
    kinds = np.array([place % 4 for place in range(60)], np.uint8)
    return RowBatch(pa.RecordBatch.from_arrays(columns, names=["k", "t"]), kinds)


def texts(batches: list[RowBatch]) -> list[tuple[str, int]]:
    return [pair for rows in batches for pair in zip(rows.rows.column(1).to_pylist(), rows.kinds_or_inserts().tolist(), strict=True)]


def owned(rows: RowBatch, subtask: int, parallelism: int, columns: tuple[int, ...] = (0,)) -> list[tuple[str, int]]:
    """Return the rows of a subtask by the definition of key groups."""
    keys = zip(*(rows.rows.column(index).to_pylist() for index in columns), strict=True)
    owners = [subtask_for_key_group(key_group(key, 128), 128, parallelism) for key in keys]
    return [pair for owner, pair in zip(owners, texts([rows]), strict=True) if owner == subtask]


@pytest.mark.parametrize("nulls", [True, False])
@pytest.mark.parametrize("different", [3, 50])
@pytest.mark.parametrize("columns", [(0,), (1,), (0, 1), (0, 0)])
def test_rows_go_to_the_owner_of_their_key(different: int, nulls: bool, columns: tuple[int, ...]) -> None:
    rows = some_rows(different, nulls=nulls)
    pending = [Pending() for _ in range(3)]
    ByColumns(ColumnKeys(columns), 128, 3).distribute(Batch([rows]), pending)
    for subtask, channel in enumerate(pending):
        assert texts(channel.rows) == owned(rows, subtask, 3, columns)


@pytest.mark.parametrize("parallelism", [2, 3])
def test_rows_of_an_unaligned_checkpoint_go_to_their_new_owners(parallelism: int) -> None:
    rows = some_rows(9)
    files = files_in_memory("unaligned")
    handle = InFlightSnapshot([data_buffer(0, 0, encode_batch(Batch([rows])))], ()).run(files)
    edge = RestoredEdge(0, 1, rescaled=True, by_key=True, columns=(0,))
    for subtask in range(parallelism):
        vertex = SimpleNamespace(max_parallelism=128, parallelism=parallelism)
        task: Any = SimpleNamespace(vertex=vertex, subtask=subtask, in_flight=(RestoredInFlight(handle, {0: edge}),))
        found = [decode_batch(buffer.payload) for buffer in restored_buffers(task, files)]
        assert texts([part for batch in found for part in batch.values]) == owned(rows, subtask, parallelism)

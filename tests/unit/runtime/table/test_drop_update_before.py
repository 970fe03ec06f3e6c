"""Old rows of updates are dropped where nobody reads them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tests.unit.runtime.harness import OperatorHarness
from wiesel.columnar.row_batch import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, RowBatch
from wiesel.runtime.table.changelog.conversion import drop_update_before


def _run(*batches: RowBatch) -> list[list[tuple[int, int]]]:
    harness = OperatorHarness(drop_update_before, payload=None)
    harness.push(list(batches))
    return [list(zip(each.kinds_or_inserts().tolist(), each.rows.column(0).to_pylist(), strict=True)) for each in harness.values]


def _batch(*rows: tuple[int, int]) -> RowBatch:
    kinds = np.array([kind for kind, _ in rows], np.uint8)
    return RowBatch(pa.record_batch({"n": [value for _, value in rows]}), kinds if kinds.any() else None)


def test_other_rows_keep_their_order() -> None:
    rows = [(INSERT, 1), (UPDATE_BEFORE, 1), (UPDATE_AFTER, 2), (DELETE, 2), (INSERT, 3)]
    assert _run(_batch(*rows)) == [[row for row in rows if row[0] != UPDATE_BEFORE]]


def test_a_batch_without_others_is_not_handed_on() -> None:
    assert _run(_batch((UPDATE_BEFORE, 1)), _batch((INSERT, 4), (INSERT, 5))) == [[(INSERT, 4), (INSERT, 5)]]

"""Internal. Insert and retract signs of rows."""

from __future__ import annotations

import numpy as np

from wiesel.columnar.aggregates.registry import Signs
from wiesel.columnar.row_batch import DELETE, UPDATE_BEFORE, RowBatch

__all__ = ["row_signs"]


def row_signs(rows: RowBatch) -> Signs:
    """Return 1 for added rows and -1 for retracted ones; None if none is retracted."""
    if rows.kinds is None:
        return None
    goes = (rows.kinds == UPDATE_BEFORE) | (rows.kinds == DELETE)
    return np.where(goes, -1, 1) if goes.any() else None

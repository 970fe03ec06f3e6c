"""Internal. The keys of a batch's groups."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from wiesel.columnar.grouping import Places

__all__ = ["GroupKeys"]


class GroupKeys(list[Any]):
    """Keys as in keyed state.

    Attributes:
        places: Index of each group, if groups have indexes; it is fixed while the group has rows.
    """

    def __init__(self, keys: Iterable[Any], places: Places | None = None) -> None:
        super().__init__(keys)
        self.places = np.zeros(0, np.int64) if places is None else places

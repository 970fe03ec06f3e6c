"""Internal. Adaptive local aggregation: a sample of rows decides whether to aggregate before the exchange.

Flink's local aggregation of batch jobs does so (``table.exec.local-hash-agg.adaptive.*``) once; as a stream is unbounded, here the sample
is repeated periodically. The decision does not affect results, so it is not in snapshots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from wiesel.columnar.grouping import Groups, group_by

__all__ = ["Reduction", "Sampling"]

_ONE_OF = 10
"""After a sample with too many groups nine times as many rows are passed through."""


@dataclass(frozen=True)
class Sampling:
    """Size of a sample, and the maximal number of groups per row."""

    rows: int
    rate: float


class Reduction:
    """Groups rows as long as that reduces their number; without ``sampling`` always."""

    def __init__(self, sampling: Sampling | None) -> None:
        self._sampling = sampling
        self._rows = self._groups = 0
        self._to_pass = 0

    def groups(self, columns: Sequence[pa.Array], length: int) -> Groups:
        """Return the groups of rows with equal columns, or a group for each row if the sample says so."""
        if self._to_pass > 0:
            self._to_pass -= length
            return Groups.each(length)
        groups = group_by(columns, length)
        if self._sampling is not None:
            self._saw(self._sampling, length, groups.count)
        return groups

    def _saw(self, sampling: Sampling, rows: int, groups: int) -> None:
        self._rows, self._groups = self._rows + rows, self._groups + groups
        if self._rows >= sampling.rows:
            if self._groups > sampling.rate * self._rows:
                self._to_pass = (_ONE_OF - 1) * self._rows
            self._rows = self._groups = 0

"""Internal. Slices of batches: the number of records that a task processes before it checks for other work.

Work is per batch, but a batch must not delay a record for long: after a slow function records are sent in slices of about ten milliseconds,
one by one if necessary, as in record-at-a-time processing. For fast functions a slice is the whole batch.
"""

from __future__ import annotations

from wiesel.wire.batch import Batch

_SHORT_S = 0.005
_LONG_S = 0.020
_AIM_S = 0.010
MOST_RECORDS = 1 << 20


class SliceSizer:
    """Increases the slice size after quick slices and decreases it after slow ones. Starts with a single record."""

    def __init__(self) -> None:
        self.size = 1

    def took(self, records: int, seconds: float) -> None:
        """Record the duration of a slice."""
        if seconds > _LONG_S:
            self.size = max(1, int(records * _AIM_S / seconds))
        elif seconds < _SHORT_S and records >= self.size:
            self.size = min(MOST_RECORDS, self.size * 4)


def cut(batch: Batch, size: int) -> tuple[Batch, Batch | None]:
    """Return the first ``size`` records of a batch and the rest, or the batch and None."""
    if len(batch.values) <= size:
        return batch, None
    times, keys = batch.timestamps, batch.keys
    first = Batch(batch.values[:size], times[:size] if times is not None else None, keys[:size] if keys is not None else None)
    rest = Batch(batch.values[size:], times[size:] if times is not None else None, keys[size:] if keys is not None else None)
    return first, rest

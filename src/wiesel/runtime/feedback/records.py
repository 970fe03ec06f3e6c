"""Internal. Helpers shared by heads and tails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any

from wiesel.core.errors import invariant
from wiesel.runtime.feedback.messages import Entry
from wiesel.runtime.operator import OperatorContext
from wiesel.wire.batch import Batch
from wiesel.wire.buffers import decode_batch

__all__ = ["decoded", "events_of"]


def events_of(context: OperatorContext) -> Callable[[Any], None]:
    """Return the function that sends events to the coordinator."""
    send = context.send_event
    invariant(send is not None, f"operator {context.name!r} has no coordinator")
    return send  # type: ignore[return-value]


def decoded(entries: Sequence[Entry]) -> Batch:
    """Decode the records of several entries into one batch."""
    batches = [decode_batch(entry.payload) for entry in entries]
    if len(batches) == 1:
        return Batch(batches[0].values, batches[0].timestamps)
    values = [value for batch in batches for value in batch.values]
    if all(batch.timestamps is None for batch in batches):
        return Batch(values)
    times = [t for batch in batches for t in (repeat(None, len(batch.values)) if batch.timestamps is None else batch.timestamps)]
    return Batch(values, times)

"""Internal. Preview of the first records of a stream, without Spark."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from wiesel.common.job_client import JobClient
from wiesel.connectors.collect_sink import CollectDelivery, CollectReceiver, CollectSink
from wiesel.core import options
from wiesel.core.config import Configuration
from wiesel.core.html import html_table
from wiesel.datastream import job_execution as _execution
from wiesel.types.record_type import T
from wiesel.types.row import Row

if TYPE_CHECKING:
    from wiesel.datastream._stream import DataStream

__all__ = ["Preview", "preview"]


class Preview(Sequence[T]):
    """The first records of a stream.

    Attributes:
        complete: True if the stream has no more records.
    """

    def __init__(self, records: Sequence[T], complete: bool) -> None:
        self._records = list(records)
        self.complete = complete

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        return self._records[index]

    def __len__(self) -> int:
        return len(self._records)

    def _caption(self) -> str:
        return f"{len(self)} records (complete)" if self.complete else f"the first {len(self)} records"

    def __repr__(self) -> str:
        return "\n".join([self._caption(), *map(repr, self._records)])

    def _repr_html_(self) -> str:
        head, rows = _columns(self._records)
        return html_table(self._caption(), head, rows)


def _columns(records: Sequence[Any]) -> tuple[Sequence[str], list[Sequence[object]]]:
    """Return the columns: rows with equal fields are shown field by field, and tuples of equal length, too."""
    first = records[0] if records else None
    if isinstance(first, Row) and all(isinstance(r, Row) and len(r) == len(first) for r in records):
        names = getattr(first, "_fields", None) or [f"f{i}" for i in range(len(first))]
        return names, [list(r) for r in records]
    if isinstance(first, tuple) and all(isinstance(r, tuple) and len(r) == len(first) for r in records):
        return [f"f{i}" for i in range(len(first))], [list(r) for r in records]
    return ["value"], [[repr(r)] for r in records]


def preview(stream: DataStream[T], n: int, seconds: float) -> Preview[T]:
    """See ``DataStream.preview``."""
    environment = stream.get_execution_environment()
    receiver = CollectReceiver(CollectDelivery.NO_RESTART)
    sink = CollectSink(f"preview-{environment._new_collect_number()}", receiver)
    stream._add_sink(sink, "Preview", "Sink: {}").set_parallelism(1)
    graph = environment._graph_of([environment._transformations.pop()], "Preview")
    config = Configuration(environment._config)
    config.remove_config(options.CHECKPOINT_INTERVAL.key)
    config.set(options.ENGINE, "local").set(options.RESTART_STRATEGY, "none")
    client = _execution.start(graph, config)
    return _take(client, receiver, n, time.monotonic() + seconds)


def _take(client: JobClient, receiver: CollectReceiver, n: int, deadline_s: float) -> Preview[Any]:
    outcome = client.get_job_execution_result()
    records: list[Any] = []
    while len(records) <= n:  # one more than requested, to detect the end
        left_s = deadline_s - time.monotonic()
        values = receiver.take(max(0.0, min(0.1, left_s)))
        if values is None:
            return Preview(records, complete=True)
        records.extend(values)
        if left_s <= 0:
            break
        if not values and outcome.done():
            error = outcome.exception()
            if error is not None:
                raise error
            receiver.finished()
    if not outcome.done():
        # Not awaited: a blocking function would block the caller.
        client.cancel()
    return Preview(records[:n], complete=False)

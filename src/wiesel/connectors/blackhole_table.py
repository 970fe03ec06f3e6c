"""Internal. The table connector ``blackhole``: discards all rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wiesel.spi.sink import Sink, SinkWriter, WriterInitContext
from wiesel.spi.table.factory import ALL_KINDS, UPSERTS, TableContext, TableOptions, TableSink, TableSinkFactory

__all__ = ["BlackHoleTableFactory"]


class BlackHoleTableFactory(TableSinkFactory):
    """Creates sinks that discard rows."""

    identifier = "blackhole"

    def create_sink(self, context: TableContext) -> TableSink:
        """Return the sink; it has no options."""
        TableOptions(self.identifier, context.table.options).refuse_unknown()
        by_key = context.table.schema.primary_key is not None
        return TableSink(_BlackHole(), UPSERTS if by_key else ALL_KINDS, finds_by_key=True)


class _BlackHole(Sink):
    def create_writer(self, context: WriterInitContext, state: Sequence[Any] = ()) -> SinkWriter:
        return _Nothing()


class _Nothing(SinkWriter):
    def write_batch(self, values: list[Any], timestamps: list[int] | None) -> None:
        return

    def flush(self, end_of_input: bool) -> None:
        return

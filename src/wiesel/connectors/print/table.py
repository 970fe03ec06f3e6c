"""Internal. The table connector ``print``: writes each row as a line such as ``+I[1, a]`` to the standard output of the driver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wiesel.columnar.row_batch import RowBatch
from wiesel.columnar.rows import to_rows
from wiesel.connectors.driver_sink import DriverReceiver, DriverSink, driver_channel
from wiesel.connectors.print.sink import PrintReceiver, line_prefix
from wiesel.core.config import ConfigOption
from wiesel.spi.sink import SinkWriter, WriterInitContext
from wiesel.spi.table.factory import ALL_KINDS, TableContext, TableOptions, TableSink, TableSinkFactory
from wiesel.types.java_strings import java_formatter
from wiesel.types.typeinfo import RowTypeInfo

__all__ = ["PrintTableFactory"]

_IDENTIFIER = ConfigOption[str]("print-identifier", "str", "", "Prefix of each line.")
_TO_ERROR = ConfigOption[bool]("standard-error", "bool", False, "Write to the standard error instead.")
_PARALLELISM = ConfigOption[int]("sink.parallelism", "int", None, "Number of writers.", minimum=1)


class PrintTableFactory(TableSinkFactory):
    """Creates sinks that print."""

    identifier = "print"

    def create_sink(self, context: TableContext) -> TableSink:
        """Return the sink."""
        options = TableOptions(self.identifier, context.table.options)
        sink = _PrintTable(context.row_type, options.get(_IDENTIFIER), to_error=options.get(_TO_ERROR))
        parallelism = options.get(_PARALLELISM)
        options.refuse_unknown()
        return TableSink(sink, ALL_KINDS, parallelism, finds_by_key=True)


class _PrintTable(DriverSink):
    def __init__(self, row_type: RowTypeInfo, prefix: str, *, to_error: bool) -> None:
        self._row_type = row_type
        self._prefix = prefix
        self._to_error = to_error
        self.channel = "print-err" if to_error else "print-out"

    def create_writer(self, context: WriterInitContext, state: Sequence[Any] = ()) -> SinkWriter:
        return _Writer(context, self.channel, self._row_type, line_prefix(self._prefix, context.subtask_index, context.parallelism))

    def create_receiver(self) -> DriverReceiver:
        return PrintReceiver(self._to_error)


class _Writer(SinkWriter):
    def __init__(self, context: WriterInitContext, channel: str, row_type: RowTypeInfo, prefix: str) -> None:
        self._send = driver_channel(context)
        self._channel = channel
        self._line = java_formatter(row_type)
        self._prefix = prefix

    def write_batch(self, values: list[RowBatch], timestamps: list[int] | None) -> None:
        for batch in values:
            self._send(self._channel, [self._prefix + self._line(row) for row in to_rows(batch)])

    def flush(self, end_of_input: bool) -> None:
        # Every batch has been sent already.
        return

"""Print: writes each record as a line to the standard output of the driver.

Lines are printed immediately; after a failure those since the last checkpoint are repeated.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from wiesel.connectors.driver_sink import DriverReceiver, DriverSink, driver_channel
from wiesel.spi.sink import SinkWriter, WriterInitContext
from wiesel.types.java_strings import print_formatter
from wiesel.types.typeinfo import TypeInformation

__all__ = ["PrintReceiver", "PrintSink", "line_prefix"]


def line_prefix(sink_identifier: str, subtask_index: int, parallelism: int) -> str:
    """Return the prefix of each line: ``id:3> ``, ``3> ``, ``id> `` or none; the subtask only if there are several."""
    parts = [sink_identifier] if sink_identifier else []
    if parallelism > 1:
        parts.append(str(subtask_index + 1))
    return f"{':'.join(parts)}> " if parts else ""


class PrintSink(DriverSink):
    """Writes records to the driver's standard output (or standard error).

    Args:
        input_type: The declared type of the records, which determines their format.
        sink_identifier: Prefix of each line.
        to_std_err: Write to standard error instead.
    """

    def __init__(self, input_type: TypeInformation | None = None, sink_identifier: str = "", to_std_err: bool = False) -> None:
        self.input_type = input_type
        self.sink_identifier = sink_identifier
        self.channel = "print-err" if to_std_err else "print-out"

    def create_writer(self, context: WriterInitContext, state: Sequence[Any] = ()) -> SinkWriter:
        """Create the writer of one subtask."""
        prefix = line_prefix(self.sink_identifier, context.subtask_index, context.parallelism)
        return _PrintWriter(context, self.channel, print_formatter(self.input_type), prefix)

    def create_receiver(self) -> DriverReceiver:
        """Create the receiver, which prints."""
        return PrintReceiver(self.channel == "print-err")


class _PrintWriter(SinkWriter):
    def __init__(self, context: WriterInitContext, channel: str, line: Callable[[Any], str], prefix: str) -> None:
        self._send = driver_channel(context)
        self._channel = channel
        self._line = line
        self._prefix = prefix

    def write_batch(self, values: list[Any], timestamps: list[int] | None) -> None:
        lines = list(map(self._line, values))
        self._send(self._channel, [self._prefix + line for line in lines] if self._prefix else lines)

    def flush(self, end_of_input: bool) -> None:
        # Every batch has been sent already.
        return


class PrintReceiver(DriverReceiver):
    """Prints lines. The stream is looked up each time, so that a redirected ``sys.stdout`` is used."""

    def __init__(self, to_std_err: bool = False) -> None:
        self._to_std_err = to_std_err

    def receive(self, payload: list[str]) -> None:
        """Print the lines of one batch."""
        if payload:
            stream = sys.stderr if self._to_std_err else sys.stdout
            stream.write("\n".join(payload) + "\n")
            stream.flush()

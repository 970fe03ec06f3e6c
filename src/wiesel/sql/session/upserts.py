"""Internal. Conversion of upsert streams to changelogs with UPDATE_BEFORE rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from wiesel.datastream import DataStream
from wiesel.spi.functions import KeyedProcessFunction, RuntimeContext
from wiesel.spi.state import ValueStateDescriptor
from wiesel.sql.session.stream_rows import row_type
from wiesel.types.row import Row, RowKind, make_row
from wiesel.types.typeinfo import TypeInformation

__all__ = ["normalized"]


def normalized(stream: DataStream, key: Sequence[str]) -> DataStream:
    """Return the changes of a stream of rows that take the place of those with the same key; ``-D`` needs no more than the key."""
    names = row_type(stream.get_type()).names
    places = [names.index(name) for name in key]
    keyed = stream.key_by(lambda row: tuple(row._values[place] for place in places))
    return keyed.process(_Normalize(stream.get_type()), output_type=stream.get_type()).name("ChangelogNormalize")


class _Normalize(KeyedProcessFunction):
    """Remembers the row of each key."""

    def __init__(self, info: TypeInformation) -> None:
        self._info = info

    def open(self, runtime_context: RuntimeContext) -> None:
        """Take the state."""
        self._known = runtime_context.get_state(ValueStateDescriptor("row", self._info))

    def process_element(self, value: Row, ctx: Any) -> Iterator[Row]:
        """Return the changes of the row of a key."""
        before = self._known.value()
        if value.get_row_kind() in (RowKind.DELETE, RowKind.UPDATE_BEFORE):
            if before is not None:
                self._known.clear()
                yield _of_kind(before, RowKind.DELETE)
            return
        self._known.update(_of_kind(value, RowKind.INSERT))
        if before is None:
            yield _of_kind(value, RowKind.INSERT)
        elif before._values != value._values:
            yield _of_kind(before, RowKind.UPDATE_BEFORE)
            yield _of_kind(value, RowKind.UPDATE_AFTER)


def _of_kind(row: Row, kind: RowKind) -> Row:
    return make_row(row._names, list(row._values), kind)

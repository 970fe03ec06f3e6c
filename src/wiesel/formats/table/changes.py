"""Internal. Table formats of changes of databases, an object per line: ``debezium-json``, ``canal-json``, ``maxwell-json``, ``ogg-json``.

Written are insertions and deletions only, as by Flink: an update is a deletion and an insertion.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, ClassVar

import numpy as np

from wiesel.columnar.row_batch import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, RowBatch
from wiesel.core.config import ConfigOption
from wiesel.core.errors import ConfigurationError
from wiesel.formats.table.json import JsonObjects, JsonStrings, JsonTableReader
from wiesel.spi.file_formats import FilePiece, RecordReader, StreamFormat
from wiesel.spi.serialization import Encoder
from wiesel.spi.table.factory import ALL_KINDS, TableOptions
from wiesel.spi.table.formats import TableFormatFactory
from wiesel.types.logical import RowType

__all__ = ["CanalTableFormat", "DebeziumTableFormat", "MaxwellTableFormat", "OggTableFormat"]

_Change = tuple[int, Any]


@dataclass(frozen=True)
class _Source:
    """Selection of the objects to read, and their envelope. Plain picklable data.

    Attributes:
        wrapped: Whether objects bring their schema.
        wanted: Names of values and the regular expressions that they must match.
    """

    wrapped: bool = False
    wanted: tuple[tuple[str, str], ...] = ()

    def object_of(self, value: dict[str, Any]) -> dict[str, Any] | None:
        """Return the object of a change, None for one that is not read."""
        if self.wrapped:
            value = value["payload"]
        return value if all(re.fullmatch(pattern, value.get(name) or "") for name, pattern in self.wanted) else None


class _ChangeTableFormat(TableFormatFactory):
    kinds = ALL_KINDS
    reader: ClassVar[type[_ChangeReader]]
    around: ClassVar[tuple[str, str]]
    """Envelope of the row of an insertion and of a deletion, with the placeholder ``{}``."""

    def create_reader(self, options: TableOptions, rows: RowType) -> StreamFormat:
        """Return the format of files with these columns."""
        JsonStrings.of(self.identifier, options, rows)
        return _ChangeFiles(JsonObjects.of(self.identifier, options, rows), self.reader, self._source(options))

    def create_writer(self, options: TableOptions, rows: RowType) -> Encoder:
        """Return the encoder of changes of rows of these columns."""
        self._source(options)
        return _ChangeEncoder(JsonStrings.of(self.identifier, options, rows), self.around)

    def _source(self, options: TableOptions) -> _Source:
        return _Source()


class _ChangeFiles(StreamFormat):
    """Files are not split: the changes of a row come in their order."""

    def __init__(self, objects: JsonObjects, reader: type[_ChangeReader], source: _Source) -> None:
        self._objects = objects
        self._reader = reader
        self._source = source

    def create_reader(self, stream: BinaryIO, piece: FilePiece) -> RecordReader:
        return self._reader(self._objects, stream, piece, self._source)


class _ChangeReader(JsonTableReader):
    def __init__(self, objects: JsonObjects, stream: BinaryIO, piece: FilePiece, source: _Source) -> None:
        super().__init__(objects, stream, piece)
        self._source = source

    def _rows(self, values: list[Any]) -> list[RowBatch]:
        rows: list[dict[str, Any]] = []
        kinds: list[int] = []
        for value in values:
            found = self._source.object_of(value)
            for kind, row in [] if found is None else self._changes(found):
                if not isinstance(row, dict):
                    raise ValueError(f"a row of kind {kind} is missing; updates and deletions need the old row")
                rows.append(row)
                kinds.append(kind)
        return [RowBatch(self._convert.batch(rows), np.array(kinds, np.uint8))] if rows else []

    @abstractmethod
    def _changes(self, value: dict[str, Any]) -> list[_Change]:
        """Return the changes that an object tells: kind and row."""


class _ChangeEncoder(Encoder):
    def __init__(self, strings: JsonStrings, around: tuple[str, str]) -> None:
        self._strings = strings
        self._around = around

    def encode(self, element: RowBatch, stream: BinaryIO) -> None:
        stream.write(self.encode_many([element]))

    def encode_many(self, elements: Sequence[RowBatch]) -> bytes:
        (before, behind), (before_gone, behind_gone) = (around.split("{}") for around in self._around)
        lines: list[str] = []
        for batch in elements:
            added = np.isin(batch.kinds_or_inserts(), (INSERT, UPDATE_AFTER)).tolist()
            for text, is_added in zip(self._strings.of_rows(batch), added, strict=True):
                lines.append(f"{before}{text}{behind}\n" if is_added else f"{before_gone}{text}{behind_gone}\n")
        return "".join(lines).encode()


def _before_and_after(value: dict[str, Any], name: str, kinds: tuple[str, str, str]) -> list[_Change]:
    """Return the changes of an object that has the whole row before and after it; ``kinds`` of insertions, updates and deletions."""
    kind = value.get(name)
    if kind == kinds[0] or (kind == "r" and name == "op"):
        return [(INSERT, value.get("after"))]
    if kind == kinds[1]:
        return [(UPDATE_BEFORE, value.get("before")), (UPDATE_AFTER, value.get("after"))]
    if kind == kinds[2]:
        return [(DELETE, value.get("before"))]
    raise ValueError(f"there is no {name!r} of value {kind!r}")


class _DebeziumReader(_ChangeReader):
    def _changes(self, value: dict[str, Any]) -> list[_Change]:
        return _before_and_after(value, "op", ("c", "u", "d"))


class _OggReader(_ChangeReader):
    def _changes(self, value: dict[str, Any]) -> list[_Change]:
        return _before_and_after(value, "op_type", ("I", "U", "D"))


class _CanalReader(_ChangeReader):
    def _changes(self, value: dict[str, Any]) -> list[_Change]:
        kind = value.get("type")
        if kind in ("INSERT", "DELETE"):
            return [(INSERT if kind == "INSERT" else DELETE, row) for row in value["data"]]
        if kind == "UPDATE":
            pairs = zip(value["data"], value["old"], strict=True)
            return [change for new, old in pairs for change in ((UPDATE_BEFORE, {**new, **old}), (UPDATE_AFTER, new))]
        if kind == "CREATE":
            return []
        raise ValueError(f"there is no 'type' of value {kind!r}")


class _MaxwellReader(_ChangeReader):
    def _changes(self, value: dict[str, Any]) -> list[_Change]:
        kind, row = value.get("type"), value.get("data")
        if kind == "update":
            if not isinstance(row, dict) or not isinstance(value.get("old"), dict):
                raise ValueError("an update needs 'data' and 'old'")
            return [(UPDATE_BEFORE, {**row, **value["old"]}), (UPDATE_AFTER, row)]
        if kind in ("insert", "delete"):
            return [(INSERT if kind == "insert" else DELETE, row)]
        raise ValueError(f"there is no 'type' of value {kind!r}")


class DebeziumTableFormat(_ChangeTableFormat):
    """Makes readers and writers of changes as Debezium writes them."""

    identifier = "debezium-json"
    reader = _DebeziumReader
    around = ('{"before":null,"after":{},"op":"c"}', '{"before":{},"after":null,"op":"d"}')

    def _source(self, options: TableOptions) -> _Source:
        schema = ConfigOption[bool]("debezium-json.schema-include", "bool", False, "Whether objects bring their schema.")
        return _Source(wrapped=options.get(schema))


class CanalTableFormat(_ChangeTableFormat):
    """Makes readers and writers of changes as Canal writes them."""

    identifier = "canal-json"
    reader = _CanalReader
    around = ('{"data":[{}],"type":"INSERT"}', '{"data":[{}],"type":"DELETE"}')

    def _source(self, options: TableOptions) -> _Source:
        keys = {name: f"canal-json.{name}.include" for name in ("database", "table")}
        given = {
            name: options.get(ConfigOption[str | None](key, "str", None, "What the names of these that are read match."))
            for name, key in keys.items()
        }
        for name, pattern in given.items():
            try:
                re.compile(pattern or "")
            except re.error as error:
                hint = "write a regular expression as Python has them"
                raise ConfigurationError(f"option {keys[name]} is {pattern!r}: {error}", hint=hint, key=keys[name]) from error
        return _Source(wanted=tuple((name, pattern) for name, pattern in given.items() if pattern is not None))


class MaxwellTableFormat(_ChangeTableFormat):
    """Makes readers and writers of changes as Maxwell writes them."""

    identifier = "maxwell-json"
    reader = _MaxwellReader
    around = ('{"data":{},"type":"insert"}', '{"data":{},"type":"delete"}')


class OggTableFormat(_ChangeTableFormat):
    """Makes readers and writers of changes as Oracle GoldenGate writes them."""

    identifier = "ogg-json"
    reader = _OggReader
    around = ('{"before":null,"after":{},"op_type":"I"}', '{"before":{},"after":null,"op_type":"D"}')

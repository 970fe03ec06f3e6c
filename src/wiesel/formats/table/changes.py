"""Internal. The table formats ``debezium-json`` and ``canal-json``: changes of databases, an object per line."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, BinaryIO

import numpy as np

from wiesel.columnar.row_batch import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, RowBatch
from wiesel.core.config import ConfigOption
from wiesel.core.errors import ProgramError
from wiesel.formats.table.json import JsonObjects, JsonTableReader
from wiesel.spi.file_formats import FilePiece, RecordReader, StreamFormat
from wiesel.spi.serialization import Encoder
from wiesel.spi.table.factory import ALL_KINDS, TableOptions
from wiesel.spi.table.formats import TableFormatFactory
from wiesel.types.logical import RowType

__all__ = ["CanalTableFormat", "DebeziumTableFormat"]


class DebeziumTableFormat(TableFormatFactory):
    """Makes readers of the changes that Debezium writes."""

    identifier = "debezium-json"
    kinds = ALL_KINDS

    def create_reader(self, options: TableOptions, rows: RowType) -> StreamFormat:
        """Return the format of files with these columns."""
        schema = ConfigOption[bool]("debezium-json.schema-include", "bool", False, "Whether objects bring their schema.")
        return _ChangeFiles(JsonObjects.of(self.identifier, options, rows), _DebeziumReader, wrapped=options.get(schema))

    def create_writer(self, options: TableOptions, rows: RowType) -> Encoder:
        """Refuse: it is read only in this version."""
        raise ProgramError("format 'debezium-json' can be read only in this version", hint="write another format")


class CanalTableFormat(TableFormatFactory):
    """Makes readers of the changes that Canal writes."""

    identifier = "canal-json"
    kinds = ALL_KINDS

    def create_reader(self, options: TableOptions, rows: RowType) -> StreamFormat:
        """Return the format of files with these columns."""
        return _ChangeFiles(JsonObjects.of(self.identifier, options, rows), _CanalReader, wrapped=False)

    def create_writer(self, options: TableOptions, rows: RowType) -> Encoder:
        """Refuse: it is read only in this version."""
        raise ProgramError("format 'canal-json' can be read only in this version", hint="write another format")


class _ChangeFiles(StreamFormat):
    """Files are not split: the changes of a row come in their order."""

    def __init__(self, objects: JsonObjects, reader: type[_ChangeReader], *, wrapped: bool) -> None:
        self._objects = objects
        self._reader = reader
        self._wrapped = wrapped

    def create_reader(self, stream: BinaryIO, piece: FilePiece) -> RecordReader:
        return self._reader(self._objects, stream, piece, wrapped=self._wrapped)


class _ChangeReader(JsonTableReader):
    def __init__(self, objects: JsonObjects, stream: BinaryIO, piece: FilePiece, *, wrapped: bool) -> None:
        super().__init__(objects, stream, piece)
        self._wrapped = wrapped

    def _rows(self, values: list[Any]) -> list[RowBatch]:
        rows: list[dict[str, Any]] = []
        kinds: list[int] = []
        for value in values:
            for kind, row in self._changes(value["payload"] if self._wrapped else value):
                if not isinstance(row, dict):
                    raise ValueError(f"a row of kind {kind} is missing; updates and deletions need the old row")
                rows.append(row)
                kinds.append(kind)
        return [RowBatch(self._convert.batch(rows), np.array(kinds, np.uint8))] if rows else []

    @abstractmethod
    def _changes(self, value: dict[str, Any]) -> list[tuple[int, Any]]:
        """Return the changes that an object tells: kind and row."""


class _DebeziumReader(_ChangeReader):
    def _changes(self, value: dict[str, Any]) -> list[tuple[int, Any]]:
        kind = value.get("op")
        if kind in ("c", "r"):
            return [(INSERT, value.get("after"))]
        if kind == "u":
            return [(UPDATE_BEFORE, value.get("before")), (UPDATE_AFTER, value.get("after"))]
        if kind == "d":
            return [(DELETE, value.get("before"))]
        raise ValueError(f"there is no 'op' of value {kind!r}")


class _CanalReader(_ChangeReader):
    def _changes(self, value: dict[str, Any]) -> list[tuple[int, Any]]:
        kind = value.get("type")
        if kind in ("INSERT", "DELETE"):
            return [(INSERT if kind == "INSERT" else DELETE, row) for row in value["data"]]
        if kind == "UPDATE":
            pairs = zip(value["data"], value["old"], strict=True)
            return [change for new, old in pairs for change in ((UPDATE_BEFORE, {**new, **old}), (UPDATE_AFTER, new))]
        if kind == "CREATE":
            return []
        raise ValueError(f"there is no 'type' of value {kind!r}")

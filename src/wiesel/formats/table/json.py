"""Internal. The table format ``json``: an object per line."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.json

from wiesel.columnar.arrow_types import arrow_schema
from wiesel.columnar.expressions import Expression
from wiesel.columnar.row_batch import RowBatch, concat
from wiesel.columnar.rows import column_array, column_values
from wiesel.core.config import ConfigOption
from wiesel.core.errors import ConfigurationError, ConnectorError
from wiesel.formats.line_blocks import COLUMNAR_BLOCK_BYTES, LineBlocks, line_number
from wiesel.formats.table.arrow_strings import finished, read_schema
from wiesel.formats.table.json_values import JsonReader, has_decimals, json_reader, json_writer
from wiesel.spi.file_formats import FilePiece, RecordReader, StreamFormat
from wiesel.spi.serialization import Encoder
from wiesel.spi.table.factory import TableOptions
from wiesel.spi.table.formats import TableFormatFactory
from wiesel.types import logical as t

__all__ = ["READ_ERRORS", "JsonObjects", "JsonStrings", "JsonTableFormat", "JsonTableReader", "ObjectsToBatch"]

READ_ERRORS = (ValueError, TypeError, KeyError, ArithmeticError, RecursionError)
_BY_ARROW = (t.BooleanType, t.IntType, t.BigIntType, t.DoubleType, t.CharType, t.VarCharType, t.TimestampType)


class JsonTableFormat(TableFormatFactory):
    """Makes readers and writers of lines of JSON."""

    identifier = "json"

    def create_reader(self, options: TableOptions, rows: t.RowType) -> StreamFormat:
        """Return the format of files with these columns."""
        JsonStrings.of("json", options, rows)
        return _JsonFiles(JsonObjects.of("json", options, rows))

    def create_projected_reader(
        self, options: TableOptions, rows: t.RowType, names: Sequence[str], filters: Sequence[Expression] = ()
    ) -> StreamFormat:
        """Return the format of files of objects of which some values are read; the others may be anything, as in Flink."""
        return self.create_reader(options, t.RowType([rows[name] for name in names], nullable=False))

    def create_writer(self, options: TableOptions, rows: t.RowType) -> Encoder:
        """Return the encoder of rows of these columns."""
        return _JsonEncoder(JsonStrings.of("json", options, rows))


def _taken_as_they_are(prefix: str, options: TableOptions) -> None:
    """Check options of Flink that make no difference here: no key of a map is NULL, and there is one parser."""
    mode = ConfigOption[str](f"{prefix}.map-null-key.mode", "str", "FAIL", "Handling of NULL keys of maps.")
    if options.get(mode).upper() not in ("FAIL", "DROP", "LITERAL"):
        raise ConfigurationError(f"option {mode.key} is {options.get(mode)!r}", hint="write 'FAIL', 'DROP' or 'LITERAL'", key=mode.key)
    options.get(ConfigOption[str](f"{prefix}.map-null-key.literal", "str", "null", "What stands for such a key."))
    if prefix == "json":
        options.get(ConfigOption[bool]("json.decode.json-parser.enabled", "bool", True, "Which of its parsers Flink takes."))


class JsonObjects:
    """Conversion of objects to rows. Plain picklable data."""

    def __init__(self, rows: t.RowType, *, iso: bool, ignore: bool, fail_on_missing: bool) -> None:
        self.rows = rows
        self.iso = iso
        self.ignore = ignore
        self.fail_on_missing = fail_on_missing
        self.readers()

    @staticmethod
    def of(prefix: str, options: TableOptions, rows: t.RowType) -> JsonObjects:
        """Read the options that begin with a prefix."""
        ignore = options.get(ConfigOption[bool](f"{prefix}.ignore-parse-errors", "bool", False, "Whether what cannot be read is left out."))
        missing = options.get(ConfigOption[bool](f"{prefix}.fail-on-missing-field", "bool", False, "Whether absent fields are errors."))
        standard = ConfigOption[str](f"{prefix}.timestamp-format.standard", "str", "SQL", "How timestamps are written: SQL or ISO-8601.")
        form = options.get(standard)
        if form not in ("SQL", "ISO-8601"):
            raise ConfigurationError(f"option {standard.key} is {form!r}", hint="write 'SQL' or 'ISO-8601'", key=standard.key)
        if ignore and missing:
            raise ConfigurationError(f"{prefix}: fail-on-missing-field and ignore-parse-errors are both true", hint="choose one")
        return JsonObjects(rows, iso=form == "ISO-8601", ignore=ignore, fail_on_missing=missing)

    def readers(self) -> list[JsonReader]:
        """Return what reads the columns."""
        return [json_reader(field.data_type, iso=self.iso, ignore=self.ignore, fail_on_missing=self.fail_on_missing) for field in self.rows]


class ObjectsToBatch:
    """Makes batches of parsed objects."""

    def __init__(self, objects: JsonObjects) -> None:
        self.schema = arrow_schema((field.name, field.data_type) for field in objects.rows)
        self._readers = objects.readers()
        self._fail_on_missing = objects.fail_on_missing

    def batch(self, values: Sequence[Any]) -> pa.RecordBatch:
        """Return objects as columns.

        Raises:
            ValueError: If a value is not of its column's type; also TypeError, KeyError.
        """
        arrays = []
        for field, read in zip(self.schema, self._readers, strict=True):
            name = field.name
            if self._fail_on_missing:
                column = [None if (value := each[name]) is None else read(value) for each in values]
            else:
                column = [None if (value := each.get(name)) is None else read(value) for each in values]
            arrays.append(column_array(column, field.type))
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


class _JsonFiles(StreamFormat):
    def __init__(self, objects: JsonObjects) -> None:
        self._objects = objects

    @property
    def splittable(self) -> bool:
        return True

    def create_reader(self, stream: BinaryIO, piece: FilePiece) -> RecordReader:
        return _PlainReader(self._objects, stream, piece)


class JsonTableReader(RecordReader):
    """Reads lines of JSON; ``_rows`` makes a batch of parsed lines."""

    def __init__(self, objects: JsonObjects, stream: BinaryIO, piece: FilePiece) -> None:
        self._ignore = objects.ignore
        self._stream = stream
        self._path = piece.path
        self._blocks = LineBlocks(stream, piece, COLUMNAR_BLOCK_BYTES)
        self._convert = ObjectsToBatch(objects)
        self._parse: Callable[[str], Any] = json.JSONDecoder(
            parse_float=Decimal if any(has_decimals(field.data_type) for field in objects.rows) else None
        ).decode

    @property
    def position(self) -> int:
        return self._blocks.offset

    def _rows(self, values: list[Any]) -> list[RowBatch]:
        return [RowBatch(self._convert.batch(values))] if values else []

    def read_block(self) -> list[RowBatch] | None:
        at = self._blocks.offset
        block = self._blocks.next()
        if block is None:
            return None
        batches = self.read_lines(at, block)
        # One batch: a position is that of a block, as blocks end elsewhere when reading starts again in front of another.
        return [concat(batches)] if batches else []

    def read_lines(self, at: int, block: bytes) -> list[RowBatch]:
        """Return the rows of lines."""
        lines = [line for line in block.decode("utf-8", "replace" if self._ignore else "strict").split("\n") if line.strip()]
        try:
            return self._rows([value for value in map(self._parse, lines) if value is not None])
        except READ_ERRORS:
            return self._singly(at, block)

    def _singly(self, at: int, block: bytes) -> list[RowBatch]:
        batches: list[RowBatch] = []
        for index, line in enumerate(block.decode("utf-8", "replace").split("\n")):
            if not line.strip():
                continue
            try:
                value = self._parse(line)
                batches += self._rows([value]) if value is not None else []
            except (*READ_ERRORS, AttributeError) as error:
                if not self._ignore:
                    raise self._failure(at, index, line, error) from error
        return batches

    def _failure(self, at: int, index: int, line: str, error: Exception) -> ConnectorError:
        first = line_number(self._stream, at)
        reason = f"there is no field {error}" if isinstance(error, KeyError) else str(error)
        return ConnectorError(
            f"{self._path}, {'a line' if first is None else f'line {first + index}'}: {reason} in {line[:200]!r}",
            hint="correct the file or the table, or leave such lines out: 'json.ignore-parse-errors' = 'true'",
            path=self._path,
        )


class _PlainReader(JsonTableReader):
    """Reads by Arrow where the columns' types let it, and line by line what Arrow does not take."""

    def __init__(self, objects: JsonObjects, stream: BinaryIO, piece: FilePiece) -> None:
        super().__init__(objects, stream, piece)
        self._iso = objects.iso
        simple = not objects.ignore and not objects.fail_on_missing
        self._by_arrow = simple and all(isinstance(field.data_type, _BY_ARROW) for field in objects.rows)

    def read_lines(self, at: int, block: bytes) -> list[RowBatch]:
        if not block.strip():
            return []
        batch = self._arrow_batch(block) if self._by_arrow else None
        if batch is not None:
            return [RowBatch(batch)]
        # What Arrow does not take once comes again, most likely.
        self._by_arrow = False
        return super().read_lines(at, block)

    def _arrow_batch(self, block: bytes) -> pa.RecordBatch | None:
        schema = read_schema(self._convert.schema)
        try:
            found = pyarrow.json.read_json(
                pa.BufferReader(block),
                pyarrow.json.ReadOptions(use_threads=False, block_size=len(block) + 1),
                pyarrow.json.ParseOptions(explicit_schema=schema, newlines_in_values=False, unexpected_field_behavior="ignore"),
            )
        except pa.ArrowException:
            return None
        if found.schema != schema:
            return None
        batches = found.combine_chunks().to_batches()
        try:
            return finished(batches[0], self._convert.schema, iso=self._iso) if batches else None
        except pa.ArrowException:
            return None


class JsonStrings:
    """Makes objects of rows. Plain picklable data."""

    def __init__(self, rows: t.RowType, *, iso: bool, plain_decimals: bool, no_nulls: bool) -> None:
        self._rows = rows
        self._iso = iso
        self._plain = plain_decimals
        self._no_nulls = no_nulls
        self._writers()

    @staticmethod
    def of(prefix: str, options: TableOptions, rows: t.RowType) -> JsonStrings:
        """Read the options that begin with a prefix."""
        plain = ConfigOption[bool](f"{prefix}.encode.decimal-as-plain-number", "bool", False, "Whether numbers have no exponents.")
        no_nulls = ConfigOption[bool](f"{prefix}.encode.ignore-null-fields", "bool", False, "Whether NULL is left out.")
        _taken_as_they_are(prefix, options)
        iso = JsonObjects.of(prefix, options, rows).iso
        return JsonStrings(rows, iso=iso, plain_decimals=options.get(plain), no_nulls=options.get(no_nulls))

    def _writers(self) -> list[tuple[str, Callable[[Any], str]]]:
        return [
            (json.dumps(field.name, ensure_ascii=False) + ":", json_writer(field.data_type, iso=self._iso, plain_decimals=self._plain))
            for field in self._rows
        ]

    def of_rows(self, batch: RowBatch) -> list[str]:
        """Return the objects of the rows of a batch."""
        columns = [
            ["" if self._no_nulls and value is None else name + write(value) for value in column_values(column)]
            for column, (name, write) in zip(batch.rows.columns, self._writers(), strict=True)
        ]
        return ["{" + ",".join(filter(None, parts)) + "}" for parts in zip(*columns, strict=True)]


class _JsonEncoder(Encoder):
    def __init__(self, strings: JsonStrings) -> None:
        self._strings = strings

    def encode(self, element: RowBatch, stream: BinaryIO) -> None:
        stream.write(self.encode_many([element]))

    def encode_many(self, elements: Sequence[RowBatch]) -> bytes:
        return "".join(f"{text}\n" for batch in elements for text in self._strings.of_rows(batch)).encode()

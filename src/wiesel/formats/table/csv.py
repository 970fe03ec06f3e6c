"""Internal. The table format ``csv``."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.csv

from wiesel.columnar.arrow_types import arrow_schema
from wiesel.columnar.expressions import Expression
from wiesel.columnar.row_batch import RowBatch, concat
from wiesel.columnar.rows import column_array, column_values
from wiesel.core.config import ConfigOption
from wiesel.core.errors import ConfigurationError, ConnectorError, ProgramError
from wiesel.formats.csv_reading import RawRows
from wiesel.formats.csv_schema import CsvDialect
from wiesel.formats.line_blocks import COLUMNAR_BLOCK_BYTES, LineBlocks, line_number
from wiesel.formats.table.arrow_texts import READ_BY_ARROW, finished, read_schema
from wiesel.formats.table.texts import TextReader, TextWriter, text_reader, text_writer
from wiesel.spi.file_formats import FilePiece, RecordReader, StreamFormat
from wiesel.spi.serialization import Encoder
from wiesel.spi.table.factory import TableOptions
from wiesel.spi.table.formats import TableFormatFactory
from wiesel.types import logical as t

__all__ = ["CsvTableFormat"]

_DELIMITER = ConfigOption[str]("csv.field-delimiter", "str", ",", "Between fields.")
_QUOTE = ConfigOption[str]("csv.quote-character", "str", '"', "Around fields.")
_NO_QUOTE = ConfigOption[bool]("csv.disable-quote-character", "bool", False, "Whether there are none.")
_ESCAPE = ConfigOption[str]("csv.escape-character", "str", None, "Before a character that is to be taken as it is.")
_COMMENTS = ConfigOption[bool]("csv.allow-comments", "bool", False, "Whether lines that begin with # are left out.")
_IGNORE = ConfigOption[bool]("csv.ignore-parse-errors", "bool", False, "Whether what cannot be read is left out.")
_NULL = ConfigOption[str]("csv.null-literal", "str", None, "How NULL is written.")
_ELEMENTS = ConfigOption[str]("csv.array-element-delimiter", "str", ";", "Between the elements of arrays and rows.")
_ROWS = 8192
_TRUE, _FALSE = ["true", "TRUE", "True"], ["false", "FALSE", "False"]


class CsvTableFormat(TableFormatFactory):
    """Makes readers and writers of CSV."""

    identifier = "csv"

    def create_reader(self, options: TableOptions, rows: t.RowType) -> StreamFormat:
        """Return the format of files with these columns."""
        return _CsvFiles(rows, *_read(options), ignore_errors=options.get(_IGNORE))

    def create_projected_reader(
        self, options: TableOptions, rows: t.RowType, names: Sequence[str], filters: Sequence[Expression] = ()
    ) -> StreamFormat:
        """Return the format of files with these columns of which some are read; the others may hold anything, as in Flink."""
        return _CsvFiles(rows, *_read(options), ignore_errors=options.get(_IGNORE), names=names)

    def create_writer(self, options: TableOptions, rows: t.RowType) -> Encoder:
        """Return the encoder of rows of these columns."""
        dialect, elements = _read(options)
        options.get(_IGNORE)
        return _CsvEncoder(rows, dialect, elements)


def _read(options: TableOptions) -> tuple[CsvDialect, str]:
    delimiter = options.get(_DELIMITER).encode().decode("unicode_escape")
    quote = None if options.get(_NO_QUOTE) else options.get(_QUOTE)
    escape = options.get(_ESCAPE)
    for key, value in ((_DELIMITER.key, delimiter), (_QUOTE.key, quote), (_ESCAPE.key, escape)):
        if value is not None and len(value) != 1:
            raise ConfigurationError(f"option {key} is {value!r}", hint="give one character", key=key)
    dialect = CsvDialect(delimiter, quote, escape, "\n", options.get(_NULL), options.get(_COMMENTS))
    return dialect, options.get(_ELEMENTS)


def _reader_of(of: t.DataType, elements: str) -> TextReader:
    """Return what reads a field; arrays and rows are texts with a delimiter of their own."""
    if isinstance(of, t.ArrayType):
        element = text_reader(of.element_type)
        return lambda text: [element(part) for part in text.split(elements)] if text else []
    if isinstance(of, t.RowType):
        parts = [text_reader(field.data_type) for field in of]

        def read(text: str) -> tuple[Any, ...]:
            return tuple(part(each) for part, each in zip(parts, text.split(elements), strict=True))

        return read
    return text_reader(of)


def _writer_of(of: t.DataType, elements: str) -> TextWriter:
    if isinstance(of, t.ArrayType):
        element = text_writer(of.element_type)
        return lambda values: elements.join("" if value is None else element(value) for value in values)
    if isinstance(of, t.RowType):
        parts = [text_writer(field.data_type) for field in of]
        return lambda row: elements.join("" if v is None else part(v) for part, v in zip(parts, row._values, strict=True))
    return text_writer(of)


class _CsvFiles(StreamFormat):
    def __init__(
        self, rows: t.RowType, dialect: CsvDialect, elements: str, *, ignore_errors: bool, names: Sequence[str] | None = None
    ) -> None:
        self.all_names = rows.names
        self.rows = rows if names is None else t.RowType([rows[name] for name in names], nullable=False)
        self.dialect = dialect
        self.elements = elements
        self.ignore_errors = ignore_errors
        self.readers()

    def readers(self) -> list[TextReader]:
        return [_reader_of(field.data_type, self.elements) for field in self.rows]

    def create_reader(self, stream: BinaryIO, piece: FilePiece) -> RecordReader:
        return _CsvReader(self, stream, piece)


class _CsvReader(RecordReader):
    """Reads blocks by Arrow where the columns' types let it, and row by row what Arrow does not take."""

    def __init__(self, files: _CsvFiles, stream: BinaryIO, piece: FilePiece) -> None:
        self._files = files
        self._stream = stream
        self._path = piece.path
        self._blocks = LineBlocks(stream, piece, COLUMNAR_BLOCK_BYTES)
        self._schema = arrow_schema((field.name, field.data_type) for field in files.rows)
        self._readers = files.readers()
        dialect = files.dialect
        simple = dialect.escape is None and not dialect.comments and not files.ignore_errors
        self._by_arrow = simple and all(isinstance(field.data_type, READ_BY_ARROW) for field in files.rows)

    @property
    def position(self) -> int:
        return self._blocks.offset

    def read_block(self) -> list[RowBatch] | None:
        at = self._blocks.offset
        block = self._next()
        if block is None:
            return None
        batches = self._arrow_batches(block) if self._by_arrow else None
        if batches is not None:
            return batches
        # What Arrow does not take once comes again, most likely.
        self._by_arrow = False
        return self._row_by_row(at, block)

    def _next(self) -> bytes | None:
        """Return whole rows: a value between quotes may hold line ends."""
        block = self._blocks.next()
        quote = self._files.dialect.quote
        if block is None or quote is None or self._files.dialect.escape is not None:
            return block
        mark = quote.encode()
        odd = _is_odd(block, mark)
        while odd and (more := self._blocks.next()) is not None:
            odd ^= _is_odd(more, mark)
            block += more
        return block

    def _arrow_batches(self, block: bytes) -> list[RowBatch] | None:
        dialect = self._files.dialect
        null = dialect.null_literal
        try:
            found = pyarrow.csv.read_csv(
                pa.BufferReader(block),
                pyarrow.csv.ReadOptions(use_threads=False, column_names=self._files.all_names, block_size=max(len(block), 1)),
                pyarrow.csv.ParseOptions(
                    delimiter=dialect.separator, quote_char=dialect.quote or False, newlines_in_values=True, ignore_empty_lines=False
                ),
                pyarrow.csv.ConvertOptions(
                    include_columns=self._schema.names,
                    column_types=read_schema(self._schema),
                    true_values=_TRUE,
                    false_values=_FALSE,
                    null_values=[] if null is None else [null],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=True,
                ),
            )
            batches = [finished(batch, self._schema) for batch in found.to_batches() if batch.num_rows]
        except (pa.ArrowException, UnicodeDecodeError):
            return None
        return None if None in batches else [RowBatch(batch) for batch in batches]

    def _row_by_row(self, at: int, block: bytes) -> list[RowBatch]:
        raw = self._raw(at, block)
        batches: list[RowBatch] = []
        try:
            while rows := raw.next(_ROWS):
                batches.append(self._batch(rows))
        except (csv.Error, ValueError) as error:
            raise self._failure(at, block, error) from error
        # One batch: a position is that of a block, as blocks end elsewhere when reading starts again in front of another.
        return [concat(batches)] if batches else []

    def _raw(self, at: int, block: bytes) -> RawRows:
        piece = FilePiece(self._path, 0, len(block), len(block))
        errors = "replace" if self._files.ignore_errors else "strict"
        return RawRows(LineBlocks(io.BytesIO(block), piece), self._files.dialect, start=at == 0, errors=errors)

    def _failure(self, at: int, block: bytes, error: Exception) -> ConnectorError:
        """Return the error with the line of the first row that cannot be read; the rows of the block are gone through once more."""
        raw, offset = self._raw(at, block), 0
        try:
            while rows := raw.next(1):
                self._batch(rows)
                offset = raw.offset
        except (csv.Error, ValueError) as found:
            error = found
        line = line_number(self._stream, at + offset)
        return ConnectorError(
            f"{self._path}, {f'byte {at + offset}' if line is None else f'line {line}'}: {error}",
            hint="correct the file or the table, or leave such rows out: 'csv.ignore-parse-errors' = 'true'",
            path=self._path,
        )

    def _batch(self, rows: list[list[str]]) -> RowBatch:
        null, ignore = self._files.dialect.null_literal, self._files.ignore_errors
        width = len(self._files.all_names)
        texts: list[list[str | None]] = []
        for row in rows:
            if len(row) != width and not ignore:
                raise ValueError(f"{row} has {len(row)} fields, but the table has {width} columns")
            if len(row) <= width:
                texts.append([*row, *[None] * (width - len(row))])
        places = [self._files.all_names.index(name) for name in self._schema.names]
        arrays = [
            column_array([_value(row[place], reader, null, ignore) for row in texts], field.type)
            for place, reader, field in zip(places, self._readers, self._schema, strict=True)
        ]
        return RowBatch(pa.RecordBatch.from_arrays(arrays, schema=self._schema))


def _is_odd(block: bytes, mark: bytes) -> bool:
    """Return whether a mark comes an odd number of times; where it comes as often as quotes do, ``bytes.count`` takes ten times as long."""
    count = np.count_nonzero(np.frombuffer(block, np.uint8) == mark[0]) if len(mark) == 1 else block.count(mark)
    return bool(count % 2)


def _value(text: str | None, read: TextReader, null: str | None, ignore: bool) -> Any:
    if text is None or text == null:
        return None
    try:
        return read(text)
    except ValueError:
        if ignore:
            return None
        raise


class _CsvEncoder(Encoder):
    def __init__(self, rows: t.RowType, dialect: CsvDialect, elements: str) -> None:
        self._rows = rows
        self._dialect = dialect
        self._elements = elements
        self._writers()

    def _writers(self) -> list[TextWriter]:
        return [_writer_of(field.data_type, self._elements) for field in self._rows]

    def encode(self, element: RowBatch, stream: BinaryIO) -> None:
        stream.write(self.encode_many([element]))

    def encode_many(self, elements: Sequence[RowBatch]) -> bytes:
        dialect = self._dialect
        null = dialect.null_literal or ""
        out = io.StringIO()
        writer = (
            csv.writer(out, delimiter=dialect.separator, quoting=csv.QUOTE_NONE, escapechar=dialect.escape, lineterminator="\n")
            if dialect.quote is None
            else csv.writer(out, delimiter=dialect.separator, quotechar=dialect.quote, escapechar=dialect.escape, lineterminator="\n")
        )
        writers = self._writers()
        try:
            for batch in elements:
                columns = [
                    [null if value is None else write(value) for value in column_values(column)]
                    for column, write in zip(batch.rows.columns, writers, strict=True)
                ]
                writer.writerows(zip(*columns, strict=True))
        except csv.Error as error:
            raise ProgramError(f"a row cannot be written as CSV: {error}", hint="allow quotes or set 'csv.escape-character'") from error
        return out.getvalue().encode()

"""Internal. The table format ``csv``."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.csv

from wiesel.columnar.arrow_types import arrow_schema
from wiesel.columnar.expressions import Expression
from wiesel.columnar.row_batch import RowBatch, concat
from wiesel.columnar.rows import column_array, column_values
from wiesel.core.config import ConfigOption
from wiesel.core.errors import ConfigurationError, ConnectorError
from wiesel.formats.csv_decimals import without_zeros
from wiesel.formats.csv_fields import quoter
from wiesel.formats.csv_reading import RawRows
from wiesel.formats.csv_schema import CsvDialect
from wiesel.formats.line_blocks import COLUMNAR_BLOCK_BYTES, LineBlocks, line_number
from wiesel.formats.table.arrow_strings import READ_BY_ARROW, finished, read_schema
from wiesel.formats.table.string_values import TextReader, TextWriter, text_reader, text_writer
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
_HEADER = ConfigOption[bool]("csv.ignore-first-line", "bool", False, "Whether files begin with a line of names, which is left out.")
_NULL = ConfigOption[str]("csv.null-literal", "str", None, "How NULL is written.")
_ELEMENTS = ConfigOption[str]("csv.array-element-delimiter", "str", ";", "Between the elements of arrays and rows.")
_SCIENTIFIC = ConfigOption[bool]("csv.write-bigdecimal-in-scientific-notation", "bool", True, "Whether 100000 is written as 1E+5.")
_TRIM = ConfigOption[bool]("csv.trim-spaces", "bool", False, "Whether blanks around fields without quotes are left out.")
_UNMAPPABLE = ConfigOption[bool]("csv.ignore-trailing-unmappable", "bool", False, "Whether more fields than columns are left out.")
_TRAILING = ConfigOption[bool]("csv.allow-trailing-comma", "bool", True, "Whether a row may end with a delimiter.")
_MISSING = ConfigOption[bool]("csv.fail-on-missing-columns", "bool", False, "Whether fewer fields than columns are an error.")
_EMPTY_NULL = ConfigOption[bool]("csv.empty-string-as-null", "bool", False, "Whether empty fields are NULL.")
_ROWS = 8192
_PIECE = 1 << 16
_TRUE, _FALSE = ["true", "TRUE", "True"], ["false", "FALSE", "False"]


@dataclass(frozen=True)
class _Fields:
    """Conversion between fields and values. Plain picklable data.

    Attributes:
        elements: What stands between the elements of arrays and rows.
        scientific: Whether decimal numbers are written with exponents where Java does so.
        ignore_errors: Whether values that cannot be read are NULL, and rows that cannot be are left out.
        trims: Whether blanks around fields without quotes are left out.
        cuts: Whether more fields than columns are left out.
        trailing: Whether a row may end with a delimiter.
        complete: Whether a row of fewer fields than columns is an error even where errors are ignored.
        empty_null: Whether empty fields are NULL.
        header: Whether the first row of a file is left out.
    """

    elements: str
    scientific: bool
    ignore_errors: bool
    trims: bool
    cuts: bool
    trailing: bool
    complete: bool
    empty_null: bool
    header: bool

    @staticmethod
    def of(options: TableOptions) -> _Fields:
        return _Fields(
            elements=options.get(_ELEMENTS),
            scientific=options.get(_SCIENTIFIC),
            ignore_errors=options.get(_IGNORE),
            trims=options.get(_TRIM),
            cuts=options.get(_UNMAPPABLE),
            trailing=options.get(_TRAILING),
            complete=options.get(_MISSING),
            empty_null=options.get(_EMPTY_NULL),
            header=options.get(_HEADER),
        )

    def fitted(self, row: list[str], width: int) -> list[str | None] | None:
        """Return the fields of so many columns, None for those that there are not; None for a row that is left out.

        Raises:
            ValueError: If there are more or fewer, and that is an error.
        """
        if len(row) > width and (self.cuts or (self.trailing and len(row) == width + 1 and not row[-1].strip())):
            return [*row[:width]]
        if len(row) == width or (len(row) < width and self.ignore_errors and not self.complete):
            return [*row, *[None] * (width - len(row))]
        if self.ignore_errors:
            return None
        raise ValueError(f"{row} has {len(row)} fields, but the table has {width} columns")

    def value(self, text: str | None, read: TextReader, null: str | None) -> Any:
        """Return the value of a field, ``null`` being how NULL is written."""
        if text is None or text == null or (self.empty_null and not text):
            return None
        try:
            return read(text)
        except ValueError:
            if self.ignore_errors:
                return None
            raise


class CsvTableFormat(TableFormatFactory):
    """Makes readers and writers of CSV."""

    identifier = "csv"

    def create_reader(self, options: TableOptions, rows: t.RowType) -> StreamFormat:
        """Return the format of files with these columns."""
        return _CsvFiles(rows, _dialect(options), _Fields.of(options))

    def create_projected_reader(
        self, options: TableOptions, rows: t.RowType, names: Sequence[str], filters: Sequence[Expression] = ()
    ) -> StreamFormat:
        """Return the format of files with these columns of which some are read; the others may hold anything, as in Flink."""
        return _CsvFiles(rows, _dialect(options), _Fields.of(options), names)

    def create_writer(self, options: TableOptions, rows: t.RowType) -> Encoder:
        """Return the encoder of rows of these columns."""
        return _CsvEncoder(rows, _dialect(options), _Fields.of(options))


def _dialect(options: TableOptions) -> CsvDialect:
    delimiter = options.get(_DELIMITER).encode().decode("unicode_escape")
    quote = None if options.get(_NO_QUOTE) else options.get(_QUOTE)
    escape = options.get(_ESCAPE)
    for key, value in ((_DELIMITER.key, delimiter), (_QUOTE.key, quote), (_ESCAPE.key, escape)):
        if value is not None and len(value) != 1:
            raise ConfigurationError(f"option {key} is {value!r}", hint="give one character", key=key)
    return CsvDialect(delimiter, quote, escape, "\n", options.get(_NULL), options.get(_COMMENTS))


def _trimmer(dialect: CsvDialect) -> Callable[[bytes], bytes]:
    """Return what takes blanks away from around the fields of whole rows, but not those between quotes."""
    separator = re.escape(dialect.separator.encode())
    blank = b"(?!" + separator + rb"|[\r\n])[\x00-\x20]"
    quoted = b""
    if dialect.quote is not None:
        quote = re.escape(dialect.quote.encode())
        escaped = b"" if dialect.escape is None else re.escape(dialect.escape.encode()) + b".|"
        quoted = b"(?:" + quote + b"(?:" + escaped + quote + quote + b"|[^" + quote + b"])*" + quote + b")?"
    before = rb"(\A|" + separator + rb"|\r\n|\r|\n)(?:" + blank + b")*(" + quoted + b")"
    behind = b"(?:" + blank + b")+(?=" + separator + rb"|[\r\n]|\Z)"
    pattern = re.compile(before + b"|" + behind, re.DOTALL)
    return lambda block: pattern.sub(rb"\1\2", block)


def _reader_of(of: t.DataType, elements: str, null: str | None) -> TextReader:
    """Return what reads a field; arrays and rows are strings with a delimiter of their own."""
    if isinstance(of, t.ArrayType):
        element = text_reader(of.element_type)
        return lambda text: [None if part == null else element(part) for part in text.split(elements)] if text else []
    if isinstance(of, t.RowType):
        parts = [text_reader(field.data_type) for field in of]

        def read(text: str) -> tuple[Any, ...]:
            return tuple(part(each) for part, each in zip(parts, text.split(elements), strict=True))

        return read
    return text_reader(of)


def _writer_of(of: t.DataType, fields: _Fields, null: str) -> TextWriter:
    if isinstance(of, t.ArrayType):
        element = _writer_of(of.element_type, fields, null)
        return lambda values: fields.elements.join(null if value is None else element(value) for value in values)
    if isinstance(of, t.RowType):
        parts = [_writer_of(field.data_type, fields, null) for field in of]
        return lambda row: fields.elements.join(null if v is None else part(v) for part, v in zip(parts, row._values, strict=True))
    if isinstance(of, t.DecimalType):
        return (lambda value: str(without_zeros(value))) if fields.scientific else (lambda value: f"{without_zeros(value):f}")
    return text_writer(of)


class _CsvFiles(StreamFormat):
    def __init__(self, rows: t.RowType, dialect: CsvDialect, fields: _Fields, names: Sequence[str] | None = None) -> None:
        self.all_names = rows.names
        self.rows = rows if names is None else t.RowType([rows[name] for name in names], nullable=False)
        self.dialect = dialect
        self.fields = fields
        self.readers()

    def readers(self) -> list[TextReader]:
        return [_reader_of(field.data_type, self.fields.elements, self.dialect.null_literal) for field in self.rows]

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
        simple = dialect.escape is None and not dialect.comments and not files.fields.ignore_errors
        self._trimmed = _trimmer(dialect) if files.fields.trims else None
        self._by_arrow = simple and all(isinstance(field.data_type, READ_BY_ARROW) for field in files.rows)

    @property
    def position(self) -> int:
        return self._blocks.offset

    def read_block(self) -> list[RowBatch] | None:
        at = self._blocks.offset
        block = self._next()
        if block is None:
            return None
        block = block if self._trimmed is None else self._trimmed(bytes(block))
        batches = self._arrow_batches(block, header=self._header_at(at)) if self._by_arrow else None
        if batches is not None:
            return batches
        # What Arrow does not take once comes again, most likely.
        self._by_arrow = False
        return self._row_by_row(at, bytes(block))

    def _next(self) -> bytes | memoryview | None:
        """Return whole rows: a value between quotes may hold line ends. The memory is used again for what comes next."""
        block = self._blocks.next_lent()
        quote = self._files.dialect.quote
        if block is None or quote is None or self._files.dialect.escape is not None:
            return block
        mark = quote.encode()
        odd = _is_odd(block, mark)
        if not odd:
            return block
        whole = bytes(block)
        while odd and (more := self._blocks.next()) is not None:
            odd ^= _is_odd(more, mark)
            whole += more
        return whole

    def _header_at(self, at: int) -> bool:
        """Return whether a block that begins there begins with a row to be left out."""
        return at == 0 and self._files.fields.header

    def _arrow_batches(self, block: bytes | memoryview, *, header: bool) -> list[RowBatch] | None:
        dialect = self._files.dialect
        nulls = [*([""] if self._files.fields.empty_null else []), *([] if dialect.null_literal is None else [dialect.null_literal])]
        try:
            found = pyarrow.csv.read_csv(
                pa.BufferReader(block),
                pyarrow.csv.ReadOptions(
                    use_threads=False,
                    column_names=self._files.all_names,
                    block_size=max(len(block), 1),
                    skip_rows_after_names=int(header),
                ),
                pyarrow.csv.ParseOptions(
                    delimiter=dialect.separator, quote_char=dialect.quote or False, newlines_in_values=True, ignore_empty_lines=False
                ),
                pyarrow.csv.ConvertOptions(
                    include_columns=self._schema.names,
                    column_types=read_schema(self._schema),
                    true_values=_TRUE,
                    false_values=_FALSE,
                    null_values=nulls,
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
        errors = "replace" if self._files.fields.ignore_errors else "strict"
        raw = RawRows(LineBlocks(io.BytesIO(block), piece), self._files.dialect, start=at == 0, errors=errors)
        if self._header_at(at):
            raw.next(1)
        return raw

    def _failure(self, at: int, block: bytes, error: Exception) -> ConnectorError:
        """Return the error with the line of the first row that cannot be read; the rows of the block are gone through once more."""
        raw, rows = self._raw(at, block), []
        offset = raw.offset
        reason = str(error)
        try:
            while rows := raw.next(1):
                self._batch(rows)
                offset = raw.offset
        except (csv.Error, ValueError) as found:
            reason = self._wrong_value(rows) or str(found)
        first = line_number(self._stream, at)
        # Counted in the block, which may have fewer bytes than were read.
        line = None if first is None else first - 1 + (line_number(io.BytesIO(block), offset) or 1)
        hint = "correct the file or the table, or leave such rows out: 'csv.ignore-parse-errors' = 'true'"
        if line == 1 and rows and self._is_header(rows[0]):
            hint = "is this a header line? 'csv.ignore-first-line' = 'true' leaves it out"
        return ConnectorError(
            f"{self._path}, {f'behind byte {at}' if line is None else f'line {line}'}: {reason}", hint=hint, path=self._path
        )

    def _is_header(self, row: list[str]) -> bool:
        """Return whether the fields of a row look like names: some are those of columns, or none reads as anything but text."""
        names = {name.lower() for name in self._files.all_names}
        return any(text.strip().lower() in names for text in row) or all(text.strip().replace(" ", "_").isidentifier() for text in row)

    def _batch(self, rows: list[list[str]]) -> RowBatch:
        strings = self._fitted(rows)
        arrays = [self._column(strings, place, reader, field.type) for place, reader, field in self._columns()]
        return RowBatch(pa.RecordBatch.from_arrays(arrays, schema=self._schema))

    def _fitted(self, rows: list[list[str]]) -> list[Sequence[str | None]]:
        width = len(self._files.all_names)
        return [found for found in (self._files.fields.fitted(row, width) for row in rows) if found is not None]

    def _columns(self) -> Iterator[tuple[int, TextReader, pa.Field]]:
        places = [self._files.all_names.index(name) for name in self._schema.names]
        return zip(places, self._readers, self._schema, strict=True)

    def _column(self, strings: list[Sequence[str | None]], place: int, reader: TextReader, kind: pa.DataType) -> pa.Array:
        # Of arrays, as in Flink, it is their elements that can be NULL.
        null = None if pa.types.is_list(kind) else self._files.dialect.null_literal
        value = self._files.fields.value
        return column_array([value(row[place], reader, null) for row in strings], kind)

    def _wrong_value(self, rows: list[list[str]]) -> str | None:
        """Return what is wrong with a row, and in which column; None if it is in none."""
        try:
            strings = self._fitted(rows)
        except ValueError:
            return None
        for place, reader, field in self._columns():
            try:
                self._column(strings, place, reader, field.type)
            except ValueError as error:
                return f"column {field.name}: {error}"
        return None


def _is_odd(block: bytes | memoryview, mark: bytes) -> bool:
    """Return whether a mark comes an odd number of times; where it comes as often as quotes do, ``bytes.count`` takes ten times as long."""
    if len(mark) > 1:
        return bool(bytes(block).count(mark) % 2)
    found = np.frombuffer(block, np.uint8)
    # A piece at a time, whose comparison stays in the processor's caches.
    return bool(sum(np.count_nonzero(found[at : at + _PIECE] == mark[0]) for at in range(0, len(found), _PIECE)) % 2)


class _CsvEncoder(Encoder):
    def __init__(self, rows: t.RowType, dialect: CsvDialect, fields: _Fields) -> None:
        self._rows = rows
        self._dialect = dialect
        self._fields = fields
        self._null = dialect.null_literal or ""
        self._writers()

    def _writers(self) -> list[TextWriter]:
        return [self._writer(field.data_type) for field in self._rows]

    def _writer(self, of: t.DataType) -> TextWriter:
        write, quoted = _writer_of(of, self._fields, self._null), quoter(self._dialect)
        if isinstance(of, t.NumericType | t.BooleanType):
            return write
        return lambda value: quoted(write(value))

    def encode(self, element: RowBatch, stream: BinaryIO) -> None:
        stream.write(self.encode_many([element]))

    def encode_many(self, elements: Sequence[RowBatch]) -> bytes:
        writers, null, separator = self._writers(), self._null, self._dialect.separator
        lines: list[str] = []
        for batch in elements:
            columns = [
                [null if value is None else write(value) for value in column_values(column)]
                for column, write in zip(batch.rows.columns, writers, strict=True)
            ]
            lines += map(separator.join, zip(*columns, strict=True))
        return "".join(f"{line}\n" for line in lines).encode()

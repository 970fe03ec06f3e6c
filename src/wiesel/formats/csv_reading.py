"""CSV files as a source and as bulk output."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, BinaryIO

from wiesel.core.errors import ArgumentTypeError, ConnectorError
from wiesel.formats.csv_fields import BadRow, CsvRows, CsvStrings
from wiesel.formats.csv_schema import CsvDialect, CsvSchema
from wiesel.formats.line_blocks import LineBlocks, line_number
from wiesel.spi.file_formats import BulkWriter, BulkWriterFactory, FilePiece, RecordReader, StreamFormat
from wiesel.types.row import Row
from wiesel.types.typeinfo import RowTypeInfo

__all__ = ["CsvBulkWriters", "CsvReaderFormat", "RawRows"]

_ROWS = 1024
_FIELD_CHARS = 1 << 24
_BOM = b"\xef\xbb\xbf"
# Characters for private use stand for what an escape sequence means until the line is taken apart.
_ESCAPED = {"n": "\ue00a", "r": "\ue00d", "t": "\ue009"}
_MEANT = {ord(stand_in): {"n": "\n", "r": "\r", "t": "\t"}[letter] for letter, stand_in in _ESCAPED.items()}


class CsvReaderFormat(StreamFormat):
    """Reads CSV files as rows. Files are not split: a value may hold line ends.

    Args:
        schema: The columns.
        ignore_parse_errors: Make values that cannot be read None, fill short rows up with None and leave out rows that are too long or
            no CSV; otherwise the job fails with the file and line.
    """

    def __init__(self, schema: CsvSchema, *, ignore_parse_errors: bool = False) -> None:
        self._schema = schema
        self._ignore_errors = ignore_parse_errors
        # What has no text is found here, not in the workers.
        self._rows()

    @staticmethod
    def for_schema(schema: CsvSchema, ignore_parse_errors: bool = False) -> CsvReaderFormat:
        """Return the format of files with this schema."""
        given: object = schema
        if not isinstance(given, CsvSchema):
            raise ArgumentTypeError(f"CsvReaderFormat.for_schema got {schema!r}", hint="give a CsvSchema, made by CsvSchema.builder()")
        return CsvReaderFormat(schema, ignore_parse_errors=ignore_parse_errors)

    def with_ignore_parse_errors(self) -> CsvReaderFormat:
        """Return the format that leaves out what cannot be read."""
        return CsvReaderFormat(self._schema, ignore_parse_errors=True)

    @property
    def produced_type(self) -> RowTypeInfo:
        """Return the type of the rows, with the names of the columns."""
        return self._schema.row_type

    def _rows(self) -> CsvRows:
        schema = self._schema
        return CsvRows(
            schema.row_type,
            schema.dialect.null_literal,
            schema.array_separators,
            ignore_errors=self._ignore_errors,
            decimals=schema.decimals,
        )

    def create_reader(self, stream: BinaryIO, piece: FilePiece) -> RecordReader:
        """Create the reader of one file."""
        return _CsvReader(stream, piece, self._schema, self._rows(), self._ignore_errors)


class RawRows:
    """Takes lines apart into rows of strings, and knows at which byte the next row begins."""

    def __init__(self, blocks: LineBlocks, dialect: CsvDialect, *, start: bool, errors: str = "strict") -> None:
        csv.field_size_limit(max(csv.field_size_limit(), _FIELD_CHARS))
        self._blocks = blocks
        self._dialect = dialect
        self._at_file_start = start
        self._errors = errors
        self._between_rows = True
        self.offset = blocks.offset
        self._unescape = re.compile(re.escape(dialect.escape) + "(.)", re.DOTALL) if dialect.escape is not None else None
        lines = self._lines() if dialect.escape is None else self._unescaped(self._lines())
        # Plain parameters: with a quote and strict rules, or with no quoting at all.
        self._reader = (
            csv.reader(lines, delimiter=dialect.separator, quoting=csv.QUOTE_NONE, escapechar=dialect.escape, strict=True)
            if dialect.quote is None
            else csv.reader(lines, delimiter=dialect.separator, quotechar=dialect.quote, escapechar=dialect.escape, strict=True)
        )

    def _lines(self) -> Iterator[str]:
        comments = self._dialect.comments
        while (block := self._blocks.next()) is not None:
            for raw in block.splitlines(keepends=True):
                self.offset += len(raw)
                line = raw
                if self._at_file_start:
                    self._at_file_start = False
                    line = raw.removeprefix(_BOM)
                if comments and self._between_rows and line.lstrip().startswith(b"#"):
                    continue
                self._between_rows = False
                yield line.decode("utf-8", self._errors)

    def _unescaped(self, lines: Iterator[str]) -> Iterator[str]:
        pattern, escape = self._unescape, self._dialect.escape or ""
        for line in lines:
            if pattern is not None and escape in line:
                yield pattern.sub(lambda match: _ESCAPED.get(match[1], match[0]), line)
            else:
                yield line

    def next(self, count: int) -> list[list[str]]:
        """Return the next rows, at most ``count``, none at the end.

        Raises:
            csv.Error: If what follows is no CSV.
            UnicodeDecodeError: If it is not UTF-8.
        """
        if self._dialect.comments:
            rows = []
            for _ in range(count):
                # Only between rows may a line be a comment; inside a quoted value it is text.
                self._between_rows = True
                row = next(self._reader, None)
                if row is None:
                    break
                rows.append(row)
        else:
            rows = list(islice(self._reader, count))
        if self._unescape is not None:
            rows = [[text.translate(_MEANT) for text in row] for row in rows]
        return rows


class _CsvReader(RecordReader):
    def __init__(self, stream: BinaryIO, piece: FilePiece, schema: CsvSchema, rows: CsvRows, ignore_errors: bool) -> None:
        self._stream = stream
        self._piece = piece
        self._schema = schema
        self._rows = rows
        self._ignore_errors = ignore_errors
        # At the start of the file a header is to come; at any other position it has been read.
        self._fresh = not piece.position
        self._raw = self._raw_from(piece.position)

    def _raw_from(self, at: int | None) -> RawRows:
        piece = FilePiece(self._piece.path, self._piece.start, self._piece.end, self._piece.file_size, at)
        errors = "replace" if self._ignore_errors else "strict"
        return RawRows(LineBlocks(self._stream, piece), self._schema.dialect, start=not at, errors=errors)

    @property
    def position(self) -> int:
        return self._raw.offset

    def read_block(self) -> list[Row] | None:
        if self._fresh:
            self._fresh = False
            self._read_header()
        at = self._raw.offset
        try:
            strings = self._raw.next(_ROWS)
            if not strings:
                return None
            return self._rows.read(strings)
        except BadRow as error:
            raise self._failure(at, error.index, error.reason) from error
        except (csv.Error, UnicodeDecodeError) as error:
            return self._after_malformed(at, error)

    def _read_header(self) -> None:
        schema = self._schema
        if schema.use_header:
            header = self._raw.next(1)
            if schema.strict_headers:
                self._check_header(header[0] if header else [])
        if schema.skip_first_data_row:
            self._raw.next(1)

    def _check_header(self, header: list[str]) -> None:
        names = self._schema.row_type.get_field_names()
        if header != names:
            raise self._failure(0, 0, f"the header {header} is not {names}")

    def _after_malformed(self, at: int, error: Exception) -> list[Row]:
        """Go back to where the block began, and on row by row: those before the malformed one count."""
        if not self._stream.seekable():
            raise self._failure(at, None, f"no CSV in the rows from here on: {error}") from error
        raw = self._raw_from(at)
        rows: list[list[str]] = []
        for index in range(_ROWS):
            try:
                row = raw.next(1)
            except (csv.Error, UnicodeDecodeError) as why:
                if not self._ignore_errors:
                    raise self._failure(at, index, str(why)) from why
                continue
            if not row:
                break
            rows += row
        self._raw = raw
        return self._rows.read(rows)

    def _failure(self, at: int, index: int | None, reason: str) -> ConnectorError:
        line = None if index is None else self._line_of(at, index)
        place = f"byte {at}" if line is None else f"line {line}"
        return ConnectorError(
            f"{self._piece.path}, {place}: {reason}",
            hint="correct the file or the schema, or leave out what cannot be read: CsvReaderFormat.for_schema(schema, True)",
            path=self._piece.path,
            line=line,
        )

    def _line_of(self, at: int, index: int) -> int | None:
        """Return the number of the line at which row ``index`` behind byte ``at`` begins, reading the file again."""
        if not self._stream.seekable():
            return None
        raw = self._raw_from(at)
        for _ in range(index):
            try:
                raw.next(1)
            except (csv.Error, UnicodeDecodeError):
                continue
        return line_number(self._stream, raw.offset)


class CsvBulkWriters:
    """CSV files as output of a file sink."""

    @staticmethod
    def for_schema(schema: CsvSchema) -> BulkWriterFactory:
        """Return the factory of writers of rows with this schema; with a header if the schema has one."""
        return _CsvWriterFactory(schema)


class _CsvWriterFactory(BulkWriterFactory):
    def __init__(self, schema: CsvSchema) -> None:
        self._schema = schema
        self._strings()

    def _strings(self) -> CsvStrings:
        schema = self._schema
        return CsvStrings(schema.row_type, schema.dialect, schema.array_separators, schema.decimals)

    def create(self, stream: BinaryIO) -> BulkWriter:
        strings = self._strings()
        if self._schema.use_header:
            stream.write(strings.header().encode())
        return _CsvWriter(stream, strings)


class _CsvWriter(BulkWriter):
    def __init__(self, stream: BinaryIO, strings: CsvStrings) -> None:
        self._stream = stream
        self._strings = strings

    def add_batch(self, values: Sequence[Any]) -> None:
        self._stream.write(self._strings.write(values).encode())

    def finish(self) -> None:
        # Every batch is written already.
        return

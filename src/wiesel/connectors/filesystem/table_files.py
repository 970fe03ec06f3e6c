"""Internal. Reads files of tables: the projected columns, including partition columns from names of folders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

import pyarrow as pa

from wiesel.columnar.arrow_types import arrow_schema
from wiesel.columnar.evaluation import Frame, Session, evaluate
from wiesel.columnar.expressions import Expression, InputRef, input_refs, transformed
from wiesel.columnar.row_batch import RowBatch
from wiesel.core.errors import ExpressionError, ProgramError
from wiesel.spi.file_formats import BulkFormat, FileFormat, FilePiece, RecordReader, StreamFormat
from wiesel.spi.table.factory import TableOptions
from wiesel.spi.table.formats import TableFormatFactory
from wiesel.types.logical import RowType

__all__ = ["Reading", "files_of"]


@dataclass(frozen=True)
class Reading:
    """Specification of a read. Plain picklable data.

    Attributes:
        rows: All columns of the table.
        keys: Those that folders tell.
        values: From the path of a file to the values that its folders tell.
        names: The columns that are wanted, in order.
        filters: Conditions over these; rows for which one is not true may be left out.
        limit: How many rows of a file are wanted at most; None for all.
    """

    rows: RowType
    keys: tuple[str, ...]
    values: Callable[[str], Mapping[str, Any]]
    names: tuple[str, ...]
    filters: tuple[Expression, ...] = ()
    limit: int | None = None

    @property
    def schema(self) -> pa.Schema:
        """The schema of the projected columns."""
        return arrow_schema((name, self.rows[name].data_type) for name in self.names)

    def filters_over(self, names: Sequence[str]) -> tuple[Expression, ...]:
        """Return those conditions that read some columns only, over these."""
        places = {self.names.index(name): place for place, name in enumerate(names) if name in self.names}

        def moved(part: Expression) -> Expression | None:
            return replace(part, index=places[part.index]) if isinstance(part, InputRef) else None

        return tuple(transformed(each, moved) for each in self.filters if input_refs(each) and input_refs(each) <= places.keys())

    def passes(self, told: Mapping[str, Any]) -> bool | None:
        """Return whether the conditions on what a file's folders tell are true; None if they cannot be evaluated."""
        names = [name for name in self.names if name in told]
        columns = [pa.repeat(pa.scalar(told[name], self.schema.field(name).type), 1) for name in names]
        if not columns:
            return True
        frame = Frame(pa.RecordBatch.from_arrays(columns, names=names), Session())
        try:
            return all(_first(evaluate(each, frame)) for each in self.filters_over(names))
        except ExpressionError:
            return None


def files_of(form: TableFormatFactory, options: TableOptions, reading: Reading) -> FileFormat:
    """Return what reads files of a format as batches of the columns that are wanted."""
    stored = RowType([field for field in reading.rows if field.name not in reading.keys], nullable=False)
    if not stored.names:
        raise ProgramError(
            "the table has no columns that are in its files",
            hint="give columns besides those that it is partitioned by, or that are metadata",
        )
    # Of files of which no column is wanted, the first one tells how many rows there are.
    names = tuple(name for name in reading.names if name not in reading.keys) or (stored.names[0],)
    files = None
    if names != tuple(stored.names) or reading.filters:
        files = form.create_projected_reader(options, stored, names, reading.filters_over(names))
    if files is None:
        files, names = form.create_reader(options, stored), tuple(stored.names)
    if names == reading.names and reading.limit is None:
        return files
    return (_ChosenStream if isinstance(files, StreamFormat) else _ChosenBulk)(files, names, reading)


class _Chosen(FileFormat):
    """Chooses columns of what a format reads, and adds those that folders tell."""

    def __init__(self, files: FileFormat, names: tuple[str, ...], reading: Reading) -> None:
        self._files = files
        self._names = names
        self._reading = reading

    @property
    def splittable(self) -> bool:
        return self._files.splittable

    def create_reader(self, stream: BinaryIO, piece: FilePiece) -> RecordReader:
        return _ChosenReader(self._files.create_reader(stream, piece), self._names, self._reading, piece.path)


class _ChosenStream(_Chosen, StreamFormat):
    pass


class _ChosenBulk(_Chosen, BulkFormat):
    pass


class _ChosenReader(RecordReader):
    def __init__(self, reader: RecordReader, names: tuple[str, ...], reading: Reading, path: str) -> None:
        self._reader = reader
        self._names = names
        self._schema = reading.schema
        self._values = reading.values(path) if reading.keys else {}
        # What cannot be evaluated fails where the rows are filtered.
        self._is_wanted = reading.passes(self._values) is not False
        self._left = reading.limit

    @property
    def position(self) -> int:
        return self._reader.position

    def read_block(self) -> list[RowBatch] | None:
        if self._left is not None and self._left <= 0:
            return None
        batches = self._reader.read_block() if self._is_wanted else None
        if batches is not None and self._left is not None:
            self._left -= sum(map(len, batches))
        return None if batches is None else list(map(self._chosen, batches))

    def _chosen(self, batch: RowBatch) -> RowBatch:
        arrays = [
            pa.repeat(pa.scalar(self._values[field.name], field.type), len(batch))
            if field.name in self._values
            else batch.rows.column(self._names.index(field.name))
            for field in self._schema
        ]
        return RowBatch(pa.RecordBatch.from_arrays(arrays, schema=self._schema), batch.kinds)

    def close(self) -> None:
        self._reader.close()


def _first(datum: Any) -> Any:
    return (datum if isinstance(datum, pa.Scalar) else datum[0]).as_py()

"""Rows of state: iterate over them, or get them as Arrow, pandas or a Spark DataFrame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import pyarrow as pa

from wiesel.state_processor._arrow import Column, batches, schema_for

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["StateRows"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
R = TypeVar("R")


class Part(Protocol[T_co]):
    """The part of the state read by one process. Picklable."""

    def items(self) -> Iterator[T_co]:
        """Read it."""
        ...


class _Mapped(Generic[T, R]):
    """A part whose items are changed by a function."""

    def __init__(self, part: Part[T], function: Callable[[T], R]) -> None:
        self._part = part
        self._function = function

    def items(self) -> Iterator[R]:
        return map(self._function, self._part.items())


class StateRows(Generic[T]):
    """Rows of state. Each iteration reads them again, one part (an old subtask's) at a time.

    Args:
        parts: Returns the parts; about as many as its argument if that is not None.
        columns: The columns of the rows as a table.
        to_row: Returns the row of an item's column values.

    Raises:
        CorruptCheckpointError: While reading, if a file is missing, incomplete or altered.
        StateMigrationError: While reading, if a class of the state is missing or has changed.
    """

    def __init__(
        self, parts: Callable[[int | None], Sequence[Part[T]]], columns: Sequence[Column], to_row: Callable[[T], tuple[Any, ...]]
    ) -> None:
        self._parts = parts
        self._columns = tuple(columns)
        self._to_row = to_row

    def __iter__(self) -> Iterator[T]:
        return chain.from_iterable(part.items() for part in self._parts(None))

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self._columns]

    def take(self, count: int) -> list[T]:
        """Return the first ``count`` rows; only as many are read as needed."""
        return list(islice(self, count))

    def dicts(self) -> Iterator[dict[str, Any]]:
        """Go through the rows as dicts by name of column, with their objects as they are."""
        names = self.columns
        return (dict(zip(names, self._to_row(row), strict=True)) for row in self)

    def map(self, function: Callable[[T], Mapping[str, Any]], types: Mapping[str, Any]) -> StateRows[Mapping[str, Any]]:
        """Return the rows transformed by a function.

        Args:
            function: Returns a dict for a row.
            types: Columns of the dicts with their types (Wiesel's or Arrow's; None for inference from the values).
        """
        names = list(types)

        def parts(count: int | None) -> list[Part[Mapping[str, Any]]]:
            return [_Mapped(part, function) for part in self._parts(count)]

        return StateRows(parts, [Column(name, types[name]) for name in names], lambda made: tuple(made.get(name) for name in names))

    def to_arrow(self, types: Mapping[str, Any] | None = None) -> pa.Table:
        """Return all rows as an Arrow table.

        Args:
            types: Types (Wiesel's or Arrow's) of columns that are not declared in the state and cannot be inferred from the values.

        Raises:
            TypeMismatchError: If Arrow has no type for the objects in a column.
        """
        rows = list(map(self._to_row, self))
        schema = schema_for(self._columns, types, rows)
        return pa.Table.from_batches(batches(rows, self._columns, schema), schema)

    def to_pandas(self, types: Mapping[str, Any] | None = None) -> pd.DataFrame:
        """Return all rows as a pandas DataFrame; see :meth:`to_arrow`."""
        return self.to_arrow(types).to_pandas()

    def to_spark(self, session: Any, types: Mapping[str, Any] | None = None, *, partitions: int | None = None) -> Any:
        """Return the rows as a Spark DataFrame, which Spark's executors read in parallel at each use.

        Executors must reach the checkpoint under the same path, and must be able to import the classes in the state.

        Args:
            session: The Spark session.
            types: See :meth:`to_arrow`. Unknown types are inferred here from the first thousand rows.
            partitions: Minimum number of partitions; by default one per old subtask. More partitions divide its key groups, but each one
                reads the subtask's files.
        """
        parts = list(self._parts(partitions))
        schema = schema_for(self._columns, types, map(self._to_row, self))
        spark_schema = session.createDataFrame(schema.empty_table()).schema
        columns, to_row = self._columns, self._to_row

        def read(numbers: Iterable[Any]) -> Iterator[Any]:
            for batch in numbers:
                for number in batch.column(0).to_pylist():
                    yield from batches(map(to_row, parts[number].items()), columns, schema)

        count = len(parts)
        return session.range(0, count, 1, max(count, 1)).mapInArrow(read, spark_schema)

"""Rows of state: to be gone through, or as Arrow, pandas or a Spark DataFrame."""

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
    """Rows of state. They are read anew each time that they are gone through, a part (an old subtask's) at a time.

    Args:
        parts: Gives the parts, about as many as it is told if that is not None.
        columns: The columns as a table has them.
        to_row: Makes the values of the columns of an item.

    Raises:
        CorruptCheckpointError: While reading, if a file is missing, torn or altered.
        StateMigrationError: While reading, if a class that the state needs is missing or has changed.
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
        """Return the first ``count`` rows; no more is read than needed."""
        return list(islice(self, count))

    def dicts(self) -> Iterator[dict[str, Any]]:
        """Go through the rows as dicts by name of column, with their objects as they are."""
        names = self.columns
        return (dict(zip(names, self._to_row(row), strict=True)) for row in self)

    def map(self, function: Callable[[T], Mapping[str, Any]], types: Mapping[str, Any]) -> StateRows[Mapping[str, Any]]:
        """Return rows made of these.

        Args:
            function: Makes a dict of a row.
            types: The columns of the dicts, with their types (of Wiesel or Arrow; None to go by the values).
        """
        names = list(types)

        def parts(count: int | None) -> list[Part[Mapping[str, Any]]]:
            return [_Mapped(part, function) for part in self._parts(count)]

        return StateRows(parts, [Column(name, types[name]) for name in names], lambda made: tuple(made.get(name) for name in names))

    def to_arrow(self, types: Mapping[str, Any] | None = None) -> pa.Table:
        """Return all rows as an Arrow table.

        Args:
            types: Types of columns (Wiesel's or Arrow's) that are neither declared in the state nor to be told from its values. Types
                that the program declared for the state need not be given.

        Raises:
            TypeMismatchError: Arrow has no type for the objects in a column.
        """
        rows = list(map(self._to_row, self))
        schema = schema_for(self._columns, types, rows)
        return pa.Table.from_batches(batches(rows, self._columns, schema), schema)

    def to_pandas(self, types: Mapping[str, Any] | None = None) -> pd.DataFrame:
        """Return all rows as a pandas DataFrame; see :meth:`to_arrow`."""
        return self.to_arrow(types).to_pandas()

    def to_spark(self, session: Any, types: Mapping[str, Any] | None = None, *, partitions: int | None = None) -> Any:
        """Return the rows as a Spark DataFrame, read by Spark's executors in parallel, each time that the DataFrame is used.

        Executors must reach the checkpoint under the same path, and find the classes that are in the state.

        Args:
            session: The Spark session.
            types: See :meth:`to_arrow`. Columns whose types are not known are looked at here: the first thousand rows.
            partitions: How many partitions at least. By default one per old subtask; more of them divide its key groups, but each
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

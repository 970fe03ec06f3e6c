"""Results of executing statements and tables."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import TYPE_CHECKING, Any

from wiesel.columnar.row_batch import RowBatch
from wiesel.columnar.rows import to_rows
from wiesel.core.user_location import program_error
from wiesel.datastream.job_execution import cancel
from wiesel.spi.table import schema as schemas
from wiesel.sql.session.result_strings import NULL, batch_strings
from wiesel.sql.session.tableau import lines_by_content, lines_by_type, widths_by_type
from wiesel.table.catalogs.resolved_schema import ResolvedSchema, resolved_schema
from wiesel.table.result_kind import ResultKind
from wiesel.table.table_schema import TableSchema
from wiesel.types.row import Row, RowKind, make_row

if TYPE_CHECKING:
    from wiesel.common.job_client import JobClient
    from wiesel.datastream.closeable_iterator import CloseableIterator as BatchIterator

__all__ = ["CloseableIterator", "TableResult"]

_KINDS = [str(kind) for kind in RowKind]
_NO_LIMIT = 2**31 - 1


class CloseableIterator(Iterator[Row]):
    """Iterates over the rows of a result; :meth:`close` cancels the job if it still runs.

    >>> with t_env.execute_sql("SELECT 1").collect() as rows:  # doctest: +SKIP
    ...     for row in rows:
    ...         print(row)
    """

    def __init__(self, rows: Iterator[Row], close: Callable[[], None]) -> None:
        self._rows = rows
        self._close = close

    def __next__(self) -> Row:
        return next(self._rows)

    def next(self) -> Row:
        """Wait for the next row and return it.

        Raises:
            StopIteration: If the job has finished and there is none.
        """
        return next(self._rows)

    def close(self) -> None:
        """Cancel the job if it still runs, and drop rows that were not taken."""
        self._close()

    def __enter__(self) -> CloseableIterator:
        return self

    def __exit__(self, exc_type: object, exc_val: object, exc_tb: object) -> None:
        self.close()


class TableResult:
    """The result of a statement: rows of a table, or success.

    Made by ``execute_sql()``, ``Table.execute()`` and ``StatementSet.execute()``.
    """

    def __init__(
        self,
        kind: ResultKind,
        schema: schemas.ResolvedSchema,
        *,
        rows: list[tuple[Any, ...]] | None = None,
        batches: BatchIterator[RowBatch] | None = None,
        client: JobClient | None = None,
        style: str = "content",
        options: dict[str, Any] | None = None,
    ) -> None:
        self._kind = kind
        self._schema = schema
        self._rows = rows
        self._batches = batches
        self._client = client
        self._style = style
        self._options = options or {}
        self._taken = False

    def get_job_client(self) -> JobClient | None:
        """Return the handle of the job, None if there was none to run."""
        return self._client

    def wait(self, timeout_ms: int | None = None) -> None:
        """Wait for the end of the job; for the first row of a query.

        Args:
            timeout_ms: How long at most; for ever if it is None.

        Raises:
            ProgramError: If it did not end in time.
            JobExecutionError: If the job failed.
        """
        if self._client is None:
            return
        if self._batches is not None:
            self._wait_for_rows(timeout_ms)
            return
        try:
            self._client.get_job_execution_result().result(None if timeout_ms is None else timeout_ms / 1000)
        except FutureTimeoutError:
            raise program_error(f"the job did not end within {timeout_ms} ms", "wait longer, or cancel it: get_job_client()") from None

    def _wait_for_rows(self, timeout_ms: int | None) -> None:
        assert self._batches is not None  # noqa: S101 - for the type checker
        if not self._batches._wait_for_next(None if timeout_ms is None else timeout_ms / 1000):
            raise program_error(f"no row came within {timeout_ms} ms", "wait longer, or cancel the job: get_job_client()")

    def get_resolved_schema(self) -> ResolvedSchema:
        """Return the columns of the result."""
        return resolved_schema(self._schema)

    def get_table_schema(self) -> TableSchema:
        """Return the names and types of the columns of the result."""
        row = self._schema.physical_row_type
        return TableSchema(row.names, row.field_types())

    def get_result_kind(self) -> ResultKind:
        """Return whether there are rows."""
        return self._kind

    def cancel(self) -> None:
        """Cancel the job if it still runs, and wait until it has ended; Wiesel's own, for the tools."""
        if self._batches is not None:
            self._batches.close()
        elif self._client is not None and not self._client.get_job_execution_result().done():
            cancel(self._client)

    # Rows

    def collect(self) -> CloseableIterator:
        """Return an iterator over the rows; close it, or use it in a ``with`` statement.

        Rows have the kinds of the changelog: ``+I`` alone if the query only adds rows.

        Raises:
            ProgramError: If the rows were collected or printed before.
        """
        batches = self._take_batches()
        if batches is None:
            return CloseableIterator((make_row(None, list(row)) for row in self._rows or ()), lambda: None)
        return CloseableIterator((row for batch in batches for row in to_rows(batch, collected=True)), batches.close)

    def collect_batches(self) -> Iterable[RowBatch]:
        """Return the rows as columns; Wiesel's own, for the tools."""
        batches = self._take_batches()
        return () if batches is None else batches

    def _take_batches(self) -> BatchIterator[RowBatch] | None:
        if self._batches is None:
            return None
        if self._taken:
            raise program_error("the rows of this result were taken already", "execute the query again")
        self._taken = True
        return self._batches

    # Printing

    def print(self) -> None:
        """Write the result to the standard output, as a table in Flink's form; waits until the job ends.

        Raises:
            JobExecutionError: If the job failed.
        """
        try:
            for line in self.lines():
                sys.stdout.write(line + "\n")
        except KeyboardInterrupt:
            if self._batches is not None:
                self._batches.close()
            raise
        sys.stdout.flush()

    def lines(self) -> Iterator[str]:
        """Yield the lines that :meth:`print` writes; Wiesel's own, for the tools."""
        if self._style == "raw":
            yield from (str(row[0]) for row in self._rows or ())
            return
        names = [column.name for column in self._schema.columns]
        if self._batches is None:
            most, null = self._options.get("most", _NO_LIMIT), self._options.get("null", "")
            yield from lines_by_content(names, [[_cell(value, null) for value in row] for row in self._rows or ()], most)
            return
        most = int(self._options.get("most", 30))
        types = self._schema.physical_row_type.field_types()
        widths = widths_by_type(names, types, most)
        if self._style == "changes":
            yield from lines_by_type(["op", *names], [2, *widths], self.text_rows())
        else:
            yield from lines_by_type(names, widths, (row[1:] for row in self.text_rows()))

    def text_rows(self) -> Iterator[list[str]]:
        """Yield the rows as strings, the kind of change first; Wiesel's own, for the tools."""
        if self._batches is None:
            yield from (["+I", *(_cell(value, NULL) for value in row)] for row in self._rows or ())
            return
        types = self._schema.physical_row_type.field_types()
        zone = self._options.get("zone", "UTC")
        for batch in self.collect_batches():
            kinds = batch.kinds_or_inserts().tolist()
            for kind, row in zip(kinds, batch_strings(batch, types, zone), strict=True):
                yield [_KINDS[kind], *(NULL if value is None else value for value in row)]


def _cell(value: Any, null: str) -> str:
    if value is None:
        return null
    return str(value).upper() if isinstance(value, bool) else str(value)

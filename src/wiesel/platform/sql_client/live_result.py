"""Internal. Collection of a result's rows while a view shows them."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from wiesel.core.errors import WieselError
from wiesel.platform.sql_client.result_rows import ResultRows
from wiesel.table import TableResult

__all__ = ["LiveResult"]

_END_S = 30.0


class LiveResult:
    """Result whose rows are fetched by a thread.

    Attributes:
        taken: Number of received changes.
        is_over: Whether all rows were received.
        had_ended: Whether all rows were received before it was closed.
        error: The job's error, or None.

    Args:
        result: The result.
        rows: Container of the rows.
    """

    def __init__(self, result: TableResult, rows: ResultRows) -> None:
        self._result = result
        self._rows = rows
        self._lock = threading.Lock()
        self._left = False
        self.had_ended = False
        self.taken = 0
        self.is_over = False
        self.error: WieselError | None = None
        self._thread = threading.Thread(target=self._take, name="wiesel-sql-result", daemon=True)
        self._thread.start()

    def _take(self) -> None:
        try:
            for kind, *row in self._result.text_rows():
                with self._lock:
                    self._rows.add(kind, tuple(row))
                    self.taken += 1
        except WieselError as error:
            if not self._left:
                self.error = error
        finally:
            self.is_over = True

    def page(self, start: int, count: int) -> tuple[int, Sequence[tuple[str, ...]]]:
        """Return the number of rows, and the rows of a page."""
        with self._lock:
            return len(self._rows), self._rows.page(start, count)

    def close(self) -> None:
        """Cancel the job if it runs."""
        self._left = True
        self.had_ended = self.is_over
        if not self.is_over:
            self._result.cancel()
        self._thread.join(_END_S)

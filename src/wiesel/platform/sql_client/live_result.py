"""Internal. Takes the rows of a result from its job while a view shows them."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from wiesel.core.errors import WieselError
from wiesel.platform.sql_client.result_rows import ResultRows
from wiesel.table import TableResult

__all__ = ["LiveResult"]

_END_S = 30.0


class LiveResult:
    """A result whose rows a thread of its own takes in.

    Attributes:
        taken: How many changes have come.
        is_over: Whether no more will come.
        had_ended: Whether that was so when it was closed.
        error: Why the job failed, if it did.

    Args:
        result: The result.
        rows: Takes the rows in.
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
        """Return how many rows there are, and some of them."""
        with self._lock:
            return len(self._rows), self._rows.page(start, count)

    def close(self) -> None:
        """Cancel the job if it still runs."""
        self._left = True
        self.had_ended = self.is_over
        if not self.is_over:
            self._result.cancel()
        self._thread.join(_END_S)

"""Compares what a random query returns in Wiesel with what it returns in DuckDB."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.unit.random_sql.choices import Choices, shrunk
from tests.unit.random_sql.engines import OPTIONS, Duck, Local, NotComparable, final_rows
from tests.unit.random_sql.queries import Query, random_query
from tests.unit.random_sql.tables import Data, random_data, tables_in
from wiesel.core.errors import WieselError

__all__ = ["Case", "Difference", "Session", "report"]


class Difference(AssertionError):
    """Wiesel's rows are not those of DuckDB."""


class Session:
    """Some data, in DuckDB and in Wiesel."""

    def __init__(self, data: Data) -> None:
        self.data = data
        self.duck = Duck(data)
        self.locals = [Local(data, "BATCH"), Local(data, "STREAMING"), Local(data, "STREAMING", changing=True)]

    def check(self, query: Query, parallelism: int, seed: int, modes: Sequence[int] = (0, 1, 2), options: int = 0) -> None:
        """Compare the results of a query.

        Raises:
            Difference: If they are not equal, or Wiesel fails.
            NotComparable: If DuckDB cannot run it.
        """
        expected = self.duck.rows(query.sql.duck.replace("$GLOBAL", ""))
        sql = query.sql.flink.replace("$GLOBAL", "")
        for mode in modes:
            if mode > 0 and (query.ordered or query.in_batch):
                continue
            local = self.locals[mode]
            name = f"{local.mode}{' over changes' if mode == 2 else ''}, parallelism {parallelism}, options {options}"
            try:
                changes = local.changes(sql, parallelism, seed, OPTIONS[options])
                found = final_rows(changes)
            except WieselError as error:
                raise Difference(f"{name}: {type(error).__name__}: {error}") from error
            except AssertionError as error:
                raise Difference(f"{name}: {error}") from error
            if found == Counter(expected) and (not query.ordered or [row for _, row in changes] == expected):
                continue
            if mode > 0 and "global" in query.features and found == Counter(self._without_empty(query)):
                continue
            missing, more = Counter(expected) - found, found - Counter(expected)
            raise Difference(f"{name}: missing {_shown(missing)}, not expected {_shown(more)}")

    def _without_empty(self, query: Query) -> list[tuple[Any, ...]]:
        """Return what DuckDB says if there is no group of all rows without rows."""
        return self.duck.rows(query.sql.duck.replace("$GLOBAL", " HAVING COUNT(*) > 0"))


def _shown(rows: Counter[tuple[Any, ...]]) -> str:
    listed = [str(tuple(map(str, row))) for row in rows.elements()]
    return ", ".join(listed[:5]) + (f" and {len(listed) - 5} more" if len(listed) > 5 else "") if listed else "nothing"


@dataclass
class Case:
    """One query over some data, as made of choices."""

    data: list[int]
    query: list[int]
    parallelism: int
    seed: int
    modes: tuple[int, ...]
    options: int = 0

    def run(self) -> None:
        """Make data and query, and compare."""
        session = Session(random_data(Choices(given=self.data)))
        session.check(random_query(Choices(given=self.query)), self.parallelism, self.seed, self.modes, self.options)

    def problem(self) -> str | None:
        """Return how Wiesel differs, None if it does not."""
        try:
            self.run()
        except Difference as error:
            return str(error)
        except NotComparable:
            pass
        return None


def _kind(problem: str | None) -> str:
    """Return what a problem has in common with others of its kind."""
    return re.sub(r"^.*?: |[(\d].*", "", problem or "", flags=re.DOTALL)


def smaller(case: Case, tries: int) -> Case:
    """Return a smaller case that fails in the same way."""
    kind = _kind(case.problem())

    def fails(query: list[int], data: list[int]) -> bool:
        return _kind(Case(data, query, case.parallelism, case.seed, case.modes, case.options).problem()) == kind

    query = shrunk(case.query, lambda made: fails(made, case.data), tries)
    data = shrunk(case.data, lambda made: fails(query, made), tries)
    return Case(data, query, case.parallelism, case.seed, case.modes, case.options)


def report(case: Case, tries: int = 400) -> str:
    """Return a failure as text: the smallest query found that fails, and its data."""
    found = smaller(case, tries)
    data = random_data(Choices(given=found.data))
    query = random_query(Choices(given=found.query))
    lines = [found.problem() or "does not fail again", f"  Wiesel: {query.sql.flink}", f"  DuckDB: {query.sql.duck}"]
    for name in tables_in(query.sql.flink):
        lines += [f"  {name}: {[tuple(map(str, row)) for row in data.rows[name]]}"]
        if 2 in found.modes and name in data.changes:
            lines += [f"    changes: {[(kind, tuple(map(str, row))) for kind, row in data.changes[name]]}"]
    return "\n".join([*lines, f"  {found}"])

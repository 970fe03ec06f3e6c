"""Internal. Joins in FROM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from wiesel.sql.binding.problems import problem
from wiesel.sql.binding.scope import Scope
from wiesel.sql.plan import Relation

if TYPE_CHECKING:
    from wiesel.sql.binding.queries import QueryBinder

__all__ = ["join"]


def join(queries: QueryBinder, left: Relation, scope: Scope, node: exp.Join) -> tuple[Relation, Scope]:
    """Return a relation joined with a further item of FROM."""
    raise problem(queries.sql, node, "joins are not supported in this version")

"""Internal. Rows, arrays and maps as what is grouped by, told apart by DISTINCT, or partitioned by; and which of them Flink takes there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from wiesel.columnar.expressions import Expression, InputRef
from wiesel.core.errors import ProgramError
from wiesel.sql.binding.problems import at
from wiesel.sql.plan.key_forms import MAPS, canonical, holds
from wiesel.sql.plan.relations import Project, Relation
from wiesel.types import logical as t
from wiesel.types.logical_bitmap import BitmapType

if TYPE_CHECKING:
    from wiesel.sql.binding.queries import QueryBinder
    from wiesel.sql.binding.selection import Selection

__all__ = ["check_key", "distinct_argument", "key", "keyed", "partition_keys"]

_ONLY_STREAMED = (*MAPS, BitmapType)
_NOT_COUNTED = (*_ONLY_STREAMED, t.RowType)
_STREAMING = "run the query in streaming mode: SET 'execution.runtime-mode' = 'streaming'"
_BATCH = "run the query in batch mode: SET 'execution.runtime-mode' = 'batch'"


def key(queries: QueryBinder, node: exp.Expr, expression: Expression, clause: str) -> Expression:
    """Return what is compared in the place of an expression that a clause names.

    Raises:
        SqlParseError: If values of its type cannot be compared in batch mode.
    """
    check_key(queries, node, expression.data_type, clause)
    return canonical(expression)


def keyed(queries: QueryBinder, node: exp.Expr, relation: Relation, clause: str, columns: Sequence[int] | None = None) -> Relation:
    """Return a relation whose rows are compared by some of their columns, all without ``columns``.

    Raises:
        SqlParseError: If values of a column's type cannot be compared in batch mode.
    """
    refs = [InputRef(field.data_type, index, field.name) for index, field in enumerate(relation.fields)]
    found: list[Expression] = list(refs)
    for index in range(len(refs)) if columns is None else columns:
        found[index] = key(queries, node, refs[index], clause)
    return relation if found == refs else Project(relation, tuple(found), relation.fields)


def partition_keys(selection: Selection, window: exp.Window) -> tuple[Expression, ...]:
    """Return what the rows are compared by for which PARTITION BY of a window says so.

    Raises:
        SqlParseError: If a name is not known, or values of a key's type cannot be compared in batch mode.
    """
    parts = window.args.get("partition_by") or ()
    return tuple(key(selection.queries, part, selection.binder.bind(part), "PARTITION BY") for part in parts)


def distinct_argument(in_batch: bool, name: str, expression: Expression) -> Expression:
    """Return what is compared in the place of an argument of an aggregate with DISTINCT.

    Raises:
        ProgramError: If Flink cannot compare values of its type: in batch mode those with maps, else those that are rows or maps.
    """
    of = expression.data_type
    if in_batch and holds(of, _ONLY_STREAMED):
        raise ProgramError(f"{name}(DISTINCT) takes no values of type {of.as_summary_string()}", hint=_parts(of))
    if not in_batch and isinstance(of, _NOT_COUNTED):
        hint = _parts(of) if holds(of, _ONLY_STREAMED) else f"{_parts(of)}, or {_BATCH}"
        raise ProgramError(f"{name}(DISTINCT) takes no values of type {of.as_summary_string()} in streaming mode, as in Flink", hint=hint)
    return canonical(expression)


def check_key(queries: QueryBinder, node: exp.Expr, of: t.DataType, clause: str) -> None:
    """Refuse values of a type that a clause cannot compare.

    Raises:
        SqlParseError: If it is such a type in batch mode.
    """
    if queries.in_batch and holds(of, _ONLY_STREAMED):
        with at(queries.sql, node):
            kind = of.as_summary_string()
            message = f"{clause} cannot compare values of type {kind} in batch mode, as in Flink: maps, multisets and bitmaps have no order"
            raise ProgramError(message, hint=f"{_parts(of)}, or {_STREAMING}")


def _parts(of: t.DataType) -> str:
    if isinstance(of, t.RowType):
        return "name its fields"
    return f"name a part of it, such as {'MAP_KEYS(m)' if isinstance(of, t.MapType) else 'CARDINALITY(m)'}"

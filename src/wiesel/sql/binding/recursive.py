"""Internal. ``WITH RECURSIVE``: a query, and one that reads its own rows, combined by UNION or UNION ALL."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from wiesel.columnar.expressions import InputRef
from wiesel.columnar.functions.registry import cast
from wiesel.sql.binding.problems import problem
from wiesel.sql.dml.sink_types import is_writable
from wiesel.sql.plan.relations import Field, Project, Recursion, RecursiveScan, Relation
from wiesel.types import logical as t
from wiesel.types.logical import quoted

if TYPE_CHECKING:
    from wiesel.sql.binding.queries import QueryBinder

__all__ = ["reads_itself", "recursion"]


def reads_itself(node: exp.CTE) -> bool:
    """Return whether a query of WITH names itself in its FROM."""
    return any(table.name == node.alias and not table.args.get("db") for table in node.this.find_all(exp.Table))


def recursion(queries: QueryBinder, node: exp.CTE) -> Recursion:
    """Return the plan of a query that reads itself. Its columns have the names and types of its first part.

    Raises:
        SqlParseError: If it is no UNION of a part that does not read it and one that does, or their columns do not fit.
    """
    union: Any = node.this
    hint = "write WITH RECURSIVE n (...) AS (SELECT ... UNION ALL SELECT ... FROM n ...)"
    if not isinstance(union, exp.Union) or union.args.get("order") or union.args.get("limit") or union.args.get("with_"):
        raise problem(queries.sql, node, f"{quoted(node.alias)} reads itself, and is no UNION of two queries", hint)
    if any(table.name == node.alias for table in union.this.find_all(exp.Table)):
        raise problem(queries.sql, union.this, f"the first part of {quoted(node.alias)} reads it", hint)
    seed = _seed(queries, node, queries.bind(union.this))
    scan = RecursiveScan(node.alias, seed.fields)
    queries.name(node.alias, scan)
    step = _fitted(queries, union, queries.bind(union.expression), seed.fields)
    return Recursion(seed, step, scan, node.alias, bool(union.args.get("distinct")), seed.fields)


def _seed(queries: QueryBinder, node: exp.CTE, seed: Relation) -> Relation:
    """Return the first part with its final columns: rounds may bring NULL, and longer strings."""
    names = [column.name for column in node.args["alias"].args.get("columns") or ()] or [field.name for field in seed.fields]
    if len(names) != len(seed.fields):
        raise problem(queries.sql, node, f"the alias names {len(names)} columns, but there are {len(seed.fields)}")
    columns = tuple(Field(name, _wide(field.data_type)) for name, field in zip(names, seed.fields, strict=True))
    return _as_columns(seed, columns)


def _wide(data_type: t.DataType) -> t.DataType:
    if isinstance(data_type, t.CharType | t.VarCharType):
        return t.VarCharType(2**31 - 1)
    return data_type.nullable()


def _fitted(queries: QueryBinder, node: exp.Expr, step: Relation, columns: tuple[Field, ...]) -> Relation:
    if len(step.fields) != len(columns):
        raise problem(queries.sql, node, f"the parts of UNION have {len(columns)} and {len(step.fields)} columns")
    for field, column in zip(step.fields, columns, strict=True):
        if not is_writable(field.data_type, column.data_type):
            types = f"{field.data_type.as_summary_string()} is no {column.data_type.as_summary_string()}"
            raise problem(
                queries.sql, node, f"column {quoted(column.name)} of the second part: {types}", "CAST it to the type of the first part"
            )
    return _as_columns(step, columns)


def _as_columns(relation: Relation, columns: tuple[Field, ...]) -> Relation:
    refs = (InputRef(field.data_type, index, field.name) for index, field in enumerate(relation.fields))
    casts = tuple(cast(ref, column.data_type) for ref, column in zip(refs, columns, strict=True))
    return Project(relation, casts, tuple(replace(column, time=None) for column in columns))

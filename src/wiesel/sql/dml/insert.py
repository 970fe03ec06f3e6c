"""Internal. ``INSERT``: the query's columns become those of the table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from wiesel.columnar.expressions import Expression, InputRef, Literal
from wiesel.columnar.functions.registry import cast
from wiesel.core.errors import ProgramError
from wiesel.spi.table.catalog import CatalogTable, ObjectIdentifier
from wiesel.spi.table.schema import Column, ComputedColumn, MetadataColumn
from wiesel.sql.binding.expressions import ExpressionBinder
from wiesel.sql.binding.hints import table_options
from wiesel.sql.binding.problems import at, problem
from wiesel.sql.binding.queries import QueryBinder, Tables
from wiesel.sql.binding.scope import Scope
from wiesel.sql.catalog.manager import CatalogManager
from wiesel.sql.dml.sink_types import is_writable
from wiesel.sql.hive.conversions import hive_cast
from wiesel.sql.language import statements as s
from wiesel.sql.language.errors import parse_error
from wiesel.sql.language.hive.nodes import HiveQuery
from wiesel.sql.plan.relations import Field, Project, Relation
from wiesel.types.logical import DataType, quoted

__all__ = ["Insertion", "bind_insert", "insertion_of", "is_written"]


@dataclass(frozen=True)
class Insertion:
    """Rows that are written to a table; the relation has the stored columns of the table, in order.

    With ``overwrite`` they replace what is there: all of the table, or of the partitions that they are in. ``conflict`` is the handling
    of rows that have the same primary key, but are no versions of each other: DEDUPLICATE, ERROR or NOTHING.
    """

    identifier: ObjectIdentifier
    table: CatalogTable
    relation: Relation
    overwrite: bool = False
    conflict: str | None = None


def bind_insert(sql: str, statement: s.Insert, tables: Tables, catalogs: CatalogManager) -> Insertion:
    """Return what an INSERT writes.

    Raises:
        SqlParseError: If the table is not there, or the query does not fit it; tells the place.
    """
    options = table_options(sql, statement.hints, statement.query)
    try:
        identifier, table = catalogs.find_table(tables.spelled(statement.target) if statement.ignores_case else statement.target)
    except ProgramError as error:
        place = statement.target_span
        raise parse_error(sql, (place.start, place.end), error.message, hint=error.hint) from error
    table = replace(table, options={**table.options, **options}) if options else table
    relation = QueryBinder(sql, tables).bind(statement.query)
    of_hive = isinstance(statement.query, HiveQuery)
    fixed = _fixed(sql, statement, table)
    with at(sql, statement.query):
        names = tuple(_spelled(name, table) for name in statement.columns) if of_hive else statement.columns
        insertion = insertion_of(identifier, table, relation, names, fixed, hive_cast if of_hive else None)
        return replace(insertion, overwrite=statement.overwrite, conflict=statement.conflict)


def _fixed(sql: str, statement: s.Insert, table: CatalogTable) -> dict[str, Expression]:
    """Return the values of PARTITION."""
    found: dict[str, Expression] = {}
    for written, value in statement.partition:
        name = _spelled(written, table) if statement.ignores_case else written
        if name not in table.partition_keys:
            raise problem(sql, value or exp.Null(), f"{quoted(name)} is no partition column of the table", "see SHOW CREATE TABLE")
        if value is not None:
            found[name] = ExpressionBinder(sql, Scope([])).bind(value)
    return found


def insertion_of(
    identifier: ObjectIdentifier,
    table: CatalogTable,
    relation: Relation,
    names: tuple[str, ...] = (),
    fixed: dict[str, Expression] | None = None,
    fit: Callable[[Expression, DataType], Expression] | None = None,
) -> Insertion:
    """Return the rows of a relation as those of a table.

    Args:
        identifier: The name of the table.
        table: The table.
        relation: Its columns are written by their order, whatever their names.
        names: The columns of the table that they are for; all of them, in order, if there are none.
        fixed: Values of other columns.
        fit: Converts values to the types of the table, where others come than those that can be written as they are.

    Raises:
        ProgramError: If number or types of the columns do not fit.
    """
    stored = [column for column in table.schema.columns if is_written(column)]
    values = fixed or {}
    targets = _targets(identifier, stored, names, values)
    if len(targets) != len(relation.fields):
        raise _mismatch(identifier, "different number of columns", relation, targets)
    by_name: dict[str, Expression] = dict(values)
    for index, (field, column) in enumerate(zip(relation.fields, targets, strict=True)):
        wanted = _type_of(column)
        if fit is None and not is_writable(field.data_type, wanted):
            cause = f"incompatible types for column {quoted(column.name)} at position {index + 1}"
            raise _mismatch(identifier, cause, relation, targets)
        by_name[column.name] = InputRef(field.data_type, index, field.name)
    expressions = []
    for column in stored:
        wanted = _type_of(column)
        expression = by_name.get(column.name)
        if expression is None:
            if not wanted.is_nullable:
                raise ProgramError(f"column {quoted(column.name)} of table {identifier.sql} is NOT NULL, but gets no value", hint="name it")
            expression = Literal(wanted, None)
        expressions.append((fit or cast)(expression, wanted))
    columns = tuple(Field(column.name, _type_of(column)) for column in stored)
    return Insertion(identifier, table, Project(relation, tuple(expressions), columns))


def _spelled(name: str, table: CatalogTable) -> str:
    """Return the name of a column with the capitals that it has in its table."""
    return next((column.name for column in table.schema.columns if column.name.lower() == name.lower()), name)


def is_written(column: Column) -> bool:
    """Return whether an INSERT writes a column of a table."""
    return not isinstance(column, ComputedColumn) and not (isinstance(column, MetadataColumn) and column.is_virtual)


def _type_of(column: Column) -> DataType:
    assert isinstance(column.data_type, DataType)  # noqa: S101 - schemas of catalogs are resolved
    return column.data_type


def _targets(identifier: ObjectIdentifier, stored: list[Column], names: tuple[str, ...], fixed: dict[str, Any]) -> list[Column]:
    if not names:
        return [column for column in stored if column.name not in fixed]
    by_name = {column.name: column for column in stored}
    for place, name in enumerate(names):
        if name not in by_name:
            known = ", ".join(map(quoted, by_name))
            raise ProgramError(f"column {quoted(name)} is not one of table {identifier.sql}", hint=f"the columns are: {known}")
        if name in names[:place]:
            raise ProgramError(f"column {quoted(name)} is named twice", hint="name each column once")
    return [by_name[name] for name in names]


def _mismatch(identifier: ObjectIdentifier, cause: str, relation: Relation, targets: list[Column]) -> ProgramError:
    query = ", ".join(f"{field.name}: {field.data_type.as_summary_string()}" for field in relation.fields)
    sink = ", ".join(f"{column.name}: {_type_of(column).as_summary_string()}" for column in targets)
    return ProgramError(
        f"the columns of the query do not fit table {identifier.sql}: {cause}\n  query: [{query}]\n  table: [{sink}]",
        hint="select the columns in the order of the table, and CAST what has another type",
    )

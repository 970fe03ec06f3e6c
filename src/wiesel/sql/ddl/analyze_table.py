"""Internal. ``ANALYZE TABLE``: the query that looks at the rows of a table, and the statistics that its result tells.

What is asked of columns of a type is what Flink asks (its ``AnalyzeTableUtil``), but different values are counted, not estimated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from sqlglot import exp

from wiesel.core.errors import ProgramError
from wiesel.spi.table.catalog import CatalogTable, ObjectIdentifier
from wiesel.spi.table.schema import PhysicalColumn
from wiesel.spi.table.statistics import ColumnStatistics, TableStatistics, number_of
from wiesel.sql.binding.problems import problem
from wiesel.sql.catalog.manager import CatalogManager
from wiesel.sql.language import statements as s
from wiesel.types import logical as t
from wiesel.types.logical import quoted

__all__ = ["Analysis", "analysis_of", "statistics_of"]


@dataclass(frozen=True)
class _Figure:
    """A part of a column's statistics: its name there, the expression (``{0}`` is the column), and what is made of its value."""

    name: str
    expression: str
    read: Callable[[Any], Any] = lambda value: value


_NULLS = _Figure("nulls", "COUNT(*) - COUNT({0})")
_DISTINCT = _Figure("distinct", "COUNT(DISTINCT {0})")
_BOUNDS = (_Figure("least", "MIN({0})", number_of), _Figure("greatest", "MAX({0})", number_of))
_LENGTHS = (
    _Figure("average_length", "AVG(CAST(CHAR_LENGTH({0}) AS DOUBLE))"),
    _Figure("greatest_length", "MAX(CHAR_LENGTH({0}))"),
)
_COUNTS = (
    _Figure("true_count", "COUNT({0}) FILTER (WHERE {0} IS TRUE)"),
    _Figure("false_count", "COUNT({0}) FILTER (WHERE {0} IS FALSE)"),
)
_ORDERED = (t.NumericType, t.DateType, t.TimeType, t.TimestampType, t.LocalZonedTimestampType)


@dataclass(frozen=True)
class Analysis:
    """The request of ANALYZE TABLE.

    Attributes:
        identifier: The table's name.
        table: The table.
        query: Returns a row per partition: its values, the number of rows, and figures of columns.
        figures: For each column what is asked of it.
    """

    identifier: ObjectIdentifier
    table: CatalogTable
    query: str
    figures: Mapping[str, Sequence[_Figure]]


def analysis_of(sql: str, statement: s.Analyze, catalogs: CatalogManager) -> Analysis:
    """Return what a statement asks.

    Raises:
        ProgramError: If the table is not there, is temporary or a view, a column is none that is stored, or PARTITION does not name the
            partition keys.
    """
    identifier, table = catalogs.find_table(statement.path)
    found = catalogs.get(identifier)
    if found is not None and found[1]:
        raise ProgramError(f"{identifier.sql} is a temporary table: nothing is kept of it", hint="CREATE TABLE it without TEMPORARY")
    names = [name for name, _ in statement.partition]
    if set(names) != set(table.partition_keys):
        listed = ", ".join(map(quoted, table.partition_keys))
        hint = f"write PARTITION ({listed})" if listed else "leave PARTITION out"
        raise ProgramError(f"PARTITION has to name the partition keys of {identifier.sql}, all of them and no others", hint=hint)
    figures = {name: _figures(table, identifier, name) for name in _chosen(table, statement.columns)}
    keys = [f"CAST({quoted(key)} AS STRING)" for key in table.partition_keys]
    asked = [*keys, "COUNT(*)", *(each.expression.format(quoted(name)) for name, of in figures.items() for each in of)]
    where = " AND ".join(_condition(sql, table, name, value) for name, value in statement.partition if value is not None)
    query = f"SELECT {', '.join(asked)} FROM {identifier.sql}"  # noqa: S608 - of the table's own names
    query += (f" WHERE {where}" if where else "") + (f" GROUP BY {', '.join(map(quoted, table.partition_keys))}" if keys else "")
    return Analysis(identifier, table, query, figures)


def _chosen(table: CatalogTable, columns: tuple[str, ...] | None) -> Sequence[str]:
    if columns is None:
        return ()
    stored = [column.name for column in table.schema.columns if isinstance(column, PhysicalColumn)]
    for name in columns:
        if name not in stored:
            known = [column.name for column in table.schema.columns]
            what = "is not stored: it is computed or metadata" if name in known else "is not there"
            raise ProgramError(f"column {quoted(name)} {what}", hint=f"the stored columns are: {', '.join(map(quoted, stored))}")
    return columns or stored


def _figures(table: CatalogTable, identifier: ObjectIdentifier, name: str) -> Sequence[_Figure]:
    of = table.schema.physical_row_type[name].data_type
    if isinstance(of, t.BooleanType):
        return (_NULLS, *_COUNTS)
    if isinstance(of, _ORDERED):
        return (_NULLS, _DISTINCT, *_BOUNDS)
    return (_NULLS, _DISTINCT, *_LENGTHS) if isinstance(of, t.CharType | t.VarCharType) else (_NULLS,)


def _condition(sql: str, table: CatalogTable, name: str, value: exp.Expr) -> str:
    """Return the condition on a partition key; its value may be written as a text, whatever its type."""
    inner = value.this if isinstance(value, exp.Neg) else value
    if not isinstance(inner, exp.Literal):
        raise problem(sql, value, f"the value of partition key {quoted(name)} is no literal", "write PARTITION (key = 'value')")
    text = ("-" if inner is not value else "") + str(inner.this).replace("'", "''")
    kind = table.schema.physical_row_type[name].data_type.nullable().as_summary_string()
    return f"{quoted(name)} = CAST('{text}' AS {kind})"


def statistics_of(analysis: Analysis, rows: pa.Table) -> dict[tuple[str | None, ...], TableStatistics]:
    """Return the statistics that the rows of the query tell, by partition."""
    width = len(analysis.table.partition_keys)
    found: dict[tuple[str | None, ...], TableStatistics] = {}
    for row in zip(*(column.to_pylist() for column in rows.columns), strict=True):
        values = iter(row[width + 1 :])
        columns = {
            name: ColumnStatistics(**{each.name: each.read(next(values)) for each in figures}) for name, figures in analysis.figures.items()
        }
        found[row[:width]] = TableStatistics(row[width], columns)
    return found

"""Runs a query in DuckDB and in Wiesel's local engine, both without a JVM."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import duckdb
import pyarrow as pa

from tests.unit.random_sql.tables import EVENTS, TABLES, Data, columns_of
from wiesel.columnar.expressions import InputRef
from wiesel.columnar.functions.registry import call
from wiesel.columnar.row_batch import RowBatch
from wiesel.common import Configuration, Row, RowKind
from wiesel.datastream import DataStream
from wiesel.spi.table.schema import ResolvedSchema
from wiesel.sql.binding import literals
from wiesel.sql.plan.relations import ArrowScan, Field, Relation, StreamScan, WatermarkAssigner
from wiesel.sql.session.stream_rows import table_row_info
from wiesel.table import TableEnvironment
from wiesel.types.logical import RowField, RowType
from wiesel.types.logical_parser import parse_data_type
from wiesel.types.typeinfo import TypeInformation

__all__ = ["OPTIONS", "Duck", "Local", "NotComparable", "canonical_row", "changed_row", "final_rows", "stream_scan", "table_info"]

PLAIN = {
    "table.exec.operator-parallelism": "",
    "table.exec.mini-batch.enabled": "false",
    "table.optimizer.distinct-agg.split.enabled": "false",
    "table.optimizer.agg-phase-strategy": "AUTO",
}
OPTIONS: tuple[Mapping[str, str], ...] = (
    {},
    {"table.exec.operator-parallelism": "Join:1, Aggregate:3, TopN:2"},
    {
        "table.exec.mini-batch.enabled": "true",
        "table.exec.mini-batch.allow-latency": "1 s",
        "table.exec.mini-batch.size": "3",
        "table.optimizer.distinct-agg.split.enabled": "true",
        "table.optimizer.agg-phase-strategy": "TWO_PHASE",
    },
    {},
    {"table.exec.operator-parallelism": "Join:3, Aggregate:1, TopN:3", "table.optimizer.agg-phase-strategy": "ONE_PHASE"},
)
"""How jobs are set up besides."""

_KINDS = {str(kind): kind for kind in RowKind}
_NAMES = list(_KINDS)


class NotComparable(Exception):
    """DuckDB cannot run a query, or not with the result of Flink: a number overflows."""


def _canonical(value: Any) -> Any:
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else float(f"{value:.10g}") + 0.0
    if isinstance(value, Decimal):
        return value.normalize() + 0
    return value


def canonical_row(values: Any) -> tuple[Any, ...]:
    """Return values such that equal ones are equal in Python."""
    return tuple(map(_canonical, values))


class Duck:
    """DuckDB with the tables of some data."""

    def __init__(self, data: Data) -> None:
        self._database = duckdb.connect(config={"threads": 1})
        for name, rows in data.arrow.items():
            self._database.register(f"{name}_rows", rows)
            self._database.execute(f"CREATE TABLE {name} AS SELECT * FROM {name}_rows")

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query.

        Raises:
            NotComparable: If DuckDB refuses it.
        """
        try:
            return [canonical_row(values) for values in self._database.execute(sql).fetchall()]
        except duckdb.Error as error:
            raise NotComparable(f"DuckDB: {error}") from error


class Local:
    """Wiesel with the tables of some data, each in batches of few rows.

    Attributes:
        mode: STREAMING or BATCH.
    """

    def __init__(self, data: Data, mode: str, *, changing: bool = False) -> None:
        config = Configuration().set("wiesel.engine", "local").set("execution.runtime-mode", mode)
        config.set("table.local-time-zone", "UTC").set("execution.buffer-timeout.interval", "0 ms")
        self.mode = mode
        self._changing = changing
        self._config = config
        self._t_env = TableEnvironment.create(config)
        for name, rows in data.arrow.items():
            plan = self._changes(name, data) if changing and name in TABLES else _scan(name, rows)
            catalogs = self._t_env._catalogs
            catalogs.create_temporary_view(catalogs.qualify(name), plan)

    def _changes(self, name: str, data: Data) -> Relation:
        rows = [changed_row(name, kind, values) for kind, values in data.changes[name]]
        return stream_scan(name, self._t_env._environment.from_collection(rows, table_info(name)).set_parallelism(1))

    def changes(
        self, sql: str, parallelism: int, seed: int, options: Mapping[str, str] = MappingProxyType({})
    ) -> list[tuple[str, tuple[Any, ...]]]:
        """Return the changelog of a query."""
        environment = self._t_env._environment
        environment.set_parallelism(parallelism)
        environment._config.set("wiesel.local.seed", str(seed))
        for key, value in {**PLAIN, **options}.items():
            self._t_env.get_config().set(key, value)
        result = self._t_env.execute_sql(sql)
        return [change for batch in result.collect_batches() for change in _changes(batch)]


def _row_type(name: str) -> RowType:
    return RowType([RowField(column, parse_data_type(of)) for column, of in columns_of(name).items()])


def table_info(name: str) -> TypeInformation:
    """Return the type of the records of a table that is a stream."""
    return table_row_info(_row_type(name))


def changed_row(name: str, kind: str, values: tuple[Any, ...]) -> Row:
    """Return a row of a table as a record of a stream."""
    row = Row(**dict(zip(columns_of(name), values, strict=True)))
    row.set_row_kind(_KINDS[kind])
    return row


def stream_scan(name: str, stream: DataStream) -> Relation:
    """Return a stream as a table, of changes unless its rows have times."""
    schema = ResolvedSchema.physical(_row_type(name))
    return _timed(StreamScan(stream, schema)) if name in EVENTS else StreamScan(stream, schema, frozenset(RowKind))


def _scan(name: str, rows: pa.Table) -> Relation:
    batches = [batch for start in range(0, rows.num_rows, 3) for batch in rows.slice(start, 3).combine_chunks().to_batches()]
    fields = tuple(Field(column, parse_data_type(of)) for column, of in columns_of(name).items())
    scan = ArrowScan(pa.Table.from_batches(batches, rows.schema), fields)
    return _timed(scan) if name in EVENTS else scan


def _timed(scan: Relation) -> Relation:
    fields, time = scan.fields, len(scan.fields) - 1
    column = InputRef(fields[time].data_type, time, "rt")
    return WatermarkAssigner(scan, time, call("-", [column, literals.interval("30", "DAY", None)]))


def _changes(batch: RowBatch) -> list[tuple[str, tuple[Any, ...]]]:
    columns = [column.to_pylist() for column in batch.rows.columns]
    kinds = batch.kinds_or_inserts().tolist()
    return [(_NAMES[kind], canonical_row(values)) for kind, values in zip(kinds, zip(*columns, strict=True), strict=True)]


def final_rows(changes: list[tuple[str, tuple[Any, ...]]]) -> Counter[tuple[Any, ...]]:
    """Return what changes come to.

    Raises:
        AssertionError: If one takes back a row that is not there.
    """
    rows: Counter[tuple[Any, ...]] = Counter()
    for kind, row in changes:
        if kind in ("+I", "+U"):
            rows[row] += 1
        else:
            if rows[row] <= 0:
                raise AssertionError(f"{kind} {row} takes back a row that was not sent")
            rows[row] -= 1
    return +rows

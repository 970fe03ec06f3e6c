"""The Table API, under the names of ``pyflink.table``.

A program makes a :class:`TableEnvironment`, describes tables, in SQL or by :class:`TableDescriptor`, and computes others of them: by SQL,
or by the methods of :class:`Table` with the expressions of :mod:`wiesel.table.expressions`. A :class:`StreamTableEnvironment` goes from
tables to streams and back.
"""

from typing import Any

from wiesel.table.changelog_mode import ChangelogMode
from wiesel.table.compiled_plan import CompiledPlan
from wiesel.table.data_view import DataView, ListView, MapView
from wiesel.table.environment_settings import EnvironmentSettings
from wiesel.table.explain_detail import ExplainDetail
from wiesel.table.expression import Expression
from wiesel.table.model_descriptor import ModelDescriptor
from wiesel.table.module import Module, ModuleEntry
from wiesel.table.plan_reference import PlanReference
from wiesel.table.process_functions import ProcessTableFunction
from wiesel.table.result_kind import ResultKind
from wiesel.table.schema import Schema
from wiesel.table.sql_dialect import SqlDialect
from wiesel.table.statement_set import StatementSet
from wiesel.table.table import GroupedTable, GroupWindowedTable, OverWindowedTable, Table, WindowGroupedTable
from wiesel.table.table_config import TableConfig
from wiesel.table.table_descriptor import FormatDescriptor, TableDescriptor
from wiesel.table.table_environment import StreamTableEnvironment, TableEnvironment
from wiesel.table.table_pipeline import TablePipeline
from wiesel.table.table_result import TableResult
from wiesel.table.table_schema import TableSchema
from wiesel.table.types import DataTypes, Row, RowKind
from wiesel.table.udf import (
    AggregateFunction,
    AsyncScalarFunction,
    FunctionContext,
    ScalarFunction,
    TableAggregateFunction,
    TableFunction,
)

__all__ = [
    "AggregateFunction",
    "AsyncScalarFunction",
    "ChangelogMode",
    "CompiledPlan",
    "DataTypes",
    "DataView",
    "EnvironmentSettings",
    "ExplainDetail",
    "Expression",
    "FormatDescriptor",
    "FunctionContext",
    "GroupWindowedTable",
    "GroupedTable",
    "ListView",
    "MapView",
    "ModelDescriptor",
    "Module",
    "ModuleEntry",
    "OverWindowedTable",
    "PlanReference",
    "ProcessTableFunction",
    "ResultKind",
    "Row",
    "RowKind",
    "ScalarFunction",
    "Schema",
    "SqlDialect",
    "StatementSet",
    "StreamTableEnvironment",
    "Table",
    "TableAggregateFunction",
    "TableConfig",
    "TableDescriptor",
    "TableEnvironment",
    "TableFunction",
    "TablePipeline",
    "TableResult",
    "TableSchema",
    "WindowGroupedTable",
]

_ABSENT = frozenset(("UserDefinedType",))
"""Further names in PyFlink."""


def __getattr__(name: str) -> Any:
    if name in _ABSENT:
        # Not an AttributeError: `from wiesel.table import ...` would put a text of its own in the place of this one.
        raise ImportError(
            f"wiesel.table has no {name} in this version; it has: {', '.join(__all__)}.\n"
            "  what to do: declare DataTypes.ROW([...]) for objects with fields, and DataTypes.RAW() for any other object of Python."
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""The Table API, under the names of ``pyflink.table``; in this version what leads from described tables to streams and back.

A program makes a :class:`StreamTableEnvironment` on its stream environment, describes tables, reads them by name and goes on with the
streams of their rows.
"""

from typing import Any

from wiesel.table.environment_settings import EnvironmentSettings
from wiesel.table.explain_detail import ExplainDetail
from wiesel.table.result_kind import ResultKind
from wiesel.table.schema import Schema
from wiesel.table.statement_set import StatementSet
from wiesel.table.table import Table
from wiesel.table.table_config import TableConfig
from wiesel.table.table_descriptor import FormatDescriptor, TableDescriptor
from wiesel.table.table_environment import StreamTableEnvironment, TableEnvironment
from wiesel.table.table_pipeline import TablePipeline
from wiesel.table.table_result import TableResult
from wiesel.table.types import DataTypes, Row, RowKind

__all__ = [
    "DataTypes",
    "EnvironmentSettings",
    "ExplainDetail",
    "FormatDescriptor",
    "ResultKind",
    "Row",
    "RowKind",
    "Schema",
    "StatementSet",
    "StreamTableEnvironment",
    "Table",
    "TableConfig",
    "TableDescriptor",
    "TableEnvironment",
    "TablePipeline",
    "TableResult",
]

_ABSENT = frozenset(
    """
    AggregateFunction AsyncScalarFunction ChangelogMode CompiledPlan DataView Expression FunctionContext
    GroupWindowedTable GroupedTable ListView MapView Module ModuleEntry OverWindowedTable PlanReference ScalarFunction SqlDialect
    TableAggregateFunction TableFunction TableSchema UserDefinedType WindowGroupedTable
    """.split()
)
"""What PyFlink has here besides."""


def __getattr__(name: str) -> Any:
    if name in _ABSENT:
        # Not an AttributeError: `from wiesel.table import ...` would put a text of its own in the place of this one.
        raise ImportError(
            f"wiesel.table has no {name} in this version; it has: {', '.join(__all__)}.\n"
            "  what to do: write the rest of the job with the DataStream API, on the stream that to_data_stream() returns."
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""Internal. From plans of tables to streams of row objects."""

from __future__ import annotations

from wiesel.core.options import RUNTIME_MODE
from wiesel.datastream import DataStream, StreamExecutionEnvironment
from wiesel.sql.changelog import require_append
from wiesel.sql.physical.scans import scanned_rows, stream_rows
from wiesel.sql.physical.translator import Translator
from wiesel.sql.plan import Relation, StreamScan, TableScan
from wiesel.sql.stream_rows import table_row_info
from wiesel.types.typeinfo import ExternalTypeInfo

__all__ = ["to_stream"]


def to_stream(environment: StreamExecutionEnvironment, plan: Relation, *, changelog: bool = False) -> DataStream:
    """Return the stream of a plan's rows; with ``changelog`` also of updates and deletions.

    Raises:
        ProgramError: If a column's values cannot become records of a stream, the table cannot be read, or there are changes and
            ``changelog`` is not set.
        ConfigurationError: If the options of a table are wrong.
    """
    translator = Translator(environment)
    if not changelog and environment._config.get(RUNTIME_MODE) != "BATCH":
        require_append(plan, "to_data_stream()")
    if isinstance(plan, TableScan):
        return scanned_rows(translator, plan)
    if isinstance(plan, StreamScan):
        return stream_rows(plan)
    translator.changes.add(plan)
    rows = table_row_info(plan.row_type)
    operator = translator.operator("ToRows", "table_to_rows", {}, [translator.translate(plan)])
    operator.output_type = operator.node.output_type = ExternalTypeInfo(rows)
    return DataStream(environment, operator)
